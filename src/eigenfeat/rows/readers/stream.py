"""Rows that are read from their start at every pass: blocks of equal length, read ahead, counted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace

import numpy as np

from eigenfeat.rows.block import Block, concatenate
from eigenfeat.rows.read_ahead import read_ahead
from eigenfeat.rows.rows import Rows

STREAM_BYTES = 16_000_000
"""Bytes of a block where nobody says how many rows: enough for long products, little beside a machine's memory."""

SPARSE_ROWS = 8192
"""Rows of a sparse block, the size of which does not depend on its width."""


class FileRows(Rows):
    """Rows of files or batches, read in order, from the start at every pass, ahead of whoever uses them.

    A subclass says how a pass is read (`batches`); here the batches become blocks.

    Parameters
    ----------
    place : str
        What errors call the rows: a path.
    n_columns : int
    dtype : dtype
        Of the rows.
    batch_size : int, optional
        Rows a block where a pass does not say.
    n_rows : int, optional
        Where it is known before the first pass.
    identity : str
        What tells the files from others, and from what they were at another time.
    """

    is_sparse = False

    def __init__(
        self,
        place: str,
        n_columns: int,
        dtype: np.dtype,
        batch_size: int | None = None,
        n_rows: int | None = None,
        identity: str = "",
    ) -> None:
        self.place, self.batch_size, self._identity = place, batch_size, identity
        self._n_columns, self._dtype, self._n_rows = n_columns, dtype, n_rows

    @property
    def n_columns(self) -> int:
        return self._n_columns

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    @property
    def n_rows(self) -> int | None:
        """Number of rows: known from the file, or once a pass has reached the end."""
        return self._n_rows

    @property
    def identity(self) -> str:
        return f"{super().identity}, {self.place}, {self._identity}"

    @abstractmethod
    def batches(self, size: int) -> Iterator[Block]:
        """Yield all rows once, about ``size`` at a time or as the reader has them; their starts do not matter."""

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        """Yield all rows in order, in blocks of ``batch_size`` rows but for the last."""
        return read_ahead(self._counted(batch_size or self.batch_size or self._default_size))

    @property
    def _default_size(self) -> int:
        return SPARSE_ROWS if self.is_sparse else max(1, STREAM_BYTES // (self.dtype.itemsize * max(1, self.n_columns)))

    def _counted(self, size: int) -> Generator[Block, None, None]:
        start = 0
        # Read in quarters: what is decoded and not yet part of a block stays small beside the blocks.
        for block in regrouped(self.batches(max(1, size // 4)), size):
            yield replace(block, start=start)
            start += block.n_rows
        if start == 0:
            raise ValueError(f"{self.place} has no rows to read: check the file, and the filter if there is one.")
        if self._n_rows not in (None, start):
            raise ValueError(
                f"{self.place} had {self._n_rows} rows before and has {start} now: it must not change between passes."
            )
        self._n_rows = start


def regrouped(blocks: Iterable[Block], size: int) -> Iterator[Block]:
    """Yield the same rows in blocks of ``size``, but for the last."""
    waiting: list[Block] = []
    count = 0
    for block in blocks:
        start = 0
        while start < block.n_rows:
            stop = min(block.n_rows, start + size - count)
            waiting.append(block.take(slice(start, stop)))
            count, start = count + stop - start, stop
            if count == size:
                yield concatenate(waiting)
                waiting, count = [], 0
    if count:
        yield concatenate(waiting)
