"""A time to keep within: how much of it is left, work that is cut off when it is used up, and what fits into it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eigenfeat._runtime.config import runtime
from eigenfeat._runtime.progress import Event
from eigenfeat.cli.data import Rows

TRIAL_SIZES = (250, 1000, 4000, 16_000, 64_000)
"""Rows of the fits whose times foretell that of a larger one."""

TRIALS, CAUTION = 0.3, 0.7
"""Share of the time that such fits may take, and share of what then remains that a larger fit is foretold to take."""


class TimeUp(Exception):
    """The time of a piece of work is used up."""


@dataclass(frozen=True)
class Clock:
    """Seconds to keep within, counted from when the clock is made; None is as long as it takes."""

    seconds: float | None
    start: float = field(default_factory=time.perf_counter)

    @property
    def left(self) -> float | None:
        """Seconds that are left; 0 where none are."""
        return None if self.seconds is None else max(0.0, self.seconds - (time.perf_counter() - self.start))

    def share(self, part: float) -> float | None:
        """A part of what is left."""
        return None if self.left is None else part * self.left


@contextmanager
def cut_off(seconds: float | None) -> Iterator[None]:
    """What reports its steps inside ends with `TimeUp` at the first step after so many seconds."""
    if seconds is None:
        yield
        return
    end = time.perf_counter() + seconds

    def listen(_: Event) -> None:
        if time.perf_counter() > end:
            raise TimeUp

    with runtime(progress=listen):
        yield


@dataclass(frozen=True, eq=False)
class FittedWithin:
    """A fitted model, the rows it was fitted on, and the seconds the fit took."""

    model: Any
    rows: Rows
    seconds: float


def fitted_within(make: Callable[[Rows], Any], rows: Rows, seconds: float | None, seed: int) -> FittedWithin | None:
    """A model of as many rows as can be fitted in so many seconds; None where not even the fewest can.

    Fits on few rows, each several times the one before, foretell the time of a larger one. If that is cut off all the
    same, the largest that ended is what one gets.

    Parameters
    ----------
    make : callable
        From rows to an unfitted model for them.
    seconds : float or None
        None fits all rows.
    """
    if seconds is None:
        return _fit(make, rows, None)
    clock = Clock(seconds)
    order = np.random.default_rng(seed).permutation(len(rows))
    done: list[FittedWithin] = []
    for size in [n for n in TRIAL_SIZES if n < len(rows)]:
        last = done[-1].seconds if done else 0.0
        if 4 * last > TRIALS * seconds - sum(trial.seconds for trial in done):
            break
        try:
            done.append(_fit(make, rows.take(np.sort(order[:size])), clock.left))
        except TimeUp:
            return done[-1] if done else None
    n_rows = rows_within([(len(trial.rows), trial.seconds) for trial in done], len(rows), CAUTION * (clock.left or 0.0))
    if done and n_rows <= len(done[-1].rows):
        return done[-1]
    try:
        return _fit(make, rows if n_rows == len(rows) else rows.take(np.sort(order[:n_rows])), clock.left)
    except TimeUp:
        return done[-1] if done else None


def rows_within(took: list[tuple[int, float]], n_rows: int, seconds: float) -> int:
    """Of ``n_rows`` so many that a fit is foretold to end in time, by rows and seconds of fits before.

    Time grows with a power of the rows, at least the first and at most the third: that of the last two fits.
    """
    if not took:
        return n_rows
    last_rows, last_seconds = took[-1]
    power = 1.0
    if len(took) > 1 and took[-2][1] > 0:
        rows_before, seconds_before = took[-2]
        power = float(np.clip(np.log(last_seconds / seconds_before) / np.log(last_rows / rows_before), 1.0, 3.0))
    return int(min(n_rows, last_rows * (max(seconds, 0.0) / max(last_seconds, 1e-6)) ** (1 / power)))


def _fit(make: Callable[[Rows], Any], rows: Rows, seconds: float | None) -> FittedWithin:
    start = time.perf_counter()
    with cut_off(seconds):
        model = make(rows).fit(rows.X, rows.y)
    return FittedWithin(model, rows, time.perf_counter() - start)


def foreseen(work: Callable[[Rows], Any], rows: Rows, seconds: float | None, seed: int) -> Rows:
    """As many rows as work on them is foretold to end in so many seconds, by that on a few of them."""
    few = 500
    if seconds is None or len(rows) <= few:
        return rows
    order = np.random.default_rng(seed).permutation(len(rows))
    start = time.perf_counter()
    work(rows.take(order[:few]))
    took = time.perf_counter() - start
    n_rows = max(few, int(few * seconds / max(took, 1e-6)))
    return rows if n_rows >= len(rows) else rows.take(np.sort(order[:n_rows]))
