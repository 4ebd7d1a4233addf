"""A start for the logit of many rows: the minimum over a sample of them, and over a sample of that before.

It shows most of the way, and what curvature is like, for the price of a pass. It differs from the minimum over all rows
by what chance leaves in a sample, so there is no use in finding it exactly.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from eigenfeat.linear.quasi_newton import Pairs, quasi_newton_steps
from eigenfeat.linear.steps import PreconditionerAt

#: Rows that the smallest sample has at least, and rows a column: with fewer, what it shows is chance, unless labels are
#: smoothed or the penalty is strong, which keep the minimum over few rows near that over all. A quarter of 60,000 rows
#: of MNIST saves 9 of 17 passes with smoothed labels and 2 of 24 with plain ones and alpha 1e-3, over 6,480 columns
#: (benchmarks/speed/constants.py).
LEAST_ROWS = 10_000
LEAST_ROWS_PER_COLUMN = 4
LEAST_SCARCE_ROWS_PER_COLUMN = 1
#: Rows from which on a sample need not be larger: so many, so many a column, and this share of all, whose steps
#: together cost less than the one or two over all rows that they save.
START_ROWS = 100_000
START_ROWS_PER_COLUMN = 20
START_SHARE = 0.03
#: Times as many rows as the largest sample there are at least, and times as many as in the sample before it.
START_FROM = 4
GROWTH = 4
#: Relative gap at which the fit of a sample ends, and of one with fewer than `LEAST_ROWS_PER_COLUMN`.
START_GAP = 5e-3
SCARCE_GAP = 5e-2
START_STEPS = 30


def shares_to_start_from(passes: Any, scarce: bool = False) -> list[float]:
    """Shares of the rows that samples have, the smallest first; none where rows are few enough to do without.

    ``scarce``: whether few rows a column will do.
    """
    n_rows = passes.n_rows
    per_column = LEAST_SCARCE_ROWS_PER_COLUMN if scarce else LEAST_ROWS_PER_COLUMN
    least = max(LEAST_ROWS, per_column * passes.n_columns)
    enough = max(START_ROWS, START_ROWS_PER_COLUMN * passes.n_columns, START_SHARE * n_rows)
    size, shares = min(n_rows / START_FROM, enough), []
    while size >= least:
        shares.append(size / n_rows)
        size /= GROWTH
    return shares[::-1]


def end_of_sample(sample: Any, start: np.ndarray, preconditioner_at: PreconditionerAt, pairs: Pairs) -> np.ndarray:
    """Coefficients near the minimum of an objective over a sample; pairs of its steps are added."""
    point = sample.at(start)
    enough = START_GAP if sample.passes.n_rows >= LEAST_ROWS_PER_COLUMN * sample.passes.n_columns else SCARCE_GAP
    for step in islice(quasi_newton_steps(sample, point, preconditioner_at, pairs), START_STEPS):
        point = step.point
        if step.gap <= enough * point.value or step.step == 0:
            break
    return point.coefficients
