"""LSQR a target at a time against the normal equations."""

import numpy as np
import pytest
from ls_problems import factor, inputs, problem
from sklearn.exceptions import ConvergenceWarning

from eigenfeat.least_squares.direct import solve_primal
from eigenfeat.least_squares.lsqr import solve_lsqr
from eigenfeat.least_squares.solution import LeastSquaresRequest
from eigenfeat.least_squares.solve import solve


@pytest.mark.parametrize("shift", [0.0, 0.5])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("shape", [(50, 8), (20, 30)])
def test_regressions_are_those_of_the_normal_equations(shape, is_sparse, shift):
    rng = np.random.default_rng(0)
    one = problem(inputs(rng, *shape), *factor("opls", rng, shape[0]), shift, is_sparse=is_sparse)
    request = LeastSquaresRequest(tol=1e-14)
    found = solve_lsqr(one, request)
    np.testing.assert_allclose(found.vectors, solve_primal(one, request).vectors, atol=1e-8)
    assert found.converged.all()
    assert found.n_iter > 1


def test_float32_rows_give_float32_vectors():
    rng = np.random.default_rng(1)
    X = inputs(rng, 40, 6)
    H, project = factor("any", rng, 40)
    single = solve_lsqr(problem(X.astype(np.float32), H, project, 0.5), LeastSquaresRequest())
    assert single.vectors.dtype == np.float32
    double = solve_lsqr(problem(X, H, project, 0.5), LeastSquaresRequest())
    np.testing.assert_allclose(single.vectors, double.vectors, atol=1e-6)  # float32 rounds at 6e-8


def test_iterations_that_run_out_are_reported():
    rng = np.random.default_rng(2)
    one = problem(inputs(rng, 60, 50), *factor("any", rng, 60))
    with pytest.warns(ConvergenceWarning, match="3 of 3 targets did not reach tol=1e-12 in max_iter=2"):
        assert solve(one, "lsqr", LeastSquaresRequest(tol=1e-12, max_iter=2)).n_iter == 2
