"""Least squares is a quotient like any other: who solves it does not matter."""

import numpy as np
import pytest
from ls_problems import factor, inputs, problem
from scipy import sparse

from eigenfeat.least_squares.quotient import pose
from eigenfeat.least_squares.rows import append_differences, centre, centre_kernel
from eigenfeat.least_squares.solve import solve as solve_least_squares
from eigenfeat.least_squares.targets import reduce
from eigenfeat.moments.forms import DenseForm
from eigenfeat.quotients import Quotient, Regularisation
from eigenfeat.solvers import solve


@pytest.mark.parametrize("model", ["lda", "cca", "opls", "star"])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("solver", ["low_rank", "dense", "krylov"])
def test_the_solvers_of_quotients_find_the_same_directions(model, is_sparse, solver):
    rng = np.random.default_rng(0)
    one = problem(inputs(rng, 60, 9), *factor(model, rng, 60), shift=0.7, is_sparse=is_sparse)
    here = solve_least_squares(one)
    there = solve([one], len(here.values), solver=solver, tol=1e-10)[0]
    np.testing.assert_allclose(there.values, here.values, rtol=1e-8)
    np.testing.assert_allclose(there.toarray(), here.vectors, atol=1e-6)
    assert (one.kind, one.label) == ("least-squares", "small")
    np.testing.assert_allclose(one.origin, one.rows.mean)


def test_a_ridge_is_relative_to_the_mean_diagonal_of_the_rows_or_their_kernel():
    rng = np.random.default_rng(1)
    X = inputs(rng, 20, 6)
    A = X - X.mean(axis=0)
    rows, kernel = centre(X), centre_kernel(X @ X.T)
    targets = reduce(rng.normal(size=(20, 2)), rows.root)
    assert pose(rows, targets).shift == 0
    assert pose(rows, targets, Regularisation(0.5)).shift == pytest.approx(0.5 * np.sum(A**2) / 6)
    assert pose(kernel, targets, Regularisation(0.5)).shift == pytest.approx(0.5 * np.sum(A**2) / 20)
    assert pose(rows, targets, Regularisation(0.5)).shifted(2.0).shift == pytest.approx(2 + 0.5 * np.sum(A**2) / 6)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_differences_below_the_rows_are_noise_alone(is_sparse):
    rng = np.random.default_rng(2)
    X, D = inputs(rng, 25, 6), rng.normal(size=(7, 6))
    one = problem(X, *factor("any", rng, 25), shift=0.3, is_sparse=is_sparse)
    more = one.over(append_differences(one.rows, sparse.csr_array(D) if is_sparse else D))
    np.testing.assert_allclose(more.noise.toarray(), one.noise.toarray() + D.T @ D, atol=1e-10)
    np.testing.assert_allclose(more.signal.toarray(), one.signal.toarray(), atol=1e-10)


@pytest.mark.parametrize("solver", ["auto", "dual"])
def test_a_quotient_without_rows_is_refused_by_solvers_that_need_them(solver):
    other = Quotient(DenseForm(np.eye(3)), DenseForm(np.eye(3)), signal_factor=np.eye(3), label="of matrices")
    with pytest.raises(ValueError, match=r"'of matrices': .*over the same centred rows"):
        solve_least_squares(other, solver)
