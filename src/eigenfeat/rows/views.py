"""Views of other sources: some of their rows, their rows with labels, and functions of their rows.

What is done to rows one by one (a constant added, columns scaled or projected, a transformer, a feature map) is not a
view of its own but a *row map*, which `MappedRows` applies to every block; the stages of a fitted model are such maps
(`eigenfeat.stages`), so that what is fitted on and what is predicted from are made by the same code.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from eigenfeat.rows.arrays import ArrayRows
from eigenfeat.rows.dask_tasks import Remote
from eigenfeat.rows.products import ChosenProducts, RowProducts, products_with
from eigenfeat.rows.source import Block, Matrix, RandomRows, Rows, Selection, part_of
from eigenfeat.rows.statistics import Accumulator, AnyAccumulator, ClassTotals, Lens, Seen

#: Bytes that a row map makes of a block at a time.
MAPPED_BYTES = 32_000_000


class RowMap(Protocol):
    """A function of rows that treats every row alike."""

    def apply(self, rows: Matrix) -> Matrix: ...

    def n_columns(self, n_inputs: int) -> int:
        """Columns made of rows of this width."""


@dataclass(frozen=True, eq=False)
class _View:
    """What views of both kinds of source say of it."""

    source: Any

    @property
    def n_rows(self):
        return self.source.n_rows

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
    def is_local(self) -> bool:
        return self.source.is_local


@dataclass(frozen=True, eq=False)
class RowView(_View, RandomRows):
    """A view with a row for every row of its source, in any order."""

    source: RandomRows

    @property
    def y(self) -> np.ndarray | None:
        return self.source.y

    @property
    def weight(self) -> np.ndarray | None:
        return self.source.weight

    def rows(self, selection: Selection) -> Matrix:
        return self.source.rows(selection)


@dataclass(frozen=True, eq=False)
class StreamView(_View, Rows):
    """A view of a source that can only be read in order, and so can the view."""

    source: Rows

    @property
    @abstractmethod
    def lens(self) -> Lens:
        """What the view makes of a block: it goes to where the rows are, so it does not hold the source."""

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        for block in self.source.blocks(batch_size):
            yield from self.lens(block)

    def reduce(self, statistic: AnyAccumulator, name: str = "rows") -> AnyAccumulator:
        return self.source.reduce(Seen(statistic, self.lens), name).statistic  # type: ignore[return-value]

    def summed_there(self, statistic: Accumulator, name: str = "rows") -> Remote:
        return self.source.summed_there(Seen(statistic, self.lens), name).then(Seen.inner)

    def persisted(self, lenses: Sequence[Lens] = (), n_columns: int | None = None) -> Rows:
        return self.source.persisted((self.lens, *lenses), n_columns or self.n_columns)

    def run(self, function: Callable, tasks: Sequence[tuple]) -> list[Any]:
        return self.source.run(function, tasks)

    def fits(self, function: Callable, tasks: Sequence[tuple]) -> list[Any]:
        return self.source.fits(function, tasks)


@dataclass(frozen=True, eq=False)
class ChosenRows(RowView):
    """Some rows of a source, in the order of ``index``, with their labels and weights."""

    index: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.index)

    @property
    def y(self) -> np.ndarray | None:
        return part_of(super().y, self.index)

    @property
    def weight(self) -> np.ndarray | None:
        return part_of(super().weight, self.index)

    @property
    def pass_width(self) -> int:
        return self.source.pass_width

    def rows(self, selection: Selection) -> Matrix:
        return self.source.rows(self.index[selection])

    def products(self, coefficients: np.ndarray, squared: bool = False) -> RowProducts:
        return ChosenProducts(products_with(self.source, coefficients, squared), self.index)


@dataclass(frozen=True, eq=False)
class ChosenStream(StreamView):
    """Some rows of a stream, by ascending index, in places of their own: the first of them is row 0."""

    index: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.index)

    @property
    def lens(self) -> Lens:
        return Chosen(self.index)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The lens of a `ChosenStream`."""

    index: np.ndarray

    def __call__(self, block: Block) -> tuple[Block]:
        first, last = np.searchsorted(self.index, [block.start, block.start + block.n_rows])
        return (replace(block.part(self.index[first:last] - block.start), start=int(first)),)


@dataclass(frozen=True, eq=False)
class _Labelled(_View):
    y: np.ndarray | None = None
    weight: np.ndarray | None = None

    def _labelled(self, block: Block) -> Block:
        chosen = block.selection
        return Block(block.X, part_of(self.y, chosen), part_of(self.weight, chosen), block.start)


class LabelledRows(_Labelled, RowView):
    """The rows of a source with labels and weights of their own."""

    @property
    def pass_width(self) -> int:
        return self.source.pass_width

    def products(self, coefficients: np.ndarray, squared: bool = False) -> RowProducts:
        return products_with(self.source, coefficients, squared)

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        return map(self._labelled, self.source.blocks(batch_size))


class LabelledStream(_Labelled, StreamView):
    """The blocks of a stream with labels and weights of their own."""

    @property
    def lens(self) -> Lens:
        alone = LabelledStream(None, self.y, self.weight)
        return alone._as_lens

    def _as_lens(self, block: Block) -> tuple[Block]:
        return (self._labelled(block),)


@dataclass(frozen=True, eq=False)
class _Mapped(_View):
    row_map: RowMap

    @property
    def n_columns(self) -> int:
        return self.row_map.n_columns(self.source.n_columns)

    @property
    def names(self) -> None:
        return None  # columns of its own

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        through = Through(self.row_map, self.dtype)
        for block in self.source.blocks(batch_size or RandomRows.default_batch):
            yield through.of(block)


@dataclass(frozen=True, eq=False)
class Through:
    """The lens of a row map, whose results may be wide: it makes them of some rows at a time."""

    row_map: RowMap
    dtype: np.dtype

    def __call__(self, block: Block) -> Iterator[Block]:
        width = max(block.X.shape[1], self.row_map.n_columns(block.X.shape[1]))
        step = int(np.clip(MAPPED_BYTES // (self.dtype.itemsize * max(1, width)), 256, RandomRows.default_batch))
        for start in range(0, block.n_rows, step):
            yield self.of(block.part(slice(start, start + step)))

    def of(self, block: Block) -> Block:
        rows = block.X if block.X.dtype == self.dtype else block.X.astype(self.dtype)
        return Block(self.row_map.apply(rows), block.y, block.weight, block.start)


class MappedRows(_Mapped, RowView):
    """The rows of a source after a row map, made when they are asked for."""

    def rows(self, selection: Selection) -> Matrix:
        return self.row_map.apply(self.source.rows(selection))


class MappedStream(_Mapped, StreamView):
    """The blocks of a stream after a row map."""

    @property
    def lens(self) -> Lens:
        return Through(self.row_map, self.dtype)


@dataclass(frozen=True, eq=False)
class CodedStream(StreamView):
    """A stream whose labels are indices into its classes, and whose weights may be multiplied by one a class.

    Attributes
    ----------
    totals : ClassTotals
        Classes, rows and weight of each, before they are multiplied.
    by_class : (k,) array, optional
        What weights are multiplied by.
    """

    totals: ClassTotals
    by_class: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return self.totals.n_rows

    @property
    def lens(self) -> Lens:
        return Coding(self.totals.classes, self.by_class)

    @property
    def coded_totals(self) -> ClassTotals:
        """Of the labels and weights as they are here."""
        totals, weights = self.totals, self.totals.weights
        weights = weights if self.by_class is None else weights * self.by_class
        return ClassTotals(np.arange(len(totals.classes)), totals.counts, weights, totals.n_rows)


@dataclass(frozen=True, eq=False)
class Coding:
    """The lens of a `CodedStream`."""

    classes: np.ndarray
    by_class: np.ndarray | None

    def __call__(self, block: Block) -> tuple[Block]:
        labels = np.asarray(block.y)
        codes = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
        if (self.classes[codes] != labels).any():
            unknown = labels[self.classes[codes] != labels].tolist()[0]
            raise ValueError(f"A source has a label {unknown!r} that it did not have before: it must not change.")
        weights = block.weight
        if self.by_class is not None:
            weights = self.by_class[codes] if weights is None else weights * self.by_class[codes]
        return (Block(block.X, codes, weights, block.start),)


def labelled_by_index(source: Any) -> bool:
    """Whether the labels of a source, which may be a view, are indices into classes; of arrays they are taken to be."""
    if isinstance(source, RandomRows):
        return source.y is not None
    return isinstance(source, CodedStream) or (isinstance(source, StreamView) and labelled_by_index(source.source))


def coded_totals(source: Rows) -> ClassTotals:
    """Of the labels of a stream: those that a view below knows, or one pass."""
    view: Any = source
    while isinstance(view, StreamView):
        if isinstance(view, CodedStream):
            return view.coded_totals
        view = view.source
    return source.reduce(ClassTotals(), "labels")


def mapped(source: Rows, row_map: RowMap) -> Rows:
    """The rows of a source after a row map; in any order where the source can."""
    return MappedRows(source, row_map) if isinstance(source, RandomRows) else MappedStream(source, row_map)


def as_row_source(rows: Rows | Matrix, labels: Any = None, weights: np.ndarray | None = None) -> Rows:
    """A source of whatever holds rows: sparse matrices of other formats become CSR once."""
    labels = labels.tocsr() if sparse.issparse(labels) else None if labels is None else np.asarray(labels)
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    if not isinstance(rows, Rows):
        return ArrayRows(rows.tocsr() if sparse.issparse(rows) else np.asanyarray(rows), labels, weights)
    if labels is None and weights is None:
        return rows
    return (LabelledRows if isinstance(rows, RandomRows) else LabelledStream)(rows, labels, weights)
