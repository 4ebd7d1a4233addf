"""How far a fit has come: events that whoever works reports, and that the listeners of the runtime in force hear."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from eigenfeat._runtime.config import Listener, current

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
        How many of how many are behind us, where that is known.
    note : str
        What else is known, as the best so far.
    unit : str
        What is counted: "rows" in a pass.
    seconds : float or None
        Since a pass began.
    finished : bool
        Whether a pass is at its end.
    """

    stage: str
    done: int | None = None
    total: int | None = None
    note: str = ""
    unit: str = ""
    seconds: float | None = None
    finished: bool = False

    @property
    def is_pass(self) -> bool:
        """Whether this is a pass over rows, and no stage that has begun."""
        return self.seconds is not None

    @property
    def rate(self) -> float | None:
        """Rows a second."""
        return None if self.done is None or not self.seconds else self.done / self.seconds

    @property
    def seconds_left(self) -> float | None:
        """Of a pass, at the speed so far."""
        if self.total is None or not self.rate:
            return None
        return max(0, self.total - (self.done or 0)) / self.rate

    def __str__(self) -> str:
        if not self.is_pass:
            count = f" {(self.done or 0) + 1} of {self.total}" if self.total else ""
            return f"{self.stage}{count}" + (f" ({self.note})" if self.note else "")
        of = "" if self.total is None or self.finished else f" of {self.total:,}"
        rate = "" if self.rate is None else f", {self.rate:,.0f} {self.unit}/s"
        left = self.seconds_left
        time = f"{self.seconds:.1f} s" if self.finished or left is None else f"{left:.0f} s left"
        return f"{self.stage}: {self.done:,}{of} {self.unit}{rate}, {time}"


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
            self._reported = now
            current().notify(self._event(now))

    def __exit__(self, problem: type[BaseException] | None, *_: object) -> None:
        if problem is None:
            current().notify(self._event(perf_counter(), finished=True))

    def _event(self, now: float, finished: bool = False) -> Event:
        return Event(self.stage, self.n_done, self.n_rows, "", "rows", now - self._start, finished)


def rows_counted(blocks: Iterable[Item], stage: str, n_rows: int | None) -> Iterator[Item]:
    """Yield the blocks of a pass, which have ``n_rows``, and report them as they are done with."""
    with Pass(stage, n_rows) as counter:
        for block in blocks:
            yield block
            counter.add(block.n_rows)  # type: ignore[attr-defined]


def print_event(event: Event) -> None:
    """Print to stderr: on a terminal a line that moves, else a line for every pass that has ended."""
    if sys.stderr.isatty():
        print(f"\r\033[K{event}", end="\n" if event.finished else "", file=sys.stderr, flush=True)
    elif event.finished:
        print(event, file=sys.stderr, flush=True)


def listeners_of(progress: bool | Listener | None) -> tuple[Listener, ...]:
    """Return the listeners that a parameter ``progress`` stands for."""
    if progress is None or progress is False:
        return ()
    if progress is True:
        return (print_event,)
    if not callable(progress):
        raise ValueError(f"progress must be True, False or a function of an event; got {progress!r}.")
    return (progress,)
