"""Which rows matter, told from one number of each: the few that carry a sum, and a sample that stands for it.

Both are found in one pass, of any source, in any order of its blocks: a histogram adds up, and the rows of largest
priority of several parts are among those of the parts.
"""

from __future__ import annotations

import numpy as np

#: Bins an octave, and the octaves there are bins for: shares of a total are between 1e-60 and 1.
BINS, LOWEST, HIGHEST = 8, -200, 40


def histogram(masses: np.ndarray) -> np.ndarray:
    """(2, bins): sums of non-negative numbers by their size, in bins of an eighth of an octave, and counts."""
    mantissa, exponent = np.frexp(masses)
    place = (np.clip(exponent, LOWEST, HIGHEST) - LOWEST) * BINS + ((mantissa - 0.5) * (2 * BINS)).astype(np.intp)
    place, length = np.where(masses > 0, np.maximum(place, 0), 0), (HIGHEST - LOWEST + 1) * BINS
    return np.array([np.bincount(place, masses, minlength=length), np.bincount(place, minlength=length)], dtype=float)


def light_below(bins: np.ndarray, share: float, worth_choosing: float = 1.0) -> tuple[float, int]:
    """A bound below which numbers hold at most this share of the total of a `histogram`, and how many are not below.

    Zero, and all, where those are a larger share of them than is worth choosing.
    """
    sums, counts = bins
    light = int(np.searchsorted(np.cumsum(sums), share * sums.sum(), side="right"))
    if counts[light:].sum() > worth_choosing * counts.sum():
        light = 0
    octave, part = divmod(light, BINS)
    bound = 0.0 if light == 0 else float(np.ldexp(0.5 + part / (2 * BINS), octave + LOWEST))
    return bound, int(counts[light:].sum())


def evenness(bins: np.ndarray) -> float:
    """``(Σ m)² / (n Σ m²)`` of the n positive numbers in a `histogram`: one where all are equal, to a bin."""
    sums, counts = bins[:, 1:]  # zeros are in the first
    squares = np.divide(sums**2, counts, out=np.zeros_like(sums), where=counts > 0).sum()
    return float(sums.sum() ** 2 / (counts.sum() * squares)) if squares > 0 else 1.0


def heaviest(masses: np.ndarray, uniforms: np.ndarray, count: int) -> tuple[np.ndarray, float]:
    """About ``count`` places drawn by mass, ascending, and the mass below which one was not sure to be drawn.

    Priority sampling (Duffield, Lund & Thorup 2007): the largest ``mass / uniform`` are taken, and each counts as if
    its mass were at least the next priority, τ; sums with ``max(mass, τ)`` are then unbiased. All places of positive
    mass, and τ of zero, where there are no more.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        priorities = np.where(masses > 0, masses / (1.0 - uniforms), 0.0)
    n_positive = int(np.count_nonzero(masses))
    if n_positive <= count:
        return np.flatnonzero(masses), 0.0
    order = np.argpartition(-priorities, count)
    return np.sort(order[:count]), float(priorities[order[count]])
