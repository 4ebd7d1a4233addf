"""Columns brought to comparable size: shifted and multiplied, or bent so that they are normal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from eigenfeat.rows.block import Matrix
from eigenfeat.stages.stage import Stage


@dataclass(frozen=True, eq=False)
class TreatedColumns(Stage):
    """``(x - shift) · factor`` a column, or a piecewise linear function of it that is constant outside its knots.

    Parameters
    ----------
    shift, factor : (d,) arrays
        A factor of zero drops a column and keeps its place.
    curved : (q,) array of int
        Columns in ascending order that go through knots instead.
    knots, values : (q, m) arrays
        Where the functions bend, ascending, and what they are there; shorter ones repeat their last knot.
    """

    shift: np.ndarray
    factor: np.ndarray
    curved: np.ndarray
    knots: np.ndarray
    values: np.ndarray

    def apply(self, rows: Matrix) -> Matrix:
        if sparse.issparse(rows):
            if self.keeps_zeros:
                return (rows @ sparse.diags_array(self.factor)).astype(rows.dtype, copy=False)
            rows = rows.toarray()
        treated = ((rows - self.shift) * self.factor).astype(rows.dtype, copy=False)  # in float64 until here
        for column, knots, values in zip(self.curved, self.knots, self.values):
            treated[:, column] = np.interp(rows[:, column], knots, values)
        return treated

    @property
    def keeps_zeros(self) -> bool:
        """Whether what is zero stays zero, so that sparse rows stay sparse."""
        return not self.shift.any() and len(self.curved) == 0

    def n_columns(self, n_inputs: int) -> int:
        return n_inputs
