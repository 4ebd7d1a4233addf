"""How sure a figure is: intervals of shares and of statistics of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Z_95 = 1.959963984540054
"""Of the normal law: 95 % of it lie within."""

N_RESAMPLES = 400
"""Resamples of the bootstrap: its 95 % ends are then known to a tenth of their distance."""


@dataclass(frozen=True)
class Estimate:
    """A figure and the interval that 95 of 100 such intervals would cover it with."""

    value: float
    low: float
    high: float


def share(count: float, total: int) -> Estimate:
    """A share of rows with Wilson's interval, which holds for few rows and for shares near 0 and 1.

    Examples
    --------
    >>> from eigenfeat.report.values.intervals import share
    >>> share(0, 20)
    Estimate(value=0.0, low=0.0, high=0.1611...)
    """
    p = count / total
    middle = (p + Z_95**2 / (2 * total)) / (1 + Z_95**2 / total)
    half = Z_95 / (1 + Z_95**2 / total) * np.sqrt(p * (1 - p) / total + Z_95**2 / (4 * total**2))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Estimate(float(p), 0.0 if count == 0 else float(low), 1.0 if count == total else float(high))


def mean_of_shares(counts: np.ndarray, totals: np.ndarray) -> Estimate:
    """The mean of several independent shares, with an interval from their Wilson intervals.

    The distances of each share to its own ends are added in squares (Zou & Donner 2008), so that shares of 0 and 1 do
    not pretend to be certain.
    """
    parts = [share(count, int(total)) for count, total in zip(counts, totals)]
    mean = float(np.mean([part.value for part in parts]))
    below = np.sqrt(sum((part.value - part.low) ** 2 for part in parts)) / len(parts)
    above = np.sqrt(sum((part.high - part.value) ** 2 for part in parts)) / len(parts)
    return Estimate(mean, float(mean - below), float(mean + above))


def resampled(statistic: Callable[[np.ndarray], float], n_rows: int, random_state: int = 0) -> Estimate:
    """A statistic of rows, given their indices, with the bootstrap's percentile interval."""
    rng = np.random.default_rng(random_state)
    draws = [statistic(rng.integers(n_rows, size=n_rows)) for _ in range(N_RESAMPLES)]
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return Estimate(float(statistic(np.arange(n_rows))), float(low), float(high))
