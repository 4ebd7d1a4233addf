"""Rows projected on directions: the stage that eigenvectors, linear scores and regressions share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenfeat.rows.block import Matrix
from eigenfeat.solvers import DenseVectors, Vectors
from eigenfeat.stages.stage import Stage


@dataclass(frozen=True, eq=False)
class Affine(Stage):
    """``x @ V + bias``, V held as numbers or as combinations of stored rows (`DualVectors`).

    A point that rows are seen from, or an intercept, is always this bias, *added* to the products.
    """

    vectors: Vectors
    bias: np.ndarray | None = None

    @classmethod
    def of(cls, array: np.ndarray, bias: np.ndarray | None = None) -> Affine:
        """From a (d, r) array."""
        return cls(DenseVectors(array), bias)

    @classmethod
    def about(cls, vectors: Vectors, point: np.ndarray | None) -> Affine:
        """``(x - point) @ V``."""
        return cls(vectors, None if point is None else -vectors.projected(point[None])[0])

    def apply(self, rows: Matrix) -> np.ndarray:
        products = self.vectors.projected(rows)
        if self.bias is not None:
            products = products + self.bias.astype(products.dtype, copy=False)
        return products.astype(rows.dtype, copy=False)

    def n_columns(self, n_inputs: int) -> int:
        return self.vectors.shape[1]

    @property
    def projecting(self) -> Affine:
        return self

    def astype(self, dtype: np.dtype) -> Affine:
        return replace(self, vectors=self.vectors.astype(dtype))

    def columns(self, keep: np.ndarray | slice) -> Affine:
        """Some of the directions."""
        return Affine(self.vectors.columns(keep), None if self.bias is None else self.bias[keep])
