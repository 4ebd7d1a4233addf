"""One pass over the rows of a source: products with the rows and with their transpose, block by block.

Everything the convex stage asks of the data is ``Φ C`` or ``Φᵀ f(Φ C)`` with a cheap function f of the
scores, so every block is made once, used for both products while it is in cache, and dropped. Blocks are
summed in parts that do not depend on the number of threads, so neither do the results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import get_blas_funcs

from eigenfeat.rows.block import N_PARTS, Matrix, Selection, dense, map_parts, row_blocks
from eigenfeat.rows.products import RowProducts, products_with
from eigenfeat.rows.rows import Rows

MAX_FLOAT64_GRAM = 2000
"""Columns above which a Gram matrix is in float32: it only steers steps, and takes half the time and memory so."""

Between = Callable[[slice, np.ndarray], None]
"""Turns the scores of the given rows, in place, into what the transposed product is taken with."""


@dataclass(frozen=True, eq=False)
class Passes:
    """Products with the rows of a source, some or all of them, and a constant column.

    Parameters
    ----------
    source : Rows
        With random access.
        Φ without its constant column.
    constant : bool
        Whether a column of ones is appended: the intercept.
    index : array of int, optional
        The rows that take part; all when not given. Positions in arrays that go with the rows (labels,
        scores) count in this order.
    batch_size : int, optional
        Rows a block; by default as many as stay in cache.
    n_jobs : int, optional
        Threads; by default as many as linear algebra may use.
    """

    source: Rows
    constant: bool = True
    index: np.ndarray | None = None
    batch_size: int | None = None
    n_jobs: int | None = None

    @property
    def n_rows(self) -> int:
        return self.source.n_rows if self.index is None else len(self.index)

    @property
    def n_columns(self) -> int:
        return self.source.n_columns + self.constant

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    def of_rows(self, index: np.ndarray) -> Passes:
        """The same passes over chosen rows of these."""
        chosen = index if self.index is None else self.index[index]
        return Passes(self.source, self.constant, chosen, self.batch_size, self.n_jobs)

    def block(self, positions: slice) -> Matrix:
        """The rows at these positions, without the constant."""
        return self.source.rows(self._selection(positions))

    def scores(self, coefficients: np.ndarray, squared: bool = False) -> np.ndarray:
        """``Φ C``; with ``squared``, of the squares of the entries of Φ."""
        whole = self._products(coefficients, squared)
        scores = np.empty((self.n_rows, coefficients.shape[1]), self.dtype)

        def run(part: Sequence[slice]) -> None:
            products = whole.anew()
            for positions in part:
                scores[positions] = self._forward(products, positions, coefficients)

        map_parts(run, self._blocks(self.source.floats_per_row), self.n_jobs)
        return scores

    def there_and_back(self, coefficients: np.ndarray, between: Between, squared: bool = False) -> np.ndarray:
        """``Φᵀ f(Φ C)`` in float64, with f given as the in-place function ``between``; ``squared`` as in `scores`."""
        whole = self._products(coefficients, squared)
        constant = np.zeros((int(self.constant), coefficients.shape[1]))

        def run(part: Sequence[slice]) -> tuple[RowProducts, np.ndarray]:
            products, own_constant = whole.anew(), np.zeros_like(constant)
            for positions in part:
                values = self._forward(products, positions, coefficients)
                between(positions, values)
                products.add(values)
                own_constant += values.sum(axis=0, dtype=np.float64)
            return products, own_constant

        for products, own_constant in map_parts(run, self._blocks(self.source.floats_per_row), self.n_jobs):
            whole.merge(products)
            constant += own_constant
        return np.concatenate([whole.total(), constant])

    def gram(self, weights: np.ndarray) -> np.ndarray:
        """The upper triangle of ``Φᵀ diag(weights) Φ``, constant column included; zeros below it.

        In Fortran order, as LAPACK takes it, and in the type of the source, or float32 where it is wide.
        """
        d, dtype = self.source.n_columns, self.gram_dtype
        gram = np.zeros((self.n_columns, self.n_columns), dtype, order="F")
        syrk = get_blas_funcs("syrk", (gram,))
        # Products of few rows are bound by the d² sums they are added to: blocks here are tall.
        for positions in row_blocks(self.n_rows, self.n_columns, self.dtype.itemsize, 512):
            root = np.sqrt(weights[positions]).astype(dtype)[:, None]
            block = self.block(positions)
            if sparse.issparse(block):
                scaled = block.multiply(root).tocsr()
                gram[:d, :d] += np.triu((scaled.T @ scaled).toarray())
                if self.constant:
                    gram[:d, d] += scaled.T @ root.ravel()
                    gram[d, d] += np.sum(root * root)
                continue
            scaled = np.empty((len(block), self.n_columns), dtype)
            np.multiply(block, root, out=scaled[:, :d])
            if self.constant:
                scaled[:, d:] = root
            gram = syrk(1.0, scaled.T, beta=1.0, c=gram, overwrite_c=True)
        return gram

    def scaled(self, factors: np.ndarray) -> np.ndarray:
        """``diag(factors) Φ``, constant column included, in the type of `gram`."""
        scaled = np.empty((self.n_rows, self.n_columns), self.gram_dtype)
        for positions in row_blocks(self.n_rows, self.n_columns, self.dtype.itemsize, 512):
            own = factors[positions].astype(scaled.dtype)[:, None]
            np.multiply(dense(self.block(positions)), own, out=scaled[positions, : self.source.n_columns])
            scaled[positions, self.source.n_columns :] = own
        return scaled

    def weighted_squares(self, weights: np.ndarray) -> np.ndarray:
        """The diagonal of ``gram(weights)``."""

        def weigh(positions: slice, values: np.ndarray) -> None:
            values[:, 0] = weights[positions]

        return self.there_and_back(np.zeros((self.n_columns, 1)), weigh, squared=True)[:, 0]

    def row_squares(self, scale: np.ndarray) -> np.ndarray:
        """``Σⱼ φᵢⱼ² scaleⱼ`` for every row, constant column included."""
        scale = np.minimum(scale, np.finfo(self.dtype).max / 1e8)  # of columns that are all but empty
        return self.scores(scale[:, None], squared=True)[:, 0].astype(np.float64)

    @property
    def gram_dtype(self) -> np.dtype:
        """Of `gram` and `scaled`."""
        return np.dtype(np.float32) if self.source.n_columns > MAX_FLOAT64_GRAM else self.dtype

    def _products(self, coefficients: np.ndarray, squared: bool) -> RowProducts:
        return products_with(self.source, coefficients[: self.source.n_columns], squared)

    def _forward(self, products: RowProducts, positions: slice, coefficients: np.ndarray) -> np.ndarray:
        values = products.scores(self._selection(positions))
        if self.constant:
            values += coefficients[-1].astype(self.dtype)
        return values

    def _selection(self, positions: slice) -> Selection:
        return positions if self.index is None else self.index[positions]

    def _blocks(self, width: int | None = None) -> list[slice]:
        if self.batch_size is None and self.source.is_sparse:
            # Sparse rows cost what they hold; what costs here is the dense result of every block.
            return row_blocks(self.n_rows, 1, 1, max(1, -(-self.n_rows // N_PARTS)))
        return row_blocks(self.n_rows, width or self.n_columns, self.dtype.itemsize, self.batch_size)
