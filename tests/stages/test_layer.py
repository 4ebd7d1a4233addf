"""Layers make the rows of the matrices they stand for, whether projections are held or not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.features.maps import as_feature_map
from eigenfeat.rows import as_row_source
from eigenfeat.stages import Affine, Chain, FeatureLayer, LayerRows, WithConstant


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(37, 5)).astype(np.float32), rng.normal(size=(3, 5)).astype(np.float32)


def layer(components, name, keep=False, bias=None):
    scale = np.ones(components.shape[1]) if keep else None
    return FeatureLayer(Affine.of(components.T, bias), as_feature_map(name), scale)


def test_lazy_and_held_projections_make_the_formed_matrix(data):
    X, components = data
    lifted = np.hstack([components, np.zeros((3, 1), np.float32)])
    stage = layer(lifted, "cubic", keep=True)
    formed = np.hstack([X, np.ones((37, 1), np.float32), as_feature_map("cubic")(X @ components.T)])
    inner = Chain((WithConstant(),)).over(as_row_source(X))
    for rows in (Chain((stage,)).over(inner), LayerRows.of(inner, stage)):
        assert rows.dtype == np.float32 and rows.n_columns == formed.shape[1]
        np.testing.assert_allclose(rows.rows(slice(0, 37)), formed, rtol=1e-4, atol=1e-5)
        index = np.array([30, 2, 2, 11])
        np.testing.assert_allclose(rows.rows(index), formed[index], rtol=1e-4, atol=1e-5)
        for block in rows.blocks(10):
            np.testing.assert_allclose(block.rows, formed[block.selection], rtol=1e-4, atol=1e-5)


def test_layers_compose(data):
    X, components = data
    second = np.random.default_rng(1).normal(size=(2, 6)).astype(np.float32)
    deep = Chain((layer(components, "rectified"), layer(second, "absolute", bias=np.array([-1.0, 1.0]))))
    expected = np.abs(as_feature_map("rectified")(X @ components.T) @ second.T - [1, -1])
    np.testing.assert_allclose(deep.at(X), expected, rtol=1e-4, atol=1e-5)


def test_sparse_inputs_and_memory_maps_are_sources(data, tmp_path):
    X, components = data
    stored = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=X.shape)
    stored[:] = X
    chain = Chain((layer(components, "square", keep=True),))
    for kind in (sparse.csc_array(X), stored):
        np.testing.assert_allclose(chain.at(kind), chain.at(X), rtol=1e-4, atol=1e-5)


def test_integers_are_read_as_floats():
    rows = as_row_source(np.arange(6, dtype=np.uint8).reshape(3, 2))
    assert rows.rows(slice(0, 3)).dtype == rows.dtype == np.float64
