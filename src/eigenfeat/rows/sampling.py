"""Samples of the rows of any source, by keys that are made of the numbers of each row.

Neither the order of the rows nor the blocks they are read in has a say in which rows are in a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from eigenfeat._runtime.jit import jit
from eigenfeat.rows.accumulators import Accumulator
from eigenfeat.rows.block import Block, Matrix
from eigenfeat.rows.rows import Rows

Keys = Callable[[Matrix], np.ndarray]
"""An integer for every row of a block: equal for equal rows, as good as random for others."""


@np.errstate(over="ignore")
def row_keys(X: Matrix, precision: DTypeLike = np.float64) -> np.ndarray:
    """(n,) integers from the bits of each row: rows that are equal, as numbers of this type, have equal keys.

    Neither where a row stands matters nor whether it is stored as a dense or a sparse one.
    """
    columns = _mix(np.arange(X.shape[1], dtype=np.uint64))
    if sparse.issparse(X):  # as if zeros were stored: what an entry adds beyond that of a zero in its place
        bits = (X.data.astype(precision).astype(np.float64) + 0.0).view(np.uint64)
        mixed = _mix(bits ^ columns[X.indices]) - _mix(columns)[X.indices]
        totals = np.concatenate([[np.uint64(0)], np.cumsum(mixed, dtype=np.uint64)])
        sums = totals[X.indptr[1:]] - totals[X.indptr[:-1]] + _mix(columns).sum(dtype=np.uint64)
    else:
        sums = np.zeros(len(X), dtype=np.uint64)
        for start in range(0, len(X), 1024):  # a block at a time: no copy of X
            numbers = X[start : start + 1024].astype(precision).astype(np.float64)
            bits = (numbers + 0.0).view(np.uint64)  # + 0.0: the two zeros are equal
            _add_mixed(bits, columns, sums[start : start + 1024])
    return (_mix(sums) >> np.uint64(33)).astype(np.int64)


def distinct_keys(X: Matrix) -> np.ndarray:
    """(n, 3) integers, equal where rows are; the first, by which they sort, does not tell float32 from float64."""
    return np.column_stack([row_keys(X, np.float32), row_keys(X), row_keys(X[:, ::-1])])


@jit(nogil=True)
def _mix(bits):  # pragma: no cover - compiled
    """Scatter bits (the finaliser of splitmix64), of one number or of an array."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@jit(nogil=True)
def _add_mixed(bits, columns, sums):  # pragma: no cover - compiled
    # `_mix(bits ^ columns)` summed over columns, without arrays of what comes between.
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for j in range(bits.shape[1]):
            total += _mix(bits[i, j] ^ columns[j])
        sums[i] += total


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


def sampled(source: Rows, count: int, keys: Keys) -> RowSample:
    """All rows of positive weight, or where there are more than ``count`` those with the smallest keys.

    A row's key depends on its numbers alone, so the sample depends neither on the order of the rows nor on how they
    are cut into blocks. Equal rows are in it together or not at all: repeating a row is the same as weighting it.
    """
    found = source.reduce(SmallestKeys(count, keys), "sample of rows")
    if found.low is None or found.high is None:
        raise ValueError("There is no row of positive weight to learn from: 0 sample(s), and a minimum of 1 is needed.")
    chosen = _thinned(found.kept, count, keys)
    return RowSample(chosen.rows, chosen.weights, found.low, found.high)


@dataclass(eq=False)
class SmallestKeys(Accumulator):
    """The rows with the smallest keys, and the range of every column."""

    count: int
    keys: Keys
    kept: list[_Part] = field(default_factory=list)
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    def update(self, block: Block) -> None:
        part = _Part.of(block.X, block.weight)
        if part.n_rows:
            self._add([part], part.low, part.high)

    def merge(self, other: SmallestKeys) -> None:
        if other.low is not None and other.high is not None:
            self._add(other.kept, other.low, other.high)

    def _add(self, parts: list[_Part], low: np.ndarray, high: np.ndarray) -> None:
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)
        self.kept += parts
        if sum(part.n_rows for part in self.kept) > 2 * self.count:
            self.kept = [_thinned(self.kept, self.count, self.keys)]


def uniforms(seed: int, start: int, count: int) -> np.ndarray:
    """(count,) numbers between zero and one that belong to the rows from ``start`` on: a row's does not depend on
    which block it is read in, or where.

    Examples
    --------
    >>> import numpy as np
    >>> bool((uniforms(3, 5, 4) == uniforms(3, 0, 9)[5:]).all())
    True
    """
    bits = np.random.PCG64(seed)
    bits.advance(start)
    return np.random.Generator(bits).random(count)


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
class _Part:
    rows: Matrix
    weights: np.ndarray

    @classmethod
    def of(cls, rows: Matrix, weights: np.ndarray | None) -> _Part:
        if weights is None:
            return cls(rows, np.ones(rows.shape[0]))
        counts = np.flatnonzero(weights > 0)
        whole = len(counts) == rows.shape[0]
        return cls(rows if whole else rows[counts], np.asarray(weights, dtype=np.float64)[counts])

    @property
    def n_rows(self) -> int:
        return self.rows.shape[0]

    @property
    def low(self) -> np.ndarray:
        return _dense_row(self.rows.min(axis=0))

    @property
    def high(self) -> np.ndarray:
        return _dense_row(self.rows.max(axis=0))


def _thinned(parts: list[_Part], count: int, keys: Keys) -> _Part:
    """The rows with the smallest keys, ``count`` different ones, those that are equal as one row of their weight."""
    if sum(part.n_rows for part in parts) <= count:
        return _joined(parts)
    whole = _joined(parts)
    of_rows = keys(whole.rows)
    smallest = _smallest(of_rows, count)
    different, first, place = np.unique(of_rows[smallest], return_index=True, return_inverse=True)
    weights = np.bincount(place.ravel(), whole.weights[smallest])
    return _Part(whole.rows[smallest[first[:count]]], weights[: min(count, len(different))])


def _smallest(keys: np.ndarray, count: int) -> np.ndarray:
    """Rows with the ``count`` smallest different keys, and some more: fewer than all have to be sorted."""
    most = 2 * count  # in most tables hardly a row repeats
    if most < len(keys):
        chosen = np.flatnonzero(keys <= np.partition(keys, most)[most])
        if len(np.unique(keys[chosen])) >= count:
            return chosen
    return np.arange(len(keys))


def _joined(parts: list[_Part]) -> _Part:
    if len(parts) == 1:
        return parts[0]
    blocks = [part.rows for part in parts]
    rows = sparse.vstack(blocks, format="csr") if sparse.issparse(blocks[0]) else np.vstack(blocks)
    return _Part(rows, np.concatenate([part.weights for part in parts]))


def _dense_row(values: Matrix) -> np.ndarray:
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    return values.ravel().astype(np.float64)
