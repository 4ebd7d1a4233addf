"""Projections: a bias is added, a point is seen from, rows of any kind."""

import numpy as np
from chains import D, V, X, b, dual_vectors
from scipy import sparse

from eigenfeat.solvers import DenseVectors
from eigenfeat.stages import Affine


def test_the_bias_is_added():
    np.testing.assert_allclose(Affine.of(V, b).apply(X), X @ V + b)
    np.testing.assert_allclose(Affine.of(V).apply(X), X @ V)


def test_about_a_point():
    point = np.linspace(1, 2, D)
    for vectors in (DenseVectors(V), dual_vectors()):
        np.testing.assert_allclose(Affine.about(vectors, point).apply(X), (X - point) @ vectors.toarray(), atol=1e-12)
        assert Affine.about(vectors, None).bias is None


def test_directions_that_are_combinations_of_rows_are_never_formed():
    vectors = dual_vectors()
    stage = Affine(vectors, b)
    np.testing.assert_allclose(stage.apply(X), X @ vectors.toarray() + b, atol=1e-12)
    assert stage.vectors is vectors


def test_sparse_rows_give_dense_projections():
    thin = sparse.csr_array(np.where(np.abs(X) > 1, X, 0))
    for stage in (Affine.of(V, b), Affine(dual_vectors(), b)):
        made = stage.apply(thin)
        assert isinstance(made, np.ndarray)
        np.testing.assert_allclose(made, stage.apply(thin.toarray()), atol=1e-12)


def test_some_of_the_directions():
    for keep in (slice(1, 3), np.array([2, 0])):
        np.testing.assert_allclose(Affine.of(V, b).columns(keep).apply(X), (X @ V + b)[:, keep])
    assert Affine.of(V).columns(slice(0, 1)).bias is None


def test_products_run_in_the_type_of_the_rows():
    stage = Affine.of(V, b).astype(np.dtype(np.float32))
    assert stage.vectors.dtype == np.float32
    assert stage.apply(X.astype(np.float32)).dtype == np.float32
