"""Losses that ask for the right side only, over a restricted expansion: logistic and squared hinge.

Squared loss pulls rows that are far on their own side back to the label, which costs a small expansion accuracy. With
few centres and many rows these losses are the better ones:

    logistic        Σ w (log Σ_c exp f_c(x) - f_own(x)), all classes together; log(1 + exp(-y f)) for two
    squared_hinge   ½ Σ w max(0, 1 - y f_c(x))², one class against the rest

plus ``alpha·P`` of every function. Newton's method: the Hessian ``K̃ᵀ D K̃ + alpha·P`` is never formed, its products make
the kernel block after block (or read it, where it fits), and conjugate gradients have the preconditioner of
`eigenfeat.kernel.sampled_preconditioner` with the mean curvature of the classes.

References
----------
S. Keerthi and D. DeCoste, "A modified finite Newton method for fast solution of large scale linear SVMs", JMLR 6, 2005;
U. Marteau-Ferey, F. Bach and A. Rudi, "Globally convergent Newton methods for ill-conditioned generalized
self-concordant losses", NeurIPS 2019.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_expit, log_softmax
from sklearn.exceptions import ConvergenceWarning

from eigenfeat.kernel.basis import full_length
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.sampled_preconditioner import SampledPreconditioner, SampledRows
from eigenfeat.kernel.search import codes_of, over_rows
from eigenfeat.kernel.subset import MAX_ENTRIES
from eigenfeat.rows.block import row_blocks

#: Alphas that are tried on held-out rows, the strongest first: each fit starts from the last.
HELD_OUT_ALPHAS = tuple((10.0 ** np.arange(1.0, -5.01, -1.0)).tolist())
#: Rows of that choice, at most; a quarter of them is held out. Of more than twice as many the best penalty is often
#: weaker: from the best of the sample on, alphas are tried with all rows whose kernel fits in memory but this share.
SCREENED_ROWS, HELD_OUT_SHARE = 8000, 0.05
#: What a fit of the choice may miss of its objective, alphas being told apart by more; and a share of the least so far
#: above which held-out rows end the fit of an alpha: too weak a penalty takes many steps, and the first show it.
HELD_OUT_TOL, CLEARLY_WORSE = 1e-2, 1.01
#: Newton steps of such a fit, at most, and products of each: the next begins where it ends, and the fit of the best
#: alpha goes on from there.
HELD_OUT_STEPS, HELD_OUT_PRODUCTS = 5, 30
#: Conjugate gradients of one Newton step, at most, and how far they go: until the residual is this share of its start
#: and an iteration gains less than this share of the mean one. Residuals alone may be small in directions of much
#: curvature only, far from the minimum.
MOST_PRODUCTS, FORCING = 100, 0.1
#: Mean curvature that rows are taken to have at least.
LEAST_MEAN = 1e-3
#: Share of an objective below which a difference of two is rounding.
ROUNDING = 1e-12
#: Entries of kept kernel columns that a processor's own cache holds while a product goes there and back.
CACHED_ENTRIES = 2**17


@dataclass(frozen=True, eq=False)
class RowLoss:
    """A loss at outputs (n, m) of labels ±1 (n, m): values of the rows, slopes, and products with the curvature."""

    values: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """(n, m), or (n, 1) where all outputs of a row have one loss together."""
    slopes: Callable[[np.ndarray, np.ndarray], np.ndarray]
    curvature: Callable[[np.ndarray, np.ndarray], Callable[[slice, np.ndarray], np.ndarray]]
    """Of outputs and labels: a function of rows and their changes (rows, m) of the outputs."""
    size: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """Mean curvature of every row."""
    is_likelihood: bool
    """Whether values at held-out rows mean something of their own; else the share of wrong ones is what counts."""

    def held_out(self, outputs: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> float:
        """What is to be small at held-out rows."""
        if self.is_likelihood:
            return float(weights @ self.values(outputs, targets).sum(axis=1))
        return float(weights @ (codes_of(outputs) != codes_of(targets)))


def _logistic_values(f: np.ndarray, y: np.ndarray) -> np.ndarray:
    if f.shape[1] == 1:
        return -log_expit(y * f)
    return -np.einsum("ij,ij->i", log_softmax(f, axis=1), y > 0)[:, None]


def _probabilities(f: np.ndarray) -> np.ndarray:
    return np.exp(log_expit(f)) if f.shape[1] == 1 else np.exp(log_softmax(f, axis=1))


def _logistic_curvature(f: np.ndarray, y: np.ndarray) -> Callable[[slice, np.ndarray], np.ndarray]:
    p = _probabilities(f)
    if f.shape[1] == 1:
        return lambda part, change: p[part] * (1 - p[part]) * change

    def times(part: slice, change: np.ndarray) -> np.ndarray:
        own = p[part] * change
        return own - p[part] * own.sum(axis=1, keepdims=True)

    return times


def _logistic_size(f: np.ndarray, y: np.ndarray) -> np.ndarray:
    p = _probabilities(f)
    return (p * (1 - p)).mean(axis=1)


def _hinge(f: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.maximum(1 - y * f, 0)


def _hinge_curvature(f: np.ndarray, y: np.ndarray) -> Callable[[slice, np.ndarray], np.ndarray]:
    active = y * f < 1
    return lambda part, change: active[part] * change


MARGIN_LOSSES = {
    "logistic": RowLoss(
        _logistic_values, lambda f, y: _probabilities(f) - (y > 0), _logistic_curvature, _logistic_size, True
    ),
    "squared_hinge": RowLoss(
        lambda f, y: np.square(_hinge(f, y)) / 2,
        lambda f, y: -y * _hinge(f, y),
        _hinge_curvature,
        lambda f, y: (y * f < 1).mean(axis=1),
        False,
    ),
}


class _Expansion:
    """Products with the kernel columns of the centres and a column of ones, last; columns are kept where they fit."""

    def __init__(self, problem: KernelProblem) -> None:
        self.kernel, self.centers = problem.kernel, problem.expanded_over
        fits = problem.n_rows * self.centers.shape[0] <= MAX_ENTRIES
        self.columns = self.kernel.columns(self.centers) if fits else None

    def _over(self, function: Callable[[slice, np.ndarray], np.ndarray]):
        if self.columns is None:
            return self.kernel.over_blocks(self.centers, function)
        n, q = self.columns.shape
        blocks = row_blocks(n, q, self.columns.itemsize, batch_size=max(16, CACHED_ENTRIES // q))
        return (function(part, self.columns[part]) for part in blocks)

    def outputs(self, C: np.ndarray) -> np.ndarray:
        small = C.astype(self.kernel.dtype)
        return np.concatenate(list(self._over(lambda part, K: K @ small[:-1] + small[-1])))

    def reduce(self, rows: np.ndarray) -> np.ndarray:
        """``[K 1]ᵀ rows``."""
        return self._total(lambda part, K: _stacked(K, rows[part]))

    def curved(self, C: np.ndarray, curvature: Callable[[slice, np.ndarray], np.ndarray]) -> np.ndarray:
        """``[K 1]ᵀ D [K 1] C`` in one pass."""
        small, m = _padded(C.astype(self.kernel.dtype)), C.shape[1]

        def part_of_sum(part: slice, K: np.ndarray) -> np.ndarray:
            return _stacked(K, _padded(curvature(part, (K @ small[:-1] + small[-1])[:, :m])))

        return self._total(part_of_sum)[:, :m]

    def _total(self, function: Callable[[slice, np.ndarray], np.ndarray]) -> np.ndarray:
        total: np.ndarray | float = 0.0
        for part in self._over(function):
            total = total + part.astype(np.float64)
        return np.asarray(total)


def _padded(columns: np.ndarray) -> np.ndarray:
    """With columns of zeros up to a multiple of eight, with which BLAS is quicker than with seven."""
    n, m = columns.shape
    if m < 4 or m % 8 == 0:
        return columns
    padded = np.zeros((n, m + -m % 8), columns.dtype)  # np.pad is slow on small arrays
    padded[:, :m] = columns
    return padded


def _stacked(K: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.vstack([K.T @ rows, rows.sum(axis=0)])


class _Newton:
    """Newton's method for one problem; ``solve`` may be called for several alphas, each from the last solution."""

    def __init__(
        self, problem: KernelProblem, loss: RowLoss, start: np.ndarray | None = None, most_products: int = MOST_PRODUCTS
    ) -> None:
        self.loss, self.problem, self.expansion = loss, problem, _Expansion(problem)
        self.most_products = most_products
        self.weights = problem.weights.astype(problem.kernel.dtype)[:, None]
        q, m = problem.expanded_over.shape[0], problem.targets.shape[1]
        self.C, self.outputs = np.zeros((q + 1, m)), np.zeros((problem.n_rows, m), dtype=problem.kernel.dtype)
        if start is not None:
            self.C, self.outputs = start, self.expansion.outputs(start)
        self.separate = loss.values(self.outputs[:1], problem.targets[:1]).shape[1] == m
        self.sample = SampledRows(problem)
        self._size = 0.0
        self._preconditioner: SampledPreconditioner | None = None

    def solve(
        self, alpha: float, tol: float, max_iter: int, given_up: Callable[[], bool] = lambda: False
    ) -> tuple[int, bool]:
        """Until a step promises less than ``tol`` of the objective, or ``given_up()`` after a step."""
        self.problem = replace(self.problem, alpha=alpha)
        self._preconditioner = None
        value = self.values(self.C, self.outputs)
        # Of classes that separate the objective goes to zero: nothing is to be had of differences that small.
        least = 1e-3 * self.values(np.zeros_like(self.C), np.zeros_like(self.outputs))
        for n_iter in range(1, max_iter + 1):
            step, promise = self._step(self._gradient())
            moved = self.expansion.outputs(step)
            length, lower = np.ones_like(value), value
            short = np.ones(len(value), dtype=bool)
            while short.any() and length.min() > 1e-6:
                reached = self.outputs + moved * length.astype(moved.dtype)
                lower = self.values(self.C + length * step, reached)
                short = lower > value - 0.25 * length * promise + ROUNDING * np.abs(value)
                length = np.where(short, length / 2, length)
            length = np.where(short, 0.0, length)
            self.C, self.outputs = self.C + length * step, self.outputs + moved * length.astype(moved.dtype)
            value = np.where(short, value, lower)
            size = np.maximum(value, least)
            if (promise <= tol * size).all() or not length.any():
                return n_iter, bool((promise <= max(tol, 1e-4) * size).all())
            if given_up():
                return n_iter, False
        return max_iter, False

    def values(self, C: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """The objective of every function, or of all together where they have one loss."""
        losses = self.problem.weights @ self.loss.values(outputs.astype(np.float64), self.problem.targets)
        return losses + self.problem.alpha / 2 * self._dot(C[:-1], self.sample.penalty_times(C[:-1]))

    def _dot(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Inner products, a column each where the functions have nothing to do with each other."""
        products = np.einsum("ij,ij->j", a, b, dtype=np.float64)
        return products if self.separate else products.sum(keepdims=True)

    def preconditioner(self) -> SampledPreconditioner:
        """That of the curvature, made anew where its mean has changed by half."""
        curvatures = self.problem.weights * self.loss.size(self.outputs, self.problem.targets)
        size = float(curvatures.sum(dtype=np.float64))
        if self._preconditioner is None or not 0.5 < size / self._size < 2:
            floor = LEAST_MEAN * self.problem.weights
            self._preconditioner = SampledPreconditioner(self.sample, self.problem.alpha, np.maximum(curvatures, floor))
            self._size = max(size, float(floor.sum(dtype=np.float64)))
        return self._preconditioner

    def _gradient(self) -> np.ndarray:
        slopes = self.loss.slopes(self.outputs, self.problem.targets)
        gradient = self.expansion.reduce((self.weights * slopes).astype(self.outputs.dtype))
        gradient[:-1] += self.problem.alpha * self.sample.penalty_times(self.C[:-1])
        return gradient

    def _step(self, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A direction of descent, by preconditioned conjugate gradients, and what it promises."""
        preconditioner, weights = self.preconditioner(), self.weights
        of_rows = self.loss.curvature(self.outputs, self.problem.targets)
        scale = np.sqrt(self._size)

        def right(u: np.ndarray) -> np.ndarray:
            return np.vstack([preconditioner.apply(u[:-1]), u[-1:] / scale])

        def left(v: np.ndarray) -> np.ndarray:
            return np.vstack([preconditioner.apply_transpose(v[:-1]), v[-1:] / scale])

        def times(v: np.ndarray) -> np.ndarray:
            product = self.expansion.curved(v, lambda part, change: weights[part] * of_rows(part, change))
            product[:-1] += self.problem.alpha * self.sample.penalty_times(v[:-1])
            return product

        residual = -left(gradient)
        step, direction = np.zeros_like(residual), residual.copy()
        squared = start = self._dot(residual, residual)
        gained, going = np.zeros_like(squared), squared > 0
        for count in range(1, self.most_products + 1):
            product = left(times(right(direction)))
            curvature = self._dot(direction, product)
            going &= curvature > 0
            length = np.where(going, squared / np.where(going, curvature, 1), 0)
            step += length * direction
            residual -= length * product
            gain = length * squared
            gained += gain
            before, squared = squared, self._dot(residual, residual)
            going &= (count * gain > FORCING * gained) | (squared > FORCING**2 * start)
            if not going.any():
                break
            direction = residual + np.where(going, squared / np.where(before > 0, before, 1), 0) * direction
        step = right(step).astype(np.float64)
        return step, np.maximum(-self._dot(step, gradient), 0.0)


def solve(
    problem: KernelProblem, loss: str, request: KernelRequest = DEFAULTS, start: np.ndarray | None = None
) -> KernelSolution:
    """The minimum of the problem with one of `MARGIN_LOSSES` in the place of its own loss.

    Parameters
    ----------
    problem : KernelProblem
        Targets are ±1, one class against the rest; one column for two classes.
    loss : str
    request : KernelRequest
        ``tol`` (1e-3): a Newton step that promises less than this share of the objective, or of a thousandth of that of
        the zero function, is the last; ``max_iter`` (100).
    start : (centres + 1, functions) array, optional
        Coefficients and, last, intercepts to begin from.
    """
    wanted = request.filled(tol=1e-3, max_iter=100)
    newton = _Newton(problem, MARGIN_LOSSES[loss], start)
    n_iter, converged = newton.solve(problem.alpha, wanted.tol, wanted.max_iter)
    if not converged:
        warnings.warn(
            f"Newton's method for loss={loss!r} stopped after {n_iter} steps before it reached tol={wanted.tol:g}. "
            "Raise max_iter or alpha.",
            ConvergenceWarning,
            stacklevel=2,
        )
    values = newton.values(newton.C, newton.outputs)
    objective = np.broadcast_to(values, (problem.targets.shape[1],)).copy()
    coefficients = full_length(newton.C[:-1], problem)
    return KernelSolution(coefficients, newton.C[-1], objective, converged, n_iter, loss, outputs=newton.outputs)


@dataclass(frozen=True, eq=False)
class HeldOutChoice:
    """The alpha with the least loss, or error, on held-out rows."""

    alpha: float
    start: np.ndarray | None
    """Coefficients of its fit, where that is over the same centres as a fit of all rows."""


def held_out_alpha(problem: KernelProblem, loss: str, unit: float) -> HeldOutChoice:
    """Chosen along a path of warm-started fits, each weaker than the last, until held-out rows fare worse."""
    order = problem.order[np.random.RandomState(0).permutation(problem.n_rows)]
    alphas = [unit * alpha for alpha in HELD_OUT_ALPHAS]
    if problem.n_rows <= 2 * SCREENED_ROWS:
        return _walked(problem, loss, alphas, order, 0.25)
    screened = _walked(problem, loss, alphas, order[:SCREENED_ROWS], 0.25)
    n_rows = MAX_ENTRIES // problem.expanded_over.shape[0]
    if n_rows <= 2 * SCREENED_ROWS:
        return screened
    weaker = alphas[alphas.index(screened.alpha) :]
    return _walked(problem, loss, weaker, order[:n_rows], HELD_OUT_SHARE, screened.start)


def _walked(
    problem: KernelProblem,
    loss: str,
    alphas: list[float],
    rows: np.ndarray,
    share: float,
    start: np.ndarray | None = None,
) -> HeldOutChoice:
    """The best of these alphas, this share of the rows held out, up to the first that is worse than one before."""
    held, fitted = np.split(rows, [int(share * len(rows))])
    part = over_rows(problem, fitted, _centers_of_part(problem, fitted))
    newton = _Newton(part, MARGIN_LOSSES[loss], start, HELD_OUT_PRODUCTS)
    centers = fitted if part.centers is None else part.centers if part.centers.ndim == 2 else fitted[part.centers]
    same_centers = centers is part.centers
    K = problem.kernel.block(held, centers)

    def score() -> float:
        outputs = K @ newton.C[:-1] + newton.C[-1]
        return newton.loss.held_out(outputs, problem.targets[held], problem.weights[held])

    best, least = HeldOutChoice(alphas[0], None), np.inf
    for alpha in alphas:

        def given_up(bound: float = CLEARLY_WORSE * least) -> bool:
            return score() > bound

        newton.solve(alpha, HELD_OUT_TOL, HELD_OUT_STEPS, given_up)
        reached = score()
        if reached > least:
            break
        if reached < least:
            best, least = HeldOutChoice(alpha, newton.C if same_centers else None), reached
    return best


def _centers_of_part(problem: KernelProblem, rows: np.ndarray) -> np.ndarray | None:
    """The same centres as points; of a kernel matrix that was given, which has none, those among these rows."""
    if problem.centers is None or not problem.kernel.precomputed:
        return None if problem.centers is None else problem.kernel.points(problem.centers)
    among = np.flatnonzero(np.isin(rows, problem.centers))
    return among if len(among) else None
