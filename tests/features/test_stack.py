"""Stacks of layers are values: fitted from values, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from eigenfeat import runtime
from eigenfeat.features.layer import AUTO_PER_PAIR, LayerSettings
from eigenfeat.features.maps import SplineMap, as_feature_map
from eigenfeat.features.stack import Stack, StackSettings, fit_stack, layer_moments, without_inputs
from eigenfeat.moments import BoundedMoments, DualMoments
from eigenfeat.quotients import Regularisation
from eigenfeat.rows import ArrayRows
from eigenfeat.stages import FeatureLayer, WithConstant

LAYER = LayerSettings(n_components=1, solver="dense", regularisation=Regularisation(0.5), constant=True)


@pytest.fixture(scope="module")
def rows():
    X, y = load_digits(n_class=4, return_X_y=True)
    return ArrayRows(X / 16, y)


def fitted(rows, settings, seconds=None, classes=range(4)):
    seconds = {} if seconds is None else seconds
    moments = layer_moments(rows, settings.layers[0], np.array(classes), seconds)
    return fit_stack(moments, rows, settings, np.random.RandomState(0), seconds), moments


def test_a_candidate_is_a_changed_copy_of_the_settings(rows):
    base = StackSettings((LAYER,))
    other = replace(base, layers=(LAYER.with_ridge(2.0),))
    assert base.layers[0].regularisation.ridge == 0.5 and other.layers[0].regularisation.ridge == 2.0
    first, moments = fitted(rows, base)
    fit_stack(moments, rows, other, np.random.RandomState(0), {})
    again = fit_stack(moments, rows, base, np.random.RandomState(0), {})
    np.testing.assert_array_equal(again.chain.at(rows.X), first.chain.at(rows.X))


def test_rows_of_a_fit_are_the_rows_of_the_chain(rows):
    settings = StackSettings((replace(LAYER, feature_map=SplineMap(4)), replace(LAYER, keep_inputs=False)))
    seconds = {}
    stack, _ = fitted(rows, settings, seconds)
    kinds = [type(stage) for stage in stack.chain.stages]
    assert kinds == [WithConstant, FeatureLayer, WithConstant, FeatureLayer]
    features = stack.cached_rows(rows)
    assert features.y is rows.y
    np.testing.assert_allclose(features.to_array(), stack.chain.at(rows.X), atol=1e-10)
    assert set(seconds) == {"moments", "directions"}
    names = stack.feature_names([f"x{i}" for i in range(64)])
    assert len(names) == len(set(names)) == features.n_columns
    assert names[0] == "layer2_0_vs_1_0_pos_soft1"


def test_inner_layers_are_narrow_unless_told_otherwise(rows):
    open_layer = replace(LAYER, n_components=None)
    inner = replace(open_layer, max_columns=100)
    stack, _ = fitted(rows, StackSettings((inner, open_layer)))
    first, second = (layer.directions.n_directions for layer in stack.layers)
    assert first == 12  # one of each of twelve pairs, six columns each
    assert second == 12 * AUTO_PER_PAIR
    told, _ = fitted(rows, StackSettings((replace(inner, n_components=3), open_layer)))
    assert told.layers[0].directions.n_directions == 36


def test_moments_that_do_not_fit_into_memory_are_refused(rows, monkeypatch):
    monkeypatch.setattr("eigenfeat.features.stack.total_memory", lambda: 10**5)
    with pytest.raises(
        ValueError, match=r"two classes in 65 columns, and .* take 0\.0 GB, and the machine or container has"
    ):
        layer_moments(rows, LAYER, np.arange(4), {})


def test_moments_are_enough_for_one_layer_whose_map_learns_nothing(rows):
    settings = StackSettings((LAYER,))
    stack, moments = fitted(rows, settings)
    alone = fit_stack(moments, None, settings, np.random.RandomState(0), {})
    np.testing.assert_array_equal(alone.chain.at(rows.X), stack.chain.at(rows.X))
    assert not settings.needs_rows
    assert StackSettings((LAYER, LAYER)).needs_rows
    assert StackSettings((replace(LAYER, feature_map=as_feature_map("spline")),)).needs_rows


def test_a_part_that_lacks_a_class_keeps_the_others_apart(rows):
    part = rows.take(np.flatnonzero(rows.y != 1))
    moments = layer_moments(part, LAYER, np.array(list("abcd")), {}, n_rows=rows.n_rows)
    assert moments.classes.tolist() == list("abcd")
    np.testing.assert_array_equal(moments.counts, np.bincount(rows.y) * [1, 0, 1, 1])


def test_inputs_can_be_left_out_of_the_last_layer(rows):
    stack, _ = fitted(rows, StackSettings((LAYER,)))
    everything = stack.chain.at(rows.X)
    np.testing.assert_array_equal(without_inputs(stack.chain).at(rows.X), everything[:, 65:])
    np.testing.assert_array_equal(Stack().chain.at(rows.X), rows.X)


def test_directions_that_are_known_are_not_solved_again(rows):
    wide = StackSettings((LAYER, LAYER))
    narrow = StackSettings((replace(LAYER, max_components=5), LAYER))
    moments, rng = layer_moments(rows, LAYER, np.arange(4), {}), np.random.RandomState(0)
    first = fit_stack(moments, rows, replace(wide, layers=wide.layers[:1]), rng, {})
    known = first.layers[0].directions
    found = fit_stack(moments, rows, narrow, np.random.RandomState(0), {}, known=(known, rng.get_state()))
    expected, _ = fitted(rows, narrow)
    np.testing.assert_allclose(found.chain.at(rows.X), expected.chain.at(rows.X), atol=1e-9)
    assert found.layers[0].directions.n_directions == 5 < known.n_directions


def test_rows_of_many_classes_are_kept_whatever_matrices_would_take(monkeypatch):
    """Matrices of 400 classes would not fit; the rows do, in one layer and with sub-classes."""
    monkeypatch.setattr("eigenfeat.features.layer.MANY_NUMBERS", 100_000)
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(400), 4)
    many = ArrayRows(rng.normal(size=(1600, 30)) + rng.normal(size=(400, 30))[labels], labels)
    layer = replace(LAYER, solver="auto", class_pairs="hypercube", n_pairs=400)
    for settings in (StackSettings((layer,)), StackSettings((layer,), subclasses=2)):
        stack, moments = fitted(many, settings, classes=range(400))
        assert isinstance(moments, DualMoments)
        assert stack.layers[0].directions.solver == "dual"
        assert stack.chain.at(many.X).shape[0] == 1600
    uneven = replace(many, y=np.where(np.arange(1600) < 60, 0, labels))  # more rows in one class than columns
    with runtime(memory=1e6):
        for rows, asked in ((many, replace(layer, class_pairs="one-vs-rest")), (uneven, layer)):
            assert isinstance(layer_moments(rows, asked, np.arange(400), {}), BoundedMoments)
