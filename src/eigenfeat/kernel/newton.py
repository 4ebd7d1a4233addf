"""Smooth losses of any power with a quadratic penalty, by Newton's method (table 2.1 of the thesis).

In the coordinates θ of `eigenfeat.kernel.basis` the problem is ``min Σ w ℓ(y - Φθ - b) + ½θᵀHθ``, H the penalty with
the invariances. A step solves a least squares problem whose row weights are those of a parabola in the place of the
loss: the one that has its curvature (Newton's), and where that step is not to be trusted the one that lies above it
(p ≤ 2; iteratively reweighted least squares), which never goes uphill.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from eigenfeat.kernel.basis import basis_of
from eigenfeat.kernel.needs import QUADRATIC_PENALTY, SMOOTH_LOSS
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.used_rows import UsedRows
from eigenfeat.solvers.contract import Solver

#: Of a Newton step at least this much must be possible, or the other parabola is taken.
SHORTEST = 1 / 16


def solve(problem: KernelProblem, request: KernelRequest = DEFAULTS) -> KernelSolution:
    """Solve every target from the squared loss' solution on.

    Parameters
    ----------
    problem : KernelProblem
    request : KernelRequest
        ``tol`` (1e-10) bounds the decrease that a step still promises, relative to the objective; ``max_iter`` (200)
        counts steps a target, each of which factors a matrix of the size of the expansion.
    """
    wanted = request.filled(tol=1e-10, max_iter=200)
    used = UsedRows.of(problem)
    basis = basis_of(used.problem)
    penalty = basis.penalty(used.problem.alpha, used.problem.invariance)
    design = np.column_stack([basis.design, np.ones(len(basis.design))])
    hessian = np.zeros((design.shape[1],) * 2)
    hessian[:-1, :-1] = penalty
    found = [
        _Descent(used.problem, design, hessian, y).run(wanted.tol, wanted.max_iter) for y in used.problem.targets.T
    ]
    theta = np.column_stack([x[:-1] for x, _, _ in found])
    return used.solution(
        basis.coefficients(theta),
        basis.design @ theta,
        (theta**2).sum(axis=0) / 2,
        converged=all(settled for _, settled, _ in found),
        n_iter=max(steps for *_, steps in found),
        solver="newton",
    )


@dataclass(frozen=True, eq=False)
class _Descent:
    """One target; the last coordinate is the intercept."""

    problem: KernelProblem
    design: np.ndarray
    hessian: np.ndarray
    y: np.ndarray

    def value(self, x: np.ndarray) -> float:
        loss = self.problem.loss.values(self.y - self.design @ x)
        return float(self.problem.weights @ loss + x @ self.hessian @ x / 2)

    def step(self, x: np.ndarray, curvatures: np.ndarray) -> tuple[np.ndarray, float]:
        """To the minimum with parabolas of these curvatures, and the slope of the objective along it."""
        w, residuals = self.problem.weights, self.y - self.design @ x
        gradient = self.hessian @ x - self.design.T @ (w * self.problem.loss.slopes(residuals))
        matrix = self.design.T @ ((w * curvatures)[:, None] * self.design) + self.hessian
        # Rows that are all on lines leave the intercept without curvature.
        matrix.flat[:: len(matrix) + 1] += 1e-12 * matrix.diagonal().max()
        direction = -cho_solve(cho_factor(matrix), gradient)
        return direction, float(gradient @ direction)

    def run(self, tol: float, max_iter: int) -> tuple[np.ndarray, bool, int]:
        loss = self.problem.loss
        x = np.zeros(self.design.shape[1])
        x += self.step(x, np.ones(len(self.y)))[0]
        value = self.value(x)
        for n_iter in range(1, max_iter + 1):
            residuals = self.y - self.design @ x
            direction, slope = self.step(x, loss.curvatures(residuals))
            length = self.length(x, direction, slope, value)
            if length < SHORTEST:
                direction, slope = self.step(x, loss.majorants(residuals))
                length = self.length(x, direction, slope, value)
            done = -slope <= tol * abs(value) or length == 0
            x = x + length * direction
            if done:  # after a last step, the most exact of all
                return x, -slope <= np.sqrt(tol) * abs(value), n_iter
            value = self.value(x)
        return x, False, max_iter

    def length(self, x: np.ndarray, direction: np.ndarray, slope: float, value: float) -> float:
        """The longest halving of the step that gains a tenth of what its slope promises; zero where none does."""
        length = 1.0
        while length > 1e-10:
            if self.value(x + length * direction) <= value + 0.1 * length * slope:
                return length
            length /= 2
        return 0.0


SOLVER = Solver("newton", solve, (SMOOTH_LOSS, QUADRATIC_PENALTY))
