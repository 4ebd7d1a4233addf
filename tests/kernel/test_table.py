"""Loss x penalty x solver: every cell works or says which cells do."""

import numpy as np
import pytest
from written_out import optimum, small_problem

from eigenfeat import KernelFisherClassifier, KernelFisherRegressor
from eigenfeat.kernel.problem import LOSSES, PENALTIES
from eigenfeat.kernel.table import SOLVERS, choose, solvers_of

RNG = np.random.RandomState(0)
X = RNG.randn(60, 3)
Y = (X[:, 0] * X[:, 1] + 0.2 * RNG.randn(60) > 0).astype(int)
APPROXIMATE = ("greedy", "greedy_smo")


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_cell_works_or_names_those_that_do(loss, penalty, solver):
    model = KernelFisherClassifier(gamma=0.5, alpha=0.3, loss=loss, penalty=penalty, solver=solver, random_state=0)
    if solver in solvers_of(loss, penalty):
        assert model.fit(X, Y).score(X, Y) > 0.8
        assert model.dual_coef_.shape == (60, 1)
        return
    with pytest.raises(ValueError, match="does not solve") as error:
        model.fit(X, Y)
    for name in solvers_of(loss, penalty):
        assert name in str(error.value)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_exact_solvers_of_a_cell_reach_one_minimum(loss, penalty):
    problem = small_problem(loss, penalty, 0.3)
    best = optimum(problem)
    y = problem.targets
    exact = [name for name in solvers_of(loss, penalty) if name not in (*APPROXIMATE, "eigen", "subset", "nystrom")]
    assert choose(loss, penalty, 40, None, False) in exact
    for solver in exact:
        model = KernelFisherRegressor(gamma=0.5, alpha=0.3, loss=loss, penalty=penalty, solver=solver, tol=1e-8)
        model.fit(problem.kernel.rows, y, sample_weight=problem.weights)
        np.testing.assert_allclose(model.objective_, best, rtol=1e-6)


def test_auto_grows_with_the_problem():
    assert choose("squared", "function", 5000, None, False) == "linear"
    assert choose("squared", "function", 500_000, None, False) == "nystrom"
    assert choose("squared", "coefficients", 5000, 300, False) == "subset"
    assert choose("squared", "function", 5000, None, True) == "subset"
    assert choose("absolute", "function", 5000, None, False) == "smo"
    assert choose("absolute", "sparse", 5000, None, False) == "column_generation"
