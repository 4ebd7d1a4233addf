"""A signal ``S = HHᵀ`` with few columns: the singular values of the whitened H, an r × r problem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import svd

from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.conventions import rank_cutoff, select
from eigenfeat.solvers.directions import Directions
from eigenfeat.solvers.finish import finish
from eigenfeat.solvers.noise import factor_noise
from eigenfeat.solvers.request import Request

name = "low_rank"
requires = ("signal_factor", "moderate_size", "largest")


def solve_group(quotients: Sequence[Quotient], request: Request) -> list[Directions]:
    """Solve problems that share one noise matrix: ``WᵀH = U diag(s) Zᵀ`` gives λ = s², v = Wu."""
    noise = factor_noise(quotients[0].noise, request.dtype, quotients[0].label)
    results = []
    for quotient in quotients:
        assert quotient.signal_factor is not None
        H = noise.whiten(quotient.signal_factor.astype(request.dtype, copy=False))
        U, s, _ = svd(H, full_matrices=False, overwrite_a=True, check_finite=False)
        values = s**2
        kept = np.flatnonzero(values > rank_cutoff(values, request.dtype))
        order = kept[select(values[kept], request)]
        vectors = noise.unwhiten(U[:, order])
        results.append(finish(quotient, vectors, values[order], request, name, noise))
    return results
