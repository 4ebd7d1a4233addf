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

from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.contract import LARGEST, N_COMPONENTS, NOISE_SOLVE, Request, Solver
from eigenfeat.solvers.directions import Directions, finish
from eigenfeat.solvers.noise import noise_solver

NAME = "randomized"

#: Random vectors beyond the directions asked for, and passes at most.
OVERSAMPLING, PASSES = 5, 10


def solve_group(quotients: Sequence[Quotient], request: Request) -> list[Directions]:
    """Solve problems that share one noise matrix."""
    noise = noise_solver(quotients[0].noise, request.dtype, quotients[0].label)
    results: list[Directions] = []
    for quotient in quotients:
        vectors, values = _subspace(quotient, noise.solve, noise.rank, request)
        results += finish([quotient], vectors[None], values[None], request, NAME, noise)
    return results


def _subspace(
    quotient: Quotient, solve: Callable[[np.ndarray], np.ndarray], rank: int, request: Request
) -> tuple[np.ndarray, np.ndarray]:
    """Ritz directions and values after as many passes as the tolerance needs, `PASSES` at most."""
    S, N, d = quotient.signal, quotient.noise, quotient.n_features
    k = request.count(rank)
    width = min(k + OVERSAMPLING, rank)
    limit = min(PASSES * width, rank)
    rounding = (100 * float(np.finfo(request.dtype).eps)) ** 2
    rng = np.random.default_rng(request.seed)
    Q = np.empty((d, limit), dtype=request.dtype, order="F")
    T = np.zeros((limit, limit))
    block = solve(S @ rng.standard_normal((d, width)).astype(request.dtype))
    block, N_block = _orthonormal(block, N @ block)
    N_recent, before, start, end = N_block, 0, 0, block.shape[1]
    while True:
        Q[:, start:end] = block[:, : end - start]
        known, recent = Q[:, :end], Q[:, before:end]
        image = S @ Q[:, start:end]
        along = recent.T @ image
        T[before:end, start:end] = along
        T[start:end, before:end] = along.T
        theta, Y = np.linalg.eigh(T[:end, :end])
        theta, Y = theta[::-1][:k], Y[:, ::-1][:, :k]
        # Lanczos: N⁻¹S times the latest block, less its part in the two latest, whose products with N are at hand.
        block = solve(image)
        scale = float(np.einsum("ij,ij->", block, image))
        block -= recent @ along
        image -= N_recent @ along
        following, N_following = _orthonormal(block, image, rounding * scale)
        following -= known @ (known.T @ N_following)
        # A unit vector that loses half of its square here was made of rounding: the space is exhausted.
        following, N_following = _orthonormal(following, N @ following, 0.5)
        # What one more block would add to the directions found so far is their residual.
        left = np.linalg.norm((following.T @ image) @ Y[start:], axis=0)
        if end == limit or following.shape[1] == 0 or np.all(left <= request.tol * np.abs(theta)):
            break
        N_recent = np.hstack([N_block[:, : end - start], N_following])
        block, N_block = following, N_following
        before, start, end = start, end, min(end + block.shape[1], limit)
        N_recent = N_recent[:, : end - before]
    return known @ Y.astype(request.dtype), theta.astype(request.dtype)


def _orthonormal(block: np.ndarray, N_block: np.ndarray, floor: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Q of the block's span with ``QᵀNQ = I``, and NQ; fewer columns, where squared lengths are below the floor."""
    if block.shape[1] == 0:
        return block, N_block
    D, U = np.linalg.eigh((block.T @ N_block).astype(np.float64))
    kept = max(float(np.finfo(block.dtype).eps) * D[-1], floor) < D
    rotation = (U[:, kept] / np.sqrt(D[kept])).astype(block.dtype)
    return block @ rotation, N_block @ rotation


SOLVER = Solver(NAME, solve_group, requires=(NOISE_SOLVE, LARGEST, N_COMPONENTS))
