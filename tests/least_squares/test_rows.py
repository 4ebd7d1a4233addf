"""Centred rows, dense and implicit, and the rows of a kernel."""

import numpy as np
from ls_problems import inputs
from scipy import sparse

from eigenfeat.least_squares.rows import centre


def test_rows_behave_as_the_matrix_they_stand_for():
    rng = np.random.default_rng(7)
    X, weight = inputs(rng, 15, 22), rng.uniform(0.1, 2, size=15)
    dense, implicit = centre(X, weight), centre(sparse.csr_array(X), weight)
    A = np.sqrt(weight)[:, None] * (X - np.average(X, axis=0, weights=weight))
    V, U = rng.normal(size=(22, 3)), rng.normal(size=(15, 3))
    for rows in (dense, implicit):
        np.testing.assert_allclose(rows.times(V), A @ V)
        np.testing.assert_allclose(rows.transpose_times(U), A.T @ U, atol=1e-12)
        np.testing.assert_allclose(rows.gram(), A.T @ A, atol=1e-12)
        np.testing.assert_allclose(rows.dual_gram(), A @ A.T, atol=1e-12)
        np.testing.assert_allclose(rows.column_squares(), np.sum(A**2, axis=0), atol=1e-12)
