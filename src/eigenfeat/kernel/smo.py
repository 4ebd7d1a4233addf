"""Sequential minimal optimisation for the penalty "function": never an n × n matrix (thesis, 3.5.3).

The dual over the multipliers τ of the rows is, for every loss (`eigenfeat.kernel.losses`)::

    min ½ τᵀ(K/alpha)τ - yᵀτ + Σ h(τᵢ),   1ᵀτ = 0,   h(τ) = ½ (s/w) τ² + ε|τ| on |τ| ≤ c w

At the solution the directional derivatives of all rows agree up to the kinks of h. While they do not, the
rows of extreme derivatives are moved against each other. Their kernel columns are computed a batch at a time,
kept in a cache of bounded size, and the whole cached set is then optimised exactly: by one Cholesky
factorisation for all targets when the loss is squared, by compiled pair steps when there are bounds.

References
----------
S. Mika, "Kernel Fisher Discriminants", 2002, section 3.5.3; J. Platt, "Fast training of support vector
machines using sequential minimal optimization", 1999; R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set
selection using second order information for training support vector machines", JMLR 6, 2005.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from eigenfeat._runtime.jit import jit
from eigenfeat.kernel.needs import ALL_ROWS, FUNCTION_PENALTY, PARABOLIC_LOSS
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.used_rows import UsedRows
from eigenfeat.solvers.contract import Solver


class ColumnSource(Protocol):
    """Where kernel columns come from: the rows of the data, or a low-rank factor."""

    @property
    def dtype(self) -> np.dtype: ...

    def __len__(self) -> int: ...

    def columns(self, centers: np.ndarray) -> np.ndarray: ...


class ColumnCache:
    """The most recently used kernel columns, in one array of bounded size.

    Parameters
    ----------
    source : ColumnSource
    cache_size : float
        Megabytes. Half as many bound the square of cached rows by cached columns, which the exact step factors in
        double precision.
    """

    def __init__(self, source: ColumnSource, cache_size: float) -> None:
        n = len(source)
        self.source = source
        columns, square = cache_size * 1e6 / (n * source.dtype.itemsize), np.sqrt(cache_size * 1e6 / 2 / 8)
        self.capacity = min(n, max(2, int(min(columns, square))))
        self._columns = np.empty((n, self.capacity), dtype=source.dtype, order="F")
        self.rows = np.full(self.capacity, n)
        """Which row's column each slot holds; n in a slot never used."""
        self._used = np.zeros(self.capacity, dtype=np.int64)
        self._slot_of = np.full(n, -1)
        self._clock = 0

    @property
    def n_held(self) -> int:
        return int((self._slot_of >= 0).sum())

    @property
    def columns(self) -> np.ndarray:
        """``K[:, rows]`` for the slots in use."""
        return self._columns[:, : self.n_held]

    def fetch(self, index: np.ndarray) -> None:
        """Hold these columns, no more than the capacity; the least recently used make room."""
        self._clock += 1
        self._used[self._slot_of[index[self._slot_of[index] >= 0]]] = self._clock
        missing = index[self._slot_of[index] < 0]
        if len(missing) == 0:
            return
        held = self.n_held
        empty = np.arange(held, min(held + len(missing), self.capacity))
        evicted = np.argsort(self._used[:held], kind="stable")[: len(missing) - len(empty)]
        self._slot_of[self.rows[evicted]] = -1
        slots = np.concatenate([empty, evicted])
        self._columns[:, slots] = self.source.columns(missing)
        self.rows[slots], self._used[slots], self._slot_of[missing] = missing, self._clock, slots


@dataclass(frozen=True, eq=False)
class Dual:
    """The separable part h of the dual, row by row."""

    curvature: np.ndarray
    tube: float
    bound: np.ndarray

    def derivatives(self, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Left and right derivative of h at every entry of tau (n, m); infinite at a bound."""
        middle = self.curvature[:, None] * tau
        left = np.where(tau <= -self.bound[:, None], -np.inf, middle + np.where(tau > 0, self.tube, -self.tube))
        right = np.where(tau >= self.bound[:, None], np.inf, middle + np.where(tau < 0, -self.tube, self.tube))
        return left, right

    def values(self, tau: np.ndarray) -> np.ndarray:
        return self.curvature @ tau**2 / 2 + self.tube * np.abs(tau).sum(axis=0)


@jit()
def pair_steps(quadratic, gradient, tau, curvature, tube, bound, tol, max_steps):
    """Minimise the dual over a small set by pairs of rows, in place; the number of steps taken.

    The first row of a pair has the extreme derivative, the second promises the largest decrease. A step ends
    at the bound or the kink at zero that it meets first, so values there are exact.

    Parameters
    ----------
    quadratic : (q, q) array
        K/alpha over the set, exactly symmetric: read by rows.
    gradient, tau : (q,) arrays
        Of the smooth part, ``K τ/alpha - y``, and τ; both updated.
    """
    size = len(tau)
    bends = np.diag(quadratic) + curvature
    for step in range(max_steps):
        up, best_up = -1, np.inf
        for i in range(size):
            if tau[i] < bound[i]:
                slope = gradient[i] + curvature[i] * tau[i] + (tube if tau[i] >= 0 else -tube)
                if slope < best_up:
                    up, best_up = i, slope
        if up < 0:
            return step
        down, best_gain, widest, best_down = -1, 0.0, 0.0, 0.0
        for j in range(size):
            if tau[j] > -bound[j] and j != up:
                slope = gradient[j] + curvature[j] * tau[j] + (tube if tau[j] > 0 else -tube)
                difference = slope - best_up
                if difference > 0:
                    widest = max(widest, difference)
                    bend = max(bends[up] + bends[j] - 2 * quadratic[up, j], 1e-12 * bends[up] + 1e-300)
                    gain = difference * difference / bend
                    if gain > best_gain:
                        down, best_gain, best_down = j, gain, difference / bend
        if widest <= tol:
            return step
        limit_up = -tau[up] if tau[up] < 0 and tube > 0 else bound[up] - tau[up]
        limit_down = tau[down] if tau[down] > 0 and tube > 0 else bound[down] + tau[down]
        length = min(best_down, limit_up, limit_down)
        tau[up] = (0.0 if tau[up] < 0 and tube > 0 else bound[up]) if length == limit_up else tau[up] + length
        if length == limit_down:
            tau[down] = 0.0 if tau[down] > 0 and tube > 0 else -bound[down]
        else:
            tau[down] -= length
        for i in range(size):
            gradient[i] += length * (quadratic[up, i] - quadratic[down, i])
    return max_steps


def _exact_squared(quadratic: np.ndarray, curvature: np.ndarray, gradient: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """The τ that minimises the squared-loss dual over the set, sums kept; one factor for all targets."""
    shifted = quadratic.copy()
    shifted.flat[:: len(shifted) + 1] += curvature
    try:
        factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        raise ValueError(
            "The kernel matrix is not positive semidefinite, and penalty='function' needs it to be. Use a "
            "definite kernel (rbf, linear, polynomial with coef0 >= 0) or penalty='coefficients'."
        ) from None
    slopes = gradient + curvature[:, None] * tau
    solved = cho_solve(factor, np.column_stack([slopes, np.ones(len(tau))]), check_finite=False)
    steps, ones = solved[:, :-1], solved[:, -1:]
    return tau + ones * (steps.sum(axis=0) / ones.sum()) - steps


def _exact_bounded(
    quadratic: np.ndarray,
    dual: Dual,
    rows: np.ndarray,
    gradient: np.ndarray,
    tau: np.ndarray,
    precision: np.ndarray,
) -> tuple[np.ndarray, int]:
    """The τ that minimises the dual over the set by pair steps, target by target; the steps taken."""
    after, n_steps = tau.copy(order="F"), 0
    for t in range(tau.shape[1]):
        n_steps += pair_steps(
            quadratic,
            gradient[:, t].copy(),
            after[:, t],
            dual.curvature[rows],
            dual.tube,
            dual.bound[rows],
            precision[t],
            20 * len(rows),
        )
    return after, n_steps


def _extremes(left: np.ndarray, right: np.ndarray, open_targets: np.ndarray, batch_size: int) -> np.ndarray:
    """At most batch_size rows whose derivatives are the most extreme, for as many targets as get a pair."""
    served = open_targets[: max(1, batch_size // 2)]
    count = min(max(1, batch_size // (2 * len(served))), len(left) - 1)
    lowest = np.argpartition(right[:, served], count - 1, axis=0)[:count]
    highest = np.argpartition(-left[:, served], count - 1, axis=0)[:count]
    return np.unique(np.concatenate([lowest.ravel(), highest.ravel()]))


@dataclass(frozen=True, eq=False)
class DualPoint:
    """Where the optimisation stands: multipliers, their outputs Kτ/alpha, and how exact they are."""

    tau: np.ndarray
    outputs: np.ndarray
    slopes_left: np.ndarray
    """Directional derivatives of the dual, towards smaller and larger τ, row by row."""
    slopes_right: np.ndarray
    primal: np.ndarray
    """Objective of every target at τ."""
    gap: np.ndarray
    """``|primal - dual| / (|primal| + 1)``: 10 to the minus the significant figures of (3.62)."""
    infeasibility: np.ndarray
    """``‖distance of y - Kτ/alpha - 1b to ∂h(τ)‖ / ‖y‖``: the thesis' measure, with its missing 1b."""
    n_iter: int

    def open_targets(self, tol: float) -> np.ndarray:
        """The targets not yet exact enough, the widest gap first."""
        widest_first = np.argsort(-self.gap, kind="stable")
        return widest_first[np.maximum(self.gap, self.infeasibility)[widest_first] > tol]


def _assessed(problem: KernelProblem, dual: Dual, tau: np.ndarray, outputs: np.ndarray, n_iter: int) -> DualPoint:
    targets = problem.targets
    left, right = dual.derivatives(tau)
    residuals = targets - outputs
    residuals = residuals - problem.loss.intercept(residuals, problem.weights)
    norm = np.einsum("ij,ij->j", tau, outputs) / 2
    primal = problem.weights @ problem.loss.values(residuals) + norm
    lower_bound = np.einsum("ij,ij->j", tau, targets) - norm - dual.values(tau)
    distance = np.maximum(left - residuals, 0) + np.maximum(residuals - right, 0)
    sizes = np.maximum(np.linalg.norm(targets, axis=0), np.finfo(float).tiny)
    return DualPoint(
        tau,
        outputs,
        outputs - targets + left,
        outputs - targets + right,
        primal,
        np.abs(primal - lower_bound) / (np.abs(primal) + 1),
        np.linalg.norm(distance, axis=0) / sizes,
        n_iter,
    )


def minimise(
    problem: KernelProblem,
    source: ColumnSource,
    tau: np.ndarray,
    outputs: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    cache_size: float,
    batch_size: int,
) -> DualPoint:
    """Optimise the dual from a feasible τ whose outputs ``Kτ/alpha`` are given, K being the source's."""
    loss, alpha = problem.loss, problem.alpha
    dual = Dual(loss.curvature / problem.weights, loss.tube, loss.bound * problem.weights)
    cache = ColumnCache(source, cache_size)
    size = min(batch_size, cache.capacity)
    tau, outputs, precision = tau.copy(), outputs.copy(), 0.1 * tol
    for iteration in range(max_iter):
        point = _assessed(problem, dual, tau, outputs, iteration)
        chosen = point.open_targets(tol)
        # Once rounding forbids a more exact step, the point is as good as it gets.
        if len(chosen) == 0 or precision < 1e-15:
            return point
        cache.fetch(_extremes(point.slopes_left, point.slopes_right, chosen, size))
        rows, columns = cache.rows[: cache.n_held], cache.columns
        part = np.ix_(rows, chosen)
        quadratic = columns[rows].astype(np.float64) / alpha
        quadratic = (quadratic + quadratic.T) / 2
        before, gradient = tau[part], (outputs - problem.targets)[part]
        if loss.is_quadratic:
            after = _exact_squared(quadratic, dual.curvature[rows], gradient, before)
        else:
            widths = point.slopes_left[:, chosen].max(axis=0) - point.slopes_right[:, chosen].min(axis=0)
            aims = np.maximum(0.1 * widths, precision)
            after, n_steps = _exact_bounded(quadratic, dual, rows, gradient, before, aims)
            # No step, and still a gap: the loss has no curvature to square small differences away.
            precision *= 1.0 if n_steps else 0.1
        tau[part] = after
        outputs[:, chosen] += columns @ ((after - before) / alpha).astype(columns.dtype)
    return _assessed(problem, dual, tau, outputs, max_iter)


def solve(
    problem: KernelProblem, request: KernelRequest = DEFAULTS, *, cache_size: float = 80.0, batch_size: int = 128
) -> KernelSolution:
    """Solve by SMO, all targets over the same cached columns.

    Parameters
    ----------
    problem : KernelProblem
    request : KernelRequest
        ``tol`` (1e-3) is the relative duality gap (10⁻ᵃ for a significant figures) and primal infeasibility,
        ``max_iter`` (10,000) counts batches of columns.
    cache_size : float
        Megabytes of kernel columns kept.
    batch_size : int
        Columns computed at once, split between the targets. 2 is the thesis' algorithm, one pair at a time.
    """
    wanted = request.filled(tol=1e-3, max_iter=10_000)
    used = UsedRows.of(problem, dtype=None)
    problem, start = used.problem, np.zeros_like(used.problem.targets)
    point = minimise(
        problem,
        problem.kernel,
        start,
        start,
        tol=wanted.tol,
        max_iter=wanted.max_iter,
        cache_size=cache_size,
        batch_size=batch_size,
    )
    coefficients = point.tau / problem.alpha
    return used.solution(
        coefficients,
        point.outputs,
        np.einsum("ij,ij->j", coefficients, point.outputs) / 2,
        converged=len(point.open_targets(wanted.tol)) == 0,
        n_iter=point.n_iter,
        solver="smo",
    )


SOLVER = Solver("smo", solve, (PARABOLIC_LOSS, FUNCTION_PENALTY, ALL_ROWS))
