"""Inverses of one symmetric matrix under several shifts: factored for a few, by its spectrum for many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg import cho_solve, cholesky, eigh, get_lapack_funcs, solve_triangular


class ShiftedInverse(Protocol):
    """``(M + shift·I)⁻¹``, never formed."""

    def solve(self, block: np.ndarray) -> np.ndarray:
        """The inverse times a block."""

    def diagonal(self) -> np.ndarray:
        """The diagonal of the inverse."""

    def quadratic(self, rows: np.ndarray) -> np.ndarray:
        """``vᵀ(M + shift·I)⁻¹v`` for every row v."""

    def halved(self, rows: np.ndarray) -> np.ndarray:
        """Rows z of rows v, with ``z₁ᵀz₂ = v₁ᵀ(M + shift·I)⁻¹v₂``."""

    def cross_diagonal(self, rows: np.ndarray) -> np.ndarray:
        """The diagonal of ``rows @ inverse``, for a square block of rows."""


@dataclass(frozen=True, eq=False)
class CholeskyInverse:
    """By a Cholesky factor L: O(q³/3) a shift."""

    factor: np.ndarray

    def solve(self, block: np.ndarray) -> np.ndarray:
        return cho_solve((self.factor, True), block, check_finite=False)

    @cached_property
    def _inverse_factor(self) -> np.ndarray:
        (invert,) = get_lapack_funcs(("trtri",), (self.factor,))
        return invert(self.factor, lower=1)[0]

    def diagonal(self) -> np.ndarray:
        return np.einsum("ij,ij->j", self._inverse_factor, self._inverse_factor)

    def quadratic(self, rows: np.ndarray) -> np.ndarray:
        half = self.halved(rows)
        return np.einsum("ij,ij->i", half, half)

    def halved(self, rows: np.ndarray) -> np.ndarray:
        return solve_triangular(self.factor, rows.T, lower=True, check_finite=False).T

    def cross_diagonal(self, rows: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ji->i", self.halved(rows), self._inverse_factor)


class Eigenbasis:
    """``M = U diag(s) Uᵀ``, with products with U kept for the next shift."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.values, self.vectors = eigh(matrix, overwrite_a=True, check_finite=False)
        self._rotated: tuple[np.ndarray, np.ndarray] | None = None

    def rotated(self, rows: np.ndarray) -> np.ndarray:
        if self._rotated is None or self._rotated[0] is not rows:
            self._rotated = (rows, product(rows, self.vectors))
        return self._rotated[1]


@dataclass(frozen=True, eq=False)
class SpectralInverse:
    """By an eigendecomposition shared by all shifts: O(q²) each. A zero shift gives the pseudo-inverse."""

    basis: Eigenbasis
    shift: float

    @cached_property
    def _gains(self) -> np.ndarray:
        s = self.basis.values
        if self.shift > 0:
            return 1 / (np.maximum(s, 0) + self.shift)
        kept = s > len(s) * np.finfo(s.dtype).eps * s[-1]
        return np.divide(1, s, out=np.zeros_like(s), where=kept)

    def solve(self, block: np.ndarray) -> np.ndarray:
        U = self.basis.vectors
        return U @ (self._gains[:, None] * (U.T @ block))

    def diagonal(self) -> np.ndarray:
        return self.basis.vectors**2 @ self._gains

    def quadratic(self, rows: np.ndarray) -> np.ndarray:
        rotated = self.basis.rotated(rows)
        return np.einsum("ij,ij,j->i", rotated, rotated, self._gains)

    def halved(self, rows: np.ndarray) -> np.ndarray:
        return product(rows, self.basis.vectors) * np.sqrt(self._gains)

    def cross_diagonal(self, rows: np.ndarray) -> np.ndarray:
        return (self.basis.rotated(rows) * self.basis.vectors) @ self._gains


def shifted_inverses(
    matrix: np.ndarray, shifts: Sequence[float], n_probes: int
) -> Iterator[tuple[float, ShiftedInverse]]:
    """``(shift, inverse)`` for every shift; ``matrix`` may be overwritten.

    The cheaper way is chosen from costs measured on two cores (an eigendecomposition costs as much as fifteen
    factorisations; a triangular solve as much as 1.7 of its flops in a factorisation). ``n_probes`` is the
    number of rows for which a diagonal or a quadratic form will be asked. Single precision is kept where the
    smallest shift stands well above its rounding error.
    """
    q = len(matrix)
    scale = float(np.abs(matrix).sum(axis=1, dtype=np.float64).max(initial=0.0))
    factor_cost = len(shifts) * (6 * q + 10 * n_probes)
    spectrum_cost = 89 * q + 8 * n_probes
    if factor_cost > spectrum_cost or not _stands_above(min(shifts), np.float64, scale):
        basis = Eigenbasis(matrix.astype(_precision(matrix.dtype, min(shifts), scale), copy=False))
        yield from ((shift, SpectralInverse(basis, shift)) for shift in shifts)
        return
    for last, shift in enumerate(shifts, start=1 - len(shifts)):
        shifted = matrix.astype(_precision(matrix.dtype, shift, scale), copy=last != 0)
        shifted[np.diag_indices(q)] += shifted.dtype.type(shift)
        # The transpose of a symmetric matrix in C order is the same matrix in the order LAPACK works in.
        factor = cholesky(shifted.T, lower=True, overwrite_a=True, check_finite=False)
        yield shift, CholeskyInverse(factor)


def _stands_above(shift: float, dtype: type | np.dtype, scale: float) -> bool:
    """Whether a shift is well above the rounding error of a matrix with this largest row sum."""
    return shift > 30 * np.finfo(dtype).eps * scale


def _precision(dtype: np.dtype, shift: float, scale: float) -> np.dtype:
    return dtype if _stands_above(shift, dtype, scale) else np.dtype(np.float64)


def product(rows: np.ndarray, block: np.ndarray) -> np.ndarray:
    """``rows @ block`` where the block may be of a wider type: only a few rows at a time are converted to it."""
    out = np.empty((len(rows), block.shape[1]), dtype=np.result_type(rows, block))
    for start in range(0, len(rows), 1024):
        np.matmul(rows[start : start + 1024], block, out=out[start : start + 1024])
    return out
