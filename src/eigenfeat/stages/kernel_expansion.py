"""Functions of the form ``Σⱼ αⱼ k(zⱼ, x) + b``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from eigenfeat.rows import Block
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
    points: Block
    coefficients: np.ndarray
    bias: np.ndarray

    def apply(self, rows: Block) -> np.ndarray:
        dtype = rows.dtype
        if self.points.ndim == 1:
            return (np.asarray(rows[:, self.points] @ self.coefficients) + self.bias).astype(dtype, copy=False)
        rows = rows.astype(self.coefficients.dtype, copy=False)
        if sparse.issparse(rows) != sparse.issparse(self.points):
            rows = sparse.csr_matrix(rows) if sparse.issparse(self.points) else rows.toarray()
        values = KernelRows(self.kernel, self.points).expand(rows, self.coefficients) + self.bias
        return values.astype(dtype, copy=False)

    def n_columns(self, n_inputs: int) -> int:
        return self.coefficients.shape[1]

    @property
    def projecting(self) -> KernelExpansion:
        return self

    def widest(self, n_inputs: int) -> int:
        return n_inputs  # the kernel values are cut into blocks of their own
