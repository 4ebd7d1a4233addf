"""A primal-dual interior point for the programs of `eigenfeat.kernel.separable_program`.

The reduced system of appendix A of Mika's thesis, pivoted down to one row a variable, is
``(Q + d + T) Δx + 1 Δλ = r`` with a diagonal T that gathers all bounds; Q enters only through a `Curvature`, which
knows how to factor ``Q + T``.

References
----------
S. Mika, "Kernel Fisher Discriminants", 2002, appendix A; S. Mehrotra, "On the implementation of a primal-dual
interior point method", SIAM J. Optimization 2, 1992; S. Fine and K. Scheinberg, "Efficient SVM training using
low-rank kernel representations", JMLR 2, 2001.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eigenfeat.kernel.curvatures import DenseCurvature
from eigenfeat.kernel.separable_program import KKTSolve, SeparableProgram, kkt_solver

# A variable within rounding of its bound has no slack left; this keeps its multiplier's quotient finite.
SMALLEST_SLACK = 1e-100


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """A solution; a variable rests on a bound when its multiplier there is larger than its slack."""

    x: np.ndarray
    multiplier: float
    """λ, of the balance."""
    at_zero: np.ndarray
    """Variables that a positive tube holds at zero; within the tolerance until `polish`."""
    at_bound: np.ndarray
    """Variables that rest on their bound; within the tolerance until `polish`."""
    converged: bool
    n_iter: int


class _BarrierVariables:
    """The bounded variables behind x, ``x = Ez``: z = x in a box, or z = (x⁺, x⁻) where there is a tube."""

    def __init__(self, program: SeparableProgram) -> None:
        self.split = bool(program.tube.any())
        c = program.bound
        self.upper = np.concatenate([c, c]) if self.split else c
        self.lower = np.zeros_like(self.upper) if self.split else -c
        self.cost = (
            np.concatenate([program.tube - program.linear, program.tube + program.linear])
            if self.split
            else -program.linear
        )
        self.has_lower = np.isfinite(self.lower)
        self.has_upper = np.isfinite(self.upper)

    def to_x(self, z: np.ndarray) -> np.ndarray:
        """``Ez``."""
        if not self.split:
            return z
        n = len(z) // 2
        return z[:n] - z[n:]

    def to_z(self, v: np.ndarray) -> np.ndarray:
        """``Eᵀv``."""
        return np.concatenate([v, -v]) if self.split else v

    def reduce(self, theta: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """T and the right side of the system in Δx that ``(EᵀHE + Θ) Δz + Eᵀ1 Δλ = r`` comes down to."""
        if not self.split:
            return theta, r
        n = len(r) // 2
        diagonal = 1.0 / (1.0 / theta[:n] + 1.0 / theta[n:])
        return diagonal, diagonal * (r[:n] / theta[:n] - r[n:] / theta[n:])

    def expand(self, theta: np.ndarray, r: np.ndarray, dx: np.ndarray) -> np.ndarray:
        """Δz from Δx: ``Θ Δz = r - Eᵀ(H Δx + 1 Δλ)``, the bracket being the reduced system's rhs - T Δx."""
        if not self.split:
            return dx
        diagonal, rhs = self.reduce(theta, r)
        return (r - self.to_z(rhs - diagonal * dx)) / theta


@dataclass(frozen=True, eq=False)
class _Step:
    z: np.ndarray
    low: np.ndarray
    high: np.ndarray
    multiplier: float


@dataclass(frozen=True, eq=False)
class _Iterate:
    """Strictly inside its bounds: z, the multipliers of its lower and upper bounds, and λ of the balance."""

    program: SeparableProgram
    variables: _BarrierVariables
    z: np.ndarray
    low: np.ndarray
    high: np.ndarray
    multiplier: float = 0.0

    @classmethod
    def start(cls, program: SeparableProgram, variables: _BarrierVariables) -> _Iterate:
        """The middle of the box, or the program with its bounds replaced by a diagonal, moved inside."""
        if program.bounded:
            z = (variables.lower + variables.upper) / 2
            pull = np.full(len(z), max(1e-3, float(np.abs(program.linear).max())))
            return cls(program, variables, z, pull, pull)
        diagonal = np.full(len(program.linear), program.curvature.scale) + program.diagonal
        x, level = kkt_solver(program, diagonal)(program.linear, 0.0)
        z = np.maximum(variables.to_z(x), 0.0) + max(float(np.abs(x).mean()), 1e-8)
        reduced = variables.to_z(program.gradient(x) + level) + np.concatenate([program.tube, program.tube])
        low = np.maximum(reduced, 0.0) + max(float(np.abs(reduced).mean()), 1e-8)
        return cls(program, variables, z, low, np.zeros_like(z))

    @cached_property
    def x(self) -> np.ndarray:
        return self.variables.to_x(self.z)

    @cached_property
    def below(self) -> np.ndarray:
        return np.maximum(self.z - self.variables.lower, SMALLEST_SLACK)

    @cached_property
    def above(self) -> np.ndarray:
        """One where there is no upper bound, beside a multiplier of zero."""
        slack = np.maximum(self.variables.upper - self.z, SMALLEST_SLACK)
        return np.where(self.variables.has_upper, slack, 1.0)

    @cached_property
    def curved(self) -> np.ndarray:
        """``Qx``."""
        return self.program.curvature.times(self.x)

    @property
    def smooth(self) -> np.ndarray:
        """``(Q + d) x``."""
        return self.curved + self.program.diagonal * self.x

    @cached_property
    def dual_residual(self) -> np.ndarray:
        gradient = self.variables.to_z(self.smooth + self.multiplier) + self.variables.cost
        return gradient - self.low + self.high

    @property
    def imbalance(self) -> float:
        return float(self.x.sum()) if self.program.balanced else 0.0

    @cached_property
    def complementarity(self) -> float:
        return float(self.below @ self.low + self.above @ self.high)

    @cached_property
    def value(self) -> float:
        return float(self.x @ self.smooth / 2 + self.variables.cost @ self.z)

    @cached_property
    def theta(self) -> np.ndarray:
        """Diagonal that the bounds add to the system in z."""
        return self.low / self.below + self.high / self.above

    def is_solution(self, tol: float) -> bool:
        """By the true gap of a bounded program; else by complementarity and the dual residual.

        The true gap at x is what the user's objective sees. The complementarity of the barrier, far smaller
        where Q is large, serves only where no bound makes every point dual feasible.
        """
        small = tol * (1.0 + abs(self.value))
        balanced = abs(self.imbalance) <= tol * (1.0 + float(np.abs(self.x).sum()))
        if self.program.bounded:
            return balanced and self.program.duality_gap(self.x, self.multiplier, self.curved) <= small
        size = 1.0 + float(np.abs(self.program.linear).max())
        feasible = float(np.abs(self.dual_residual).max()) <= tol * size
        return balanced and feasible and self.complementarity <= small

    def direction(self, solve: KKTSolve, target: float, previous: _Step | None = None) -> _Step:
        """Newton's step to complementarity ``target``, corrected for the products of the previous step."""
        second_low = previous.z * previous.low if previous else 0.0
        second_high = -previous.z * previous.high if previous else 0.0
        aim_low = (target - second_low) / self.below
        aim_high = np.where(self.variables.has_upper, (target - second_high) / self.above, 0.0)
        r = -self.dual_residual + aim_low - self.low - aim_high + self.high
        _, right_side = self.variables.reduce(self.theta, r)
        # The predictor only measures how far a plain step would get.
        dx, multiplier = solve(right_side, -self.imbalance, refine=previous is not None)
        dz = self.variables.expand(self.theta, r, dx)
        return _Step(
            dz,
            aim_low - self.low - self.low / self.below * dz,
            aim_high - self.high + self.high / self.above * dz,
            multiplier,
        )

    def longest(self, step: _Step) -> float:
        """The largest share of the step, at most one, that stays within the bounds."""
        upper = self.variables.has_upper
        pairs = (
            (self.below, step.z),
            (self.above[upper], -step.z[upper]),
            (self.low, step.low),
            (self.high[upper], step.high[upper]),
        )
        ratios = (np.min(-v[d < 0] / d[d < 0], initial=1.0) for v, d in pairs)
        return float(min(ratios))

    def moved(self, step: _Step, length: float) -> _Iterate:
        return replace(
            self,
            z=self.z + length * step.z,
            low=self.low + length * step.low,
            high=np.where(self.variables.has_upper, self.high + length * step.high, 0.0),
            multiplier=self.multiplier + length * step.multiplier,
        )

    def settled(self, converged: bool, n_iter: int) -> InteriorPoint:
        on_low = self.below < self.low
        on_high = self.variables.has_upper & (self.above < self.high)
        if self.variables.split:
            n = len(self.x)
            at_zero, at_bound = on_low[:n] & on_low[n:], on_high[:n] | on_high[n:]
        else:
            at_zero, at_bound = np.zeros(len(self.x), dtype=bool), on_low | on_high
        return InteriorPoint(self.x, self.multiplier, at_zero, at_bound, converged, n_iter)


def minimise(program: SeparableProgram, *, tol: float, max_iter: int) -> InteriorPoint:
    """Mehrotra's predictor-corrector method, bounds kept strictly satisfied throughout.

    Stops when the gap is below ``tol (1 + |objective|)`` and the residuals below tol, or when rounding allows
    no further step.
    """
    variables = _BarrierVariables(program)
    if not (variables.has_lower.any() or variables.has_upper.any()):
        x, multiplier = kkt_solver(program, program.diagonal)(program.linear, 0.0)
        nowhere = np.zeros(len(x), dtype=bool)
        return InteriorPoint(x, multiplier, nowhere, nowhere, True, 1)

    n_pairs = int(variables.has_lower.sum() + variables.has_upper.sum())
    iterate = _Iterate.start(program, variables)
    for iteration in range(max_iter):
        if iterate.is_solution(tol):
            return iterate.settled(True, iteration)
        gap = iterate.complementarity
        if gap <= 1e-16 * (1.0 + abs(iterate.value)):
            break
        diagonal, _ = variables.reduce(iterate.theta, iterate.theta)
        solve = kkt_solver(program, program.diagonal + diagonal)
        predictor = iterate.direction(solve, 0.0)
        reached = iterate.moved(predictor, iterate.longest(predictor)).complementarity
        corrector = iterate.direction(solve, (reached / gap) ** 3 * gap / n_pairs, predictor)
        length = 0.995 * iterate.longest(corrector)
        if length < 1e-10:
            break
        iterate = iterate.moved(corrector, length)
    return iterate.settled(iterate.is_solution(tol), max_iter)


def polish(program: SeparableProgram, point: InteriorPoint, matrix: np.ndarray | None = None) -> InteriorPoint:
    """The same point with exact zeros and bounds, and exact values between them where that is no worse.

    Parameters
    ----------
    matrix : (n, n) array, optional
        Q. Without it the values between the bounds stay as they are.
    """
    settled = replace(point, x=np.where(point.at_zero, 0.0, point.x))
    exact = None if matrix is None else _between_bounds(program, point, matrix)
    if not program.bounded:
        return exact if exact is not None and program.value(exact.x) <= program.value(settled.x) else settled
    # In the dual a zero moved by 1e-9 moves the outputs by Q times that: the gap decides.
    candidates = [p for p in (exact, settled, point) if p is not None]
    return min(candidates, key=lambda p: program.duality_gap(p.x, p.multiplier, program.curvature.times(p.x)))


def _between_bounds(program: SeparableProgram, point: InteriorPoint, matrix: np.ndarray) -> InteriorPoint | None:
    """Solve for the variables at no bound, the others held; None if one leaves its bounds or its side."""
    x = point.x
    free = np.flatnonzero(~(point.at_zero | point.at_bound))
    y = np.where(point.at_bound, np.copysign(program.bound, x), 0.0)
    multiplier = point.multiplier
    if len(free):
        inner = SeparableProgram(
            DenseCurvature(np.ascontiguousarray(matrix[np.ix_(free, free)])),
            (program.linear - matrix @ y - program.tube * np.sign(x))[free],
            program.diagonal[free],
            np.zeros(len(free)),
            np.full(len(free), np.inf),
            program.balanced,
        )
        y[free], multiplier = kkt_solver(inner, inner.diagonal)(inner.linear, -float(y.sum()))
    crossed = bool(program.tube.any()) and bool((y * x < 0).any())
    if crossed or (np.abs(y) > program.bound).any():
        return None
    return replace(point, x=y, multiplier=multiplier)
