"""A primal-dual interior point for the separable quadratic programs of the kernel problem.

Minimise ``½ xᵀQx - qᵀx + Σ (½ dᵢ xᵢ² + e |xᵢ|)`` subject to ``|xᵢ| ≤ cᵢ`` and, where asked, ``1ᵀx = 0``.

The duals of the kernel problem with a quadratic penalty have this form (x are the multipliers of the rows), and
so has the primal with the sparse penalty (x are the expansion coefficients). The reduced system of appendix A
of Mika's thesis, pivoted down to one row a variable, is ``(Q + d + T) Δx + 1 Δλ = r`` with a diagonal T that
gathers all bounds; Q enters only through a `Curvature`, which knows how to factor ``Q + T``.

References
----------
S. Mika, "Kernel Fisher Discriminants", 2002, appendix A; S. Mehrotra, "On the implementation of a primal-dual
interior point method", SIAM J. Optimization 2, 1992; S. Fine and K. Scheinberg, "Efficient SVM training using
low-rank kernel representations", JMLR 2, 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.linalg import lapack

Solve = Callable[[np.ndarray], np.ndarray]


class Curvature(Protocol):
    """A positive semidefinite matrix Q that can be multiplied, and factored once a diagonal is added."""

    scale: float
    """Mean diagonal of Q."""

    def times(self, x: np.ndarray) -> np.ndarray: ...

    def factor(self, diagonal: np.ndarray) -> Solve: ...


class IndefiniteError(Exception):
    """A matrix that should be positive definite is not."""


def factor_in_place(matrix: np.ndarray) -> Solve:
    """Cholesky factorisation that overwrites a C-ordered symmetric matrix; its solve."""
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if info:
        raise IndefiniteError
    return lambda r: lapack.dpotrs(factor, r, lower=1)[0]


class DenseCurvature:
    """Q held as an array."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix
        self.scale = float(np.mean(np.diagonal(matrix)))

    def times(self, x: np.ndarray) -> np.ndarray:
        return self.matrix @ x

    def factor(self, diagonal: np.ndarray) -> Solve:
        shifted = self.matrix.copy()
        shifted.flat[:: len(shifted) + 1] += diagonal
        return factor_in_place(shifted)


class LowRankCurvature:
    """``Q = VVᵀ`` with few columns: every factorisation is r × r, by Woodbury."""

    def __init__(self, factor: np.ndarray) -> None:
        self.columns = factor
        self.scale = float(np.mean(np.einsum("ij,ij->i", factor, factor)))

    def times(self, x: np.ndarray) -> np.ndarray:
        return self.columns @ (self.columns.T @ x)

    def factor(self, diagonal: np.ndarray) -> Solve:
        scaled = self.columns / diagonal[:, None]
        inner = self.columns.T @ scaled
        inner.flat[:: len(inner) + 1] += 1.0
        solve_inner = factor_in_place(inner)
        inverse = 1.0 / diagonal

        def solve(r: np.ndarray) -> np.ndarray:
            inverse_r = (r.T * inverse).T
            return inverse_r - scaled @ solve_inner(scaled.T @ r)

        return solve


class ResidualCurvature:
    """``Q = AᵀΩA`` with ``A = [K I]`` and Ω the centred weights: the curvature of Huber's loss over (α, u).

    Huber's loss is the smallest sum of a quadratic in ξ - u and of |u|, so u joins the variables and the system
    is reduced on the multipliers ν of the rows: ``(Ω⁻¹ + K T_α⁻¹ K + T_u⁻¹) ν + 1β = A T⁻¹ r``, 1ᵀν = 0.

    Parameters
    ----------
    kernel : (n, n) array
    weights : (n,) array
        Weights of the quadratic; Ω = W - ww ᵀ/Σw is what is left once the intercept is eliminated.
    """

    def __init__(self, kernel: np.ndarray, weights: np.ndarray) -> None:
        self.kernel = kernel
        self.weights = weights
        self.scale = float(np.mean(weights)) * (1 + float(np.mean(np.einsum("ij,ij->j", kernel, kernel)))) / 2

    def centred(self, residual: np.ndarray) -> np.ndarray:
        """``Ω r``."""
        return self.weights * (residual - self.weights @ residual / self.weights.sum())

    def times(self, x: np.ndarray) -> np.ndarray:
        n = len(self.kernel)
        multipliers = self.centred(self.kernel @ x[:n] + x[n:])
        return np.concatenate([self.kernel.T @ multipliers, multipliers])

    def factor(self, diagonal: np.ndarray) -> Solve:
        n = len(self.kernel)
        scaled = self.kernel / np.sqrt(diagonal[:n])
        inner = scaled @ scaled.T
        inner.flat[:: n + 1] += 1.0 / self.weights + 1.0 / diagonal[n:]
        solve_inner = factor_in_place(inner)
        inverse_ones = solve_inner(np.ones(n))

        def solve(r: np.ndarray) -> np.ndarray:
            inverse_r = r / diagonal
            rows = solve_inner(self.kernel @ inverse_r[:n] + inverse_r[n:])
            multipliers = rows - inverse_ones * (rows.sum() / inverse_ones.sum())
            return inverse_r - np.concatenate([self.kernel.T @ multipliers, multipliers]) / diagonal

        return solve


@dataclass(frozen=True, eq=False)
class SeparableProgram:
    """The program of the module docstring.

    Parameters
    ----------
    curvature : Curvature
        Q.
    linear, diagonal, bound : (n,) arrays
        q, d and c; bounds may be infinite.
    tube : (n,) array
        e, all zero or all positive.
    balanced : bool
        Whether ``1ᵀx = 0`` is asked for.
    """

    curvature: Curvature
    linear: np.ndarray
    diagonal: np.ndarray
    tube: np.ndarray
    bound: np.ndarray
    balanced: bool

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Of the smooth part."""
        return self.curvature.times(x) + self.diagonal * x - self.linear

    def value(self, x: np.ndarray) -> float:
        return float(x @ (self.gradient(x) - self.linear) / 2 + self.tube @ np.abs(x))

    @property
    def bounded(self) -> bool:
        return bool(np.isfinite(self.bound).all())

    def duality_gap(self, x: np.ndarray, multiplier: float) -> float:
        """Of a bounded program, at any x within its bounds: ``Σ h(xᵢ) + h*(ξᵢ) - xᵢξᵢ``, ξ = q - Qx - λ.

        h is the separable part and h* its conjugate: the loss of the residual ξ when x are the multipliers of
        the rows. By the Fenchel-Young inequality no term is negative, so nothing cancels.
        """
        xi = self.linear - self.curvature.times(x) - multiplier
        excess = np.maximum(np.abs(xi) - self.tube, 0.0)
        inside = np.minimum(excess, self.diagonal * self.bound)
        with np.errstate(divide="ignore", invalid="ignore"):
            quadratic = np.where(self.diagonal > 0, inside**2 / (2 * self.diagonal), 0.0)
        conjugate = quadratic + self.bound * (excess - inside)
        separable = self.diagonal * x**2 / 2 + self.tube * np.abs(x)
        return float(np.sum(separable + conjugate - x * xi))


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """A solution: where each variable rests is told apart by which of slack and multiplier is larger."""

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
    """The nonnegative variables behind x, ``x = Ez``: z = x in a box, or z = (x⁺, x⁻) where there is a tube."""

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
        """Δz from Δx: ``Θ Δz = r - Eᵀ(H Δx + 1 Δλ)``, whose bracket is the reduced system's ``rhs - T Δx``."""
        if not self.split:
            return dx
        diagonal, rhs = self.reduce(theta, r)
        return (r - self.to_z(rhs - diagonal * dx)) / theta


def _factored(curvature: Curvature, diagonal: np.ndarray) -> Solve:
    """Factor ``Q + T``, with the least shift that rounding in Q asks for.

    The diagonal T vanishes for variables strictly inside their bounds, so Q has to be definite on these; a
    kernel matrix of repeated rows or in single precision is so only up to rounding.
    """
    for shift in (1e-13, 1e-10, 1e-7):
        try:
            return curvature.factor(np.maximum(diagonal, shift * curvature.scale))
        except IndefiniteError:
            continue
    raise ValueError(
        "The kernel matrix is not positive semidefinite, and this penalty needs it to be. Use a definite kernel "
        "(rbf, linear, polynomial with coef0 >= 0), or penalty='coefficients' or penalty='sparse'."
    )


def _kkt_solver(program: SeparableProgram, diagonal: np.ndarray) -> Callable[[np.ndarray, float], tuple[np.ndarray, float]]:
    """Solve ``(Q + T) x + 1 λ = r, 1ᵀx = s`` with one factorisation and one step of iterative refinement."""
    solve_block = _factored(program.curvature, diagonal)
    n = len(diagonal)
    ones = np.ones(n)
    inverse_ones = solve_block(ones) if program.balanced else ones

    def once(r: np.ndarray, s: float) -> tuple[np.ndarray, float]:
        x = solve_block(r)
        if not program.balanced:
            return x, 0.0
        multiplier = (x.sum() - s) / inverse_ones.sum()
        return x - inverse_ones * multiplier, multiplier

    def solve(r: np.ndarray, s: float) -> tuple[np.ndarray, float]:
        x, multiplier = once(r, s)
        residual = r - program.curvature.times(x) - diagonal * x - multiplier
        dx, d_multiplier = once(residual, s - x.sum() if program.balanced else 0.0)
        return x + dx, multiplier + d_multiplier

    return solve


def _start(program: SeparableProgram, variables: _BarrierVariables) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An interior point z with multipliers, from the program with its bounds replaced by a diagonal."""
    if variables.has_upper.all():
        z = (variables.lower + variables.upper) / 2
        size = max(1e-3, float(np.abs(program.linear).max()))
        multipliers = np.full(len(z), size)
        return z, multipliers, multipliers.copy()
    diagonal = np.full(len(program.linear), program.curvature.scale) + program.diagonal
    x, level = _kkt_solver(program, diagonal)(program.linear, 0.0)
    margin = max(float(np.abs(x).mean()), 1e-8)
    z = np.maximum(variables.to_z(x), 0.0) + margin
    reduced = variables.to_z(program.gradient(x) + level) + np.concatenate([program.tube, program.tube])
    multipliers = np.maximum(reduced, 0.0) + max(float(np.abs(reduced).mean()), 1e-8)
    return z, multipliers, np.zeros_like(z)


def _longest_step(values: np.ndarray, steps: np.ndarray) -> float:
    shrinking = steps < 0
    return float(min(1.0, np.min(-values[shrinking] / steps[shrinking], initial=np.inf)))


def minimise(program: SeparableProgram, *, tol: float, max_iter: int) -> InteriorPoint:
    """Mehrotra's predictor-corrector method, bounds kept strictly satisfied throughout.

    Stops when the gap is below ``tol (1 + |objective|)`` and the residuals below tol. The gap of a bounded
    program is the true one at x, which is what the user's objective sees; the complementarity gap of the
    barrier, far smaller where Q is large, serves only where no bound makes every point dual feasible.
    """
    variables = _BarrierVariables(program)
    none = np.zeros(len(program.linear), dtype=bool)
    if not (variables.has_lower.any() or variables.has_upper.any()):
        x, multiplier = _kkt_solver(program, program.diagonal)(program.linear, 0.0)
        return InteriorPoint(x, multiplier, none, none, True, 1)

    z, low, high = _start(program, variables)
    multiplier = 0.0
    n_pairs = int(variables.has_lower.sum() + variables.has_upper.sum())
    bounded = variables.has_upper
    converged = False
    iteration = 0
    for iteration in range(1, max_iter + 1):
        x = variables.to_x(z)
        below = z - variables.lower
        above = np.where(bounded, variables.upper - z, 1.0)
        smooth = program.curvature.times(x) + program.diagonal * x
        dual_residual = variables.to_z(smooth + multiplier) + variables.cost - low + high
        imbalance = float(x.sum()) if program.balanced else 0.0
        gap = float(below @ low + above @ high)
        value = float(x @ smooth / 2 + variables.cost @ z)
        if program.bounded:
            converged = program.duality_gap(x, multiplier) <= tol * (1.0 + abs(value))
        else:
            size = 1.0 + float(np.abs(program.linear).max())
            converged = gap <= tol * (1.0 + abs(value)) and float(np.abs(dual_residual).max()) <= tol * size
        converged = converged and abs(imbalance) <= tol * (1.0 + float(np.abs(x).sum()))
        if converged or gap <= 1e-16 * (1.0 + abs(value)):
            break

        theta = low / below + high / above
        diagonal, _ = variables.reduce(theta, theta)
        solve = _kkt_solver(program, program.diagonal + diagonal)

        def direction(
            target: float, correction_low: np.ndarray | float, correction_high: np.ndarray | float
        ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
            aim_low = (target - correction_low) / below
            aim_high = np.where(bounded, (target - correction_high) / above, 0.0)
            r = -dual_residual + aim_low - low - aim_high + high
            _, rhs = variables.reduce(theta, r)
            dx, d_multiplier = solve(rhs, -imbalance)
            dz = variables.expand(theta, r, dx)
            return dz, aim_low - low - low / below * dz, aim_high - high + high / above * dz, d_multiplier

        def longest(dz: np.ndarray, d_low: np.ndarray, d_high: np.ndarray) -> float:
            return min(
                _longest_step(below, dz),
                _longest_step(above[bounded], -dz[bounded]),
                _longest_step(low, d_low),
                _longest_step(high[bounded], d_high[bounded]),
            )

        dz, d_low, d_high, _ = direction(0.0, 0.0, 0.0)
        step = longest(dz, d_low, d_high)
        reached = float((below + step * dz) @ (low + step * d_low))
        reached += float((above - step * dz)[bounded] @ (high + step * d_high)[bounded])
        target = (reached / gap) ** 3 * gap / n_pairs
        dz, d_low, d_high, d_multiplier = direction(target, dz * d_low, -dz * d_high)
        step = longest(dz, d_low, d_high) * 0.995
        if step < 1e-10:
            break
        z = z + step * dz
        low = low + step * d_low
        high = np.where(bounded, high + step * d_high, 0.0)
        multiplier += step * d_multiplier

    return _settled(program, variables, z, low, high, multiplier, converged, iteration)


def _settled(
    program: SeparableProgram,
    variables: _BarrierVariables,
    z: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    multiplier: float,
    converged: bool,
    n_iter: int,
) -> InteriorPoint:
    """The point reached, with which variables rest at zero or on their bound."""
    x = variables.to_x(z)
    on_low = z - variables.lower < low
    on_high = variables.has_upper & (variables.upper - z < high)
    if variables.split:
        n = len(x)
        at_zero, at_bound = on_low[:n] & on_low[n:], on_high[:n] | on_high[n:]
    else:
        at_zero, at_bound = np.zeros(len(x), dtype=bool), on_low | on_high
    return InteriorPoint(x, multiplier, at_zero, at_bound, converged, n_iter)


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
    return min(candidates, key=lambda p: program.duality_gap(p.x, p.multiplier))


def _between_bounds(
    program: SeparableProgram, point: InteriorPoint, matrix: np.ndarray
) -> InteriorPoint | None:
    """Solve for the variables that rest nowhere, the others held; None if one leaves its bounds or its side."""
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
        y[free], multiplier = _kkt_solver(inner, inner.diagonal)(inner.linear, -float(y.sum()))
    crossed = bool(program.tube.any()) and bool((y * x < 0).any())
    if crossed or (np.abs(y) > program.bound).any():
        return None
    return replace(point, x=y, multiplier=multiplier)
