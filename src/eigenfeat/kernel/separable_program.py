"""The separable quadratic programs of the kernel problem, and their linear systems.

Minimise ``½ xᵀQx - qᵀx + Σ (½ dᵢ xᵢ² + e |xᵢ|)`` subject to ``|xᵢ| ≤ cᵢ`` and, where asked, ``1ᵀx = 0``.

The duals of the kernel problem with a quadratic penalty have this form (x are the multipliers of the rows),
and so has the primal with the sparse penalty (x are the expansion coefficients).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eigenfeat.kernel.curvatures import Curvature, IndefiniteError, Solve

KKTSolve = Callable[..., tuple[np.ndarray, float]]


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

    def duality_gap(self, x: np.ndarray, multiplier: float, curved: np.ndarray) -> float:
        """Of a bounded program, at any x within its bounds: ``Σ h(xᵢ) + h*(ξᵢ) - xᵢξᵢ``, ξ = q - Qx - λ.

        ``curved`` is Qx, which the caller has.

        h is the separable part and h* its conjugate: the loss of the residual ξ when x are the multipliers of
        the rows. By the Fenchel-Young inequality no term is negative, so nothing cancels.
        """
        xi = self.linear - curved - multiplier
        excess = np.maximum(np.abs(xi) - self.tube, 0.0)
        inside = np.minimum(excess, self.diagonal * self.bound)
        with np.errstate(divide="ignore", invalid="ignore"):
            quadratic = np.where(self.diagonal > 0, inside**2 / (2 * self.diagonal), 0.0)
        conjugate = quadratic + self.bound * (excess - inside)
        separable = self.diagonal * x**2 / 2 + self.tube * np.abs(x)
        return float(np.sum(separable + conjugate - x * xi))


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
        "The kernel matrix is not positive semidefinite, and this penalty needs it to be. Use a definite "
        "kernel (rbf, linear, polynomial with coef0 >= 0), or penalty='coefficients' or penalty='sparse'."
    )


def kkt_solver(program: SeparableProgram, diagonal: np.ndarray) -> KKTSolve:
    """Solve ``(Q + T) x + 1 λ = r, 1ᵀx = s``: one factorisation, and a step of iterative refinement if asked."""
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

    def solve(r: np.ndarray, s: float, refine: bool = True) -> tuple[np.ndarray, float]:
        x, multiplier = once(r, s)
        if not refine:
            return x, multiplier
        residual = r - program.curvature.times(x) - diagonal * x - multiplier
        dx, d_multiplier = once(residual, s - x.sum() if program.balanced else 0.0)
        return x + dx, multiplier + d_multiplier

    return solve
