"""Rows of a source that were made once and are read again in every pass: from memory, or from a scratch file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.read_ahead import read_ahead
from eigenfeat.rows.source import Block, Rows, part_of
from eigenfeat.rows.streaming import current

#: Bytes of a block: a smaller one takes as long to begin and to end with as to work through.
KEPT_BYTES = 64_000_000


class KeptRows(Rows):
    """Rows of a source, dense, with their labels and weights, read once when they are first asked for.

    Parameters
    ----------
    source : Rows
    n_rows : int
    """

    def __init__(self, source: Rows, n_rows: int) -> None:
        self.source, self._n_rows = source, n_rows
        self._is_filled = False

    @property
    def n_columns(self) -> int:
        return self.source.n_columns

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    @property
    def n_rows(self) -> int:
        return self._n_rows

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
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
            if sparse.issparse(block.X):
                raise ValueError("Sparse rows are not kept: they are read again.")
            self._write(block)
            n_rows += block.n_rows
        if n_rows != self.n_rows:
            raise ValueError(
                f"A source had {self.n_rows} rows and has {n_rows} now: it must not change between passes."
            )
        self._is_filled = True

    def _write(self, block: Block) -> None:
        raise NotImplementedError

    def _read(self, start: int, stop: int) -> Block:
        raise NotImplementedError


class HeldRows(KeptRows):
    """Kept in memory."""

    X: np.ndarray | None = None
    y: np.ndarray | None = None
    weight: np.ndarray | None = None

    def _write(self, block: Block) -> None:
        if self.X is None:
            self.X = np.empty((self.n_rows, self.n_columns), self.dtype)
            if block.y is not None:
                self.y = np.empty(self.n_rows, block.y.dtype)
            if block.weight is not None:
                self.weight = np.empty(self.n_rows)
        self.X[block.selection] = block.X
        for mine, theirs in ((self.y, block.y), (self.weight, block.weight)):
            if mine is not None:
                mine[block.selection] = theirs

    def _read(self, start: int, stop: int) -> Block:
        assert self.X is not None
        chosen = slice(start, stop)
        return Block(self.X[chosen], part_of(self.y, chosen), part_of(self.weight, chosen), start)


class ScratchRows(KeptRows):
    """Kept in files without a name, which the system removes with the process that made them, however that ends.

    Numbers have the type of the rows: what a model is like does not depend on where its rows were kept.
    """

    def __init__(self, source: Rows, n_rows: int) -> None:
        super().__init__(source, n_rows)
        self._files: dict[str, tuple[Any, np.dtype, int]] = {}

    def _write(self, block: Block) -> None:
        parts = {"rows": np.ascontiguousarray(block.X, dtype=self.dtype)}
        if block.y is not None:
            parts["labels"] = np.ascontiguousarray(block.y)
        if block.weight is not None:
            parts["weights"] = np.ascontiguousarray(block.weight, dtype=np.float64)
        for name, part in parts.items():
            if name not in self._files:
                file = tempfile.TemporaryFile(dir=current().scratch, prefix="eigenfeat-")  # noqa: SIM115 - kept open
                self._files[name] = (file, part.dtype, part.shape[1] if part.ndim > 1 else 1)
            file, dtype, width = self._files[name]
            if part.dtype != dtype:
                raise ValueError(f"{name} of a source were {dtype} and are {part.dtype}: they must be of one type.")
            _write_all(file.fileno(), part, block.start * width * dtype.itemsize)

    def _read(self, start: int, stop: int) -> Block:
        parts = {}
        for name, (file, dtype, width) in self._files.items():
            shape = (stop - start, width) if name == "rows" else (stop - start,)
            parts[name] = np.empty(shape, dtype)
            _read_all(file.fileno(), parts[name], start * width * dtype.itemsize)
        return Block(parts["rows"], parts.get("labels"), parts.get("weights"), start)


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
