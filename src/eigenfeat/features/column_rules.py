"""Which treatment a column gets: the rules of ``columns="auto"``, one function each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenfeat.features.column_summary import FEWEST_VALUES, ColumnSummary

FEWEST_ALIKE = 8
"""Columns that may be alike by chance: fewer are not taken to share a unit."""

SIZE_FACTOR, SPREAD_FACTOR = 8.0, 3.0
"""How far columns of one unit may be from their median: in size about a value they share, or in spread.

Pixels of digits are within 8 of each other but for those at the edge; the columns of log spectra and of standardised
tables are within 3, those of wine, Covertype and cepstral coefficients are not.
"""

SHARE_OF_ZERO, PART_ALIKE, PART_SPREAD = 0.05, 0.6, 0.9
"""Share of rows at the common value that makes a column hold it; parts of the columns that have to be alike."""

LONG_TAIL = 2.0
"""An outer per cent twice as far out as a normal's: an exponential law is longer (2.1), a logistic is not (1.2).

On held-out rows of nine small tables 1.7 and 2.5 differ by less than a point of error on all but one (1.5 points).
"""

FAR_REACH = 4.0
"""Outer per cent over mean, off the common value, of columns whose tails are too long for one factor.

Pixels that are not blank are at 1.3 to 3.1, Poisson counts below 3, an exponential law is at 4.6, words in texts at 4
to 10; normal scores serve them better than one factor (benchmarks/gem_constants.py --only FAR_REACH, sets of words).
"""


@dataclass(frozen=True)
class Decision:
    """What becomes of one column.

    Attributes
    ----------
    treatment : str
        Of `TREATMENTS`.
    reason : str
    centre : float or None
        What is taken off a column with a common factor; its own mean where None.
    group : int
        Columns of one group have one common factor.
    """

    treatment: str
    reason: str
    centre: float | None = None
    group: int = 0


TREATMENTS = ("standardise", "common", "quantile-normal", "indicator", "none", "drop")
ZERO_GROUP, SPREAD_GROUP, ASKED_GROUP = 0, 1, 2


@dataclass(frozen=True, eq=False)
class AboutZero:
    """What counts for columns that may share a value at which many of their rows are.

    Attributes
    ----------
    zero : float
        That value.
    share : (d,) array
        Part of the rows at it.
    size : (d,) array
        Root mean square distance from it of the others.
    two_values : (d,) array of bool
    """

    zero: float
    share: np.ndarray
    size: np.ndarray
    two_values: np.ndarray

    @classmethod
    def of(cls, columns: Sequence[ColumnSummary]) -> AboutZero:
        """About the value that holds the most weight over all columns."""
        modes = np.array([column.mode for column in columns])
        values, place = np.unique(modes, return_inverse=True)
        held = np.bincount(place.ravel(), [column.share_at(mode) for column, mode in zip(columns, modes)])
        zero = float(values[np.argmax(held)])
        return cls(
            zero,
            np.array([column.share_at(zero) for column in columns]),
            np.array([column.off(zero).size_about(zero) for column in columns]),
            np.array([column.has_two_values for column in columns]),
        )

    def members(self) -> np.ndarray:
        """Columns of one unit: pixels and counts, many of which are at the same value and the others of like size.

        Of two values are indicators, which say nothing of units, but a pixel at the edge may be no more. Small
        columns are members, since what is nearly always zero is not to be blown up, and so are those that are at the
        value in some rows only, as pixels in the middle are.
        """
        holding = (self.share >= SHARE_OF_ZERO) & ~self.two_values
        if not holding.any():
            return np.zeros(len(self.share), dtype=bool)
        typical = np.median(self.size[holding])
        small_enough = self.size <= SIZE_FACTOR * typical
        alike = holding & small_enough & (self.size >= typical / SIZE_FACTOR)
        if alike.sum() < max(FEWEST_ALIKE, PART_ALIKE * np.count_nonzero(~self.two_values)):
            return np.zeros(len(self.share), dtype=bool)
        return (self.share > 0) & small_enough & (~self.two_values | (self.share > 0.5))


def decide(columns: Sequence[ColumnSummary], asked: Sequence[str]) -> list[Decision]:
    """The treatment of every column: the one that is asked for, or by the rules where that is "auto"."""
    found: list[Decision | None] = [_asked(column, word) for column, word in zip(columns, asked)]
    _share_zero(columns, found)
    for j, column in enumerate(columns):
        found[j] = found[j] or _by_its_values(column)
    _share_spread(columns, found)
    own = Decision("standardise", "a unit of its own")
    return _centred_as_asked(columns, [decision or own for decision in found])


def _asked(column: ColumnSummary, word: str) -> Decision | None:
    if word not in ("none", "drop") and column.is_constant:
        return Decision("drop", "one value in all rows")
    return None if word == "auto" else Decision(word, "asked for", group=ASKED_GROUP)


def _share_zero(columns: Sequence[ColumnSummary], found: list[Decision | None]) -> None:
    """Pixels; counts and frequencies with long tails share a unit too, but single rows would be most of a moment."""
    free = [j for j, decision in enumerate(found) if decision is None]
    if len(free) < FEWEST_ALIKE:
        return
    about = AboutZero.of([columns[j] for j in free])
    members = about.members()
    if _reach_far([columns[j] for j in np.asarray(free)[members]], about.zero):
        return
    for j in np.asarray(free)[members]:
        reason = f"{about.zero:g} in many rows and of one size, as {members.sum() - 1} others"
        found[j] = Decision("common", reason, about.zero, ZERO_GROUP)


def _reach_far(columns: Sequence[ColumnSummary], zero: float) -> bool:
    """Whether most of those that have several values beside zero do, and these are not a few."""
    reaches = [column.reach(zero) for column in columns if len(column.off(zero).values) >= FEWEST_VALUES]
    return len(reaches) >= FEWEST_ALIKE and float(np.median(reaches)) > FAR_REACH


def _by_its_values(column: ColumnSummary) -> Decision | None:
    if column.has_two_values:
        return Decision("indicator", "two values")
    if column.tail > LONG_TAIL:
        far = "most rows at few values" if np.isinf(column.tail) else f"outer 1 % {column.tail:.1f} times a normal's"
        return Decision("quantile-normal", f"long tails: {far}")
    return None


def _share_spread(columns: Sequence[ColumnSummary], found: list[Decision | None]) -> None:
    """Spectra, and columns that somebody standardised: no value in common, but spreads that are alike."""
    free = np.array([j for j, decision in enumerate(found) if decision is None], dtype=int)
    if len(free) < FEWEST_ALIKE:
        return
    ratio = np.array([columns[j].spread for j in free])
    ratio = ratio / np.median(ratio)
    alike = (ratio <= SPREAD_FACTOR) & (ratio >= 1 / SPREAD_FACTOR)
    if alike.mean() >= PART_SPREAD:
        for j in free[alike]:
            found[j] = Decision("common", f"a spread as of {alike.sum() - 1} others", None, SPREAD_GROUP)


def _centred_as_asked(columns: Sequence[ColumnSummary], found: list[Decision]) -> list[Decision]:
    """Columns that are asked to have a common factor keep the value that most of their rows are at, if there is one."""
    asked = [j for j, d in enumerate(found) if d.treatment == "common" and d.group == ASKED_GROUP]
    if not asked:
        return found
    about = AboutZero.of([columns[j] for j in asked])
    centre = about.zero if np.mean(about.share >= SHARE_OF_ZERO) >= PART_ALIKE else None
    for j in asked:
        found[j] = Decision("common", "asked for", centre, ASKED_GROUP)
    return found
