"""The rows of a sampled preconditioner: held, or made of their few inputs whenever a product asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

from eigenfeat._runtime.threads import usable_threads
from eigenfeat.linear.passes import Passes
from eigenfeat.rows.block import map_parts, row_blocks
from eigenfeat.rows.products import products_with

#: Rows a block of the Gram matrix, where they are made: making them once more for every other block takes little beside
#: the products.
BLOCK_ROWS = 400


class SampleRows(Protocol):
    """r rows S of ``diag(factors) Φ``, constant column included, in the type of `Passes.gram`."""

    def gram(self) -> np.ndarray:
        """SSᵀ, its lower triangle."""

    def times(self, C: np.ndarray) -> np.ndarray:
        """``S C``."""

    def back(self, V: np.ndarray) -> np.ndarray:
        """``Sᵀ V``."""


@dataclass(frozen=True, eq=False)
class HeldSample:
    """S as an array."""

    rows: np.ndarray

    def gram(self) -> np.ndarray:
        return linalg.get_blas_funcs("syrk", (self.rows,))(1.0, self.rows.T, trans=1, lower=1)

    def times(self, C: np.ndarray) -> np.ndarray:
        return _product(self.rows, C.astype(self.rows.dtype))

    def back(self, V: np.ndarray) -> np.ndarray:
        return _product(self.rows.T, V)


def _product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """``A B`` of few columns, rows of A shared by as many threads as linear algebra may use."""
    product = np.empty((len(A), B.shape[1]), np.result_type(A, B))

    def run(parts: Sequence[slice]) -> None:
        for part in parts:
            np.matmul(A[part], B, out=product[part])

    map_parts(run, row_blocks(len(A), 1, 1, -(-len(A) // usable_threads())))
    return product


@dataclass(frozen=True, eq=False)
class PassedSample:
    """S as passes over its rows."""

    passes: Passes
    factors: np.ndarray

    def gram(self) -> np.ndarray:
        n_rows = self.passes.n_rows
        gram = np.zeros((n_rows, n_rows), self.passes.gram_dtype, order="F")
        blocks = row_blocks(n_rows, 1, 1, BLOCK_ROWS)
        for i, own in enumerate(blocks):
            scaled = self._scaled(own)
            gram[own, own] = scaled @ scaled.T
            for other in blocks[:i]:
                gram[own, other] = scaled @ self._scaled(other).T
        return gram

    def _scaled(self, positions: slice) -> np.ndarray:
        chosen = np.arange(positions.start, positions.stop)
        return self.passes.of_rows(chosen).scaled(self.factors[positions])

    def times(self, C: np.ndarray) -> np.ndarray:
        return (self.factors[:, None] * self.passes.scores(C)).astype(self.passes.gram_dtype)

    def back(self, V: np.ndarray) -> np.ndarray:
        values = self.factors[:, None] * V

        def put(positions: slice, scores: np.ndarray) -> None:
            scores[...] = values[positions]

        return self.passes.there_and_back(np.zeros((self.passes.n_columns, V.shape[1])), put)


def sample_rows(passes: Passes, factors: np.ndarray, n_products: int) -> SampleRows:
    """Held, unless so many products need not form them and what they are made of is small beside them."""
    nothing = np.zeros((passes.source.n_columns, n_products))
    if products_with(passes.source, nothing).of_few_inputs:
        return PassedSample(passes, factors)
    return HeldSample(passes.scaled(factors))
