"""Rows of ``.npy`` files and memory maps, of which only the block that is used is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from eigenfeat.rows.accumulators import AnyAccumulator
from eigenfeat.rows.block import Block, Selection
from eigenfeat.rows.columns import Reading, floating
from eigenfeat.rows.missing import without_gaps
from eigenfeat.rows.read_ahead import read_ahead
from eigenfeat.rows.rows import RandomAccessRows, Rows
from eigenfeat.rows.streams import STREAM_BYTES, Batch


class MemoryMapRows(RandomAccessRows):
    """Columns of a memory map, read as they are asked for, in any order, and ahead in a pass.

    Parameters
    ----------
    array : (n, d) memory map or array
    reading : Reading
        How it is read; label and weight are indices of columns.
    place : str
        What errors call it.
    """

    def __init__(self, array: np.ndarray, reading: Reading, place: str = "the array") -> None:
        if reading.filter is not None or reading.missing == "drop":
            raise ValueError(f'{place}: filter and missing="drop" need a file of named columns: write Parquet.')
        self.array, self.reading, self.place = array, reading, place
        self.columns = reading.chosen(range(array.shape[1]), place)
        self._dtype = floating([array.dtype], reading.dtype)

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
    def default_batch(self) -> int:
        width = self.array.dtype.itemsize * self.array.shape[1]
        return self.reading.batch_size or max(1, STREAM_BYTES // max(1, width))

    @property
    def y(self) -> np.ndarray | None:
        return self.columns.labels_of(self.array)

    @property
    def weight(self) -> np.ndarray | None:
        return self.columns.weights_of(self.array)

    def block(self, selection: Selection) -> Block:
        return Block(*self._batch(selection), selection.start or 0 if isinstance(selection, slice) else 0)

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        size = batch_size or self.default_batch
        starts = range(0, self.n_rows, size)
        return read_ahead(Block(*self._batch(slice(start, start + size)), start) for start in starts)

    def reduce(self, statistic: AnyAccumulator, name: str = "rows") -> AnyAccumulator:
        return Rows.reduce(self, statistic, name)  # a file, after all: passes are told of, and survive

    def _batch(self, selection: Selection) -> Batch:
        batch = self.columns.of_matrix(np.array(self.array[selection]), self.dtype)
        if isinstance(selection, slice):
            place, first_row = self.place, selection.start or 0
        else:
            place, first_row = f"chosen rows of {self.place}", 0
        return without_gaps(batch, self.reading.missing, self.columns.features, place, first_row)


def open_npy(path: Path, reading: Reading) -> MemoryMapRows:
    """The rows of a ``.npy`` file.

    Raises
    ------
    ValueError
        For a file that is truncated or holds no table of numbers, or a way of reading that needs named columns.
    """
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as .npy: {error}. It may be truncated: write it again.") from error
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(f"{path} holds an array of {array.dtype} of shape {array.shape}; rows of numbers are needed.")
    if not len(array):
        raise ValueError(f"{path} has no rows.")
    return MemoryMapRows(array, reading, str(path))
