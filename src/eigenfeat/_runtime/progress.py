"""How far a fit has come: events that whoever works reports, and that the listeners of the runtime in force hear."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from eigenfeat._runtime.config import current

INTERVAL = 1.0
"""Seconds between two reports of a pass: often enough for people, too rare to cost anything."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class Event:
    """A stage has begun, or a pass over rows goes on or has ended.

    Attributes
    ----------
    stage : str
        Its name, as "directions", "candidate" or, of a pass, "moments".
    done, total : int or None
        How many of how many (rows, in a pass) are behind us, where that is known.
    note : str
        What else is known, as the best so far.
    seconds : float or None
        Since a pass began; None of a stage.
    finished : bool
        Whether a pass is at its end.
    """

    stage: str
    done: int | None = None
    total: int | None = None
    note: str = ""
    seconds: float | None = None
    finished: bool = False

    def __str__(self) -> str:
        done = self.done or 0
        if self.seconds is None:
            count = f" {done + 1} of {self.total}" if self.total else ""
            return f"{self.stage}{count}" + (f" ({self.note})" if self.note else "")
        rate = done / max(self.seconds, 1e-9)
        if self.finished or self.total is None or not done:
            return f"{self.stage}: {done:,} rows, {rate:,.0f} rows/s, {self.seconds:.1f} s"
        left = max(0, self.total - done) / rate
        return f"{self.stage}: {done:,} of {self.total:,} rows, {rate:,.0f} rows/s, {left:.0f} s left"


def report(stage: str, done: int | None = None, total: int | None = None, note: str = "") -> None:
    """Report that a stage has begun; costs nothing where nobody listens."""
    current().notify(Event(stage, done, total, note))


def counted(items: Sequence[Item], stage: str) -> Iterator[Item]:
    """Yield items, each reported as it begins: candidate k of n."""
    for k, item in enumerate(items):
        report(stage, k, len(items))
        yield item


class Pass:
    """Count the rows of one pass and report them, now and then and at its end; a context manager.

    Parameters
    ----------
    stage : str
        What the pass is for.
    n_rows : int or None
        Rows there are, where that is known.
    """

    def __init__(self, stage: str, n_rows: int | None) -> None:
        self.stage, self.n_rows, self.n_done = stage, n_rows, 0

    def __enter__(self) -> Pass:
        self._start = self._reported = perf_counter()
        return self

    def add(self, n_rows: int) -> None:
        self.n_done += n_rows
        now = perf_counter()
        if now - self._reported >= INTERVAL:
            self._report(now)

    def __exit__(self, problem: type[BaseException] | None, *_: object) -> None:
        if problem is None:
            self._report(perf_counter(), finished=True)

    def _report(self, now: float, finished: bool = False) -> None:
        self._reported = now
        current().notify(Event(self.stage, self.n_done, self.n_rows, seconds=now - self._start, finished=finished))


def rows_counted(blocks: Iterable[Item], stage: str, n_rows: int | None) -> Iterator[Item]:
    """Yield the blocks of a pass, which have ``n_rows``, and report them as they are done with."""
    with Pass(stage, n_rows) as counter:
        for block in blocks:
            yield block
            counter.add(block.n_rows)  # type: ignore[attr-defined]
