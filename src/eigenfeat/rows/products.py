"""Products of rows with coefficients and back again: what one pass of a convex fit asks of a source.

A source that knows its rows well can make both products without forming them (`eigenfeat.stages.LayerRows`); all
others form a block, use it for both while it is in cache, and drop it. Products with the *squares* of all entries are
asked for in the same way: sums of them tell how large columns and rows are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from eigenfeat.rows.block import Matrix, Selection


class RowProducts(Protocol):
    """Products of one pass in one thread: ``Φ C`` of some rows at a time, and sums ``Φᵀ V`` over them."""

    @property
    def of_few_inputs(self) -> bool:
        """Whether rows are not formed, and made of numbers that are few beside theirs: to hold some would be waste."""

    def anew(self) -> RowProducts:
        """The same coefficients with sums and buffers of their own, for another thread."""

    def scores(self, selection: Selection) -> np.ndarray:
        """``Φ C`` of these rows, (n, k), the caller's to change."""

    def add(self, values: np.ndarray) -> None:
        """Adds ``Φᵀ V`` of the rows whose scores were last asked for."""

    def merge(self, other: Any) -> None:
        """Adds the sums of others with the same coefficients."""

    def total(self) -> np.ndarray:
        """(n_columns, k) sum of what was added, in float64."""


@dataclass(eq=False)
class BlockProducts:
    """Products with blocks that are formed, or with the squares of their entries."""

    source: Any
    coefficients: np.ndarray
    squared: bool = False
    _block: Matrix = field(init=False, default=None)
    _total: np.ndarray = field(init=False)
    of_few_inputs = False

    def __post_init__(self) -> None:
        self._total = np.zeros(self.coefficients.T.shape)

    def anew(self) -> BlockProducts:
        return BlockProducts(self.source, self.coefficients, self.squared)

    def scores(self, selection: Selection) -> np.ndarray:
        block = self.source.rows(selection)
        self._block = squares_of(block) if self.squared else block
        return self._block @ self.coefficients

    def add(self, values: np.ndarray) -> None:
        self._total += values.T @ self._block

    def merge(self, other: BlockProducts) -> None:
        self._total += other._total

    def total(self) -> np.ndarray:
        return self._total.T


@dataclass(eq=False)
class TakenProducts:
    """Products with chosen rows of a source."""

    products: RowProducts
    index: np.ndarray

    @property
    def of_few_inputs(self) -> bool:
        return self.products.of_few_inputs

    def anew(self) -> TakenProducts:
        return TakenProducts(self.products.anew(), self.index)

    def scores(self, selection: Selection) -> np.ndarray:
        return self.products.scores(self.index[selection])

    def add(self, values: np.ndarray) -> None:
        self.products.add(values)

    def merge(self, other: TakenProducts) -> None:
        self.products.merge(other.products)

    def total(self) -> np.ndarray:
        return self.products.total()


def products_with(source: Any, coefficients: np.ndarray, squared: bool = False) -> RowProducts:
    """The source's own products where it has any, of formed blocks otherwise; coefficients are (n_columns, k)."""
    coefficients = np.ascontiguousarray(coefficients, dtype=source.dtype)
    return source.products(coefficients, squared) or BlockProducts(source, coefficients, squared)


def squares_of(block: Matrix) -> Matrix:
    """The squares of all entries."""
    return block.multiply(block).tocsr() if sparse.issparse(block) else block * block
