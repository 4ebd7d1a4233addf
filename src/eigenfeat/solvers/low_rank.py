"""A signal ``S = HHᵀ`` with few columns in H: the r × r problem of ``HᵀN⁻¹H``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.contract import Solver
from eigenfeat.solvers.conventions import leading, rank_cutoff
from eigenfeat.solvers.directions import Directions
from eigenfeat.solvers.finish import finish
from eigenfeat.solvers.needs import LARGEST, NOISE_SOLVE, SIGNAL_FACTOR
from eigenfeat.solvers.noise import NoiseFactor, WoodburyNoise, noise_solver
from eigenfeat.solvers.request import Request

NAME = "low_rank"


def solve_group(quotients: Sequence[Quotient], request: Request) -> list[Directions]:
    """Solve problems that share one noise matrix, those whose factors have equally many columns in one stack."""
    noise = noise_solver(quotients[0].noise, request.dtype, quotients[0].label)
    by_rank: dict[int, list[int]] = defaultdict(list)
    for position, quotient in enumerate(quotients):
        by_rank[quotient.signal_factor.shape[1]].append(position)  # type: ignore[union-attr]
    results: dict[int, Directions] = {}
    for positions in by_rank.values():
        results.update(zip(positions, _solve_stack([quotients[i] for i in positions], noise, request)))
    return [results[i] for i in range(len(quotients))]


def _solve_stack(
    quotients: Sequence[Quotient], noise: NoiseFactor | WoodburyNoise, request: Request
) -> list[Directions]:
    """``HᵀN⁻¹H = U diag(λ) Uᵀ`` gives v = N⁻¹Hu up to its length."""
    H = np.stack([q.signal_factor for q in quotients]).astype(request.dtype, copy=False)  # type: ignore[misc]
    m, d, r = H.shape
    P = noise.solve(H.transpose(1, 0, 2).reshape(d, m * r)).reshape(d, m, r).transpose(1, 0, 2)
    values, U = np.linalg.eigh(H.transpose(0, 2, 1) @ P)
    cutoff = rank_cutoff(values, request.dtype)[:, None]
    values, U = leading(np.where(values > cutoff, values, np.nan), U, request)
    return finish(quotients, P @ U, values, request, NAME, noise)


SOLVER = Solver(NAME, solve_group, needs=(SIGNAL_FACTOR, NOISE_SOLVE, LARGEST))
