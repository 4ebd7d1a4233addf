"""Small dense signals that meet many noises: factored once, where that makes each problem smaller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eigenfeat.moments.forms import DenseForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.conventions import rank_cutoff
from eigenfeat.solvers.noise import SMALL
from eigenfeat.solvers.request import Request

#: Times a signal must recur for its factor to pay.
RECURRENCES = 4


def with_recurring_factors(quotients: Sequence[Quotient], request: Request) -> Sequence[Quotient]:
    """The same problems, with ``S = HHᵀ`` given for recurring signals of at most half rank.

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
