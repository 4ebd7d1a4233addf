"""Rows that were made once and are read again in every pass: in memory if they fit, else on disk if they fit."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat._runtime.config import current
from eigenfeat.rows.accumulators import BlockFunction, ClassCounts, RowCount
from eigenfeat.rows.block import Block, take
from eigenfeat.rows.read_ahead import read_ahead
from eigenfeat.rows.rows import ArrayRows, MappedRows, Rows

CACHED_BYTES = 64_000_000
"""Bytes of a block: a smaller one takes as long to begin and to end with as to work through."""

DISK_SHARE = 0.5
"""Part of the free disk that a cache may fill."""


@dataclass(frozen=True)
class CacheDecision:
    """Where the rows of further passes are.

    Attributes
    ----------
    where : {"memory", "disk", "source", "workers"}
        "source": they are read, or made, again in every pass.
    n_bytes : int
        That they take, or would.
    reason : str
    what : str
        Of the rows of a layer "projections" or "inputs", which they are made of; else "rows".
    """

    where: str
    n_bytes: int
    reason: str
    what: str = "rows"


def decide(rows: Rows, n_rows: int, reserved: int = 0) -> CacheDecision:
    """Decide where to keep so many rows, with so many bytes of the budget for other things."""
    n_bytes = n_rows * (rows.n_columns * rows.dtype.itemsize + 24)  # labels, weights and keys
    budget = max(0, current().memory_budget - reserved)
    if n_bytes <= budget:
        return CacheDecision("memory", n_bytes, f"{shown(n_bytes)} fit the {shown(budget)} left of the budget")
    beyond = f"{shown(n_bytes)} do not fit the {shown(budget)} left of the memory budget"
    free = shutil.disk_usage(current().scratch or tempfile.gettempdir()).free
    if n_bytes <= DISK_SHARE * free:
        return CacheDecision("disk", n_bytes, beyond)
    return CacheDecision("source", n_bytes, f"{beyond}, and the disk has {shown(free)} free")


def cached(rows: Rows, reserved: int = 0) -> Rows:
    """Rows that further passes read where `decide` says; sparse rows and rows in memory stay as they are."""
    if rows.random_access:
        return rows
    if not rows.is_local:
        return persisted(rows)
    n_rows = _counted(rows)
    decision = decide(rows, n_rows, reserved)
    return rows if decision.where == "source" or rows.is_sparse else cache_at(rows, n_rows, decision)


def cache_at(rows: Rows, n_rows: int, decision: CacheDecision) -> Rows:
    """Fill the cache that was decided on with one pass."""
    return rows if decision.where == "source" else CachedRows(rows, n_rows, decision)


def loaded(rows: Rows) -> ArrayRows:
    """All rows in memory, however large."""
    n_rows = _counted(rows)
    arrays = CachedRows(rows, n_rows, CacheDecision("memory", 0, "asked for"))
    return ArrayRows(*map(arrays.array, ("X", "y", "weight", "keys")))


def _counted(rows: Rows) -> int:
    return rows.reduce(RowCount(), "rows").n_rows if rows.n_rows is None else rows.n_rows


def persisted(rows: Rows) -> Rows:
    """Rows on a cluster, what functions make of them kept by the workers."""
    functions: list[tuple[BlockFunction, int | None]] = []
    source: Any = rows
    while isinstance(source, MappedRows):
        functions.insert(0, (source.function, source.step))
        source = source.source
    return source.persist(functions, rows.n_columns, rows.class_counts)


class CachedRows(Rows):
    """Rows with their labels and weights, dense, in arrays or in files without a name.

    The system removes such files with the process that made them, however that ends. Blocks and number types do not
    depend on where the rows are, so neither does a model.
    """

    def __init__(self, rows: Rows, n_rows: int, decision: CacheDecision) -> None:
        self.decision = decision
        self._checkpoint_key = rows.checkpoint_key()
        self._n_rows, self._n_columns, self._dtype = n_rows, rows.n_columns, rows.dtype
        self._names, self._class_counts, self._identity = rows.names, rows.class_counts, rows.identity
        store = _ArrayStore if decision.where == "memory" else _FileStore
        self._stores: dict[str, Any] = {}
        n_read = 0
        for block in rows.blocks():
            if sparse.issparse(block.X):
                raise ValueError("Sparse rows are not cached: they are read again.")
            for name, values in (("X", block.X), ("y", block.y), ("weight", block.weight), ("keys", block.keys)):
                if values is not None:
                    dtype = {"X": self._dtype, "weight": np.dtype(np.float64)}.get(name, values.dtype)
                    cache = self._stores.setdefault(name, None) or store((n_rows, *values.shape[1:]), dtype)
                    if dtype != cache.dtype:
                        raise ValueError(f"{name} of a source was {cache.dtype} and is {dtype}: give it one type.")
                    self._stores[name] = cache
                    cache.write(n_read, np.ascontiguousarray(values, dtype))
            n_read += block.n_rows
        if n_read != n_rows:
            raise ValueError(f"A source had {n_rows} rows and has {n_read} now: it must not change between passes.")

    @property
    def n_rows(self) -> int:
        return self._n_rows

    @property
    def n_columns(self) -> int:
        return self._n_columns

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    @property
    def names(self) -> tuple[str, ...] | None:
        return self._names

    @property
    def class_counts(self) -> ClassCounts | None:
        return self._class_counts

    @property
    def identity(self) -> str:
        return self._identity

    def checkpoint_key(self) -> Any:
        return self._checkpoint_key

    @property
    def is_sparse(self) -> bool:
        return False

    def with_keys(self) -> Rows:
        return self if "keys" in self._stores else super().with_keys()

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        step = batch_size or max(1, CACHED_BYTES // (self.dtype.itemsize * max(1, self.n_columns)))
        return read_ahead(self._block(start, min(start + step, self.n_rows)) for start in range(0, self.n_rows, step))

    def _block(self, start: int, stop: int) -> Block:
        parts = {name: store.read(start, stop) for name, store in self._stores.items()}
        return Block(parts["X"], parts.get("y"), parts.get("weight"), start, parts.get("keys"))

    def array(self, name: str) -> np.ndarray | None:
        """Return "X", "y", "weight" or "keys" whole: rows in memory without a copy."""
        return self._stores[name].read(0, self.n_rows) if name in self._stores else None


class _ArrayStore:
    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.values, self.dtype = np.empty(shape, dtype), dtype

    def write(self, start: int, values: np.ndarray) -> None:
        self.values[start : start + len(values)] = values

    def read(self, start: int, stop: int) -> np.ndarray:
        return take(self.values, slice(start, stop))


class _FileStore:
    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.shape, self.dtype = shape[1:], dtype
        self.row_bytes = dtype.itemsize * int(np.prod(self.shape))
        self.file = tempfile.TemporaryFile(dir=current().scratch, prefix="eigenfeat-")  # noqa: SIM115 - kept open

    def write(self, start: int, values: np.ndarray) -> None:
        view, offset = _bytes(values), start * self.row_bytes
        while len(view):
            n_written = os.pwrite(self.file.fileno(), view, offset)
            view, offset = view[n_written:], offset + n_written

    def read(self, start: int, stop: int) -> np.ndarray:
        values = np.empty((stop - start, *self.shape), self.dtype)
        view, offset = _bytes(values), start * self.row_bytes
        while len(view):
            n_read = os.preadv(self.file.fileno(), [view], offset)
            if n_read == 0:
                raise OSError("A scratch file ended before its rows did.")
            view, offset = view[n_read:], offset + n_read
        return values


def _bytes(values: np.ndarray) -> memoryview:
    return memoryview(values.reshape(-1).view(np.uint8).data)


def shown(n_bytes: float) -> str:
    """Return a number of bytes as people read it."""
    return f"{n_bytes / 1e9:.2f} GB" if n_bytes >= 1e7 else f"{n_bytes / 1e6:.2f} MB"
