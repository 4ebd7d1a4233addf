"""Outputs at rows whose fold was left out: for the losses and penalties that have no exact leave-one-out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenfeat.kernel import linear, sparse_path, subset
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.search import codes_of, over_rows
from eigenfeat.kernel.table import SOLVERS
from eigenfeat.rows.sampling import splits_in_order


def path(
    problem: KernelProblem, alphas: Sequence[float], request: KernelRequest = DEFAULTS
) -> Iterator[KernelSolution]:
    """The solution at every alpha of any problem, by the solver "auto" takes; from one another where there is a way."""
    solver = SOLVERS.choose("auto", problem, request)
    if problem.penalty == "sparse":
        yield from sparse_path.path(problem, alphas, request)
    elif solver.name in ("linear", "subset"):
        yield from (linear.path if solver.name == "linear" else subset.path)(problem, alphas)
    else:
        yield from (solver.solve(replace(problem, alpha=float(alpha)), request) for alpha in alphas)


@dataclass(frozen=True, eq=False)
class ByFolds:
    """A `eigenfeat.kernel.search.LeftOut` by the folds of a splitter of scikit-learn's kind.

    A fold that is left out takes its kernel functions along: centres that are rows are those of the other folds. With
    ``by_key`` the splitter sees the rows in the order of their keys, else in the order the user gave them.
    """

    splitter: Any
    by_key: bool = False
    costs_fits = True

    def __call__(self, problem: KernelProblem, alphas: Sequence[float], keep: bool = True) -> Iterator[KernelSolution]:
        outputs = self._outputs(problem, alphas)
        if keep:
            yield from (replace(s, loo_outputs=q) for s, q in zip(path(problem, alphas), outputs))
            return
        nothing = np.zeros((0, problem.targets.shape[1]))
        empty = np.zeros(problem.targets.shape[1])
        yield from (KernelSolution(nothing, empty, empty, True, 0, "", loo_outputs=q) for q in outputs)

    def settled(self, problem: KernelProblem, alpha: float, outputs: np.ndarray | None) -> KernelSolution:
        """The solution of all rows at one alpha; no fold is fitted again where the outputs are known."""
        if outputs is None:
            return next(self(problem, [alpha]))
        return replace(next(path(problem, [alpha])), loo_outputs=outputs)

    def _outputs(self, problem: KernelProblem, alphas: Sequence[float]) -> np.ndarray:
        """(alphas, n, m): rows that are in several held-out folds have the mean, rows in none are refused."""
        order = problem.order if self.by_key else np.arange(problem.n_rows)
        total = np.zeros((len(alphas), *problem.targets.shape))
        times = np.zeros(problem.n_rows)
        for fitted, held_out in splits_in_order(self.splitter, order, codes_of(problem.targets)):
            part = over_rows(problem, fitted, centers_within(problem, fitted))
            expanded_over = fitted if part.centers is None else problem_points(problem, part, fitted)
            K = problem.kernel.block(held_out, expanded_over)
            for a, solution in enumerate(path(part, alphas)):
                coefficients = solution.coefficients
                if part.centers is not None and part.centers.ndim == 1:
                    coefficients = coefficients[part.centers]
                total[a, held_out] += K @ coefficients + solution.intercept
            times[held_out] += 1
        if not times.all():
            raise ValueError(
                f"cv leaves {int((times == 0).sum())} of {problem.n_rows} rows in no held-out fold, and the threshold "
                "is found at rows held out. Give a number of folds, or a splitter whose held-out parts cover all rows."
            )
        return total / times[:, None]


def centers_within(problem: KernelProblem, rows: np.ndarray) -> np.ndarray | None:
    """Centres of a restricted expansion among these rows, as numbers of theirs; points stay."""
    centers = problem.centers
    if centers is None or centers.ndim == 2:
        return centers
    return np.flatnonzero(np.isin(rows, centers))


def problem_points(problem: KernelProblem, part: KernelProblem, rows: np.ndarray) -> np.ndarray:
    """The centres of a part as the whole problem knows them."""
    assert part.centers is not None
    return part.centers if part.centers.ndim == 2 else rows[part.centers]
