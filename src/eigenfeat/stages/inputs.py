"""What is done to rows before they are projected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.block import Matrix
from eigenfeat.stages.stage import Stage


@dataclass(frozen=True, eq=False)
class WithConstant(Stage):
    """Rows with a coordinate that is always one, last: directions may then have a bias."""

    def apply(self, rows: Matrix) -> Matrix:
        ones = np.ones((rows.shape[0], 1), dtype=rows.dtype)
        return sparse.hstack([rows, ones], format="csr") if sparse.issparse(rows) else np.hstack([rows, ones])

    def n_columns(self, n_inputs: int) -> int:
        return n_inputs + 1


@dataclass(frozen=True, eq=False)
class BaseMap(Stage):
    """Rows after a fitted scikit-learn transformer.

    Parameters
    ----------
    transformer : fitted transformer
    width : int
        Columns it makes.
    """

    transformer: Any
    width: int

    @classmethod
    def of(cls, transformer: Any, rows: Matrix) -> BaseMap:
        """With the width it has on the first of these rows."""
        return cls(transformer, transformer.transform(rows[:1]).shape[1])

    def apply(self, rows: Matrix) -> Matrix:
        return self.transformer.transform(rows).astype(rows.dtype, copy=False)

    def n_columns(self, n_inputs: int) -> int:
        return self.width
