"""Keys: an integer for every row, made of its numbers alone, that stands for it where something is drawn or split.

Equal rows have equal keys, and keys of others are as good as random. What is drawn by keys depends neither on the order
of the rows nor on the blocks they are read in.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from eigenfeat._runtime.jit import jit
from eigenfeat.rows.block import Block, Matrix

KEY_BITS = 53
"""Of a key: as many as a double holds."""

KEY_RANGE = 2**KEY_BITS
"""Keys are as good as random below this."""

ROUNDED = 29
"""Bits of a double that a float32 does not have."""

MOST_KEYS, CLASS_KEYS = 2**18, 2**14
"""Keys that are counted one by one, in all and of a class; of more, the number is estimated (to 0.2 % and 0.8 %)."""

FEW_DIFFERENT = 0.25
"""Share of different rows below which a table is one of cells that rows fall into."""


def row_keys(X: Matrix) -> np.ndarray:
    """(n,) integers from the bits of each row: rows that are equal, as float32 numbers, have equal keys.

    Neither where a row stands matters, nor whether it is stored as a dense or a sparse one, in float32 or float64.
    """
    return _keys(X, ROUNDED)


def distinct_keys(X: Matrix) -> np.ndarray:
    """(n, 3) integers, equal where rows are; the first, by which they sort, does not tell float32 from float64."""
    hashes = (_hashed(X, ROUNDED), _hashed(X, 0), _hashed(X[:, ::-1], 0))
    return np.column_stack([hashed >> np.uint64(33) for hashed in hashes]).astype(np.int64)


def _keys(X: Matrix, n_rounded: int) -> np.ndarray:
    return (_hashed(X, n_rounded) >> np.uint64(64 - KEY_BITS)).astype(np.int64)


@np.errstate(over="ignore")
def _hashed(X: Matrix, n_rounded: int, columns: np.ndarray | None = None) -> np.ndarray:
    """(n,) hashes of the rows, of whose numbers so many bits are rounded off; columns are told apart by place."""
    if X.ndim > 2:
        X = X.reshape(len(X), -1)
    if columns is None:
        columns = _mix(np.arange(X.shape[1], dtype=np.uint64))
    sums = np.zeros(X.shape[0], dtype=np.uint64)
    if sparse.issparse(X):  # as if zeros were stored: what an entry adds beyond that of a zero in its place
        bits = _rounded((X.data.astype(np.float64) + 0.0).view(np.uint64), np.uint64(n_rounded))
        mixed = _mix(bits ^ columns[X.indices]) - _mix(columns)[X.indices]
        totals = np.concatenate([[np.uint64(0)], np.cumsum(mixed, dtype=np.uint64)])
        sums = totals[X.indptr[1:]] - totals[X.indptr[:-1]] + _mix(columns).sum(dtype=np.uint64)
    else:
        for start in range(0, len(X), 1024):  # a block at a time: no copy of X
            numbers = np.add(X[start : start + 1024], 0.0, dtype=np.float64)  # + 0.0: the two zeros are equal
            _add_mixed(numbers.view(np.uint64), columns, np.uint64(n_rounded), sums[start : start + 1024])
    return _mix(sums)


@jit(nogil=True)
def _mix(bits):  # pragma: no cover - compiled
    """Scatter bits (the finaliser of splitmix64), of one number or of an array."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@jit(nogil=True)
def _rounded(bits, n_rounded):  # pragma: no cover - compiled
    """Round the last bits of doubles off, ties to even, as a cast to float32 does; doubles beyond its range stay."""
    one = np.uint64(1)
    if n_rounded == np.uint64(0):
        return bits
    last = (bits >> n_rounded) & one
    return ((bits + ((one << (n_rounded - one)) - one + last)) >> n_rounded) << n_rounded


@jit(nogil=True)
def _add_mixed(bits, columns, n_rounded, sums):  # pragma: no cover - compiled
    # `_mix(_rounded(bits) ^ columns)` summed over columns, without arrays of what comes between.
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for j in range(bits.shape[1]):
            total += _mix(_rounded(bits[i, j], n_rounded) ^ columns[j])
        sums[i] += total


@jit(nogil=True)
def _add_columns(bits, n_rounded, sums):  # pragma: no cover - compiled
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            sums[j] += _mix(_rounded(bits[i, j], n_rounded))


@np.errstate(over="ignore")
def _columns_by_content(X: Matrix) -> np.ndarray:
    """(d,) hashes of the columns of all rows, in any order of the rows; zeros add nothing."""
    sums = np.zeros(X.shape[1], dtype=np.uint64)
    if sparse.issparse(X):
        bits = (X.data.astype(np.float64) + 0.0).view(np.uint64)
        np.add.at(sums, X.indices, _mix(_rounded(bits, np.uint64(ROUNDED))))
    else:
        for start in range(0, len(X), 1024):
            numbers = np.add(X[start : start + 1024], 0.0, dtype=np.float64)
            _add_columns(numbers.view(np.uint64), np.uint64(ROUNDED), sums)
    return _mix(sums)


def keys_of(block: Block) -> np.ndarray:
    """Keys of the rows of a block: those that it has, of the rows it was made of, or else of its own rows."""
    return row_keys(block.X) if block.keys is None else block.keys


def with_keys(block: Block) -> Block:
    """A block function: give the rows their keys, which then stay with what further functions make of them."""
    return block if block.keys is not None else replace(block, keys=row_keys(block.X))


def group_keys(groups: np.ndarray) -> np.ndarray:
    """Keys that are equal for rows of one group."""
    _, codes = np.unique(groups, return_inverse=True)
    return _keys(codes.reshape(-1, 1), 0)


def copy_keys(keys: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Keys that tell equal rows apart: of the key, the label, and how many such rows stand before.

    Of these the heavier stand first, wherever they are, so that neither the order of rows nor one without weight
    matters.
    """
    order = np.lexsort((np.zeros(len(keys)) if weights is None else -weights, labels, keys))
    is_first = np.append(True, (np.diff(keys[order]) != 0) | (np.diff(labels[order]) != 0))[: len(keys)]
    place = np.arange(len(keys))
    n_before = np.empty(len(keys), dtype=np.int64)
    n_before[order] = place - np.maximum.accumulate(np.where(is_first, place, 0))
    return _keys(np.column_stack([keys >> 22, labels, n_before]), 0)


def are_cells(keys: np.ndarray, weights: np.ndarray | None = None) -> bool:
    """Whether fewer than a quarter of the rows of positive weight differ: then each of them counts."""
    present = keys if weights is None else keys[weights > 0]
    return n_distinct(present) < FEW_DIFFERENT * len(present)


def key_order(keys: np.ndarray, *others: np.ndarray | None) -> np.ndarray:
    """The order of the rows by key, and where keys are equal by other numbers of theirs, such as labels."""
    return np.lexsort((*(column for other in others[::-1] if other is not None for column in _columns(other)), keys))


def row_order(
    X: Matrix, *others: np.ndarray | None, weights: np.ndarray | None = None, kernel: bool = False
) -> np.ndarray:
    """The order of rows in memory by keys that tell columns apart by what is in them: that of the columns has no say.

    Rows of a kernel matrix between them are known by their sorted numbers. What is in rows without weight does not
    matter for the others.
    """
    present = None if weights is None or (weights > 0).all() else np.flatnonzero(weights > 0)
    if kernel:
        hashed = _hashed(np.sort(X if present is None else X[:, present], axis=1), ROUNDED)
    else:
        hashed = _hashed(X, ROUNDED, _columns_by_content(X if present is None else X[present]))
    return key_order(hashed, *others, weights)


def _columns(values: np.ndarray) -> list[np.ndarray]:
    return [values] if values.ndim == 1 else list(values.T)


def uniforms(keys: np.ndarray, seed: int = 0) -> np.ndarray:
    """(n,) numbers from zero to below one: a row's depends on its key and on the seed.

    Examples
    --------
    >>> import numpy as np
    >>> keys = row_keys(np.arange(9.0).reshape(-1, 1))
    >>> bool((uniforms(keys[::-1], 3) == uniforms(keys, 3)[::-1]).all())
    True
    """
    return salted(keys, seed) * 2.0**-KEY_BITS


@np.errstate(over="ignore")
def salted(keys: np.ndarray, seed: int) -> np.ndarray:
    """(n,) other keys, in another order for every seed."""
    salt = _mix(np.array([seed], dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15))
    return (_mix(_mix(keys.astype(np.uint64) + salt)) >> np.uint64(64 - KEY_BITS)).astype(np.int64)


@dataclass(eq=False)
class DistinctKeys:
    """The smallest different keys seen, and how many there are in all: exact up to ``most``.

    With m keys kept of which the largest is at share x of their range, there are about (m - 1) / x (Bar-Yossef et al.
    2002). What it keeps does not depend on the order the keys came in.

    Examples
    --------
    >>> import numpy as np
    >>> sketch = DistinctKeys()
    >>> sketch.add(np.array([5, 3, 5, 8]))
    >>> sketch.count, sketch.smallest.tolist()
    (3, [3, 5, 8])
    """

    most: int = MOST_KEYS
    smallest: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    is_full: bool = False

    def add(self, keys: np.ndarray, from_full: bool = False) -> None:
        """More keys; ``from_full``: the smallest that another sketch kept of more."""
        if self.is_full:
            keys = keys[keys < self.smallest[-1]]
        together = np.sort(np.concatenate([self.smallest, keys]), kind="stable")  # the first part is sorted already
        together = together[np.append(True, together[1:] != together[:-1])[: len(together)]]
        self.is_full = self.is_full or from_full or len(together) > self.most
        self.smallest = together[: self.most]

    @property
    def count(self) -> int:
        if not self.is_full:
            return len(self.smallest)
        return round((len(self.smallest) - 1) * KEY_RANGE / (int(self.smallest[-1]) + 1))


def n_distinct(keys: np.ndarray, most: int = MOST_KEYS) -> int:
    """How many different keys these are."""
    sketch = DistinctKeys(most)
    sketch.add(keys)
    return sketch.count
