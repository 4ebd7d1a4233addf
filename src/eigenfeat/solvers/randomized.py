"""A few passes with random starting vectors: products with S and N and solves with N, nothing else.

The range finder of Halko, Martinsson, Shkolnisky & Tygert (2011, SIAM J. Sci. Comput. 33), which keeps the
blocks of all its passes, in the inner product of the noise as in Saibaba & Kitanidis (2013) and Saibaba, Lee &
Kitanidis (2016, Numer. Linear Algebra Appl. 23): Q with ``QᵀNQ = I`` spans

    Ω, (N⁻¹S)Ω, (N⁻¹S)²Ω, ...

and the directions are ``Qu`` with u from ``QᵀSQ``. Memory is (d, columns of Q), so millions of sparse columns
are within reach.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from eigenfeat.moments.forms import SymmetricForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.conventions import select
from eigenfeat.solvers.directions import Directions
from eigenfeat.solvers.finish import finish
from eigenfeat.solvers.noise import noise_solver
from eigenfeat.solvers.request import Request

name = "randomized"
requires = ("noise_solve", "largest", "n_components")

#: Random vectors beyond the directions asked for, and passes at most.
OVERSAMPLING, PASSES = 10, 8


def solve_group(quotients: Sequence[Quotient], request: Request) -> list[Directions]:
    """Solve problems that share one noise matrix."""
    noise = noise_solver(quotients[0].noise, request.dtype, quotients[0].label)
    results = []
    for quotient in quotients:
        vectors, values = _subspace(quotient, noise.solve, noise.rank, request)
        results.append(finish(quotient, vectors, values, request, name, noise))
    return results


def _subspace(
    quotient: Quotient, solve: Callable[[np.ndarray], np.ndarray], rank: int, request: Request
) -> tuple[np.ndarray, np.ndarray]:
    """Ritz directions and values after as many passes as the tolerance needs, `PASSES` at most."""
    S, N, d = quotient.signal, quotient.noise, quotient.n_features
    k = request.count(rank)
    width = min(k + OVERSAMPLING, rank)
    limit = min(PASSES * width, rank)
    rng = np.random.default_rng(request.seed)
    Q = np.empty((d, limit), dtype=request.dtype, order="F")
    T = np.zeros((limit, limit))
    block = solve(S @ rng.standard_normal((d, width)).astype(request.dtype))
    block = _noise_orthonormal(_noise_orthonormal(block, N), N)
    end = 0
    while True:
        start, end = end, min(end + block.shape[1], limit)
        Q[:, start:end] = block[:, : end - start]
        known = Q[:, :end]
        image = S @ Q[:, start:end]
        along = known.T @ image
        T[:end, start:end] = along
        T[start:end, :end] = along.T
        theta, Y = np.linalg.eigh(T[:end, :end])
        theta, Y = theta[::-1][:k], Y[:, ::-1][:, :k]
        # What one more block would add to the directions found so far is their residual.
        image = solve(image)
        scale = np.einsum("ij,ij->", image, N @ image)
        image -= known @ along
        block = _noise_orthonormal(_noise_reject(image, known, N), N, scale)
        block = _noise_orthonormal(_noise_reject(block, known, N), N)
        coupling = block.T @ (N @ image)
        settled = np.linalg.norm(coupling @ Y[start:], axis=0) <= request.tol * np.abs(theta)
        if end == limit or block.shape[1] == 0 or np.all(settled):
            break
    order = select(theta, request)
    return known @ Y[:, order].astype(request.dtype), theta[order].astype(request.dtype)


def _noise_reject(block: np.ndarray, known: np.ndarray, noise: SymmetricForm) -> np.ndarray:
    return block - known @ (known.T @ (noise @ block))


def _noise_orthonormal(block: np.ndarray, noise: SymmetricForm, scale: float = 0.0) -> np.ndarray:
    """Columns of the same span with ``QᵀNQ = I``; fewer, where some are rounding next to ``scale``."""
    if block.shape[1] == 0:
        return block
    D, U = np.linalg.eigh((block.T @ (noise @ block)).astype(np.float64))
    eps = float(np.finfo(block.dtype).eps)
    kept = max(eps * D[-1], (100 * eps) ** 2 * scale) < D
    return block @ (U[:, kept] / np.sqrt(D[kept])).astype(block.dtype)
