"""The distribution of one column of a table, as far as it matters for how the column is treated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtri

NORMAL_IQR, NORMAL_PER_CENT = 1.349, 2.326
"""Distance between the quartiles of a standard normal, and from its median to its outer per cent."""

FEWEST_VALUES = 5
"""Different values below which a column has neither curve nor tail to speak of."""


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """The different values of a column in ascending order, and their shares of the weight.

    Attributes
    ----------
    values, shares : (m,) arrays
    low, high : float
        Of all rows, of which the values may be a sample.
    rounding : float
        Relative spacing of the numbers the column is stored in.
    """

    values: np.ndarray
    shares: np.ndarray
    low: float
    high: float
    rounding: float

    @classmethod
    def of(cls, column: np.ndarray, weights: np.ndarray, low: float, high: float) -> ColumnSummary:
        values, place = np.unique(column, return_inverse=True)
        shares = np.bincount(place.ravel(), weights)
        eps = float(np.finfo(column.dtype).eps)
        return cls(values.astype(np.float64), shares / shares.sum(), float(low), float(high), eps)

    @property
    def is_constant(self) -> bool:
        """No two values that rounding would not explain."""
        return self.high - self.low <= 4 * self.rounding * max(abs(self.low), abs(self.high))

    @property
    def has_two_values(self) -> bool:
        return len(np.union1d(self.values, [self.low, self.high])) == 2

    @cached_property
    def mean(self) -> float:
        largest = self._largest
        return largest * float(self.shares @ (self.values / largest))

    @cached_property
    def spread(self) -> float:
        """Standard deviation."""
        return self.size_about(self.mean)

    def size_about(self, point: float) -> float:
        """Root mean square distance from a point."""
        largest = self._largest  # squares of large numbers overflow
        return largest * float(np.sqrt(self.shares @ (self.values / largest - point / largest) ** 2))

    def off(self, point: float) -> ColumnSummary:
        """The rows that are elsewhere."""
        elsewhere = self.values != point
        shares = self.shares[elsewhere]
        return replace(self, values=self.values[elsewhere], shares=shares / (shares.sum() or 1.0))

    def capped(self, share: float, at_ends: float = 0.5) -> ColumnSummary:
        """With at most this share of the weight at any value, half of it at the ends; of few values all alike.

        What others have stays in proportion.
        """
        most = np.where((self.values == self.low) | (self.values == self.high), share * at_ends, share)
        shares, heavy = self.shares, np.zeros(len(self.shares), dtype=bool)
        while (more := shares > most * (1 + 1e-12)).any():
            heavy |= more
            left, light = 1 - most[heavy].sum(), self.shares[~heavy].sum()
            if left <= 0 or light == 0:
                return replace(self, shares=np.full(len(shares), 1 / len(shares)))
            shares = np.where(heavy, most, self.shares * (left / light))
        return replace(self, shares=shares)

    @property
    def _largest(self) -> float:
        return max(abs(self.low), abs(self.high)) or 1.0

    @property
    def mode(self) -> float:
        return float(self.values[np.argmax(self.shares)])

    def share_at(self, value: float) -> float:
        place = np.searchsorted(self.values, value)
        return float(self.shares[place]) if place < len(self.values) and self.values[place] == value else 0.0

    def quantile(self, share: float) -> float:
        """The smallest value with at least this share of the weight up to it."""
        place = int(np.searchsorted(np.cumsum(self.shares), share * (1 - 1e-12)))
        return float(self.values[min(place, len(self.values) - 1)])

    @cached_property
    def tail(self) -> float:
        """How far the outer per cent is from the median, over how far it would be for a normal of these quartiles."""
        median, quartiles = self.quantile(0.5), self.quantile(0.75) - self.quantile(0.25)
        outer = max(self.quantile(0.99) - median, median - self.quantile(0.01), 0.0)
        if quartiles == 0:
            return np.inf
        return (outer / NORMAL_PER_CENT) / (quartiles / NORMAL_IQR)

    def reach(self, point: float) -> float:
        """How far from a point the outer per cent of the rows that are elsewhere is, over the mean distance of all."""
        off = self.off(point)
        distances = np.abs(off.values / self._largest - point / self._largest)
        order = np.argsort(distances)
        outer = int(np.searchsorted(np.cumsum(off.shares[order]), 0.99 * (1 - 1e-12)))
        mean = float(off.shares @ distances)
        return float(distances[order][min(outer, len(order) - 1)]) / mean if mean > 0 else 0.0

    def normal_scores(self, n_quantiles: int) -> tuple[np.ndarray, np.ndarray]:
        """Values, and the quantiles of a standard normal that belong to them: ``Φ⁻¹`` of the middle of their ranks.

        Of more than ``n_quantiles`` values those are taken whose scores are spread evenly.
        """
        scores = ndtri(np.cumsum(self.shares) - self.shares / 2)
        if len(scores) <= n_quantiles:
            return self.values, scores
        even = np.linspace(scores[0], scores[-1], n_quantiles)
        chosen = np.unique(np.searchsorted(scores, even).clip(0, len(scores) - 1))
        return self.values[chosen], scores[chosen]
