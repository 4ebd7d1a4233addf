"""Newton's method for the logit, with preconditioned conjugate gradients for the steps: the way home.

A step solves ``H D = -∇F`` as far as the current accuracy warrants (Dembo, Eisenstat & Steihaug 1982), with
the Hessian applied to the rows that still curve. Near the optimum that is few rows and few steps, and the
model's decrease is a fair estimate of what is left to gain.

References
----------
Morales & Nocedal, *Automatic preconditioning by limited memory quasi-Newton updating*, SIAM J. Optim. 10, 2000.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg

from eigenfeat._runtime.threads import limit_blas_for_skinny
from eigenfeat.linear.objective import Curvature, LogitObjective, LogitPoint
from eigenfeat.linear.quasi_newton import Corrected, Pairs
from eigenfeat.linear.steps import PreconditionerAt, Step, line_search

MAX_INNER = 50
"""Conjugate-gradient steps before a direction is taken as it is."""


def newton_steps(
    objective: LogitObjective, start: LogitPoint, preconditioner_at: PreconditionerAt, pairs: Pairs
) -> Iterator[Step]:
    """Steps from ``start`` without end; the caller stops when satisfied, or when a step has length zero.

    ``pairs`` of steps that led here correct the preconditioner, and those of conjugate gradients are added for the
    next: the Hessian of a step is much like that of the one before.
    """
    point, n_passes, reference = start, 0.0, None
    while True:
        of_rows = preconditioner_at(point, n_passes)
        with limit_blas_for_skinny(point.gradient.shape[1]):
            preconditioner = Corrected(of_rows, pairs)
            curvature = objective.curvature(point)
            energy = float(np.vdot(point.gradient, preconditioner.solve(point.gradient)))
            reference = reference or energy
            # Loose far from the optimum, tighter as the gradient falls: fast in the end, no waste at first.
            accuracy = min(0.3, (energy / reference) ** 0.25)
            direction, left, n_products = conjugate_gradient(curvature, point.gradient, preconditioner, accuracy, pairs)
            del of_rows, preconditioner  # the next one is built in its memory
            slope = float(np.vdot(point.gradient, direction))
            reached, step = line_search(objective, point, direction, slope)
        n_passes = 1 + (step != 1) + n_products * curvature.passes.n_rows / objective.passes.n_rows
        yield Step(reached, n_products, n_passes, step, 0.5 * (left - slope))
        point = reached


def conjugate_gradient(
    curvature: Curvature, gradient: np.ndarray, preconditioner: Corrected, accuracy: float, pairs: Pairs
) -> tuple[np.ndarray, float, int]:
    """``D ≈ -H⁻¹ ∇F``, what it leaves of ``∇F · H⁻¹ ∇F``, and the products it took.

    Until the preconditioned residual falls by ``accuracy``. What is left is ``r · H⁻¹ r`` for the residual r, at most
    ``r · P r / λ`` for the preconditioner P and the least eigenvalue λ of P H, estimated by that of Lanczos' matrix.
    Directions and products with them are added to ``pairs``.
    """
    solution = np.zeros_like(gradient)
    residual = -gradient
    z = preconditioner.solve(residual)
    search = z
    energy = first = float(np.vdot(residual, z))
    lengths: list[float] = []
    ratios: list[float] = []
    for n_products in range(1, MAX_INNER + 1):
        product = curvature @ search
        curve = float(np.vdot(search, product))
        if curve <= 0:  # rounding: nothing more to gain along here
            return (solution if n_products > 1 else search), 0.0, n_products
        pairs.append((search, product))
        lengths.append(energy / curve)
        solution += lengths[-1] * search
        residual -= lengths[-1] * product
        z = preconditioner.solve(residual)
        previous, energy = energy, float(np.vdot(residual, z))
        ratios.append(energy / previous)
        if energy <= accuracy**2 * first:
            break
        search = z + ratios[-1] * search
    return solution, energy / _least_eigenvalue(np.array(lengths), np.array(ratios)), n_products


def _least_eigenvalue(lengths: np.ndarray, ratios: np.ndarray) -> float:
    """Of Lanczos' matrix, from the lengths of conjugate-gradient steps and the ratios of residuals after each."""
    diagonal = 1 / lengths
    diagonal[1:] += ratios[:-1] / lengths[:-1]
    beside = np.sqrt(ratios[:-1]) / lengths[:-1]
    least = linalg.eigvalsh_tridiagonal(diagonal, beside)[0] if len(lengths) > 1 else diagonal[0]
    return max(float(least), float(np.finfo(float).eps) * float(diagonal.max()))
