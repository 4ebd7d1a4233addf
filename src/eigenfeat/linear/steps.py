"""What the methods that minimise the logit have in common: steps, and the line search that ends each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenfeat.linear.objective import LogitObjective, LogitPoint
from eigenfeat.linear.preconditioners import Preconditioner


@dataclass(frozen=True, eq=False)
class Step:
    """A point reached, and what the step to it told.

    Attributes
    ----------
    point : LogitPoint
    n_products : int
        Hessian products the direction took, none for a quasi-Newton step.
    n_passes : float
        Passes over the rows in all; a product counts as the share of the rows it ran over.
    step : float
        Length taken along the direction.
    gap : float
        ``-½ ∇F·D`` at the point before: what a quadratic model says was left to gain there, times what such a
        model is known to miss.
    """

    point: LogitPoint
    n_products: int
    n_passes: float
    step: float
    gap: float


PreconditionerAt = Callable[[LogitPoint, float], Preconditioner]
"""The preconditioner to use at a point, given the passes made since it was last asked."""


def line_search(
    objective: LogitObjective, point: LogitPoint, direction: np.ndarray, slope: float
) -> tuple[LogitPoint, float]:
    """The full step where it decreases F enough, else the best of its halvings; length 0 when none does."""
    full = objective.at(point.coefficients + direction)
    step = 1.0
    value, value_at = full.value, objective.along(point, full)
    while not value <= point.value + 1e-4 * step * slope:  # so written, a NaN is no decrease
        step *= 0.5
        if step < 1e-8:
            return point, 0.0
        value = value_at(step)
    if step == 1.0:
        return full, 1.0
    return objective.at(part_way(point, full, step)), step


def part_way(start: Any, end: Any, step: float) -> np.ndarray:
    """Coefficients at a share of the way: the same, to the last bit, for whoever looks there first."""
    return start.coefficients + step * (end.coefficients - start.coefficients)
