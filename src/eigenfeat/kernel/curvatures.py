"""The matrices Q of the quadratic programs: multiplied as they are, and factored once a diagonal is added."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.linalg import blas, lapack

Solve = Callable[[np.ndarray], np.ndarray]


class Curvature(Protocol):
    """A positive semidefinite matrix Q that can be multiplied, and factored once a diagonal is added."""

    scale: float
    """Mean diagonal of Q, one if Q is zero."""

    def times(self, x: np.ndarray) -> np.ndarray: ...

    def factor(self, diagonal: np.ndarray) -> Solve: ...


class IndefiniteError(Exception):
    """A matrix that should be positive definite is not."""


def factor_in_place(matrix: np.ndarray) -> Solve:
    """Cholesky factorisation that overwrites a C-ordered symmetric matrix; its solve."""
    factor, info = lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if info:
        raise IndefiniteError
    # For one right side two triangular solves are several times quicker than LAPACK's blocked potrs.
    return lambda r: blas.dtrsv(factor, blas.dtrsv(factor, r, lower=1), lower=1, trans=1)


class DenseCurvature:
    """Q held as an array."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix
        self.scale = float(np.mean(np.diagonal(matrix))) or 1.0

    def times(self, x: np.ndarray) -> np.ndarray:
        return self.matrix @ x

    def factor(self, diagonal: np.ndarray) -> Solve:
        shifted = self.matrix.copy()
        shifted.flat[:: len(shifted) + 1] += diagonal
        return factor_in_place(shifted)


class ResidualCurvature:
    """``Q = AᵀΩA`` with ``A = [K I]`` and Ω the centred weights: the curvature of Huber's loss over (α, u).

    Huber's loss is the smallest sum of a quadratic in ξ - u and of |u|, so u joins the variables and the
    system is reduced on the multipliers ν of the rows: ``(W⁻¹ + K T_α⁻¹ Kᵀ + T_u⁻¹) ν + 1β = A T⁻¹ r``,
    1ᵀν = 0.

    Parameters
    ----------
    kernel : (n, q) array
    weights : (n,) array
        Weights of the quadratic; Ω = W - wwᵀ/Σw is what is left once the intercept is eliminated.
    """

    def __init__(self, kernel: np.ndarray, weights: np.ndarray) -> None:
        self.kernel = kernel
        self.weights = weights
        self.scale = float(np.mean(weights)) * (1 + float(np.mean(np.einsum("ij,ij->j", kernel, kernel)))) / 2

    def centred(self, residual: np.ndarray) -> np.ndarray:
        """``Ω r``."""
        return self.weights * (residual - self.weights @ residual / self.weights.sum())

    def times(self, x: np.ndarray) -> np.ndarray:
        q = self.kernel.shape[1]
        multipliers = self.centred(self.kernel @ x[:q] + x[q:])
        return np.concatenate([self.kernel.T @ multipliers, multipliers])

    def factor(self, diagonal: np.ndarray) -> Solve:
        n, q = self.kernel.shape
        scaled = self.kernel / np.sqrt(diagonal[:q])
        inner = scaled @ scaled.T
        inner.flat[:: n + 1] += 1.0 / self.weights + 1.0 / diagonal[q:]
        solve_inner = factor_in_place(inner)
        inverse_ones = solve_inner(np.ones(n))

        def solve(r: np.ndarray) -> np.ndarray:
            inverse_r = r / diagonal
            rows = solve_inner(self.kernel @ inverse_r[:q] + inverse_r[q:])
            multipliers = rows - inverse_ones * (rows.sum() / inverse_ones.sum())
            return inverse_r - np.concatenate([self.kernel.T @ multipliers, multipliers]) / diagonal

        return solve
