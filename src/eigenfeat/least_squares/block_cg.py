"""All targets at once by conjugate gradients on the normal equations: one product with A and Aᵀ an iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh, qr, svd

from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.solution import LeastSquaresRequest, Regression
from eigenfeat.solvers.canonical import rank_cutoff, singular_cutoff

# Eigenvalues that are preconditioned away. The sketch costs as much as this many targets in one iteration.
SKETCH = 200
SKETCH_BLOCK = 20


@dataclass(frozen=True, eq=False)
class IterativeResult:
    """Solutions of all columns, with the relative residual each was left at."""

    vectors: np.ndarray
    residuals: np.ndarray
    n_iter: int


def solve_block_cg(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> Regression:
    """``(AᵀA + shift·I)† AᵀH`` without forming a Gram matrix: memory O(nnz + (n + d) r).

    In exact arithmetic LSQR on every target, started at zero (so the shortest solution where there are many), but the
    targets search one common Krylov space, which takes fewer iterations, and share each pass over A. With a ridge,
    the few largest eigenvalues, which word counts and other raw data spread over many orders of magnitude, are
    preconditioned away, and wide rows are solved through ``AAᵀ``, whose vectors are shorter. Of directions to start
    from, the best combination is the first guess.
    """
    tol = request.reachable_tol(quotient.rows.dtype)
    result = _iterate(quotient, tol, request.max_iter, request.start)
    return Regression(result.vectors, result.residuals <= tol, result.n_iter)


def _iterate(quotient: LeastSquaresQuotient, tol: float, max_iter: int, start: np.ndarray | None) -> IterativeResult:
    rows, H = quotient.rows, quotient.targets.factor
    shift = rows.dtype.type(quotient.shift)

    def by_columns(vectors: np.ndarray) -> np.ndarray:
        return rows.transpose_times(rows.times(vectors))

    def by_rows(vectors: np.ndarray) -> np.ndarray:
        return rows.times(rows.transpose_times(vectors))

    block = rows.transpose_times(H)
    if quotient.shift == 0:
        return block_conjugate_gradients(by_columns, block, tol, max_iter)
    if start is not None and start.shape[1]:
        image = by_columns(start) + shift * start
        mix = _inverse(start.T @ image) @ (start.T @ block)
        size = np.linalg.norm(block, axis=0)
        rest = _preconditioned(by_columns, shift, block - image @ mix, tol, max_iter, size)
        return replace(rest, vectors=start @ mix + rest.vectors)
    if rows.shape[0] < rows.shape[1]:
        dual = _preconditioned(by_rows, shift, H, tol, max_iter)
        return replace(dual, vectors=rows.transpose_times(dual.vectors))
    return _preconditioned(by_columns, shift, block, tol, max_iter)


def _preconditioned(
    product: Callable[[np.ndarray], np.ndarray],
    shift: np.floating,
    block: np.ndarray,
    tol: float,
    max_iter: int,
    size: np.ndarray | None = None,
) -> IterativeResult:
    """Solve ``(N + shift·I) W = block`` with the largest eigenvalues of N flattened by a sketch.

    The randomised Nyström preconditioner (Frangella, Tropp & Udell 2023), applied on both sides so that the problem
    stays symmetric; its seed is fixed.
    """
    values, U = _largest_eigenpairs(product, block.shape[0], block.dtype)
    squeeze = np.sqrt((values.min(initial=0) + shift) / (values + shift)) - 1

    def condition(vectors: np.ndarray) -> np.ndarray:
        return vectors + U @ (squeeze[:, None] * (U.T @ vectors))

    def conditioned(vectors: np.ndarray) -> np.ndarray:
        vectors = condition(vectors)
        return condition(product(vectors) + shift * vectors)

    result = block_conjugate_gradients(conditioned, condition(block), tol, max_iter, size)
    return replace(result, vectors=condition(result.vectors))


def _largest_eigenpairs(
    product: Callable[[np.ndarray], np.ndarray], n: int, dtype: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """Approximate largest eigenvalues, descending, and eigenvectors of a semi-definite matrix, by one product."""
    draws = np.random.default_rng(0).normal(size=(n, min(SKETCH, max(n // 2, 1)))).astype(dtype)
    basis = qr(draws, mode="economic", overwrite_a=True, check_finite=False)[0]
    # In parts, so that images of the sketch in the longer space need little memory.
    starts = range(0, basis.shape[1], SKETCH_BLOCK)
    image = np.hstack([product(np.ascontiguousarray(basis[:, i : i + SKETCH_BLOCK])) for i in starts])
    small, Q = eigh(basis.T @ image, check_finite=False)
    kept = small > rank_cutoff(small, dtype)
    U, s, _ = svd((image @ Q[:, kept]) / np.sqrt(small[kept]), full_matrices=False, check_finite=False)
    return s**2, U


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
    kept = s > singular_cutoff(s, block.shape)
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
