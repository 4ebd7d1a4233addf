"""A layer's directions: what is kept of them, and what each adds to scores."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from eigenfeat.features.layer import LayerEvidence, LayerSettings, direction_parts, find_layer, unit_scale
from eigenfeat.features.maps import ProductMap, as_feature_map
from eigenfeat.moments import collect_moments
from eigenfeat.quotients import Regularisation
from eigenfeat.rows import ArrayRows
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
