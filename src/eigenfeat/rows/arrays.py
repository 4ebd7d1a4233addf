"""Rows of arrays, memory maps and sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from scipy import sparse

from eigenfeat.rows.source import Block, Matrix, RandomRows, Selection, part_of


@dataclass(frozen=True, eq=False)
class ArrayRows(RandomRows):
    """Rows of an array, memory map or CSR matrix, read in the floating type that products run in."""

    X: Matrix
    y: np.ndarray | None = None
    weight: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_columns(self) -> int:
        """Numbers in a row; those of an array of more dimensions count as they would laid out."""
        return prod(self.X.shape[1:])

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float32 if self.X.dtype == np.float32 else np.float64)

    @property
    def is_sparse(self) -> bool:
        return sparse.issparse(self.X)

    def rows(self, selection: Selection) -> Matrix:
        block = self.X[selection]
        if sparse.issparse(block):
            return block.astype(self.dtype, copy=False)
        return np.asarray(block, dtype=self.dtype)

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        """As they are stored, without a copy: small integers need not become floats before they are multiplied.

        The default is one block: nothing is gained by cutting what is there already.
        """
        if batch_size is None or batch_size >= self.n_rows:
            yield Block(self.X, self.y, self.weight)
            return
        for start in range(0, self.n_rows, batch_size):
            chosen = slice(start, min(start + batch_size, self.n_rows))
            yield Block(self.X[chosen], part_of(self.y, chosen), part_of(self.weight, chosen), start)
