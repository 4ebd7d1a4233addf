"""Every feature map by name, and those made of others."""

import numpy as np
import pytest
from onnx_values import value

from eigenfeat.export.onnx_maps import mapped
from eigenfeat.features.hat_products import HatProductMap
from eigenfeat.features.maps import FEATURE_MAPS, PowerMap, ProductMap, SplineMap

MAPS = {
    **FEATURE_MAPS,
    "powers": PowerMap((1, 4), soft=True),
    "linear splines": SplineMap(n_knots=2, degree=1),
    "products": ProductMap(FEATURE_MAPS["spline"]),
    "hats": HatProductMap(FEATURE_MAPS["identity"], 4),
}


@pytest.mark.parametrize("name", MAPS)
def test_columns_are_those_of_the_map(name):
    rng = np.random.default_rng(0)
    train = rng.normal(size=(60, 3))
    train[:30, 1] = 0  # knots that coincide
    fitted = MAPS[name].fit(train)
    X = np.vstack([3 * rng.normal(size=(50, 3)), train[:5], np.zeros((1, 3))])
    np.testing.assert_allclose(value(lambda g, x: mapped(g, fitted, x, 3), X), fitted(X), atol=1e-10)


def test_chosen_products_of_few_hats_are_those_of_the_map():
    rng = np.random.default_rng(0)
    X = np.column_stack([3 * rng.normal(size=(60, 2)), rng.integers(-1, 3, 60)])
    knots = np.array([[-2.0, 0.0, 0.5, 2.0], [-1.0, 0.0, 3.0, 3.0], [0.0, 1.0, 1.0, 1.0]])
    for n_base, pairs in ((2, [[2, 0], [1, 2]]), (3, [[0, 1]]), (1, np.empty((0, 2), dtype=int))):
        base = SplineMap().fit(X[:, :n_base])
        hats = HatProductMap(base, 4, knots, np.array([4, 3, 2]), np.asarray(pairs), n_base)
        np.testing.assert_allclose(value(lambda g, x, hats=hats: mapped(g, hats, x, 3), X), hats(X), atol=1e-10)
