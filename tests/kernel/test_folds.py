"""Outputs of rows whose fold was left out: those of fits without the fold."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit
from written_out import small_problem

from eigenfeat.kernel.folds import ByFolds, path
from eigenfeat.kernel.problem import DEFAULTS
from eigenfeat.kernel.table import SOLVERS
from eigenfeat.stages.kernels import KernelRows

FOLDS = KFold(3)


@pytest.mark.parametrize("centers", [None, np.arange(0, 45, 2)])
@pytest.mark.parametrize(
    ("loss", "penalty"),
    [("squared", "sparse"), ("absolute", "sparse"), ("huber", "function"), ("squared", "coefficients")],
)
def test_outputs_are_those_of_fits_without_the_fold(loss, penalty, centers):
    problem = replace(small_problem(loss, penalty, 1.0, n=45), centers=centers)
    (solution,) = ByFolds(FOLDS)(problem, [0.5])
    for fitted, held_out in FOLDS.split(np.zeros((45, 1))):
        over = fitted if centers is None else np.intersect1d(fitted, centers)
        part = replace(
            problem,
            kernel=KernelRows(problem.kernel.kernel, problem.kernel.rows[fitted]),
            targets=problem.targets[fitted],
            weights=problem.weights[fitted],
            centers=None if centers is None else problem.kernel.rows[over],
            alpha=0.5,
        )
        alone = SOLVERS.choose("auto", part, DEFAULTS).solve(part, DEFAULTS)
        expected = problem.kernel.block(held_out, over) @ alone.coefficients + alone.intercept
        np.testing.assert_allclose(solution.loo_outputs[held_out], expected, atol=1e-4)


def test_the_solution_kept_is_that_of_all_rows():
    problem = small_problem("absolute", "function", 1.0, n=40)
    kept, alone = next(ByFolds(FOLDS)(problem, [0.7])), next(path(problem, [0.7]))
    np.testing.assert_allclose(kept.objective, alone.objective)
    (lean,) = ByFolds(FOLDS)(problem, [0.7], keep=False)
    np.testing.assert_array_equal(lean.loo_outputs, kept.loo_outputs)
    assert not lean.coefficients.size


def test_no_fold_is_fitted_again_where_its_outputs_are_known(monkeypatch):
    problem = small_problem("squared", "sparse", 1.0, n=40)
    left_out = ByFolds(FOLDS)
    (lean,) = left_out(problem, [0.7], keep=False)
    (whole,) = left_out(problem, [0.7])
    np.testing.assert_array_equal(left_out.settled(problem, 0.7, None).coefficients, whole.coefficients)
    monkeypatch.setattr(ByFolds, "_outputs", None)
    settled = left_out.settled(problem, 0.7, lean.loo_outputs)
    np.testing.assert_array_equal(settled.coefficients, whole.coefficients)
    np.testing.assert_array_equal(settled.loo_outputs, whole.loo_outputs)


def test_a_splitter_that_leaves_rows_out_of_every_held_out_part_is_refused():
    problem = small_problem("squared", "sparse", 1.0, n=40)
    with pytest.raises(ValueError, match="in no held-out fold"):
        list(ByFolds(ShuffleSplit(1, test_size=0.2, random_state=0))(problem, [1.0]))
