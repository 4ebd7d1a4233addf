"""The full linear program: against the written-out one, without highspy, and repeated rows."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from written_out import cells, check_minimum, optimum, repeated_rows, small_problem

from eigenfeat.kernel import column_generation, lp
from eigenfeat.kernel.problem import DEFAULTS, KernelRequest
from eigenfeat.kernel.table import SOLVERS
from eigenfeat.stages.kernels import Kernel, KernelRows


@pytest.mark.parametrize("alpha", [1e-2, 1.0])
@pytest.mark.parametrize(("loss", "penalty"), cells(lp.SOLVER))
def test_reaches_the_optimum_of_the_written_out_program(loss, penalty, alpha):
    problem = small_problem(loss, penalty, alpha)
    assert check_minimum(problem, lp.solve(problem)).converged


@pytest.mark.parametrize("loss", ["absolute", "epsilon"])
def test_scipy_stands_in_for_highspy(loss, monkeypatch):
    problem = small_problem(loss, "sparse", 1.0)
    warm = lp.solve(problem)
    monkeypatch.setitem(sys.modules, "highspy", None)
    scratch = lp.solve(problem)
    np.testing.assert_allclose(scratch.objective, warm.objective, rtol=1e-8)
    with pytest.raises(ImportError, match=r"pip install 'eigenfeat\[lp\]'"):
        column_generation.solve(problem)


@pytest.mark.parametrize("loss", ["absolute", "epsilon"])
def test_a_weight_counts_as_repeated_rows_and_zero_as_none(loss):
    problem = small_problem(loss, "sparse", 0.5, n=30)
    counts = np.arange(30) % 4
    repeats = np.repeat(np.arange(30), counts)
    weighted = lp.solve(replace(problem, weights=counts.astype(float)))
    repeated = lp.solve(repeated_rows(problem, repeats))
    np.testing.assert_allclose(weighted.objective, repeated.objective, rtol=1e-8)
    assert not weighted.coefficients[counts == 0].any()


def test_an_indefinite_kernel_is_allowed():
    rng = np.random.default_rng(0)
    indefinite = rng.normal(size=(40, 40))
    kernel = KernelRows(Kernel(), indefinite + indefinite.T, precomputed=True)
    problem = replace(small_problem("absolute", "sparse", 1.0), kernel=kernel)
    np.testing.assert_allclose(lp.solve(problem).objective, optimum(problem), rtol=1e-6)


def test_steps_are_limited_and_the_limit_is_reported():
    problem = small_problem("absolute", "sparse", 0.01)
    assert not lp.solve(problem, KernelRequest(max_iter=3)).converged


def test_auto_needs_no_highspy_at_any_size(monkeypatch):
    """The whole program by scipy, and a word on what would be faster."""
    monkeypatch.setitem(sys.modules, "highspy", None)
    monkeypatch.setattr(lp, "MAX_ROWS", 30)
    problem = small_problem("absolute", "sparse", 1.0)
    solver = SOLVERS.choose("auto", problem, DEFAULTS)
    assert solver.name == "lp"
    with pytest.warns(UserWarning, match=r"pip install 'eigenfeat\[lp\]'"):
        check_minimum(problem, solver.solve(problem, DEFAULTS))


@pytest.mark.parametrize("centers", [np.arange(0, 40, 3), np.random.RandomState(5).randn(12, 3)])
@pytest.mark.parametrize("loss", ["absolute", "epsilon"])
@pytest.mark.parametrize("highspy", [True, False])
def test_over_centres_the_program_has_their_columns_only(loss, centers, highspy, monkeypatch):
    if not highspy:
        monkeypatch.setattr(lp, "has_highspy", lambda: False)
    problem = replace(small_problem(loss, "sparse", 0.3), centers=centers)
    np.testing.assert_allclose(lp.solve(problem).objective, optimum(problem), rtol=1e-6)
