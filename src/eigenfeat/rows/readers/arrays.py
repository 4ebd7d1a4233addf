"""Rows of arrays: ``.npy`` files and memory maps in any order, archives of arrays as tables."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.accumulators import AnyAccumulator
from eigenfeat.rows.block import Block, Selection
from eigenfeat.rows.read_ahead import read_ahead
from eigenfeat.rows.readers.locations import Location, explained
from eigenfeat.rows.readers.options import Columns, Name, ReadOptions, floating, handle_missing, row_number
from eigenfeat.rows.readers.stream import STREAM_BYTES
from eigenfeat.rows.rows import RandomAccessRows, Rows


class MemoryMapRows(RandomAccessRows):
    """Columns of a memory map, read as they are asked for, in any order, and ahead in a pass.

    Parameters
    ----------
    array : (n, d) memory map or array
    options : ReadOptions
        How it is read; columns go by their index, or as x0, x1 and so on.
    place : str
        What errors call it.
    identity : str
        What tells the file from others, and from what it was at another time.
    """

    def __init__(self, array: np.ndarray, options: ReadOptions, place: str = "the array", identity: str = "") -> None:
        if options.filter is not None or options.missing == "drop":
            raise ValueError(f'{place}: filter and missing="drop" need a file of named columns: write Parquet.')
        self.array, self.place, self._identity = array, place, identity
        self.options = by_index(options, array.shape[1])
        self.columns = self.options.choose(range(array.shape[1]), place)
        self._dtype = floating([array.dtype], options.dtype)

    @property
    def n_rows(self) -> int:
        return self.array.shape[0]

    @property
    def n_columns(self) -> int:
        return len(self.columns.features)

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    @property
    def identity(self) -> str:
        return f"{super().identity}, {self._identity}"

    @property
    def y(self) -> np.ndarray | None:
        return labels_in(self.array, self.columns)

    @property
    def weight(self) -> np.ndarray | None:
        return weights_in(self.array, self.columns)

    def block(self, selection: Selection) -> Block:
        block = block_of_matrix(np.array(self.array[selection]), self.columns, self.dtype)
        is_slice = isinstance(selection, slice)
        start = selection.start or 0 if isinstance(selection, slice) else 0
        place = self.place if is_slice else f"chosen rows of {self.place}"
        where = partial(row_number, start=start)
        return replace(handle_missing(block, self.options.missing, self.columns.features, place, where), start=start)

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        width = self.array.dtype.itemsize * self.array.shape[1]
        size = batch_size or self.options.batch_size or max(1, STREAM_BYTES // max(1, width))
        return read_ahead(self.block(slice(start, start + size)) for start in range(0, self.n_rows, size))

    def reduce(self, accumulator: AnyAccumulator, name: str = "rows") -> AnyAccumulator:
        return Rows.reduce(self, accumulator, name)  # a file, after all: passes are told of, and survive


# ---------------------------------------------------------------------- columns of a matrix


def block_of_matrix(X: Any, columns: Columns, dtype: np.dtype) -> Block:
    """Return rows of an array or CSR matrix, whose columns go by their index."""
    rows = X if len(columns.features) == X.shape[1] else X[:, list(columns.features)]
    return Block(rows.astype(dtype, copy=False), labels_in(X, columns), weights_in(X, columns))


def labels_in(X: Any, columns: Columns) -> np.ndarray | None:
    return columns.joined_labels([_column(X, index) for index in columns.labels])


def weights_in(X: Any, columns: Columns) -> np.ndarray | None:
    return None if columns.weight is None else _column(X, columns.weight).astype(np.float64)


def _column(X: Any, index: Name) -> np.ndarray:
    column = X[:, [index]]
    return np.asarray(column.toarray() if sparse.issparse(column) else column).ravel()


def by_index(options: ReadOptions, n_columns: int) -> ReadOptions:
    """Return options whose columns are indices where they were named x0, x1 and so on."""
    return options.renamed({f"x{j}": j for j in range(n_columns)})


# ---------------------------------------------------------------------- files


def load_npy(location: Location) -> np.ndarray:
    """Return the array of a ``.npy`` file, mapped into memory where it is on this machine.

    Raises
    ------
    ValueError
        For a file that is truncated or holds no table of numbers.
    """
    with explained(location.place):
        if location.is_local:
            array = np.load(location.path, mmap_mode="r", allow_pickle=False)
        else:
            array = np.load(io.BytesIO(location.read()), allow_pickle=False)
    check_matrix(array, location.place)
    return array


def npz_columns(place: str, content: bytes) -> dict[str, np.ndarray]:
    """Return the columns of an archive of arrays: those of X, and other arrays with an entry a row."""
    with explained(place), np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if "X" not in arrays:
        raise ValueError(f"{place}: it has no array 'X'; it has {', '.join(map(repr, arrays)) or 'none'}")
    X = arrays.pop("X")
    check_matrix(X, f"{place}, array 'X'")
    return matrix_columns(X) | {name: array for name, array in arrays.items() if array.shape == X.shape[:1]}


def matrix_columns(X: np.ndarray) -> dict[str, np.ndarray]:
    return {f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}


def check_matrix(array: np.ndarray, place: str) -> None:
    """Refuse an array that is no table of numbers."""
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{place} must be rows and columns of numbers; it is an array of {array.dtype} of shape {array.shape}"
        )
    if not len(array):
        raise ValueError(f"{place} has no rows")
