"""Functions of the form ``Σⱼ αⱼ k(zⱼ, x) + b``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from eigenfeat.rows.block import Matrix
from eigenfeat.stages.kernels import Kernel, KernelRows
from eigenfeat.stages.stage import Stage


@dataclass(frozen=True, eq=False)
class KernelExpansion(Stage):
    """``k(x, points) @ coefficients + bias``, a column a function; the kernel is never held as a whole.

    Parameters
    ----------
    kernel : Kernel
    points : (q, d) array or CSR matrix, or (q,) integers
        The z's; column numbers where the rows to come are kernel values already ("precomputed").
    coefficients : (q, m) array
    bias : (m,) array
    """

    kernel: Kernel
    points: Matrix
    coefficients: np.ndarray
    bias: np.ndarray

    def apply(self, rows: Matrix) -> np.ndarray:
        if self.points.ndim == 1:
            values = np.asarray(rows[:, self.points] @ self.coefficients) + self.bias
        else:
            values = self._kernel_rows.expand(self._like_points(rows), self.coefficients) + self.bias
        return values.astype(rows.dtype, copy=False)

    @cached_property
    def _kernel_rows(self) -> KernelRows:
        return KernelRows(self.kernel, self.points)

    def astype(self, dtype: np.dtype) -> KernelExpansion:
        """A copy, which lasts for one pass: what it prepares of the points serves all blocks and is not kept."""
        return replace(self)

    def _like_points(self, rows: Matrix) -> Matrix:
        """Rows in the type of the points, and sparse where these are: kernels are made between like and like."""
        rows = rows.astype(self.coefficients.dtype, copy=False)
        if sparse.issparse(rows) == sparse.issparse(self.points):
            return rows
        return sparse.csr_matrix(rows) if sparse.issparse(self.points) else rows.toarray()

    def n_columns(self, n_inputs: int) -> int:
        return self.coefficients.shape[1]

    @property
    def projecting(self) -> KernelExpansion:
        return self

    def widest(self, n_inputs: int) -> int:
        return n_inputs  # the kernel values are cut into blocks of their own
