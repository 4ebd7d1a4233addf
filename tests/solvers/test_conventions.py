"""The numerical decisions every solver shares: order, rank, residual."""

from dataclasses import replace

import numpy as np
import pytest

from eigenfeat.solvers.canonical import leading, rank_cutoff, relative_residuals, wanted
from eigenfeat.solvers.contract import Request


def request(**changes):
    usual = Request(n_components=2, which="largest", min_eigenvalue=None, tol=1e-6, dtype=np.dtype(float), seed=0)
    return replace(usual, **changes)


def test_the_wanted_end_comes_first():
    values, vectors = np.array([1.0, 2.0, 3.0]), np.arange(9.0).reshape(3, 3)
    top, V = leading(values, vectors, request())
    np.testing.assert_array_equal(top, [3, 2])
    np.testing.assert_array_equal(V, vectors[:, [2, 1]])
    bottom, _ = leading(values, vectors, request(which="smallest", n_components=None))
    np.testing.assert_array_equal(bottom, [1, 2, 3])
    assert request(n_components=9).count(3) == 3


def test_a_threshold_drops_what_is_below_it_and_what_is_not_there():
    values = np.array([3.0, 1.0, np.nan])
    np.testing.assert_array_equal(wanted(values, request()), [True, True, False])
    np.testing.assert_array_equal(wanted(values, request(min_eigenvalue=1.0)), [True, True, False])
    np.testing.assert_array_equal(wanted(values, request(min_eigenvalue=1.1)), [True, False, False])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_rank_of_a_product_of_rows_is_the_number_of_rows(dtype, scale):
    X = (np.random.default_rng(0).standard_normal((7, 40)) * scale**0.5).astype(dtype)
    values = np.linalg.eigvalsh(X.T @ X)
    assert np.sum(values > rank_cutoff(values, np.dtype(dtype))) == 7


def test_residuals_are_zero_at_eigenvectors_and_one_far_from_them():
    S, N = np.diag([4.0, 1.0]), np.eye(2)
    exact = relative_residuals(S, N, np.array([4.0, 1.0]), 4.0)
    np.testing.assert_array_equal(exact, [0, 0])
    v = np.array([[1.0], [1.0]]) / np.sqrt(2)
    wrong = relative_residuals(S @ v, N @ v, np.array([2.5]), 4.0)
    expected = np.linalg.norm(S @ v - 2.5 * v) / (np.linalg.norm(S @ v) + 2.5)
    np.testing.assert_allclose(wrong, expected)


def test_the_residual_of_an_eigenvalue_of_zero_is_not_rounding_over_rounding():
    v = np.array([[0.0], [1.0]])
    S = np.diag([1.0, 1e-17])
    assert relative_residuals(S @ v, v, np.array([0.0]), 1.0)[0] < 1e-10
    assert relative_residuals(np.zeros((2, 1)), np.zeros((2, 1)), np.zeros(1), 0.0)[0] == 0
