"""What is made of one column: a frozen value a kind, from the cells of a table to columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigenfeat.tables.cells import days, numbers, text, truth

RARE, MISSING = "(rare)", "(missing)"
CYCLES = {"month": 12.0, "weekday": 7.0, "hour": 24.0}
"""Parts of a date that come round again, and after how many steps."""


class ColumnPlan(Protocol):
    """From the cells of one column to some columns of numbers, for any number of rows."""

    @property
    def name(self) -> str: ...

    @property
    def outputs(self) -> list[str]:
        """Names of the columns it makes."""
        ...

    def apply(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        """(n, k) numbers without gaps, and which cells say something that could not be read."""
        ...


@dataclass(frozen=True)
class NumberPlan:
    """A number: the cell, ``fill`` where there is none, and whether there was one where that informs.

    Attributes
    ----------
    name, notation : str
        Notation as in `eigenfeat.tables.cells`, or ``"yes/no"`` for truth values.
    fill : float
        The median.
    indicator : bool
    yes : str
        The word that is 1, of a truth value.
    """

    name: str
    notation: str
    fill: float
    indicator: bool
    yes: str = ""

    @property
    def outputs(self) -> list[str]:
        return [self.name, *([f"{self.name}={MISSING}"] if self.indicator else [])]

    def apply(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        values = truth(column, self.yes) if self.yes else numbers(column, self.notation)
        missing = np.isnan(values)
        columns = [np.where(missing, self.fill, values) if missing.any() else values]
        if self.indicator:
            columns.append(missing.astype(np.float64))
        return np.column_stack(columns), unreadable(column, missing)


@dataclass(frozen=True, eq=False)
class CategoryPlan:
    """A category: one column of 0 and 1 for each frequent value, one for all others together.

    Attributes
    ----------
    name : str
    values : (k,) array of str
        The frequent values, the most frequent first.
    rare : bool
        Whether there is a column for rare values. Values that `fit` has not seen are rare ones.
    indicator : bool
        Whether there is a column for missing cells.
    """

    name: str
    values: np.ndarray
    rare: bool
    indicator: bool

    @property
    def outputs(self) -> list[str]:
        extra = [RARE] * self.rare + [MISSING] * self.indicator
        return [f"{self.name}={value}" for value in [*self.values.tolist(), *extra]]

    def apply(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        cells = text(column)
        places = pc.index_in(cells, pa.array(self.values.tolist(), pa.string()))
        index = numbers(places)
        missing = np.asarray(numbers(pc.is_null(cells)), dtype=bool)
        k = len(self.values)
        columns = np.zeros((len(index), k + self.rare + self.indicator))
        known = ~np.isnan(index) & ~missing
        columns[np.flatnonzero(known), index[known].astype(int)] = 1.0
        if self.rare:
            columns[:, k] = ~known & ~missing
        if self.indicator:
            columns[:, -1] = missing
        return columns, np.zeros(len(index), dtype=bool)


@dataclass(frozen=True, eq=False)
class DatePlan:
    """A point in time: a trend in days, and those of its parts that vary, as points on a circle.

    Attributes
    ----------
    name, pattern : str
        How dates are written, as in `eigenfeat.tables.cells.days`.
    fill : float
        The median, in days since 1970.
    parts : tuple of str
        Of month, weekday and hour.
    indicator : bool
    """

    name: str
    pattern: str
    fill: float
    parts: tuple[str, ...]
    indicator: bool

    @property
    def outputs(self) -> list[str]:
        turns = [f"{self.name} {part} {wave}" for part in self.parts for wave in ("sine", "cosine")]
        return [f"{self.name} trend", *turns, *([f"{self.name}={MISSING}"] if self.indicator else [])]

    def apply(self, column: Any) -> tuple[np.ndarray, np.ndarray]:
        found = days(column, self.pattern)
        missing = np.isnan(found)
        found = np.where(missing, self.fill, found)
        columns = [found - self.fill]
        for part in self.parts:
            angle = 2 * np.pi * part_of(found, part) / CYCLES[part]
            columns += [np.sin(angle), np.cos(angle)]
        if self.indicator:
            columns.append(missing.astype(np.float64))
        return np.column_stack(columns), unreadable(column, missing)


def part_of(found: np.ndarray, part: str) -> np.ndarray:
    """Month (0 to 12, with its fraction), weekday (0 is Monday) or hour of days since 1970."""
    if part == "hour":
        return 24 * (found - np.floor(found))
    whole = np.floor(found)
    if part == "weekday":
        return (whole + 3) % 7
    dates = whole.astype("datetime64[D]")
    month = dates.astype("datetime64[M]")
    return month.astype(int) % 12 + (dates - month).astype(int) / 31


def unreadable(column: Any, missing: np.ndarray) -> np.ndarray:
    """Cells that hold something, though nothing could be made of it."""
    if not missing.any():
        return missing
    places = np.flatnonzero(missing)
    says_something = np.asarray(numbers(pc.is_valid(text(column.take(pa.array(places))))), dtype=bool)
    wrong = np.zeros(len(missing), dtype=bool)
    wrong[places[says_something]] = True
    return wrong
