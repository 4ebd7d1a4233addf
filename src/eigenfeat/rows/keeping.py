"""What every pass needs and is dear to make: held in memory, written to a scratch file once, or made again.

The choice is the cheapest that fits: seconds to make the rows once and to come by them in as many passes as are
expected, from the speed at which the first rows were made here and the speed of a disk.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.read_ahead import read_ahead
from eigenfeat.rows.source import RowBlock, RowSource, part_of
from eigenfeat.rows.streaming import current

#: Bytes of a block that is read again in every pass: a larger one is new memory every time, which costs as much as it.
KEPT_BYTES = 8_000_000
#: Bytes a second that a disk reads and writes in order: assumed of a solid-state one, not measured here.
DISK_SPEED = 1e9
#: Bytes a second that memory is read at: assumed.
MEMORY_SPEED = 1e10
#: Passes that a fit is expected to make over what is kept.
EXPECTED_PASSES = 20
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
    source: RowSource
    seconds_a_row: float = 0.0


def choose(candidates: Sequence[Candidate], n_rows: int) -> tuple[int, Kept]:
    """Which of some candidates to keep, by its place, and where: see the module."""
    return current().remembered("what is kept", lambda: _cheapest(candidates, n_rows))


def choose_elsewhere(candidates: Sequence[Candidate], n_rows: int) -> tuple[int, Kept]:
    """The last candidate, the quickest to use, of those that the workers hold without spilling; else the first."""
    view: Any = candidates[0].source
    while hasattr(view, "source"):
        view = view.source
    sizes = [n_rows * _row_bytes(candidate.source) for candidate in candidates]
    # The first, and what it was made of, are there already; workers write to their disks from 0.6 of their memory on.
    room = WORKERS_SHARE * view.memory - 2 * sizes[0]
    place = max((i for i, size in enumerate(sizes) if size <= room), default=0)
    reason = f"{_amount(sizes[place])} beside {_amount(view.memory)} of memory of all workers"
    return place, Kept(candidates[place].what, "workers", sizes[place], 0.0, reason)


def kept(source: RowSource, choice: Kept, n_rows: int) -> RowSource:
    """The rows of a source where it was chosen to keep them."""
    if choice.where == "source":
        return source
    return (HeldRows if choice.where == "memory" else ScratchRows)(source, n_rows)


def _cheapest(candidates: Sequence[Candidate], n_rows: int) -> tuple[int, Kept]:
    budget, free = current().budget, _free_disk()
    options = []
    for place, candidate in enumerate(candidates):
        made, use = _seconds_a_row(candidate.source) * n_rows, candidate.seconds_a_row * n_rows
        n_bytes = n_rows * _row_bytes(candidate.source)
        options.append((made + use, 0.0, place, "source", n_bytes, "nothing else fits or is quicker"))
        if n_bytes <= budget:
            reason = f"{_amount(n_bytes)} fit the limit of {_amount(budget)}"
            options.append((n_bytes / MEMORY_SPEED + use, made, place, "memory", n_bytes, reason))
        elif n_bytes <= free / 2:
            reason = f"{_amount(n_bytes)} are above the limit of {_amount(budget)}, and quicker read than made again"
            once = made + n_bytes / DISK_SPEED
            options.append((n_bytes / DISK_SPEED + use, once, place, "scratch", n_bytes, reason))
    best = min(options, key=lambda option: EXPECTED_PASSES * option[0] + option[1])
    seconds, _, place, where, n_bytes, reason = best
    return place, Kept(candidates[place].what, where, int(n_bytes), seconds, reason)


def _seconds_a_row(source: RowSource) -> float:
    """From its first blocks; what is read ahead is not waited for, so the second on counts."""
    blocks = source.blocks()
    n_rows, start = 0, perf_counter()
    for block in islice(blocks, TIMED_BLOCKS):
        n_rows += block.n_rows
    return (perf_counter() - start) / max(1, n_rows)


def _row_bytes(source: RowSource) -> int:
    return source.n_columns * source.dtype.itemsize + 12


def _free_disk() -> int:
    return shutil.disk_usage(current().scratch or tempfile.gettempdir()).free


def _amount(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.2f} GB" if n_bytes >= 1e7 else f"{n_bytes / 1e6:.2f} MB"


class KeptRows(RowSource):
    """Rows of a source, dense, with their labels and weights, read once when they are first asked for.

    Parameters
    ----------
    source : RowSource
    n_rows : int
    """

    def __init__(self, source: RowSource, n_rows: int) -> None:
        self.source, self._n_rows = source, n_rows
        self._is_filled = False
        self._has_labels = self._has_weights = False
        self._label_type: Any = None

    @property
    def n_columns(self) -> int:
        return self.source.n_columns

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    @property
    def n_rows(self) -> int:
        return self._n_rows

    def blocks(self, batch_size: int | None = None) -> Iterator[RowBlock]:
        self.fill()
        step = batch_size or max(1, KEPT_BYTES // (self.dtype.itemsize * max(1, self.n_columns)))
        starts = range(0, self.n_rows, step)
        return read_ahead(self._read(start, min(start + step, self.n_rows)) for start in starts)

    def fill(self) -> None:
        """Reads the source, unless it has been read."""
        if self._is_filled:
            return
        n_rows = 0
        for block in self.source.blocks():
            if sparse.issparse(block.rows):
                raise ValueError("Sparse rows are not kept: they are read again.")
            self._write(block)
            n_rows += block.n_rows
        if n_rows != self.n_rows:
            raise ValueError(
                f"A source had {self.n_rows} rows and has {n_rows} now: it must not change between passes."
            )
        self._is_filled = True

    def _write(self, block: RowBlock) -> None:
        raise NotImplementedError

    def _read(self, start: int, stop: int) -> RowBlock:
        raise NotImplementedError


class HeldRows(KeptRows):
    """Kept in memory."""

    rows: np.ndarray | None = None
    labels: np.ndarray | None = None
    weights: np.ndarray | None = None

    def _write(self, block: RowBlock) -> None:
        if self.rows is None:
            self.rows = np.empty((self.n_rows, self.n_columns), self.dtype)
            if block.labels is not None:
                self.labels = np.empty(self.n_rows, block.labels.dtype)
            if block.weights is not None:
                self.weights = np.empty(self.n_rows)
        self.rows[block.selection] = block.rows
        for mine, theirs in ((self.labels, block.labels), (self.weights, block.weights)):
            if mine is not None:
                mine[block.selection] = theirs

    def _read(self, start: int, stop: int) -> RowBlock:
        assert self.rows is not None
        chosen = slice(start, stop)
        return RowBlock(start, self.rows[chosen], part_of(self.labels, chosen), part_of(self.weights, chosen))


class ScratchRows(KeptRows):
    """Kept in files without a name, which the system removes with the process that made them, however that ends.

    Numbers have the type of the rows: what a model is like does not depend on where its rows were kept.
    """

    def __init__(self, source: RowSource, n_rows: int) -> None:
        super().__init__(source, n_rows)
        self._files: dict[str, tuple[Any, np.dtype, int]] = {}

    def _write(self, block: RowBlock) -> None:
        parts = {"rows": np.ascontiguousarray(block.rows, dtype=self.dtype)}
        if block.labels is not None:
            parts["labels"] = np.ascontiguousarray(block.labels)
        if block.weights is not None:
            parts["weights"] = np.ascontiguousarray(block.weights, dtype=np.float64)
        for name, part in parts.items():
            if name not in self._files:
                file = tempfile.TemporaryFile(dir=current().scratch, prefix="eigenfeat-")  # noqa: SIM115 - kept open
                self._files[name] = (file, part.dtype, part.shape[1] if part.ndim > 1 else 1)
            file, dtype, width = self._files[name]
            if part.dtype != dtype:
                raise ValueError(f"{name} of a source were {dtype} and are {part.dtype}: they must be of one type.")
            _write_all(file.fileno(), part, block.start * width * dtype.itemsize)

    def _read(self, start: int, stop: int) -> RowBlock:
        parts = {}
        for name, (file, dtype, width) in self._files.items():
            shape = (stop - start, width) if name == "rows" else (stop - start,)
            parts[name] = np.empty(shape, dtype)
            _read_all(file.fileno(), parts[name], start * width * dtype.itemsize)
        return RowBlock(start, parts["rows"], parts.get("labels"), parts.get("weights"))


def _write_all(handle: int, numbers: np.ndarray, offset: int) -> None:
    view = memoryview(numbers.reshape(-1).view(np.uint8).data)
    while len(view):
        written = os.pwrite(handle, view, offset)
        view, offset = view[written:], offset + written


def _read_all(handle: int, numbers: np.ndarray, offset: int) -> None:
    view = memoryview(numbers.reshape(-1).view(np.uint8).data)
    while len(view):
        count = os.preadv(handle, [view], offset)
        if count == 0:
            raise OSError("A scratch file ended before its rows did.")
        view, offset = view[count:], offset + count
