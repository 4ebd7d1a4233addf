"""Layers make the rows of the matrices they stand for, whether projections are held or not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.features.maps import as_feature_map
from eigenfeat.rows import as_rows
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
    inner = Chain((WithConstant(),)).over(as_rows(X))
    for rows in (Chain((stage,)).over(inner), LayerRows.of(inner, stage)):
        assert rows.dtype == np.float32 and rows.n_columns == formed.shape[1]
        np.testing.assert_allclose(rows.rows(slice(0, 37)), formed, rtol=1e-4, atol=1e-5)
        index = np.array([30, 2, 2, 11])
        np.testing.assert_allclose(rows.rows(index), formed[index], rtol=1e-4, atol=1e-5)
        for block in rows.blocks(10):
            np.testing.assert_allclose(block.X, formed[block.positions], rtol=1e-4, atol=1e-5)


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
    rows = as_rows(np.arange(6, dtype=np.uint8).reshape(3, 2))
    assert rows.rows(slice(0, 3)).dtype == rows.dtype == np.float64


@pytest.mark.parametrize("n_scores", [1, 7, 40])
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("name", ["cubic", "soft-cubic", "spline", "rectified"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_of_many_rows_are_those_of_formed_features(name, keep, n_scores, dtype):
    rng = np.random.default_rng(0)
    X, components = rng.normal(size=(700, 5)).astype(dtype), rng.normal(size=(3, 5)).astype(dtype)
    feature_map = as_feature_map(name).fit(X @ components.T)
    stage = FeatureLayer(Affine.of(components.T), feature_map, np.linspace(1, 2, 5) if keep else None)
    linear = Affine.of(rng.normal(size=(stage.n_columns(5), n_scores)).astype(dtype), np.ones(n_scores))
    chain = Chain((Chain((stage, linear)), linear_part(n_scores)))
    result = chain.at(X)
    assert result.dtype == dtype
    np.testing.assert_allclose(result, chain.apply(X), rtol=0, atol=(3e-4 if dtype == np.float32 else 1e-11))


def linear_part(n_scores):
    return Affine.of(np.eye(n_scores)[:, :1])


def test_scores_from_pieces_form_no_features():
    X = np.random.default_rng(0).normal(size=(10, 5))
    stage = layer(np.eye(5), "soft-cubic")
    fused = Chain((stage, Affine.of(np.ones((stage.n_columns(5), 2))))).fused()
    assert [type(s).__name__ for s in fused.stages] == ["LayerScores"]
    assert fused.widest(5) < stage.n_columns(5) and fused.n_columns(5) == 2
    assert fused.apply(X).shape == (10, 2)
