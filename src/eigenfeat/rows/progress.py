"""What a pass over rows tells while it runs: rows, rows a second, time left."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

#: Seconds between two reports of a pass.
INTERVAL = 1.0


@dataclass(frozen=True)
class PassReport:
    """How far a pass is.

    Attributes
    ----------
    name : str
        What it is for.
    n_rows : int
        Rows seen.
    of_rows : int or None
        Rows there are, where that is known.
    seconds : float
    done : bool
    """

    name: str
    n_rows: int
    of_rows: int | None
    seconds: float
    done: bool

    @property
    def rows_per_second(self) -> float:
        return self.n_rows / self.seconds if self.seconds > 0 else float("inf")

    @property
    def seconds_left(self) -> float | None:
        """At the speed so far."""
        if self.of_rows is None or not self.n_rows:
            return None
        return max(0.0, self.of_rows - self.n_rows) * self.seconds / self.n_rows

    def __str__(self) -> str:
        of = "" if self.of_rows is None or self.done else f" of {self.of_rows:,}"
        end = f"{self.seconds:.1f} s" if self.done or self.seconds_left is None else f"{self.seconds_left:.0f} s left"
        return f"{self.name}: {self.n_rows:,}{of} rows, {self.rows_per_second:,.0f} rows/s, {end}"


@dataclass(frozen=True, eq=False)
class Watcher:
    """Who is told."""

    tell: Callable[[PassReport], None]

    @classmethod
    def of(cls, progress: bool | Callable[[PassReport], None] | Watcher) -> Watcher:
        if isinstance(progress, Watcher):
            return progress
        if progress is True:
            return cls(_print)
        if not callable(progress):
            raise ValueError(f"progress must be True, False or a function of a report; got {progress!r}.")
        return cls(progress)


class Progress:
    """Counts the rows of one pass and tells of it, the last time when it is done."""

    def __init__(self, name: str, of_rows: int | None, watcher: Watcher | None) -> None:
        self.name, self.of_rows, self.watcher = name, of_rows, watcher
        self.n_rows = 0

    def __enter__(self) -> Progress:
        self.start = self._told = perf_counter()
        self.report = PassReport(self.name, 0, self.of_rows, 0.0, False)
        return self

    def add(self, n_rows: int) -> None:
        self.n_rows += n_rows
        now = perf_counter()
        if self.watcher is not None and now - self._told >= INTERVAL:
            self._told = now
            self.watcher.tell(PassReport(self.name, self.n_rows, self.of_rows, now - self.start, False))

    def __exit__(self, problem: object, *_: object) -> None:
        self.report = PassReport(self.name, self.n_rows, self.of_rows, perf_counter() - self.start, problem is None)
        if self.watcher is not None and problem is None:
            self.watcher.tell(self.report)


def _print(report: PassReport) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{report}", end="\n" if report.done else "", file=sys.stderr, flush=True)
    elif report.done:
        print(report, file=sys.stderr, flush=True)
