"""Which alpha, and which width of the kernel: by outputs at rows left out, few of them first.

A decomposition of the kernel matrix of all rows gives the outputs left out for every alpha, and costs as much as
fifteen fits. So many rows are screened first: a quarter of them, 2,000 at most, have much the same best pair, at a
hundredth of the cost. From there a walk over neighbouring pairs on all rows, a fit each, ends at a pair with no better
neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from eigenfeat.kernel import linear, subset
from eigenfeat.kernel.problem import KernelProblem, KernelSolution
from eigenfeat.kernel.thresholds import error_at, thresholds
from eigenfeat.stages.kernels import KernelRows

#: Half decades in units of `alpha_unit`: on 22 tables (those of benchmarks/kfd_defaults.py among them) the best were
#: between 10⁻⁴ and 3. Of many rows every other one is screened.
ALPHAS = tuple((10.0 ** np.arange(-6.0, 2.01, 0.5)).tolist())
#: Multiples of the default gamma that a search begins with.
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
#: Up to this many rows a search looks at all of them at once.
FEW_ROWS = 1000
#: Rows that are screened, at most.
MOST_SCREENED = 2000
#: Values that an edge of the grid may move by, and fits of all rows that a walk may take.
MOST_EXTENSIONS = 6
MOST_FITS = 12
#: Mean squared residuals to labels ±1 below this are all the same: rows that stand in every fold leave nothing else.
NEGLIGIBLE = 1e-7

Score = Callable[[KernelProblem, KernelSolution], tuple[float, float]]
"""Of a solution with outputs left out: what is to be small, and what decides between equals."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A pair and its score, with the solution where it is kept, and the outputs left out where they cost folds."""

    alpha: float
    gamma: float
    score: tuple[float, float]
    solution: KernelSolution | None = None
    outputs: np.ndarray | None = None


class LeftOut(Protocol):
    """Where outputs at rows left out come from."""

    costs_fits: bool
    """Whether they ask for fits of their own, so that those known already are worth their memory."""

    def __call__(self, problem: KernelProblem, alphas: Sequence[float], keep: bool) -> Iterator[KernelSolution]:
        """Solutions for a path of alpha with these as ``loo_outputs``; where they are not kept these suffice."""
        ...

    def settled(self, problem: KernelProblem, alpha: float, outputs: np.ndarray | None) -> KernelSolution:
        """The solution of all rows at one alpha, whose outputs left out may be known."""
        ...


class _Exactly:
    """Solutions of squared loss, each with its exact leave-one-out outputs, which cost next to nothing."""

    costs_fits = False

    def __call__(self, problem: KernelProblem, alphas: Sequence[float], keep: bool = True) -> Iterator[KernelSolution]:
        return (linear.path if problem.centers is None else subset.path)(problem, alphas)

    def settled(self, problem: KernelProblem, alpha: float, outputs: np.ndarray | None) -> KernelSolution:
        return next(self(problem, [alpha]))


exactly: LeftOut = _Exactly()


def codes_of(targets: np.ndarray) -> np.ndarray:
    """Classes from ±1 columns, one against the rest."""
    return (targets[:, 0] > 0).astype(int) if targets.shape[1] == 1 else np.argmax(targets, axis=1)


def squared_residual(problem: KernelProblem, solution: KernelSolution) -> tuple[float, float]:
    """Mean square of what is left of the targets at rows left out."""
    assert solution.loo_outputs is not None
    squares = np.square(problem.targets - solution.loo_outputs).mean(axis=1, dtype=np.float64)
    mean = float(np.average(squares, weights=problem.weights))
    return (mean, mean) if np.isfinite(mean) else (np.inf, np.inf)


def classification_error(threshold: str | float) -> Score:
    """Error at rows left out, cut by this rule; of equal ones the smaller squared residual."""

    def score(problem: KernelProblem, solution: KernelSolution) -> tuple[float, float]:
        square, _ = squared_residual(problem, solution)
        if not np.isfinite(square):
            return np.inf, np.inf
        outputs, codes, weights = solution.loo_outputs, codes_of(problem.targets), problem.weights
        assert outputs is not None
        cuts = thresholds(outputs, codes, weights, threshold)
        return error_at(outputs, codes, weights)(cuts), max(square, NEGLIGIBLE)

    return score


def alpha_unit(problem: KernelProblem) -> float:
    """The mean diagonal of the matrix alpha is added to (`eigenfeat.kernel.linear`): one for "function" and "rbf".

    A mean over rows by their weights, in the units of one row: a weight is so many copies. For "sparse" and squared
    loss the alpha from which on there are no terms, the largest ``|k_jᵀ w (y - mean)|``.
    """
    weights = problem.weights.astype(np.float64)
    if problem.penalty == "sparse":
        over = problem.expanded_over
        over = over if over.ndim == 2 else problem.in_order(over)
        some = over if len(over) <= FEW_ROWS else over[np.linspace(0, len(over) - 1, FEW_ROWS).astype(int)]
        centred = problem.targets - weights @ problem.targets / weights.sum()
        pulls = problem.kernel.columns(some).astype(np.float64).T @ (weights[:, None] * centred)
        unit = float(np.abs(pulls).max())
        return unit if np.isfinite(unit) and unit > 0 else 1.0
    if problem.penalty == "function":
        diagonal = np.abs(problem.kernel.diagonal().astype(np.float64))
    else:
        there = problem.in_order(np.flatnonzero(weights > 0))
        some = there if len(there) <= FEW_ROWS else there[np.linspace(0, len(there) - 1, FEW_ROWS).astype(int)]
        weights = weights[some]
        diagonal = np.square(problem.kernel.block(some, problem.expanded_over).astype(np.float64)).sum(axis=1)
    unit = float(np.average(diagonal, weights=weights))
    return unit if np.isfinite(unit) and unit > 0 else 1.0


def at_gamma(problem: KernelProblem, gamma: float) -> KernelProblem:
    """The problem with another kernel width."""
    kernel = problem.kernel
    return replace(problem, kernel=KernelRows(replace(kernel.kernel, gamma=gamma), kernel.rows, kernel.precomputed))


def screened(problem: KernelProblem) -> KernelProblem:
    """The problem over a quarter of its rows, of every class its share; the problem itself where rows are few.

    Centres drawn from the rows give way to all of the fewer rows; points and invariances stay.
    """
    n_rows = int(np.clip(problem.n_rows // 4, FEW_ROWS // 2, MOST_SCREENED))
    if problem.n_rows <= FEW_ROWS:
        return problem
    kernel, key, draw = problem.kernel, codes_of(problem.targets), np.random.RandomState(0)
    drawn = np.empty(len(key))
    drawn[problem.order] = draw.uniform(size=len(key))
    order = np.lexsort((drawn, key))
    order = order[problem.weights[order] > 0]
    firsts = order[np.unique(key[order], return_index=True)[1]]
    spread = order[np.linspace(0, len(order) - 1, min(n_rows, len(order))).astype(int)]
    chosen = np.unique(np.concatenate([spread, firsts]))
    centers = problem.centers
    if centers is not None:
        centers = kernel.points(centers) if problem.invariances or centers.ndim == 2 else None
    return over_rows(replace(problem, centers=None), chosen, centers)


def over_rows(problem: KernelProblem, chosen: np.ndarray, centers: np.ndarray | None) -> KernelProblem:
    """The problem over these of its rows and over centres among them."""
    kernel = problem.kernel
    rows = kernel.rows[np.ix_(chosen, chosen)] if kernel.precomputed else kernel.rows[chosen]
    return replace(
        problem,
        kernel=KernelRows(kernel.kernel, rows, kernel.precomputed),
        targets=problem.targets[chosen],
        weights=problem.weights[chosen],
        copies=None if problem.copies is None else problem.copies[chosen],
        centers=centers,
    )


def has_left_out_outputs(problem: KernelProblem) -> bool:
    """Whether a fit of all rows with its outputs left out is to be had: what it keeps must fit in memory."""
    if problem.centers is None:
        return problem.n_rows <= linear.MAX_ROWS
    return problem.n_rows * problem.centers.shape[0] <= subset.MAX_ENTRIES


def tried(
    problem: KernelProblem,
    alphas: Sequence[float],
    score: Score,
    keep: bool = False,
    left_out: LeftOut = exactly,
) -> list[Trial]:
    """Every alpha at the gamma of the problem."""
    gamma = problem.kernel.kernel.gamma
    solutions = left_out(problem, alphas, keep)
    return [
        Trial(
            alpha,
            gamma,
            score(problem, solution),
            solution if keep else None,
            solution.loo_outputs if left_out.costs_fits else None,
        )
        for alpha, solution in zip(alphas, solutions)
    ]


def _settled(problem: KernelProblem, best: Trial, left_out: LeftOut) -> Trial:
    """A trial of all rows with its solution."""
    return replace(best, solution=left_out.settled(at_gamma(problem, best.gamma), best.alpha, best.outputs))


def best_alpha(problem: KernelProblem, score: Score) -> Trial:
    """The alpha of the least score, with the solution there unless rows are too many for outputs left out."""
    few = screened(problem)
    all_rows = few is problem
    unit = alpha_unit(problem)
    trials = tried(few, [unit * alpha for alpha in ALPHAS[:: 1 if all_rows else 2]], score, keep=all_rows)
    first = _best(trials)
    if all_rows or not has_left_out_outputs(problem):
        return first
    step = ALPHAS[1] / ALPHAS[0]
    return _walk(problem, first, score, [(step, 1.0), (1 / step, 1.0)])[0]


Run = Callable[[Callable[[float], list[Trial]], Sequence[float]], list[list[Trial]]]


@dataclass(frozen=True, eq=False)
class PairSearch:
    """What `best_pair` found.

    Attributes
    ----------
    best : Trial
        With the solution of all rows, unless these are too many for outputs left out.
    trials : list of Trial
        All pairs tried on all rows; those of the grid where no row was left aside.
    alphas, gammas : lists of float
        The grid, in the end.
    scores : (n_gammas, n_alphas, 2) array
        Its scores, on ``n_rows`` rows.
    n_rows : int
    extended : tuple of str
        Edges of the grid that were moved because the best pair was there.
    """

    best: Trial
    trials: list[Trial]
    alphas: list[float]
    gammas: list[float]
    scores: np.ndarray
    n_rows: int
    extended: tuple[str, ...]


def default_grid(problem: KernelProblem, every: int = 2) -> tuple[list[float], list[float]]:
    """Alphas, half decades or every other, in units of the kernel, and gammas about that of the problem."""
    unit, kernel = alpha_unit(problem), problem.kernel
    widths = WIDTHS if kernel.kernel.has_width and not kernel.precomputed else (1.0,)
    shares = ALPHAS[6:12] if problem.penalty == "sparse" else ALPHAS[4:-2:every]
    return [unit * alpha for alpha in shares], [kernel.kernel.gamma * width for width in widths]


def given_grid(
    problem: KernelProblem,
    score: Score,
    run: Run,
    alphas: Sequence[float],
    gammas: Sequence[float],
    left_out: LeftOut = exactly,
) -> PairSearch:
    """Every pair of a grid on all rows."""
    table = run(lambda gamma: tried(at_gamma(problem, gamma), alphas, score, left_out=left_out), gammas)
    trials = [trial for row in table for trial in row]
    best = _settled(problem, _best(trials), left_out)
    scores = np.array([[trial.score for trial in row] for row in table])
    return PairSearch(best, trials, list(alphas), list(gammas), scores, problem.n_rows, ())


def best_pair(
    problem: KernelProblem,
    score: Score,
    run: Run,
    left_out: LeftOut = exactly,
) -> PairSearch:
    """The best alpha and gamma of a grid about the gamma of the problem, extended at its edges and refined.

    Parameters
    ----------
    problem : KernelProblem
    score : Score
    run : callable
        ``run(function, gammas)``: a list of results, one a gamma, in any number of processes.
    left_out : callable
        Where outputs at rows left out come from.
    """
    few = screened(problem)
    all_rows = few is problem
    alphas, gammas = default_grid(problem, 1 if all_rows else 2)
    table: dict[tuple[float, float], Trial] = {}
    extended: list[str] = []
    while True:
        missing = [gamma for gamma in gammas if (gamma, alphas[0]) not in table or (gamma, alphas[-1]) not in table]
        wanted = [a for a in alphas if any((gamma, a) not in table for gamma in missing)]
        for trials in run(
            lambda gamma: tried(at_gamma(few, gamma), wanted, score, left_out=left_out),  # noqa: B023
            missing,
        ):
            table |= {(trial.gamma, trial.alpha): trial for trial in trials}
        best = _best(list(table.values()))
        edge = _edge(best, alphas, gammas)
        if edge is None or len(extended) >= MOST_EXTENSIONS:
            break
        extended.append(edge)
        _extend(edge, alphas, gammas)
    trials = list(table.values())
    if all_rows:
        best = _settled(problem, best, left_out)
    elif has_left_out_outputs(problem):
        step = ALPHAS[1] / ALPHAS[0]
        steps = [(step, 1.0), (1 / step, 1.0), (1.0, 2.0), (1.0, 0.5)]
        best, trials = _walk(problem, best, score, steps if len(gammas) > 1 else steps[:2], left_out)
    scores = np.array([[table[gamma, alpha].score for alpha in alphas] for gamma in gammas])
    return PairSearch(best, trials, alphas, gammas, scores, few.n_rows, tuple(dict.fromkeys(extended)))


def _edge(best: Trial, alphas: list[float], gammas: list[float]) -> str | None:
    """Where the best pair is at the end of the grid."""
    for name, value, grid in (("gamma", best.gamma, gammas), ("alpha", best.alpha, alphas)):
        if value in (grid[0], grid[-1]) and len(grid) > 1:
            return f"{name} {'below' if value == grid[0] else 'above'}"
    return None


def _extend(edge: str, alphas: list[float], gammas: list[float]) -> None:
    name, side = edge.split()
    grid = alphas if name == "alpha" else gammas
    ratio = grid[1] / grid[0]
    if side == "below":
        grid.insert(0, grid[0] / ratio)
    else:
        grid.append(grid[-1] * ratio)


def _walk(
    problem: KernelProblem,
    start: Trial,
    score: Score,
    steps: Sequence[tuple[float, float]],
    left_out: LeftOut = exactly,
) -> tuple[Trial, list[Trial]]:
    """From a pair to better neighbours on all rows until there is none; the best with its solution, and all trials."""
    known: dict[tuple[int, ...], Trial] = {}
    radix = [np.log(max(factor)) or 1.0 for factor in zip(*steps)]

    def visit(alpha: float, gamma: float) -> Trial:
        place = tuple(round(np.log(v / s) / r) for v, s, r in zip((alpha, gamma), (start.alpha, start.gamma), radix))
        if place not in known:
            known[place] = tried(at_gamma(problem, gamma), [alpha], score, True, left_out)[0]
        return known[place]

    best = visit(start.alpha, start.gamma)
    moved = True
    while moved and len(known) < MOST_FITS:
        moved = False
        for along_alpha, along_gamma in steps:
            other = visit(best.alpha * along_alpha, best.gamma * along_gamma)
            if other.score < best.score:
                best, moved = other, True
            for place, trial in known.items():  # one solution of all rows is enough to hold
                if trial is not best and trial.solution is not None:
                    known[place] = replace(trial, solution=None)
    return best, list(known.values())


def _best(trials: Sequence[Trial]) -> Trial:
    return min(trials, key=lambda trial: trial.score)
