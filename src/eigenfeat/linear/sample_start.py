"""A start for the logit of many rows: the minimum over a sample of them.

It shows most of the way, and what curvature is like, for the price of a pass. It differs from the minimum over all rows
by what chance leaves in a sample, so there is no use in finding it exactly.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from eigenfeat.linear.quasi_newton import Pairs, quasi_newton_steps
from eigenfeat.linear.steps import PreconditionerAt

#: Rows of a sample: so many, and so many a column. Assumed: with fewer the start is further off.
START_ROWS = 100_000
START_ROWS_PER_COLUMN = 20
#: Times as many rows as a sample has from which on there is one.
START_FROM = 4
START_GAP = 1e-3
START_STEPS = 30


def share_to_start_from(passes: Any) -> float | None:
    """The share of the rows that a sample has; None where rows are few enough to do without."""
    share = max(START_ROWS, START_ROWS_PER_COLUMN * passes.n_columns) / passes.n_rows
    return share if START_FROM * share <= 1 else None


def end_of_sample(sample: Any, start: np.ndarray, preconditioner_at: PreconditionerAt, pairs: Pairs) -> np.ndarray:
    """Coefficients near the minimum of an objective over a sample; pairs of its steps are added."""
    point = sample.at(start)
    for step in islice(quasi_newton_steps(sample, point, preconditioner_at, pairs), START_STEPS):
        point = step.point
        if step.gap <= START_GAP * point.value or step.step == 0:
            break
    return point.coefficients
