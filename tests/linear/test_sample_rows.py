"""Rows of a sample, held or made: the same products, and the same Gram matrix whatever its blocks."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from eigenfeat.features.maps import FEATURE_MAPS
from eigenfeat.linear import sample_rows
from eigenfeat.linear.passes import Passes
from eigenfeat.rows import as_rows
from eigenfeat.stages import Affine, FeatureLayer, LayerRows

N_PROJECTIONS = 80


def layer_rows(n_inputs, n_rows=300, dtype=np.float32):
    rng = np.random.default_rng(n_inputs)
    V = rng.normal(size=(n_inputs, N_PROJECTIONS)).astype(dtype)
    layer = FeatureLayer(Affine.of(V), FEATURE_MAPS["soft-cubic"])
    return LayerRows.of(as_rows(rng.normal(size=(n_rows, n_inputs)).astype(dtype)), layer)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_made_is_what_would_be_held(constant, dtype, monkeypatch):
    monkeypatch.setattr(sample_rows, "BLOCK_ROWS", 70)  # two whole blocks and a part of one
    rng = np.random.default_rng(0)
    passes = Passes(layer_rows(6, dtype=dtype), constant).of_rows(rng.permutation(300)[:200])
    factors = rng.uniform(0.5, 2, 200)
    made, S = sample_rows.PassedSample(passes, factors), passes.scaled(factors)
    eps = 100 * np.finfo(dtype).eps
    gram = S @ S.T
    np.testing.assert_allclose(np.tril(made.gram()), np.tril(gram), atol=eps * gram.max())
    C, V = rng.normal(size=(passes.n_columns, 4)), rng.normal(size=(200, 4)).astype(dtype)
    np.testing.assert_allclose(made.times(C), S @ C, atol=eps * np.abs(S @ C).max())
    np.testing.assert_allclose(made.back(V), S.T @ V, atol=eps * np.abs(S.T @ V).max())
    held = sample_rows.HeldSample(S)
    np.testing.assert_allclose(np.tril(held.gram()), np.tril(gram), atol=eps * gram.max())
    np.testing.assert_allclose(held.back(held.times(C)), S.T @ (S @ C), atol=10 * eps * np.abs(S.T @ (S @ C)).max())


@pytest.mark.parametrize(
    ("n_inputs", "n_products", "made"),
    [(6, 4, True), (N_PROJECTIONS // 8, 4, True), (N_PROJECTIONS // 8 + 1, 4, False), (200, 4, False), (6, 500, False)],
)
def test_only_rows_of_few_inputs_whose_products_do_not_form_them_are_made(n_inputs, n_products, made):
    rows = layer_rows(n_inputs)
    for source in (rows, rows.take(np.arange(50))):
        found = sample_rows.sample_rows(Passes(source), np.ones(source.n_rows), n_products)
        assert isinstance(found, sample_rows.PassedSample if made else sample_rows.HeldSample)


def test_rows_that_are_arrays_are_held():
    rows = as_rows(np.ones((20, 3)))
    assert isinstance(sample_rows.sample_rows(Passes(rows), np.ones(20), 2), sample_rows.HeldSample)


def test_products_are_the_same_however_many_threads_share_them():
    rng = np.random.default_rng(0)
    held = sample_rows.HeldSample(rng.normal(size=(37, 23)))
    C, V = rng.normal(size=(23, 4)), rng.normal(size=(37, 4))
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads, user_api="blas"):
            assert np.allclose(held.times(C), held.rows @ C, rtol=1e-12, atol=1e-12)
            assert np.allclose(held.back(V), held.rows.T @ V, rtol=1e-12, atol=1e-12)
