"""A signal ``S = HHᵀ`` with few columns in H: the r × r problem of ``HᵀN⁻¹H``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eigenfeat.moments.forms import DenseForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.canonical import leading, rank_cutoff
from eigenfeat.solvers.contract import LARGEST, NOISE_SOLVE, SIGNAL_FACTOR, Request, Solver
from eigenfeat.solvers.directions import Directions, finish, side_by_side
from eigenfeat.solvers.noise import SMALL, NoiseFactor, WoodburyNoise, noise_solver

NAME = "low_rank"

#: Times a signal must recur for its factor to pay.
RECURRENCES = 4


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
    P = side_by_side(noise.solve, H)
    values, U = np.linalg.eigh(H.transpose(0, 2, 1) @ P)
    cutoff = rank_cutoff(values, request.dtype)[:, None]
    values, U = leading(np.where(values > cutoff, values, np.nan), U, request)
    return finish(quotients, P @ U, values, request, NAME, noise)


def share_signal_factors(quotients: Sequence[Quotient], request: Request) -> Sequence[Quotient]:
    """Factor signals that meet many noises: the same problems with ``S = HHᵀ``, where that makes each smaller.

    A class of few rows has a singular moment matrix; its factor, found once, turns every d × d problem it is part of
    into one of its rank.
    """
    if not request.largest or request.n_components is None or quotients[0].n_features > SMALL:
        return quotients
    uses = Counter(id(q.signal) for q in quotients)
    factors: dict[int, np.ndarray | None] = {}
    results = []
    for quotient in quotients:
        S = quotient.signal
        if quotient.signal_factor is None and isinstance(S, DenseForm) and uses[id(S)] >= RECURRENCES:
            if id(S) not in factors:
                factors[id(S)] = _factor(S, request.n_components)
            quotient = replace(quotient, signal_factor=factors[id(S)])
        results.append(quotient)
    return results


def _factor(signal: DenseForm, n_components: int) -> np.ndarray | None:
    """H of a signal whose rank is at least the directions asked for and at most half of its columns."""
    values, vectors = np.linalg.eigh(signal.toarray())
    kept = values > rank_cutoff(values, signal.dtype)
    rank = int(kept.sum())
    return vectors[:, kept] * np.sqrt(values[kept]) if n_components <= rank <= len(values) // 2 else None


SOLVER = Solver(NAME, solve_group, requires=(SIGNAL_FACTOR, NOISE_SOLVE, LARGEST))
