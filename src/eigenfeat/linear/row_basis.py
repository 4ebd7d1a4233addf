"""Rows in the coordinates of their own span: fewer columns, the same penalised problem.

With fewer rows than columns the minimum of ``loss(Φ w) + ½ alpha ‖w‖²`` lies in the span of the rows: what is
orthogonal to them adds to the penalty and to nothing else. In an orthonormal basis Q of that span ``w = Q c`` has
``‖w‖ = ‖c‖`` and scores ``(Φ Q) c``, so the problem in c, with as many columns as there are rows, is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from eigenfeat.rows.block import dense, row_blocks
from eigenfeat.rows.rows import ArrayRows, Rows

MAX_ROWS = 5000
"""Rows above which their Gram matrix is no longer quick to factor, or small."""

BLOCK_NUMBERS = 2**24
"""Rows times columns of a block that products are made of."""


def is_wide(source: Rows) -> bool:
    """Whether rows are so few, beside their columns, that coordinates in their span pay."""
    return few_rows(source.n_rows, source.n_columns)


def few_rows(n_rows: int, n_columns: int) -> bool:
    """`is_wide` of so many rows and columns."""
    return 0 < n_rows <= MAX_ROWS and 2 * n_rows <= n_columns


@dataclass(frozen=True, eq=False)
class RowBasis:
    """``Qᵀ = L₁⁻¹ Φ₁`` for r independent rows Φ₁ and ``Φ Φ₁ᵀ = L L₁ᵀ``, a Cholesky factor; the rows in it are L.

    Attributes
    ----------
    source : Rows
    chosen : (r,) array of int
        The rows Φ₁, the farthest from the span of those before it first; repeated rows, and sums of others, are none.
    factor : (n_rows, r) array
        L, of which L₁, its rows ``chosen``, is lower triangular.
    """

    source: Rows
    chosen: np.ndarray
    factor: np.ndarray

    @classmethod
    def of(cls, source: Rows) -> RowBasis:
        # In float64 whatever the rows are: directions that float32 holds well have squares that it does not.
        gram = np.zeros((source.n_rows, source.n_rows), order="F")
        for i, chosen in enumerate(blocks := _blocks(source)):
            rows = source.rows(chosen).astype(np.float64)
            for other in blocks[:i]:
                gram[chosen, other] = dense(rows @ source.rows(other).astype(np.float64).T)
            gram[chosen, chosen] = dense(rows @ rows.T)
        factor, pivots, rank, _ = linalg.lapack.dpstrf(gram, lower=True, overwrite_a=True)
        order = pivots - 1
        in_order = np.empty((source.n_rows, rank))
        in_order[order] = np.tril(factor[:, :rank])
        return cls(source, order[:rank], in_order)

    @property
    def rows(self) -> ArrayRows:
        return ArrayRows(self.factor.astype(self.source.dtype), made_of=self.source)

    def combination(self, coordinates: np.ndarray) -> np.ndarray:
        """``c Qᵀ``: coefficients of the columns, one row a class."""
        weights = self._solve(coordinates.T, transposed=True).T
        coef = np.zeros((len(weights), self.source.n_columns))
        for block in _blocks(self.source, len(self.chosen)):
            coef += weights[:, block] @ dense(self.source.rows(self.chosen[block])).astype(np.float64)
        return coef

    def coordinates(self, vectors: np.ndarray) -> np.ndarray:
        """``w Q`` in float64: what of coefficients, or of other rows, lies in the span."""
        vectors = vectors.astype(np.float64, copy=False)
        products = np.empty((len(vectors), len(self.chosen)))
        for block in _blocks(self.source, len(self.chosen)):
            products[:, block] = vectors @ dense(self.source.rows(self.chosen[block])).astype(np.float64).T
        return self._solve(products.T).T

    def _solve(self, right: np.ndarray, transposed: bool = False) -> np.ndarray:
        """``L₁⁻¹ right``, or of its transpose."""
        return linalg.solve_triangular(
            self.factor[self.chosen], right, lower=True, trans=transposed, check_finite=False
        )


def _blocks(source: Rows, n_rows: int | None = None) -> list[slice]:
    """Tall blocks: every two of them are made, and turned into float64, to be multiplied."""
    n_rows = source.n_rows if n_rows is None else n_rows
    return row_blocks(n_rows, source.n_columns, 8, max(512, BLOCK_NUMBERS // source.n_columns))
