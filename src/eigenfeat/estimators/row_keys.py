"""Keys of rows, made of their numbers: samples and splits by them do not depend on the order or on blocks of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from eigenfeat._compiled import compiled
from eigenfeat.rows.block import Matrix


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


@compiled(nogil=True)
def _mix(bits):  # pragma: no cover - compiled
    """Scatter bits (the finaliser of splitmix64), of one number or of an array."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@compiled(nogil=True)
def _add_mixed(bits, columns, sums):  # pragma: no cover - compiled
    # `_mix(bits ^ columns)` summed over columns, without arrays of what comes between.
    for i in range(bits.shape[0]):
        total = np.uint64(0)
        for j in range(bits.shape[1]):
            total += _mix(bits[i, j] ^ columns[j])
        sums[i] += total
