"""All targets at once by conjugate gradients on the normal equations: one product with A and Aᵀ an iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, qr, svd

from eigenfeat.least_squares.problem import Problem
from eigenfeat.least_squares.rows import CentredRows
from eigenfeat.solvers.conventions import rank_cutoff


@dataclass(frozen=True, eq=False)
class IterativeResult:
    """Solutions of all columns, with the relative residual each was left at."""

    vectors: np.ndarray
    residuals: np.ndarray
    n_iter: int


def solve_iterative(problem: Problem, tol: float, max_iter: int, start: np.ndarray | None = None) -> IterativeResult:
    """``(AᵀA + shift·I)† AᵀH`` without forming a Gram matrix: memory O(nnz + (n + d) r).

    Mathematically LSQR on every target, started at zero (so the shortest solution where there are many), but the
    targets search one common Krylov space, which takes fewer iterations, and share each pass over A. From ``start``
    (directions of a neighbouring shift, say) only the best combination of its columns is kept as a first guess.
    """
    rows = problem.rows
    assert isinstance(rows, CentredRows)
    shift = rows.dtype.type(problem.shift)
    tol = max(tol, 10 * float(np.finfo(rows.dtype).eps))

    def product(vectors: np.ndarray) -> np.ndarray:
        return rows.transpose_times(rows.times(vectors)) + shift * vectors

    block = rows.transpose_times(problem.targets.factor)
    if start is None or start.shape[1] == 0:
        return block_conjugate_gradients(product, block, tol, max_iter)
    image = product(start)
    mix = _inverse(start.T @ image) @ (start.T @ block)
    size = np.linalg.norm(block, axis=0)
    rest = block_conjugate_gradients(product, block - image @ mix, tol, max_iter, size)
    return IterativeResult(start @ mix + rest.vectors, rest.residuals, rest.n_iter)


def block_conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray],
    block: np.ndarray,
    tol: float,
    max_iter: int,
    size: np.ndarray | None = None,
) -> IterativeResult:
    """Solve ``N W = block`` for a positive semi-definite N whose range holds the block, to ``tol · size`` a column.

    The variant that keeps residuals as ``Q C`` with orthonormal Q (Dubrulle 2001, BCGrQ): targets that converge at
    different speeds, or depend on one another, do not break it down.
    """
    left, s, right = svd(block, full_matrices=False, check_finite=False)
    kept = s > max(block.shape) * np.finfo(block.dtype).eps * s.max(initial=0.0)
    Q, C = np.ascontiguousarray(left[:, kept]), s[kept, None] * right[kept]
    size = np.linalg.norm(C, axis=0) if size is None else size
    size = np.where(size > 0, size, 1)
    W, P = np.zeros_like(block), Q
    residuals = np.linalg.norm(C, axis=0) / size
    iteration = 0
    while residuals.max(initial=0) > tol and iteration < max_iter:
        iteration += 1
        S = product(P)
        step = _inverse(P.T @ S)
        W += P @ (step @ C)
        Q, change = qr(Q - S @ step, mode="economic", overwrite_a=True, check_finite=False)
        C = change @ C
        residuals = np.linalg.norm(C, axis=0) / size
        P = np.ascontiguousarray(Q + P @ change.T)
    return IterativeResult(W, residuals, iteration)


def _inverse(matrix: np.ndarray) -> np.ndarray:
    """Of a small positive semi-definite matrix; directions in which it vanishes are left alone."""
    values, Q = eigh((matrix + matrix.T) / 2, check_finite=False)
    kept = values > rank_cutoff(values, matrix.dtype)
    return (Q[:, kept] / values[kept]) @ Q[:, kept].T
