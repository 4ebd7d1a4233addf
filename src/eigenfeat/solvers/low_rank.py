"""A signal ``S = HHᵀ`` with few columns: the singular values of the whitened H, an r × r problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import eigh, svd

from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.conventions import rank_cutoff, select
from eigenfeat.solvers.directions import Directions
from eigenfeat.solvers.finish import finish
from eigenfeat.solvers.noise import NoiseFactor, WoodburyNoise, noise_solver
from eigenfeat.solvers.request import Request

name = "low_rank"
requires = ("signal_factor", "noise_solve", "largest")


def solve_group(quotients: Sequence[Quotient], request: Request) -> list[Directions]:
    """Solve problems that share one noise matrix."""
    noise = noise_solver(quotients[0].noise, request.dtype, quotients[0].label)
    results = []
    for quotient in quotients:
        assert quotient.signal_factor is not None
        H = quotient.signal_factor.astype(request.dtype, copy=False)
        values, vectors = _by_inverse(H, noise) if isinstance(noise, WoodburyNoise) else _by_whitening(H, noise)
        kept = np.flatnonzero(values > rank_cutoff(values, request.dtype))
        order = kept[select(values[kept], request)]
        results.append(finish(quotient, vectors(order), values[order], request, name, noise))
    return results


def _by_whitening(H: np.ndarray, noise: NoiseFactor) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """``WᵀH = U diag(s) Zᵀ`` gives λ = s², v = Wu."""
    U, s, _ = svd(noise.whiten(H), full_matrices=False, overwrite_a=True, check_finite=False)
    return s**2, lambda order: noise.unwhiten(U[:, order])


def _by_inverse(H: np.ndarray, noise: WoodburyNoise) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """``HᵀN⁻¹H = U diag(λ) Uᵀ`` gives v = N⁻¹Hu up to its length."""
    P = noise.solve(H)
    values, U = eigh(H.T @ P, check_finite=False)
    return values, lambda order: P @ U[:, order]
