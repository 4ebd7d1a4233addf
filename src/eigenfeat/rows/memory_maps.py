"""Rows of ``.npy`` files and memory maps, of which only the block that is used is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from eigenfeat.rows.columns import Columns, Reading, floating
from eigenfeat.rows.missing import without_gaps
from eigenfeat.rows.read_ahead import read_ahead
from eigenfeat.rows.source import Block, RandomRows, RowBlock, Selection
from eigenfeat.rows.streams import STREAM_BYTES, Batch


class MemoryMapRows(RandomRows):
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
        self.array, self.reading, self.place = array, reading, place
        self.columns: Columns = reading.chosen(range(array.shape[1]), place)
        self._dtype = floating([array.dtype], reading.dtype)
        self._kept = list(self.columns.features)

    @property
    def n_rows(self) -> int:
        return self.array.shape[0]

    @property
    def n_columns(self) -> int:
        return len(self._kept)

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    @property
    def default_batch(self) -> int:  # type: ignore[override]
        width = self.array.dtype.itemsize * self.array.shape[1]
        return self.reading.batch_size or max(1, STREAM_BYTES // max(1, width))

    @property
    def labels(self) -> np.ndarray | None:
        found = [np.array(self.array[:, j]) for j in self.columns.labels]
        return None if not found else found[0] if self.columns.flat else np.column_stack(found)

    @property
    def weights(self) -> np.ndarray | None:
        weight = self.columns.weight
        return None if weight is None else np.array(self.array[:, weight], dtype=np.float64)

    def rows(self, selection: Selection) -> Block:
        stored = self.array[selection]
        stored = stored if len(self._kept) == self.array.shape[1] else stored[:, self._kept]
        first_row = selection.start or 0 if isinstance(selection, slice) else 0
        batch = Batch(np.array(stored, dtype=self.dtype))
        return without_gaps(batch, self.reading.missing, self._kept, self.place, first_row).rows

    def blocks(self, batch_size: int | None = None) -> Iterator[RowBlock]:
        return read_ahead(block for block in super().blocks(batch_size))


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
    if reading.filter is not None or reading.missing == "drop":
        raise ValueError(
            f'{path}: filters and missing="drop" need a file that is read in order; write Parquet instead.'
        )
    return MemoryMapRows(array, reading, str(path))
