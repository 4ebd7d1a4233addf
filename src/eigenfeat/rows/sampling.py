"""The one sampler and the one splitter of rows: functions of their keys and a seed.

Neither the order of the rows nor the blocks they are read in has a say in which rows are in a sample or a split.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.accumulators import Accumulator, ClassCounts, Collect
from eigenfeat.rows.block import Block, Matrix, concatenate
from eigenfeat.rows.keys import (
    CLASS_KEYS,
    FEW_DIFFERENT,
    KEY_RANGE,
    DistinctKeys,
    copy_keys,
    key_order,
    keys_of,
    salted,
    uniforms,
)
from eigenfeat.rows.rows import Rows

MOST_CELLS, MOST_COPIES = 2**16, 2**22
"""Different rows that a sample of a stream of cells is drawn from, and copies of them, at most."""

Split = tuple[np.ndarray, np.ndarray]
"""Positions of training and of held-out rows, ascending."""


# ---------------------------------------------------------------------- splits


SPLIT_SEED = 2014
"""Of parts: what is drawn from a part with a seed of its own has nothing to do with them."""


def parts_of(keys: np.ndarray, n_parts: int, seed: int = SPLIT_SEED) -> np.ndarray:
    """(n,) the part of each row, of so many: known from its own key, one row at a time."""
    return (uniforms(keys, seed) * n_parts).astype(np.int64)


def ranked_splits(keys: np.ndarray, labels: np.ndarray, n_parts: int) -> list[Split]:
    """Every part left out in turn, by the rank of the keys: parts have equally many different rows.

    A class without a row to train on is never left out.
    """
    splits = []
    _, ranks = np.unique(keys, return_inverse=True)
    for part in range(n_parts):
        out = ranks % n_parts == part
        trained = np.bincount(labels[~out], minlength=labels.max() + 1) > 0
        out &= trained[labels]
        if out.any():
            splits.append((np.flatnonzero(~out), np.flatnonzero(out)))
    return splits


def splits_in_order(splitter: Any, order: np.ndarray, y: Any = None, groups: Any = None) -> Iterator[Split]:
    """Splits of a splitter of scikit-learn's kind, which sees the rows in this order (`key_order`)."""
    y, groups = (None if values is None else np.asarray(values)[order] for values in (y, groups))
    for train, test in splitter.split(order[:, None], y, groups):
        yield np.sort(order[train]), np.sort(order[test])


# ---------------------------------------------------------------------- samples of a pass


@dataclass(frozen=True, eq=False)
class RowSample:
    """Rows that stand for all rows of a source.

    Attributes
    ----------
    X : (m, d) array or CSR matrix
    weight : (m,) array
        Positive.
    low, high : (d,) arrays
        Smallest and largest value of every column over all rows of positive weight, sampled or not.
    """

    X: Matrix
    weight: np.ndarray
    low: np.ndarray
    high: np.ndarray


def sampled(source: Rows, count: int) -> RowSample:
    """All rows of positive weight, or where there are more than ``count`` those with the smallest keys; in their order.

    Equal rows are in it together or not at all: repeating a row is the same as weighting it.
    """
    found = source.with_keys().reduce(SmallestKeys(count), "sample of rows")
    if found.low is None or found.high is None:
        raise ValueError("There is no row of positive weight to learn from: 0 sample(s), and a minimum of 1 is needed.")
    few = sum(part.n_rows for part in found.kept) <= count
    chosen = KeyedRows.joined(found.kept).in_order if few else merged(found.kept, count)
    return RowSample(chosen.X, chosen.weights, found.low, found.high)


def class_samples(rows: Rows, counts: np.ndarray, seed: int) -> Iterator[tuple[int, Block]]:
    """Yield classes, ascending, each with its different rows of smallest keys and their weights.

    Parameters
    ----------
    rows : Rows
        Labelled with indices into the classes.
    counts : (k,) array of int
        Different rows of each class that are wanted at most.
    seed : int
        Samples of other seeds have other rows.
    """
    if not rows.random_access:
        yield from rows.with_keys().reduce(ClassSamples(counts, seed), "samples of classes").samples()
        return
    labels, chosen = np.asarray(rows.y), ClassSamples(counts, seed)
    positions = np.arange(rows.n_rows).reshape(-1, 1)  # as rows: only those that are chosen are made
    chosen.update(Block(positions, labels, rows.weight, 0, rows.keys))
    for c, sample in chosen.samples():
        yield c, replace(sample, X=rows.rows(sample.X.ravel()))


@dataclass(eq=False)
class SmallestKeys(Accumulator):
    """The rows with the smallest keys, and the range of every column."""

    count: int
    kept: list[KeyedRows] = field(default_factory=list)
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    def update(self, block: Block) -> None:
        part = KeyedRows.of(block)
        if part.n_rows:
            self._add([part], part.low, part.high)

    def merge(self, other: SmallestKeys) -> None:
        if other.low is not None and other.high is not None:
            self._add(other.kept, other.low, other.high)

    def _add(self, parts: list[KeyedRows], low: np.ndarray, high: np.ndarray) -> None:
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)
        self.kept = bounded([*self.kept, *parts], self.count)


@dataclass(eq=False)
class ClassSamples(Accumulator):
    """Of every class the rows with the smallest keys, at most so many different ones; labels are indices.

    Attributes
    ----------
    counts : (k,) array of int
        Zero for a class that is not asked for.
    seed : int
        Other seeds order the keys in other ways.
    """

    counts: np.ndarray
    seed: int
    kept: dict[int, list[KeyedRows]] = field(default_factory=dict)

    def update(self, block: Block) -> None:
        labels = np.asarray(block.y)
        asked = self.counts[labels] > 0
        rows = KeyedRows.of(block if asked.all() else block.take(np.flatnonzero(asked)), self.seed)
        labels = np.asarray(rows.labels)
        for c in np.unique(labels).tolist():
            self._add(c, [rows.take(np.flatnonzero(labels == c))])

    def merge(self, other: ClassSamples) -> None:
        for c, parts in other.kept.items():
            self._add(c, parts)

    def samples(self) -> Iterator[tuple[int, Block]]:
        """Classes, ascending, with their different rows, in the order of their keys, and weights."""
        for c in sorted(self.kept):
            rows = merged(self.kept[c], int(self.counts[c]))
            yield c, Block(rows.X, rows.labels, rows.weights)

    def _add(self, c: int, parts: list[KeyedRows]) -> None:
        self.kept[c] = bounded([*self.kept.get(c, []), *parts], int(self.counts[c]))


@dataclass(eq=False)
class DifferentRows(Accumulator):
    """Classes with their rows, and how many different rows there are of each and in all; labels are what they are."""

    totals: ClassCounts = field(default_factory=ClassCounts)
    keys: DistinctKeys = field(default_factory=DistinctKeys)
    by_class: dict[Any, DistinctKeys] = field(default_factory=dict)

    def update(self, block: Block) -> None:
        self.totals.update(block)
        keys, labels = keys_of(block), np.asarray(block.y)
        if block.weight is not None:
            keys, labels = keys[block.weight > 0], labels[block.weight > 0]
        self.keys.add(keys)
        for label in np.unique(labels).tolist():
            self._of(label).add(keys[labels == label])

    def merge(self, other: DifferentRows) -> None:
        self.totals.merge(other.totals)
        self.keys.add(other.keys.smallest, other.keys.is_full)
        for label, keys in other.by_class.items():
            self._of(label).add(keys.smallest, keys.is_full)

    def _of(self, label: Any) -> DistinctKeys:
        return self.by_class.setdefault(label, DistinctKeys(CLASS_KEYS))

    @property
    def n_present(self) -> int:
        """Rows of positive weight."""
        return int(self.totals.counts.sum())

    @property
    def are_cells(self) -> bool:
        """Whether many rows are equal: then each counts, see `copy_keys`."""
        return self.keys.count < FEW_DIFFERENT * self.n_present


@dataclass(frozen=True, eq=False)
class ClassBounds:
    """A block function: rows of positive weight, of every class those with the smallest keys.

    Attributes
    ----------
    bounds : (k,) array of int
        The largest key that is taken of each class; labels are indices.
    """

    bounds: np.ndarray

    @classmethod
    def of(cls, seen: DifferentRows, classes: np.ndarray, count: int) -> ClassBounds:
        """About ``count`` different rows, of every class its share, two at least where it has them."""
        n_different = seen.keys.count
        if n_different <= count:
            return cls(np.full(len(classes), KEY_RANGE))
        sketches = [seen.by_class.get(label, DistinctKeys()) for label in classes.tolist()]
        taken = [min(max(2, round(count / n_different * keys.count)), keys.count) for keys in sketches]
        ends = [min(n, len(keys.smallest)) - 1 for keys, n in zip(sketches, taken)]
        return cls(np.array([keys.smallest[end] if end >= 0 else -1 for keys, end in zip(sketches, ends)]))

    @classmethod
    def within(cls, keys: np.ndarray, codes: np.ndarray, weights: np.ndarray | None, count: int) -> np.ndarray:
        """Return the positions of such rows in memory, ascending."""
        seen, rows = DifferentRows(), Block(keys[:, None], codes, weights, 0, keys)
        seen.update(rows)
        return cls.of(seen, np.arange(codes.max() + 1), count).chosen(rows)

    def __call__(self, block: Block) -> Block:
        return block.take(self.chosen(block))

    def chosen(self, block: Block) -> np.ndarray:
        taken = keys_of(block) <= self.bounds[block.y]
        return np.flatnonzero(taken if block.weight is None else taken & (block.weight > 0))


@dataclass(eq=False)
class Cells(Accumulator):
    """Different rows whose key is at most a bound, and how many copies of each there are."""

    bound: int
    cells: KeyedRows | None = None
    counts: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def update(self, block: Block) -> None:
        rows = KeyedRows.of(block)
        rows = rows.take(np.flatnonzero(rows.keys <= self.bound))
        self._add(rows, np.ones(rows.n_rows, dtype=np.int64))

    def merge(self, other: Cells) -> None:
        if other.cells is not None:
            self._add(other.cells, other.counts)

    def _add(self, rows: KeyedRows, counts: np.ndarray) -> None:
        if not rows.n_rows:
            return
        whole = rows if self.cells is None else KeyedRows.joined([self.cells, rows])
        counts = np.append(self.counts, counts)
        columns = (whole.keys, np.asarray(whole.labels), whole.weights)
        order = np.lexsort(columns[::-1])
        first = np.append(True, np.any([np.diff(column[order]) != 0 for column in columns], axis=0))[: len(order)]
        self.cells = whole.take(order[first])
        self.counts = np.add.reduceat(counts[order], np.flatnonzero(first))

    def sample(self, count: int) -> Block:
        """About so many copies, of every class those with the smallest keys of their own (`copy_keys`)."""
        assert self.cells is not None
        counts, total = self.counts, int(self.counts.sum())
        if total > MOST_COPIES:
            counts = np.ceil(counts * (MOST_COPIES / total)).astype(np.int64)
        copies = np.repeat(np.arange(len(counts)), counts)
        labels, weights = np.asarray(self.cells.labels)[copies], self.cells.weights[copies]
        keys = copy_keys(self.cells.keys[copies], labels, weights)
        chosen = ClassBounds.within(keys, labels, weights, count)
        return Block(self.cells.X[copies[chosen]], labels[chosen], weights[chosen], 0, keys[chosen])


def sampled_by_class(rows: Rows, seen: DifferentRows, count: int) -> Block:
    """About ``count`` different rows with their keys, of every class its share; each copy counts where rows are cells.

    Parameters
    ----------
    rows : Rows
        Labelled with indices into the classes.
    seen : DifferentRows
        Of the same rows with labels of any kind.
    count : int
    """
    keyed = rows.with_keys()
    if not seen.are_cells:
        bounds = ClassBounds.of(seen, seen.totals.classes, count)
        return concatenate(keyed.reduce(Collect(bounds), "sample of rows").blocks)
    bound = int(seen.keys.smallest[: max(MOST_CELLS, count)][-1])
    return keyed.reduce(Cells(bound), "sample of rows").sample(count)


def in_proportion(weights: np.ndarray) -> np.ndarray:
    """Return sorted indices, as many as there are positive weights, each about as often as its weight says.

    Every row once where all weights are the same; a row of weight zero never.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.rows.sampling import in_proportion
    >>> in_proportion(np.array([1.0, 0.0, 3.0, 1.0, 1.0]))
    array([0, 2, 2, 4])
    """
    total = np.cumsum(weights, dtype=np.float64)
    count = np.count_nonzero(weights)
    return np.searchsorted(total, total[-1] * (np.arange(count) + 0.5) / count, side="right")


@dataclass(frozen=True, eq=False)
class KeyedRows:
    """Rows of positive weight with their keys."""

    X: Matrix
    labels: np.ndarray | None
    weights: np.ndarray
    keys: np.ndarray

    @classmethod
    def of(cls, block: Block, seed: int | None = None) -> KeyedRows:
        if block.weight is not None and not (block.weight > 0).all():
            block = block.take(np.flatnonzero(block.weight > 0))
        weights = np.ones(block.n_rows) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
        keys = keys_of(block)
        return cls(block.X, block.y, weights, keys if seed is None else salted(keys, seed))

    @classmethod
    def joined(cls, parts: list[KeyedRows]) -> KeyedRows:
        if len(parts) == 1:
            return parts[0]
        blocks = [part.X for part in parts]
        X = sparse.vstack(blocks, format="csr") if sparse.issparse(blocks[0]) else np.vstack(blocks)
        labels = None if parts[0].labels is None else np.concatenate([part.labels for part in parts])
        weights, keys = (np.concatenate(values) for values in zip(*((part.weights, part.keys) for part in parts)))
        return cls(X, labels, weights, keys)

    def take(self, chosen: np.ndarray) -> KeyedRows:
        labels = None if self.labels is None else self.labels[chosen]
        return KeyedRows(self.X[chosen], labels, self.weights[chosen], self.keys[chosen])

    @property
    def in_order(self) -> KeyedRows:
        return self.take(key_order(self.keys, self.weights))

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def low(self) -> np.ndarray:
        return _dense_row(self.X.min(axis=0))

    @property
    def high(self) -> np.ndarray:
        return _dense_row(self.X.max(axis=0))


def bounded(parts: list[KeyedRows], count: int) -> list[KeyedRows]:
    """Return the same rows, or where they are more than twice too many those with the smallest keys."""
    return [merged(parts, count)] if sum(part.n_rows for part in parts) > 2 * count else parts


def merged(parts: list[KeyedRows], count: int) -> KeyedRows:
    """Return the rows with the smallest keys, ``count`` different ones, those that are equal as one of their weight."""
    whole = KeyedRows.joined(parts)
    smallest = _smallest(whole.keys, count)
    different, first, place = np.unique(whole.keys[smallest], return_index=True, return_inverse=True)
    weights = np.bincount(place.ravel(), whole.weights[smallest])
    return replace(whole.take(smallest[first[:count]]), weights=weights[: min(count, len(different))])


def _smallest(keys: np.ndarray, count: int) -> np.ndarray:
    """Rows with the ``count`` smallest different keys, and some more: fewer than all have to be sorted."""
    most = 2 * count  # in most tables hardly a row repeats
    if most < len(keys):
        chosen = np.flatnonzero(keys <= np.partition(keys, most)[most])
        if len(np.unique(keys[chosen])) >= count:
            return chosen
    return np.arange(len(keys))


def _dense_row(values: Matrix) -> np.ndarray:
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    return values.ravel().astype(np.float64)
