"""A layer's directions: what is kept of them, and what each adds to scores."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from eigenfeat.features.layer import LayerEvidence, LayerSettings, direction_parts, find_layer, unit_scale
from eigenfeat.features.maps import ProductMap, as_feature_map
from eigenfeat.moments import collect_moments
from eigenfeat.quotients import Regularisation
from eigenfeat.rows import ArrayRows
from eigenfeat.solvers import DenseVectors
from eigenfeat.stages import Chain, FeatureLayer

FLOAT64 = np.dtype(np.float64)


@pytest.fixture(scope="module")
def moments():
    X, y = load_digits(n_class=4, return_X_y=True)
    return collect_moments(X / 16, y)


def layer_of(moments, **settings):
    settings = {"n_components": 3, "solver": "dense", "regularisation": Regularisation(0.5), **settings}
    return find_layer(LayerEvidence(moments), LayerSettings(**settings), np.random.RandomState(0), FLOAT64)


def test_directions_stand_contrast_by_contrast_strongest_first(moments):
    layer = layer_of(moments)
    assert layer.n_directions == 36 == len(layer.pairs)
    assert layer.rank_in_contrast.tolist() == [0, 1, 2] * 12
    assert (np.diff(layer.eigenvalues.reshape(12, 3), axis=1) <= 0).all()
    assert layer.criterion == "contrast" and layer.projection.bias is None
    assert layer_of(moments, noise="covariance").criterion == "centred_contrast"


@pytest.mark.parametrize(("threshold", "count"), [(0.0, 2), (4.0, 3), (5.0, 1), (1e9, 3)])
def test_thinning_is_asking_for_less(moments, threshold, count):
    thinned = layer_of(moments).thinned(threshold, count)
    asked = layer_of(moments, min_eigenvalue=threshold, n_components=count)
    np.testing.assert_allclose(thinned.eigenvalues, asked.eigenvalues, rtol=1e-10)
    np.testing.assert_allclose(thinned.projection.vectors.toarray(), asked.projection.vectors.toarray(), atol=1e-8)
    assert thinned.pairs.tolist() == asked.pairs.tolist()


def test_the_strongest_keep_their_order_and_their_offsets(moments):
    layer = layer_of(moments, noise="covariance")
    few = layer.at_most(7)
    keep = np.sort(np.argsort(-layer.eigenvalues)[:7])
    np.testing.assert_array_equal(few.eigenvalues, layer.eigenvalues[keep])
    np.testing.assert_array_equal(few.projection.bias, layer.projection.bias[keep])
    np.testing.assert_array_equal(few.contrast, layer.contrast[keep])
    np.testing.assert_array_equal(layer_of(moments, noise="covariance", max_components=7).contrast, few.contrast)


def test_inputs_get_a_mean_square_of_one(moments):
    X = load_digits(n_class=4).data / 16
    assert np.mean((X * unit_scale(moments)) ** 2) == pytest.approx(1)
    assert len(set(unit_scale(moments))) == 1


def test_a_map_of_several_directions_has_no_parts(moments):
    X = load_digits(n_class=4).data[:50] / 16
    directions = layer_of(moments, n_components=1)
    stage = FeatureLayer(directions.projection, ProductMap(as_feature_map("square")))
    rows = Chain((stage,)).over(ArrayRows(X))
    with pytest.raises(ValueError, match="mixes directions"):
        direction_parts(rows, stage, np.ones((4, rows.n_columns)))


def many_classes(n_classes=30, n=5, d=40):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(n_classes), n)
    X = rng.normal(size=(n_classes, d))[labels] + rng.normal(size=(len(labels), d)) * rng.uniform(0.2, 2, d)
    return X, labels


def test_dual_moments_of_many_classes_give_the_same_directions():
    """Fewer rows a class than columns, more rows than columns in all: in the span of the rows, and as matrices."""
    X, y = many_classes()
    settings = LayerSettings(n_components=3, regularisation=Regularisation(0.3))
    as_matrices = collect_moments(X, y, form="dense")
    dual = collect_moments(X, y, form="dual")
    evidence = [LayerEvidence(moments, ArrayRows(X, y)) for moments in (as_matrices, dual)]
    one, other = (find_layer(e, settings, np.random.RandomState(0), FLOAT64) for e in evidence)
    assert other.solver == "dual" != one.solver
    np.testing.assert_allclose(other.eigenvalues, one.eigenvalues, rtol=1e-8)
    assert isinstance(other.projection.vectors, DenseVectors)  # not over 150 rows of 40 columns
    vectors = [layer.projection.vectors.toarray() for layer in (one, other)]
    np.testing.assert_allclose(vectors[1], vectors[0], atol=1e-6 * np.abs(vectors[0]).max())


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ({}, True),
        ({"class_pairs": "hypercube"}, True),
        ({"class_pairs": [(0, 1), (2, 3)]}, True),
        ({"class_pairs": "one-vs-rest"}, False),  # the rest of a class has nearly all rows
        ({"class_pairs": "contractions"}, False),
        ({"class_pairs": np.ones((1, 2, 1000))}, False),
        ({"noise": "covariance"}, False),
        ({"solver": "krylov"}, False),
        ({"regularisation": Regularisation(0.3, shape="diagonal")}, False),
        ({"regularisation": Regularisation(0.3, shrinkage="auto")}, False),
        ({"regularisation": Regularisation(1e-3)}, False),
    ],
    ids=str,
)
def test_rows_are_kept_where_pairs_of_classes_are_all_that_is_asked(changed, kept):
    settings = LayerSettings(**{"regularisation": Regularisation(0.3), **changed})
    assert settings.uses_dual_moments(1000, 45_000, 576, 60) is kept
    assert not settings.uses_dual_moments(1000, None, 576, 60)  # a stream of nobody knows how many rows
    assert not settings.uses_dual_moments(1000, 45_000, 576, None)  # nor how many a class has
    assert not settings.uses_dual_moments(1000, 45_000, 576, 20_000)  # one class has nearly half of them
    assert not settings.uses_dual_moments(1000, 300_000, 576, 400)  # ranks are no longer low
    assert not settings.uses_dual_moments(10, 1000, 784, 100)  # matrices are quick to make
