"""Rows of any kind, read a block at a time: arrays, files and Dask collections answer the same questions.

`Rows.map` and `Rows.apply` are lazy and `Rows.take` copies nothing, so what a fit does to rows is a chain of small
values that end in whatever holds the rows. `Rows.reduce` is the one kind of pass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat._runtime.config import current
from eigenfeat._runtime.progress import rows_counted
from eigenfeat.rows.accumulators import (
    AnyAccumulator,
    BlockFunction,
    ClassCounts,
    MappedAccumulator,
    map_blocks,
)
from eigenfeat.rows.block import Block, Matrix, Selection, concatenate, dense, map_parts, row_blocks, take
from eigenfeat.rows.functions import ApplyRowMap, RowMap, SelectRows, WithKeys, WithLabels
from eigenfeat.rows.keys import row_keys, with_keys
from eigenfeat.rows.products import RowProducts, TakenProducts, products_with

BLOCK_ROWS = 8192
"""Rows of a block that is made in memory."""

MAPPED_BYTES = 32_000_000
"""Bytes that a function makes of a block at a time, where it changes the number of columns."""

DECODED_BYTES = 64_000_000
"""Bytes of rows that a decoder has in memory at a time."""


class Rows(ABC):
    """Rows with their labels and weights, which may outgrow memory.

    A new kind of source says its width and floating type and yields its blocks; `RandomAccessRows` is the base of
    those whose rows can be asked for in any order. Passes may run in several threads at once.
    """

    @property
    @abstractmethod
    def n_columns(self) -> int: ...

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """float64 or float32: what products with the rows run in."""

    @abstractmethod
    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        """Yield all rows in order; without ``batch_size`` in blocks that suit the source."""

    # ------------------------------------------------------------------ what is known without a pass

    @property
    def n_rows(self) -> Any:  # int | None: most callers know that rows were counted
        """Number of rows; None where nobody has counted: a stream that has not been passed over."""
        return None

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns, where they have any."""
        return None

    @property
    def class_counts(self) -> ClassCounts | None:
        """Rows and weight of every class, where labels are indices into classes and these were counted."""
        return None

    @property
    def identity(self) -> str:
        """What tells these rows from others without reading them: the fingerprint of a checkpoint."""
        return f"{type(self).__name__} of {self.n_columns} columns of {self.dtype}, names {self.names}"

    def checkpoint_key(self) -> Any:
        """Return what stands for these rows where the inputs of a step are hashed: where they come from, not they."""
        return self.identity

    @property
    def is_local(self) -> bool:
        """Whether passes are made in this process, and not on a cluster."""
        return True

    @property
    def random_access(self) -> bool:
        """Whether rows can be asked for in any order, as in memory: `block` and `rows` then answer, and y is known."""
        return False

    @property
    def is_sparse(self) -> bool:
        """Whether blocks are sparse, which the first row tells."""
        return sparse.issparse(self.head(1).X)

    # ------------------------------------------------------------------ passes

    def reduce(self, accumulator: AnyAccumulator, name: str = "rows") -> AnyAccumulator:
        """Sum over all rows in one pass, made where the rows are.

        Parameters
        ----------
        accumulator : Accumulator
            Empty (`eigenfeat.rows.Accumulator`); it is not changed.
        name : str
            What the pass is for: shown as progress.

        Returns
        -------
        Accumulator
            A new one, of all rows.
        """
        blocks = rows_counted(self.blocks(), name, self.n_rows)
        return current().fold(name, (self, accumulator), deepcopy(accumulator), blocks)

    def starmap(self, function: Callable, tasks: Sequence[tuple], nested: bool = False) -> list[Any]:
        """Return the results of a function for tuples of arguments, made where the rows are.

        On a cluster the tasks run side by side. ``nested`` says that they make passes over rows of their own.
        """
        return [function(*task) for task in tasks]

    def to_array(self, batch_size: int | None = 1024) -> np.ndarray:
        """Return all rows as one dense array, filled block by block: larger ones are fresh memory each."""
        if self.n_rows is None:
            return np.concatenate([dense(block.X).astype(self.dtype) for block in self.blocks(batch_size)])
        rows = np.empty((self.n_rows, self.n_columns), dtype=self.dtype)
        if not self.random_access:
            for block in self.blocks(batch_size):
                rows[block.positions] = dense(block.X)
            return rows

        def fill(part: Sequence[slice]) -> None:
            for positions in part:
                rows[positions] = dense(self.rows(positions))

        map_parts(fill, row_blocks(self.n_rows, 1, 1, batch_size or BLOCK_ROWS))
        return rows

    def load(self) -> ArrayRows:
        """Read all rows into memory, dense, with their labels and weights."""
        from eigenfeat.rows.cache import loaded

        return loaded(self)

    def head(self, count: int) -> Block:
        """Return the first rows, ``count`` of them where there are as many, in the type of the source."""
        if self.random_access:
            return self.block(slice(0, min(count, self.n_rows)))
        parts: list[Block] = []
        missing = count
        for block in self.blocks(count):
            parts.append(block.take(slice(0, missing)))
            missing -= parts[-1].n_rows
            if not missing:
                break
        head = concatenate([part for part in parts if part.n_rows] or parts[:1])
        return replace(head, X=head.X.astype(self.dtype, copy=False))

    # ------------------------------------------------------------------ other rows made of these

    def map(self, function: BlockFunction, **changed: Any) -> Rows:
        """Apply a function to every block, lazily.

        Parameters
        ----------
        function : callable
            From a block to a block, picklable (`eigenfeat.rows.functions`). One that treats rows one by one and keeps
            their labels says so by an attribute ``row_wise = True``: random access then stays.
        **changed
            What the function changes: ``n_columns``, ``n_rows`` (None where it leaves rows out), ``class_counts``.
        """
        return MappedRows(self, function, changed)

    def apply(self, row_map: RowMap) -> Rows:
        """Transform every row by a function of rows, a stage of a model for instance, lazily."""
        return self.map(ApplyRowMap(row_map, self.dtype), n_columns=row_map.n_columns(self.n_columns))

    def take(self, index: np.ndarray) -> Rows:
        """Return the rows at these positions, which ascend unless the rows have random access; nothing is copied."""
        return self.map(SelectRows(index), n_rows=len(index), class_counts=None)

    def with_labels(self, y: Any, weight: np.ndarray | None = None) -> Rows:
        """Return the same rows with other labels and weights, one a row."""
        return self.map(WithLabels(y, weight), class_counts=None)

    def with_label(self, name: str) -> Rows:
        """Return the same rows with one of their columns as the label, where columns have names."""
        raise TypeError(
            f"{type(self).__name__} has no column {name!r} to take labels from: its columns have no names. Give labels "
            "where the source is made, or as eigenfeat.rows.as_rows(source, labels)."
        )

    def cache(self, reserved: int = 0) -> Rows:
        """Keep what further passes read: in memory if it fits, else on disk if it fits, else read it again.

        ``reserved`` bytes of the memory budget are for other things. Rows on a cluster are kept by the workers.
        """
        from eigenfeat.rows.cache import cached

        return cached(self, reserved)

    def with_keys(self) -> Rows:
        """Return the same rows in blocks that bring the keys of whatever these rows are made of.

        Rows that were formed, by a projection for instance, are rounded in other ways wherever sums are made in another
        order, so that keys of their own would depend on that.
        """
        return self.map(with_keys)

    # ------------------------------------------------------------------ random access

    @property
    def keys(self) -> np.ndarray:
        """(n,) keys of rows with random access: of the rows they are made of (`eigenfeat.rows.keys`)."""
        raise TypeError(f"{type(self).__name__} is read in order: with_keys() gives blocks their keys.")

    @property
    def y(self) -> Any:
        """(n,) labels of rows with random access, where they have any."""
        return None

    @property
    def weight(self) -> np.ndarray | None:
        """(n,) weights of rows with random access, where they have any."""
        return None

    def block(self, selection: Selection) -> Block:
        """Return some rows, in the type of the source, with their labels and weights."""
        raise TypeError(f"{type(self).__name__} is read in order: cache() or to_array() first.")

    def rows(self, selection: Selection) -> Matrix:
        """Return some rows, in the type of the source."""
        return self.block(selection).X

    # ------------------------------------------------------------------ products of a convex fit

    def products(self, coefficients: np.ndarray, squared: bool = False) -> RowProducts | None:
        """Return products with (n_columns, k) coefficients that need not form the rows; None where there are none.

        With ``squared``, those of the squares of all entries.
        """
        return None

    @property
    def floats_per_row(self) -> int:
        """Numbers that a row takes up while products with it are made: its columns, where it is formed."""
        return self.n_columns

    def storage(self) -> tuple[Rows, Decoder]:
        """Return rows as narrow as they are worth storing, and what decodes a block of them in memory."""
        return self, Decoder()


@dataclass(frozen=True, eq=False)
class Decoder:
    """From a stored block to its rows with random access; the parts of a wide block are decoded one at a time."""

    def __call__(self, block: Block) -> Rows:
        return ArrayRows(block.X, block.y, block.weight)

    def parts(self, block: Block) -> Iterator[Block]:
        step = max(1, DECODED_BYTES // (block.X.dtype.itemsize * max(1, self.width(block.X.shape[1]))))
        for start in range(0, block.n_rows, step):
            yield block.take(slice(start, start + step))

    def width(self, n_columns: int) -> int:
        """Return the numbers a row has in memory while it is used."""
        return n_columns


# ---------------------------------------------------------------------- rows in memory


class RandomAccessRows(Rows):
    """Rows of known number that can be asked for in any order: a subclass has ``n_rows`` and `block`."""

    @property
    @abstractmethod
    def n_rows(self) -> int: ...

    @abstractmethod
    def block(self, selection: Selection) -> Block: ...

    @property
    def random_access(self) -> bool:
        return True

    @cached_property
    def keys(self) -> np.ndarray:
        return np.concatenate([row_keys(block.X) for block in self.blocks()] or [np.empty(0, dtype=np.int64)])

    def with_keys(self) -> Rows:
        return self.map(WithKeys(self.keys))

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        step = batch_size or BLOCK_ROWS
        for start in range(0, self.n_rows, step):
            yield self.block(slice(start, min(start + step, self.n_rows)))

    def reduce(self, accumulator: AnyAccumulator, name: str = "rows") -> AnyAccumulator:
        """Sum over all rows; a pass over memory is no progress to show, and nothing to record."""
        accumulator = deepcopy(accumulator)
        for block in self.blocks():
            accumulator.update(block)
        return accumulator

    def take(self, index: np.ndarray) -> Rows:
        return TakenRows(self, index, take(self.y, index), take(self.weight, index))


@dataclass(frozen=True, eq=False)
class ArrayRows(RandomAccessRows):
    """Rows of an array, memory map or CSR matrix, read in the floating type that products run in.

    ``made_of`` are the keys of the rows that these were made of, or rows that have them.
    """

    X: Matrix
    y: Any = None
    weight: np.ndarray | None = None
    made_of: np.ndarray | Rows | None = None

    @cached_property
    def keys(self) -> np.ndarray:
        if isinstance(self.made_of, Rows):
            return self.made_of.keys
        return row_keys(self.X) if self.made_of is None else self.made_of

    def with_keys(self) -> ArrayRows:
        return replace(self, made_of=self.keys)

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def n_columns(self) -> int:
        """Numbers in a row; those of an array of more dimensions count as if they were laid out."""
        return prod(self.X.shape[1:])

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float32 if self.X.dtype == np.float32 else np.float64)

    @property
    def is_sparse(self) -> bool:
        return sparse.issparse(self.X)

    def block(self, selection: Selection) -> Block:
        start = selection.start or 0 if isinstance(selection, slice) else 0
        return Block(self.rows(selection), take(self.y, selection), take(self.weight, selection), start)

    def rows(self, selection: Selection) -> Matrix:
        X = self.X[selection]
        if sparse.issparse(X):
            return X.astype(self.dtype, copy=False)
        return np.asarray(X, dtype=self.dtype)

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        """Yield rows as they are stored, without a copy: small integers become floats where they are multiplied.

        The default is one block: nothing is gained by cutting what is there already.
        """
        step = batch_size or max(1, self.n_rows)
        whole = Block(self.X, self.y, self.weight, 0, self.made_of if isinstance(self.made_of, np.ndarray) else None)
        if step >= self.n_rows:
            yield whole
            return
        for start in range(0, self.n_rows, step):
            yield whole.take(slice(start, start + step))

    def with_labels(self, y: Any, weight: np.ndarray | None = None) -> ArrayRows:
        return replace(self, y=y, weight=weight, made_of=self if self.made_of is None else self.made_of)


@dataclass(frozen=True, eq=False)
class TakenRows(RandomAccessRows):
    """Some rows with random access, in the order of ``index``, with labels and weights of their own."""

    source: Rows
    index: np.ndarray
    y: Any = None
    weight: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return len(self.index)

    @property
    def n_columns(self) -> int:
        return self.source.n_columns

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    @property
    def names(self) -> tuple[str, ...] | None:
        return self.source.names

    @property
    def is_sparse(self) -> bool:
        return self.source.is_sparse

    @property
    def floats_per_row(self) -> int:
        return self.source.floats_per_row

    def block(self, selection: Selection) -> Block:
        start = selection.start or 0 if isinstance(selection, slice) else 0
        return Block(self.rows(selection), take(self.y, selection), take(self.weight, selection), start)

    def rows(self, selection: Selection) -> Matrix:
        return self.source.rows(self.index[selection])

    @cached_property
    def keys(self) -> np.ndarray:
        return self.source.keys[self.index]

    def with_labels(self, y: Any, weight: np.ndarray | None = None) -> TakenRows:
        return replace(self, y=y, weight=weight)

    def products(self, coefficients: np.ndarray, squared: bool = False) -> RowProducts:
        return TakenProducts(products_with(self.source, coefficients, squared), self.index)


# ---------------------------------------------------------------------- rows made of others


@dataclass(frozen=True, eq=False)
class MappedRows(Rows):
    """What a function makes of the blocks of other rows.

    Attributes
    ----------
    source : Rows
    function : callable
    changed : dict
        As in `Rows.map`.
    """

    source: Rows
    function: BlockFunction
    changed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def n_rows(self) -> Any:
        return self.changed.get("n_rows", self.source.n_rows)

    @property
    def n_columns(self) -> int:
        return self.changed.get("n_columns", self.source.n_columns)

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    @property
    def names(self) -> tuple[str, ...] | None:
        return None if "n_columns" in self.changed else self.source.names

    @property
    def class_counts(self) -> ClassCounts | None:
        return self.changed.get("class_counts", self.source.class_counts)

    @property
    def identity(self) -> str:
        return self.source.identity

    def checkpoint_key(self) -> Any:
        return self.source, self.function

    @property
    def is_local(self) -> bool:
        return self.source.is_local

    @property
    def random_access(self) -> bool:
        """Whether the function treats rows one by one and says so (``row_wise``), and its source has random access."""
        return getattr(self.function, "row_wise", False) and self.source.random_access

    @property
    def y(self) -> Any:
        return self.source.y

    @property
    def weight(self) -> np.ndarray | None:
        return self.source.weight

    @property
    def keys(self) -> np.ndarray:
        return self.source.keys

    def with_keys(self) -> Rows:
        return replace(self, source=self.source.with_keys())

    @property
    def step(self) -> int | None:
        """Rows that the function is applied to at a time; None for whole blocks, where it changes no columns."""
        if "n_columns" not in self.changed:
            return None
        width = max(1, self.source.n_columns, self.n_columns)
        return int(np.clip(MAPPED_BYTES // (self.dtype.itemsize * width), 32, BLOCK_ROWS))

    def block(self, selection: Selection) -> Block:
        return self.function(self.source.block(selection))

    def rows(self, selection: Selection) -> Matrix:
        start = selection.start or 0 if isinstance(selection, slice) else 0
        return self.function(Block(self.source.rows(selection), start=start)).X

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        for block in self.source.blocks(batch_size):
            yield from map_blocks(self.function, block, self.step)

    def reduce(self, accumulator: AnyAccumulator, name: str = "rows") -> AnyAccumulator:
        return self.source.reduce(MappedAccumulator(accumulator, self.function, self.step), name).accumulator

    def starmap(self, function: Callable, tasks: Sequence[tuple], nested: bool = False) -> list[Any]:
        return self.source.starmap(function, tasks, nested)

    def take(self, index: np.ndarray) -> Rows:
        if self.random_access:
            return TakenRows(self, index, take(self.y, index), take(self.weight, index))
        return super().take(index)

    def with_labels(self, y: Any, weight: np.ndarray | None = None) -> Rows:
        if self.random_access:
            return replace(self, source=self.source.with_labels(y, weight))
        return super().with_labels(y, weight)


def as_rows(rows: Rows | Matrix, y: Any = None, weight: Any = None) -> Rows:
    """Return rows of whatever holds them, with labels and weights where given; other sparse formats become CSR."""
    y = y.tocsr() if sparse.issparse(y) else None if y is None else np.asarray(y)
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)
    if not isinstance(rows, Rows):
        return ArrayRows(rows.tocsr() if sparse.issparse(rows) else np.asanyarray(rows), y, weight)
    return rows if y is None and weight is None else rows.with_labels(y, weight)
