"""Lazy sources give the rows of the matrices they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.features.expansion import Expansion, Projection, as_row_source, iterate_blocks
from eigenfeat.features.maps import as_feature_map


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(37, 5)).astype(np.float32), rng.normal(size=(3, 5)).astype(np.float32)


def test_expansion_of_lazy_projections_is_the_formed_matrix(data):
    X, components = data
    expansion = Expansion(
        Projection(as_row_source(X), components), as_feature_map("cubic"), as_row_source(X), constant=True
    )
    formed = np.hstack([X, np.ones((37, 1), np.float32), as_feature_map("cubic")(X @ components.T)])
    assert expansion.dtype == np.float32 and expansion.n_columns == formed.shape[1]
    np.testing.assert_allclose(expansion.toarray(), formed, rtol=1e-4, atol=1e-5)
    index = np.array([30, 2, 2, 11])
    np.testing.assert_allclose(expansion.rows(index), formed[index], rtol=1e-4, atol=1e-5)
    for chosen, block in iterate_blocks(expansion, batch_size=10):
        np.testing.assert_allclose(block, formed[chosen], rtol=1e-4, atol=1e-5)


def test_sources_compose(data):
    X, components = data
    first = Expansion(Projection(as_row_source(X), components), as_feature_map("rectified"))
    second = np.random.default_rng(1).normal(size=(2, 6)).astype(np.float32)
    deep = Expansion(Projection(first, second, offsets=np.array([1.0, -1.0])), as_feature_map("absolute"))
    expected = np.abs(as_feature_map("rectified")(X @ components.T) @ second.T - [1, -1])
    np.testing.assert_allclose(deep.toarray(), expected, rtol=1e-4, atol=1e-5)


def test_sparse_inputs_and_memory_maps_are_sources(data, tmp_path):
    X, components = data
    stored = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=X.shape)
    stored[:] = X
    expected = Expansion(Projection(as_row_source(X), components), as_feature_map("square"), as_row_source(X))
    for kind in (sparse.csc_array(X), stored):
        rows = as_row_source(kind)
        lazy = Expansion(Projection(rows, components), as_feature_map("square"), rows)
        np.testing.assert_allclose(lazy.toarray(), expected.toarray(), rtol=1e-4, atol=1e-5)


def test_integers_are_read_as_floats():
    rows = as_row_source(np.arange(6, dtype=np.uint8).reshape(3, 2))
    assert rows.rows(slice(0, 3)).dtype == rows.dtype == np.float64
