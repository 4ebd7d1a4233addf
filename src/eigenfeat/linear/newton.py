"""Newton's method for the logit, with preconditioned conjugate gradients for the steps: the way home.

A step solves ``H D = -∇F`` as far as the current accuracy warrants (Dembo, Eisenstat & Steihaug 1982), with
the Hessian applied to the rows that still curve. Near the optimum that is few rows and few steps, and the
model's decrease is a fair estimate of what is left to gain.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eigenfeat.linear.objective import Curvature, LogitObjective, LogitPoint
from eigenfeat.linear.preconditioners import Preconditioner
from eigenfeat.linear.steps import PreconditionerAt, Step, line_search

MAX_INNER = 50
"""Conjugate-gradient steps before a direction is taken as it is."""


def newton_steps(objective: LogitObjective, start: LogitPoint, preconditioner_at: PreconditionerAt) -> Iterator[Step]:
    """Steps from ``start`` without end; the caller stops when satisfied, or when a step has length zero."""
    point, n_passes, reference = start, 0.0, None
    while True:
        preconditioner = preconditioner_at(point, n_passes)
        curvature = objective.curvature(point)
        energy = float(np.vdot(point.gradient, preconditioner.solve(point.gradient)))
        reference = reference or energy
        # Loose far from the optimum, tighter as the gradient falls: fast in the end, no waste at first.
        accuracy = min(0.3, (energy / reference) ** 0.25)
        direction, n_products = conjugate_gradient(curvature, point.gradient, preconditioner, accuracy)
        slope = float(np.vdot(point.gradient, direction))
        reached, step = line_search(objective, point, direction, slope)
        n_passes = 1 + (step != 1) + n_products * curvature.passes.n_rows / objective.passes.n_rows
        yield Step(reached, n_products, n_passes, step, -0.5 * slope)
        point = reached


def conjugate_gradient(
    curvature: Curvature, gradient: np.ndarray, preconditioner: Preconditioner, accuracy: float
) -> tuple[np.ndarray, int]:
    """``D ≈ -H⁻¹ ∇F`` and the products it took, until the preconditioned residual falls by ``accuracy``."""
    solution = np.zeros_like(gradient)
    residual = -gradient
    z = preconditioner.solve(residual)
    search = z
    energy = first = float(np.vdot(residual, z))
    for n_products in range(1, MAX_INNER + 1):
        product = curvature @ search
        curve = float(np.vdot(search, product))
        if curve <= 0:  # rounding: nothing more to gain along here
            return (solution if n_products > 1 else search), n_products
        length = energy / curve
        solution += length * search
        residual -= length * product
        z = preconditioner.solve(residual)
        previous, energy = energy, float(np.vdot(residual, z))
        if energy <= accuracy**2 * first:
            break
        search = z + (energy / previous) * search
    return solution, n_products
