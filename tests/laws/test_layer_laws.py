"""Maps, layers and rows together: a layer as a stage, and the rows it makes while projections are held."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.features.maps import FeatureMap, as_feature_map
from eigenfeat.rows import ArrayRows
from eigenfeat.stages import Affine, FeatureLayer, LayerRows

rng = np.random.default_rng(0)
X, V, b = rng.normal(size=(60, 5)), rng.normal(size=(5, 3)), rng.normal(size=3)
SCALE = np.linspace(0.5, 1.5, 5)
LABELS = np.arange(len(X)) % 2


@pytest.mark.parametrize("name", ["soft-cubic", "square", "identity"])
@pytest.mark.parametrize("scale", [None, SCALE], ids=["alone", "beside inputs"])
def test_a_layer_is_scaled_inputs_and_the_map_of_projections(name, scale):
    layer = FeatureLayer(Affine.of(V, b), as_feature_map(name), scale)
    features = as_feature_map(name)(X @ V + b)
    expected = features if scale is None else np.hstack([X * scale, features])
    np.testing.assert_allclose(layer.apply(X), expected, atol=1e-12)
    np.testing.assert_allclose(layer.apply(sparse.csr_array(X)), expected, atol=1e-12)
    assert layer.n_columns(5) == expected.shape[1]


@pytest.mark.parametrize("scale", [None, SCALE], ids=["alone", "beside inputs"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_held_projections_give_the_rows_of_the_stage(scale, dtype):
    layer = FeatureLayer(Affine.of(V, b), as_feature_map("soft-cubic"), scale)
    source = ArrayRows(X.astype(dtype), LABELS)
    rows = LayerRows.of(source, layer)
    assert rows.dtype == dtype and (rows.n_rows, rows.n_columns) == (len(X), layer.n_columns(5))
    np.testing.assert_allclose(rows.to_array(), layer.apply(X), atol=1e-5)
    index = np.array([7, 7, 0])
    np.testing.assert_allclose(rows.rows(index), layer.apply(X[index]), atol=1e-5)
    np.testing.assert_array_equal(rows.take(index).y, LABELS[index])
    assert rows.weight is None


def test_inputs_that_are_not_kept_are_not_read_again():
    class Once(ArrayRows):
        reads = 0

        def rows(self, selection):
            type(self).reads += 1
            return super().rows(selection)

    rows = LayerRows.of(Once(X), FeatureLayer(Affine.of(V), as_feature_map("square")))
    before = Once.reads
    rows.to_array()
    assert Once.reads == before


def test_a_map_writes_where_it_is_told_to():
    """A map of one's own must leave what stands before ``start`` alone."""

    class Double(FeatureMap):
        name = "double"

        def n_columns(self, n_projections):
            return n_projections

        def write(self, projections, out, start=0):
            out[:, start : start + projections.shape[1]] = 2 * projections

        def feature_names(self, projection_names):
            return list(projection_names)

    layer = FeatureLayer(Affine.of(V), Double(), np.ones(5))
    np.testing.assert_allclose(layer.apply(X), np.hstack([X, 2 * (X @ V)]))
