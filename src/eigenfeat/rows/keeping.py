"""What every pass needs and is dear to make: held in memory, written to a scratch file once, or made again.

The choice is the cheapest that fits: seconds to make the rows once and to come by them in as many passes as are
expected, from the speed at which the first rows were made here and the speed of a disk.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Any

from eigenfeat.rows.kept_rows import HeldRows, ScratchRows
from eigenfeat.rows.source import Rows
from eigenfeat.rows.streaming import current

#: Bytes a second that a disk reads and writes in order: assumed of a solid-state one, not measured here.
DISK_SPEED = 1e9
#: Bytes a second that memory is read at: assumed.
MEMORY_SPEED = 1e10
#: Passes that a fit is expected to make over what is kept; of so many rows it starts from where a sample ends, and then
#: made 1 to 10 (benchmarks/speed/out_of_core.py, dask_scaling.py).
EXPECTED_PASSES = 20
MANY_ROWS, PASSES_OF_MANY = 400_000, 6
#: Bytes a second that a worker writes to memory it has not had before, which the system clears first: assumed.
WORKER_SPEED = 4e8
#: Of the memory of workers that blocks may take up: beyond 0.6 of it they are written to disk.
WORKERS_SHARE = 0.5
#: Blocks that are timed.
TIMED_BLOCKS = 3


@dataclass(frozen=True)
class Kept:
    """What was kept, and why.

    Attributes
    ----------
    what : str
        What the rows are, such as "inputs" or "projections".
    where : {"memory", "scratch", "source", "workers"}
        Held, in a scratch file, made again in every pass, or on the workers of a cluster.
    n_bytes : int
        That they take, or would.
    seconds_a_pass : float
        Expected, for coming by them.
    reason : str
    """

    what: str
    where: str
    n_bytes: int
    seconds_a_pass: float
    reason: str


@dataclass(frozen=True, eq=False)
class Candidate:
    """Rows that may be kept: a source of them, and seconds a row that are needed to use them in a pass."""

    what: str
    source: Rows
    seconds_a_row: float = 0.0


def choose(candidates: Sequence[Candidate], n_rows: int, beside: int = 0) -> tuple[int, Kept]:
    """Which of some candidates to keep, by its place, and where, if passes need so many bytes beside it."""
    return current().remembered("what is kept", lambda: _cheapest(candidates, n_rows, beside))


def choose_elsewhere(candidates: Sequence[Candidate], n_rows: int) -> tuple[int, Kept]:
    """The cheapest of the candidates that the workers hold without spilling; the first where none is.

    The first is there already. What is quicker to use has to be written once.
    """
    view: Any = candidates[0].source
    while hasattr(view, "source"):
        view = view.source
    sizes = [n_rows * _row_bytes(candidate.source) for candidate in candidates]
    # The first, and what it was made of, are there already; workers write to their disks from 0.6 of their memory on.
    room = WORKERS_SHARE * view.memory - 2 * sizes[0]
    seconds = [
        one.seconds_a_row * n_rows * passes_expected(n_rows) + sizes[i] / WORKER_SPEED * (i > 0)
        for i, one in enumerate(candidates)
    ]
    place = min((i for i, size in enumerate(sizes) if i == 0 or size <= room), key=lambda i: seconds[i])
    reason = f"{_amount(sizes[place])} beside {_amount(view.memory)} of memory of all workers"
    return place, Kept(candidates[place].what, "workers", sizes[place], 0.0, reason)


def passes_expected(n_rows: int) -> int:
    """Over all of so many rows."""
    return EXPECTED_PASSES if n_rows < MANY_ROWS else PASSES_OF_MANY


def kept(source: Rows, choice: Kept, n_rows: int) -> Rows:
    """The rows of a source where it was chosen to keep them."""
    if choice.where == "source":
        return source
    return (HeldRows if choice.where == "memory" else ScratchRows)(source, n_rows)


@dataclass(frozen=True)
class Option:
    """One way to come by the rows of a candidate, which stands at a place among others: seconds a pass, and once."""

    place: int
    kept: Kept
    once: float = 0.0

    def seconds(self, n_passes: int) -> float:
        return n_passes * self.kept.seconds_a_pass + self.once


def _cheapest(candidates: Sequence[Candidate], n_rows: int, beside: int) -> tuple[int, Kept]:
    options = [option for place, one in enumerate(candidates) for option in _options(place, one, n_rows, beside)]
    best = min(options, key=lambda option: option.seconds(passes_expected(n_rows)))
    return best.place, best.kept


def _options(place: int, candidate: Candidate, n_rows: int, beside: int) -> Iterator[Option]:
    """Made again in every pass, held where the limit allows, or else in a scratch file where the disk does."""
    budget, n_bytes = max(0, current().budget - beside), n_rows * _row_bytes(candidate.source)
    made, use = _seconds_a_row(candidate.source) * n_rows, candidate.seconds_a_row * n_rows

    def option(where: str, seconds: float, once: float, reason: str) -> Option:
        return Option(place, Kept(candidate.what, where, n_bytes, seconds + use, reason), once)

    yield option("source", made, 0.0, "nothing else fits or is quicker")
    if n_bytes <= budget:
        reason = f"{_amount(n_bytes)} fit the {_amount(budget)} that are left of the limit"
        yield option("memory", n_bytes / MEMORY_SPEED, made, reason)
    elif n_bytes <= _free_disk() / 2:
        reason = f"{_amount(n_bytes)} do not fit the {_amount(budget)} left of the limit; quicker read than made again"
        yield option("scratch", n_bytes / DISK_SPEED, made + n_bytes / DISK_SPEED, reason)


def _seconds_a_row(source: Rows) -> float:
    """From its first blocks; what is read ahead is not waited for, so the second on counts."""
    blocks = source.blocks()
    n_rows, start = 0, perf_counter()
    for block in islice(blocks, TIMED_BLOCKS):
        n_rows += block.n_rows
    return (perf_counter() - start) / max(1, n_rows)


def _row_bytes(source: Rows) -> int:
    return source.n_columns * source.dtype.itemsize + 12


def _free_disk() -> int:
    return shutil.disk_usage(current().scratch or tempfile.gettempdir()).free


def _amount(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.2f} GB" if n_bytes >= 1e7 else f"{n_bytes / 1e6:.2f} MB"
