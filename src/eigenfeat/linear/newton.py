"""Newton's method for the logit, with preconditioned conjugate gradients for the steps.

A step solves ``H D = -∇F`` as far as the current accuracy warrants (Dembo, Eisenstat & Steihaug 1982), with
the Hessian applied to the rows that still curve. Each step ends with one pass that gives value and gradient;
the line search costs no pass, since scores are linear in the coefficients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from eigenfeat.linear.objective import Curvature, LogitObjective, LogitPoint
from eigenfeat.linear.preconditioners import Preconditioner

MAX_INNER = 50
"""Conjugate-gradient steps before a direction is taken as it is."""


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """A point reached, and what the step to it told.

    Attributes
    ----------
    point : LogitPoint
    n_products : int
        Hessian products the direction took.
    n_passes : float
        Passes over the rows in all; a product counts as the share of the rows it ran over.
    step : float
        Length taken along the direction.
    gap : float
        ``-½ ∇F·D`` at the point before: what Newton's model says was left to gain there.
    """

    point: LogitPoint
    n_products: int
    n_passes: float
    step: float
    gap: float


PreconditionerAt = Callable[[LogitPoint, float], Preconditioner]
"""The preconditioner to use at a point, given the passes made since it was last asked."""


def newton_steps(
    objective: LogitObjective, start: LogitPoint, preconditioner_at: PreconditionerAt
) -> Iterator[NewtonStep]:
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
        yield NewtonStep(reached, n_products, n_passes, step, -0.5 * slope)
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


def line_search(
    objective: LogitObjective, point: LogitPoint, direction: np.ndarray, slope: float
) -> tuple[LogitPoint, float]:
    """The full step where it decreases F enough, else the best of its halvings; length 0 when none does."""
    full = objective.at(point.coefficients + direction)
    step = 1.0
    value = full.value
    while value > point.value + 1e-4 * step * slope:
        step *= 0.5
        if step < 1e-8:
            return point, 0.0
        value = objective.value_along(point, full, step)
    if step == 1.0:
        return full, 1.0
    return objective.at(point.coefficients + step * direction), step
