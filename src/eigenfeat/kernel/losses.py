"""The one-dimensional losses of the kernel problem, and what their duals need of them.

Each loss ℓ is described by its conjugate, ``ℓ*(t) = ½ s t² + ε|t|`` on ``|t| ≤ c``: three numbers tell the
four losses apart, and every solver of the dual reads these numbers instead of the loss's name.

==========  ===========  ========  ===========
loss        curvature s  tube ε    bound c
==========  ===========  ========  ===========
squared     1            0         ∞
absolute    0            0         1
huber       σ            0         1
epsilon     0            ε         1
==========  ===========  ========  ===========

With row weights w the conjugate of w ℓ is ``½ (s/w) t² + ε|t|`` on ``|t| ≤ c w``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenfeat.kernel.problem import KernelProblem, KernelSolution, loss_value
from eigenfeat.stages.kernels import KernelRows


@dataclass(frozen=True)
class ScalarLoss:
    """A convex loss of one residual, zero at zero and symmetric.

    Parameters
    ----------
    curvature, tube, bound : float
        s, ε and c of the conjugate (module docstring).
    """

    curvature: float
    tube: float
    bound: float

    def slopes(self, residuals: np.ndarray) -> np.ndarray:
        """``ℓ'(ξ)``, zero at the kinks of the losses that have them."""
        excess = np.maximum(np.abs(residuals) - self.tube, 0.0)
        size = (excess > 0) * 1.0 if self.curvature == 0 else np.minimum(excess / self.curvature, self.bound)
        return np.sign(residuals) * size

    def intercept(self, residuals: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The b that minimises ``Σ w ℓ(r - b)``, exactly, for every column of residuals."""
        if np.isinf(self.bound):
            return weights @ residuals / weights.sum()
        return np.array([self._best_shift(column, weights) for column in residuals.T])

    def _best_shift(self, r: np.ndarray, w: np.ndarray) -> float:
        knots = np.array([self.tube, self.tube + self.curvature])
        points = np.unique(np.concatenate([r - knots[:, None], r + knots[:, None]]))

        def slope(b: float) -> float:
            return float(-w @ self.slopes(r - b))

        # The objective is convex, with a slope that is linear between neighbouring points: bisect for the
        # interval in which it changes sign. Midpoints, because at the points themselves it may jump.
        middles = (points[1:] + points[:-1]) / 2
        low, high = 0, len(middles)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if slope(middles[middle]) >= 0 else (middle + 1, high)
        if self.curvature == 0:
            flat = low < len(middles) and abs(slope(middles[low])) <= 1e-12 * w.sum()
            return float(middles[low] if flat else points[low])
        # Continuous slope: the root lies within half an interval of points[low].
        left, right = points[max(low - 1, 0)], points[min(low + 1, len(points) - 1)]
        centre = points[low]
        left, right = (left, centre) if slope(centre) >= 0 else (centre, right)
        below, above = slope(left), slope(right)
        return float(left if above == below else left - below * (right - left) / (above - below))


def scalar_loss(problem: KernelProblem) -> ScalarLoss:
    """The problem's loss as its three numbers."""
    return {
        "squared": ScalarLoss(1.0, 0.0, np.inf),
        "absolute": ScalarLoss(0.0, 0.0, 1.0),
        "huber": ScalarLoss(problem.huber_sigma, 0.0, 1.0),
        "epsilon": ScalarLoss(0.0, problem.epsilon, 1.0),
    }[problem.loss]


def plain_rows(
    problem: KernelProblem, solver: str, dtype: type | None = np.float64
) -> tuple[KernelProblem, np.ndarray]:
    """The problem over its rows of positive weight, and their index: a row of weight zero is not there.

    Parameters
    ----------
    solver : str
        Named in the error for what these solvers do not take: centers of their own and invariances.
    dtype : type, optional
        Rows are cast to it before any kernel is computed; None leaves them.
    """
    if problem.centers is not None or problem.invariance is not None:
        given = "centers" if problem.centers is not None else "invariances"
        raise ValueError(
            f"solver={solver!r} expands over all rows and takes no {given}. Leave {given} out, or use "
            "loss='squared' with a solver that takes them (solver='auto' chooses it)."
        )
    kernel, index = problem.kernel, np.flatnonzero(problem.weights > 0)
    rows = kernel.rows if dtype is None else kernel.rows.astype(dtype, copy=False)
    if len(index) < len(problem.weights):
        rows = rows[np.ix_(index, index)] if kernel.precomputed else rows[index]
    kept = replace(
        problem,
        kernel=kernel if rows is kernel.rows else KernelRows(kernel.kernel, rows, kernel.precomputed),
        targets=problem.targets[index].astype(np.float64),
        weights=problem.weights[index].astype(np.float64),
    )
    return kept, index


def primal_solution(
    problem: KernelProblem,
    index: np.ndarray,
    n_rows: int,
    coefficients: np.ndarray,
    outputs: np.ndarray,
    penalty: np.ndarray,
    *,
    converged: bool,
    n_iter: int,
    solver: str,
) -> KernelSolution:
    """The solution with the best intercept for these coefficients, and the true primal objective.

    Parameters
    ----------
    problem : KernelProblem
        Over its rows of positive weight, ``index`` among the ``n_rows`` given.
    coefficients, outputs : (n, m) arrays
        α and Kα.
    penalty : (m,) array
        P of each column.
    """
    residuals = problem.targets - outputs
    intercept = scalar_loss(problem).intercept(residuals, problem.weights)
    objective = loss_value(problem, residuals - intercept) + problem.alpha * penalty
    full = np.zeros((n_rows, coefficients.shape[1]))
    full[index] = coefficients
    # Rows of weight zero have no output here: the caller who wants them expands the kernel.
    at_rows = outputs + intercept if len(index) == n_rows else None
    return KernelSolution(full, intercept, objective, converged, n_iter, solver, outputs=at_rows)
