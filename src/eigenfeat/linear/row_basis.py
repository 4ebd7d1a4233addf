"""Rows in the coordinates of their own span: fewer columns, the same penalised problem.

With fewer rows than columns the minimum of ``loss(Φ w) + ½ alpha ‖w‖²`` lies in the span of the rows: what is
orthogonal to them adds to the penalty and to nothing else. In an orthonormal basis Q of that span ``w = Q c`` has
``‖w‖ = ‖c‖`` and scores ``(Φ Q) c``, so the problem in c, with as many columns as there are rows, is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenfeat.rows import ArrayRows, RandomRows, dense, row_blocks

MAX_ROWS = 5000
"""Rows above which their Gram matrix is no longer quick to decompose."""


def is_wide(source: RandomRows) -> bool:
    """Whether rows are so few, beside their columns, that coordinates in their span pay."""
    return 0 < source.n_rows <= MAX_ROWS and 2 * source.n_rows <= source.n_columns


@dataclass(frozen=True, eq=False)
class RowBasis:
    """``Q = Φᵀ U / s`` for ``Φ Φᵀ = U s² Uᵀ``; the rows in it are ``U s``."""

    source: RandomRows
    U: np.ndarray
    s: np.ndarray

    @classmethod
    def of(cls, source: RandomRows) -> RowBasis:
        gram = np.zeros((source.n_rows, source.n_rows))
        for i, chosen in enumerate(blocks := _blocks(source)):
            rows = source.rows(chosen).astype(np.float64)
            for other in blocks[: i + 1]:
                gram[chosen, other] = dense(rows @ source.rows(other).astype(np.float64).T)
        values, U = np.linalg.eigh(gram)
        keep = values > len(values) * np.finfo(source.dtype).eps * values.max(initial=0.0)
        return cls(source, U[:, keep], np.sqrt(values[keep]))

    @property
    def rows(self) -> ArrayRows:
        return ArrayRows((self.U * self.s).astype(self.source.dtype))

    def combination(self, coordinates: np.ndarray) -> np.ndarray:
        """``c Qᵀ``: coefficients of the columns, one row a class."""
        weights = (coordinates / self.s) @ self.U.T
        coef = np.zeros((len(weights), self.source.n_columns))
        for chosen in _blocks(self.source):
            coef += weights[:, chosen] @ dense(self.source.rows(chosen)).astype(np.float64)
        return coef

    def coordinates(self, coef: np.ndarray) -> np.ndarray:
        """``w Q``: what of the coefficients lies in the span."""
        scores = np.empty((len(coef), self.source.n_rows))
        for chosen in _blocks(self.source):
            scores[:, chosen] = coef @ dense(self.source.rows(chosen)).T
        return (scores @ self.U) / self.s


def _blocks(source: RandomRows) -> list[slice]:
    return row_blocks(source.n_rows, source.n_columns, source.dtype.itemsize, 512)
