"""The one thing that moments, features and the convex stage ask of rows: a pass over blocks of them.

A *row source* says how wide its rows are and of which type, and can be passed over, block by block, with the labels and
weights that go with the rows. Whether it knows how many rows it has, and whether some of them can be asked for out of
order, depends on where they live: an array can do both, a stream neither until it has been read once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.streaming import current

if TYPE_CHECKING:
    from eigenfeat.rows.dask_tasks import Remote
    from eigenfeat.rows.statistics import Accumulator, AnyAccumulator

Selection = slice | np.ndarray
"""Rows by a slice of step one or an array of indices."""

EXPANDED_BYTES = 64_000_000
"""Of the rows that are in memory at a time while a block is worked on."""

Matrix = Any
"""Some rows: a dense (n, d) array or a CSR matrix (which has no types to check)."""


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rows of a pass.

    Attributes
    ----------
    X : (n, d) array or CSR matrix
    y, weight : (n,) arrays or None
        Labels or targets, and weights, where the rows have any.
    start : int
        Number of rows before this block.
    """

    X: Matrix
    y: np.ndarray | None = None
    weight: np.ndarray | None = None
    start: int = 0

    def __sizeof__(self) -> int:
        """What a scheduler weighs: blocks stay where they are, and go to disk where memory runs out."""
        return held_bytes(self)

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def selection(self) -> slice:
        """Where these rows stand in the source."""
        return slice(self.start, self.start + self.n_rows)

    def part(self, selection: Selection) -> Block:
        """Some of these rows; where they are not consecutive, their places in the source are forgotten."""
        start = self.start + (selection.start or 0) if isinstance(selection, slice) else self.start
        return Block(self.X[selection], part_of(self.y, selection), part_of(self.weight, selection), start)


def held_bytes(value: Any) -> int:
    """Of the arrays in a value, its attributes, and theirs."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, list | tuple):
        return sum(map(held_bytes, value))
    return sum(map(held_bytes, vars(value).values())) if hasattr(value, "__dict__") else 8


class Rows(ABC):
    """Rows that are read a block at a time, and may not exist as a whole.

    A new kind of source says its width and type and makes a pass; `RandomRows` is the base of those whose rows can be
    asked for in any order. Passes may run in several threads at once.
    """

    @property
    @abstractmethod
    def n_columns(self) -> int: ...

    @property
    @abstractmethod
    def dtype(self) -> np.dtype:
        """float64 or float32: what products with the rows run in."""

    @property
    def n_rows(self) -> int | None:
        """None where nobody has counted: a stream that has not been passed over."""
        return None

    @property
    def names(self) -> tuple[str, ...] | None:
        """Of the columns, where they have any."""
        return None

    @property
    def identity(self) -> str:
        """What tells these rows from others, as far as that can be seen without reading them: for checkpoints."""
        return f"{type(self).__name__} of {self.n_columns} columns of {self.dtype}, names {self.names}"

    @property
    def is_local(self) -> bool:
        """Whether passes are made in this process: elsewhere rows stay where they are."""
        return True

    @abstractmethod
    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        """One pass, in order; without ``batch_size``, in blocks that suit the source."""

    def reduce(self, statistic: AnyAccumulator, name: str = "rows") -> AnyAccumulator:
        """A statistic, given empty, of all rows: one pass, made where the rows are.

        Parameters
        ----------
        statistic : Accumulator
            `eigenfeat.rows.Accumulator`.
        name : str
            What the pass is for: told where progress is shown.
        """
        return current().reduce(self, statistic, name)

    def summed_there(self, statistic: Accumulator, name: str = "rows") -> Remote:
        """The same, left where it was made: for sources that are not local."""
        raise TypeError(f"{type(self).__name__} is read here: nothing is left elsewhere.")

    def persisted(self, lenses: Sequence[Any] = (), n_columns: int | None = None) -> Rows:
        """What views make of the rows, kept where the rows are: for sources that are not local."""
        raise TypeError(f"{type(self).__name__} is read here: see eigenfeat.rows.keeping.")

    def run(self, function: Callable, tasks: Sequence[tuple]) -> list[Any]:
        """Results of a function for each of some tuples of arguments, made where the rows are."""
        return [function(*task) for task in tasks]

    def fits(self, function: Callable, tasks: Sequence[tuple]) -> list[Any]:
        """The same for a function that makes passes of its own, members of an ensemble say: side by side where the rows
        are on several machines, one after the other here."""
        return [function(*task) for task in tasks]

    @property
    def pass_width(self) -> int:
        """Numbers a row takes up while products with it are made: its columns, where it is formed."""
        return self.n_columns

    @property
    def compact(self) -> tuple[Rows, Expand]:
        """Rows as narrow as they are kept, and what makes the rows of this source of a block of them, in memory.

        A source whose rows follow from fewer numbers says so here; of others the rows are what is kept.
        """
        return self, Expand()

    def with_label(self, name: str) -> Rows:
        """The same rows with one of their columns as the label, where columns have names."""
        raise TypeError(
            f"{type(self).__name__} has no column {name!r} to take labels from: its columns have no names. Give labels "
            "where the source is made, or as eigenfeat.rows.as_row_source(source, labels)."
        )


@dataclass(frozen=True, eq=False)
class Expand:
    """From a block to its rows, in memory and in any order; a part of a block at a time where they are wide."""

    def __call__(self, block: Block) -> RandomRows:
        from eigenfeat.rows.arrays import ArrayRows

        return ArrayRows(block.X, block.y, block.weight)

    def parts(self, block: Block) -> Iterator[Block]:
        step = max(1, EXPANDED_BYTES // (block.X.dtype.itemsize * max(1, self.width(block.X.shape[1]))))
        for start in range(0, block.n_rows, step):
            yield block.part(slice(start, start + step))

    def width(self, n_columns: int) -> int:
        """Numbers a row that are in memory while it is used."""
        return n_columns


class RandomRows(Rows):
    """A source of known length whose rows can be asked for in any order."""

    #: Rows a block of a pass where the caller does not say: few enough that what is made of them stays small.
    default_batch = 8192

    @property
    @abstractmethod
    def n_rows(self) -> int: ...

    @property
    def y(self) -> np.ndarray | None:
        """(n,) labels of the rows, where they have any."""
        return None

    @property
    def weight(self) -> np.ndarray | None:
        """(n,) weights of the rows, where they have any."""
        return None

    @abstractmethod
    def rows(self, selection: Selection) -> Matrix:
        """The chosen rows, in the type of the source."""

    def products(self, coefficients: np.ndarray, squared: bool = False) -> Any:
        """`RowProducts` of its own with (n_columns, k) coefficients of its type; None where rows are to be formed.

        With ``squared``, those of the squares of all entries.
        """
        return None

    def reduce(self, statistic: AnyAccumulator, name: str = "rows") -> AnyAccumulator:
        for block in self.blocks():  # at hand: nothing to tell of, nothing worth keeping
            statistic.update(block)
        return statistic

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        step = batch_size or self.default_batch
        for start in range(0, self.n_rows, step):
            chosen = slice(start, min(start + step, self.n_rows))
            yield Block(self.rows(chosen), part_of(self.y, chosen), part_of(self.weight, chosen), start)


def part_of(values: np.ndarray | None, selection: Selection) -> np.ndarray | None:
    """Chosen entries of what may not be there."""
    return None if values is None else values[selection]


def joined_blocks(blocks: Sequence[Block]) -> Block:
    """Blocks, all with labels and weights or all without, as one; its rows need not be consecutive."""
    if len(blocks) == 1:
        return blocks[0]
    X = [block.X for block in blocks]
    together = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
    return Block(together, _joined(b.y for b in blocks), _joined(b.weight for b in blocks), blocks[0].start)


def joined_and_freed(blocks: list[Block]) -> Block:
    """The same, of a list that is emptied meanwhile: dense rows are never in memory twice."""
    if not blocks or sparse.issparse(blocks[0].X):
        return joined_blocks(blocks)
    n_rows = [block.n_rows for block in blocks]
    rows = np.empty((sum(n_rows), blocks[0].X.shape[1]), blocks[0].X.dtype)
    around = joined_blocks([replace(block, X=np.empty((block.n_rows, 0))) for block in blocks])
    for start in np.cumsum([0, *n_rows[:-1]])[::-1].tolist():
        block = blocks.pop()
        rows[start : start + block.n_rows] = block.X
    return replace(around, X=rows)


def _joined(parts: Iterable[np.ndarray | None]) -> np.ndarray | None:
    there = [part for part in parts if part is not None]
    return np.concatenate(there) if there else None
