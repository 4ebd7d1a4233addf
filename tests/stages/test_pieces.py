"""Products with polynomials a piece equal those with the rows they stand for."""

import numpy as np
import pytest

from eigenfeat.features.maps import FEATURE_MAPS, PowerMap, SplineMap
from eigenfeat.linear.passes import Passes
from eigenfeat.rows import ArrayRows
from eigenfeat.rows.products import BlockProducts, products_with
from eigenfeat.stages import Affine, FeatureLayer, LayerRows
from eigenfeat.stages.pieces import MAX_CLASSES

MAPS = {
    "soft-cubic": FEATURE_MAPS["soft-cubic"],
    "cubic": FEATURE_MAPS["cubic"],
    "rectified": FEATURE_MAPS["rectified"],
    "powers 1, 4": PowerMap((4, 1)),
    "spline": SplineMap(12),
    "two knots": SplineMap(2),
    "quadratic": SplineMap(6, degree=2),
}


def layer_rows(feature_map, dtype, n=300, d=5, m=37, inputs=True):
    """Projections of both signs, one of them zero, one constant, one on few values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    X[:, 0] = rng.integers(-1, 2, n)
    V = rng.normal(size=(d, m))
    V[:, 3], V[:, 4] = 0, np.eye(d)[0]
    projection = Affine.of(V.astype(dtype), np.where(np.arange(m) == 5, 2.0, 0.0).astype(dtype))
    V[:, 5] = 0
    fitted = feature_map.fit(projection.apply(X.astype(dtype)[: n // 2]))  # the others may lie beyond the knots
    scale = rng.uniform(0.5, 2, d) if inputs else None
    return LayerRows.of(ArrayRows(X.astype(dtype)), FeatureLayer(projection, fitted, scale))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 7, 26])
@pytest.mark.parametrize("name", MAPS)
def test_products_are_those_of_formed_rows(name, n_classes, dtype):
    rows = layer_rows(MAPS[name], dtype, inputs=n_classes != 7)
    rng = np.random.default_rng(1)
    C = rng.normal(size=(rows.n_columns, n_classes)).astype(dtype)
    own, formed = products_with(rows, C), BlockProducts(rows, C)
    assert not isinstance(own, BlockProducts)
    size = np.abs(rows.rows(slice(None))) @ np.abs(C)
    for selection in (slice(0, 100), np.array([250, 3, 3, 120]), slice(200, 300)):
        found, expected = own.scores(selection), formed.scores(selection)
        assert np.max(np.abs(found - expected) / size[selection]) < 30 * np.finfo(dtype).eps
        values = rng.normal(size=found.shape).astype(dtype)
        own.add(values)
        formed.add(values)
    expected = formed.total()
    np.testing.assert_allclose(own.total(), expected, atol=30 * np.finfo(dtype).eps * np.abs(expected).max())


@pytest.mark.parametrize("name", MAPS)
def test_squares_are_those_of_formed_rows(name):
    rows = layer_rows(MAPS[name], np.float64, inputs=name != "spline")
    passes = Passes(rows.take(np.arange(0, 300, 2)), constant=True)
    formed = np.hstack([passes.block(slice(None)), np.ones((150, 1))])
    rng = np.random.default_rng(1)
    weights, scale = rng.uniform(size=150), rng.uniform(size=formed.shape[1])
    np.testing.assert_allclose(passes.weighted_squares(weights), weights @ formed**2, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(passes.row_squares(scale), formed**2 @ scale, rtol=1e-9)
    assert not isinstance(products_with(rows, np.zeros((rows.n_columns, 1)), squared=True), BlockProducts)


def test_sums_of_threads_add_up():
    for inputs in (False, True):
        rows = layer_rows(MAPS["spline"], np.float64, inputs=inputs)
        C = np.random.default_rng(3).normal(size=(rows.n_columns, 3))
        whole, alone = products_with(rows, C), products_with(rows, C)
        for part in (slice(0, 120), slice(120, 300)):
            products = whole.anew()
            products.add(products.scores(part))
            whole.merge(products)
            alone.add(alone.scores(part))
        np.testing.assert_allclose(whole.total(), alone.total(), atol=1e-9)


def test_views_keep_the_products_of_their_source():
    rows = layer_rows(MAPS["spline"], np.float64)
    chosen = rows.with_labels(np.zeros(300)).take(np.arange(0, 300, 7))
    C = np.random.default_rng(2).normal(size=(rows.n_columns, 3))
    np.testing.assert_allclose(products_with(chosen, C).scores(slice(2, 9)), chosen.rows(slice(2, 9)) @ C, atol=1e-12)
    assert chosen.floats_per_row == rows.floats_per_row < rows.n_columns


def test_many_classes_and_maps_without_pieces_form_rows():
    rows = layer_rows(MAPS["spline"], np.float64)
    assert isinstance(products_with(rows, np.zeros((rows.n_columns, MAX_CLASSES + 1))), BlockProducts)
    plain = layer_rows(FEATURE_MAPS["identity"], np.float64)
    assert isinstance(products_with(plain, np.zeros((plain.n_columns, 3))), BlockProducts)


@pytest.mark.parametrize("constant", [True, False])
def test_a_pass_does_not_depend_on_the_threads(constant):
    passes = [Passes(layer_rows(MAPS["spline"], np.float32), constant, batch_size=16, n_jobs=j) for j in (1, 2)]
    C = np.random.default_rng(3).normal(size=(passes[0].n_columns, 4))

    def twice(_, values):
        values *= 2

    first, second = (p.there_and_back(C, twice) for p in passes)
    np.testing.assert_array_equal(first, second)
    formed = passes[0].source.rows(slice(None)).astype(float)
    formed = np.hstack([formed, np.ones((300, int(constant)))])
    np.testing.assert_allclose(first, 2 * formed.T @ (formed @ C), rtol=1e-3, atol=1e-2)
