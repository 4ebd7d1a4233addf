"""What every source that is read from its start at each pass shares: blocks of equal length, read ahead, counted."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenfeat.rows.block import Block, Matrix, Selection, take
from eigenfeat.rows.read_ahead import read_ahead
from eigenfeat.rows.rows import Rows

#: Bytes of a block where nobody says how many rows: enough for long products, little beside the memory of a machine.
STREAM_BYTES = 16_000_000
#: Rows of a sparse block, the size of which does not depend on its width.
SPARSE_ROWS = 8192


class Batch(NamedTuple):
    """Some rows with their labels and weights, as a reader delivers them."""

    X: Matrix
    y: np.ndarray | None = None
    weight: np.ndarray | None = None

    def part(self, selection: Selection) -> Batch:
        return Batch(self.X[selection], take(self.y, selection), take(self.weight, selection))


class FileRows(Rows):
    """Rows that are read in order, from the start at every pass, ahead of whoever uses them.

    A subclass says how a pass is read (`batches`); here the batches become blocks.

    Parameters
    ----------
    place : str
        What errors call the source: a path.
    n_columns : int
    dtype : dtype
        Of the rows.
    batch_size : int, optional
        Rows a block where a pass does not say.
    n_rows : int, optional
        Where it is known before the first pass.
    """

    is_sparse = False

    def __init__(
        self, place: str, n_columns: int, dtype: np.dtype, batch_size: int | None = None, n_rows: int | None = None
    ) -> None:
        self.place, self.batch_size = place, batch_size
        self._n_columns, self._dtype, self._n_rows = n_columns, dtype, n_rows

    @property
    def n_columns(self) -> int:
        return self._n_columns

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    @property
    def n_rows(self) -> int | None:
        """Known from the file, or once a pass has reached the end."""
        return self._n_rows

    @property
    def identity(self) -> str:
        return f"{super().identity}, {file_identity(self.place)}"

    @abstractmethod
    def batches(self, size: int) -> Iterator[Batch]:
        """One pass, in batches of about ``size`` rows or as the reader has them."""

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        """One pass, in order, in blocks of ``batch_size`` rows but for the last."""
        return read_ahead(self._counted(batch_size or self.batch_size or self._default_size))

    @property
    def _default_size(self) -> int:
        return SPARSE_ROWS if self.is_sparse else max(1, STREAM_BYTES // (self.dtype.itemsize * max(1, self.n_columns)))

    def _counted(self, size: int) -> Generator[Block, None, None]:
        start = 0
        # Read in quarters: what is decoded and not yet part of a block stays small beside the blocks.
        for batch in regrouped(self.batches(max(1, size // 4)), size):
            yield Block(*batch, start)
            start += batch.X.shape[0]
        if start == 0:
            raise ValueError(f"{self.place} has no rows to read: check the file, and the filter if there is one.")
        if self._n_rows not in (None, start):
            raise ValueError(
                f"{self.place} had {self._n_rows} rows before and has {start} now: it must not change between passes."
            )
        self._n_rows = start


def file_identity(place: str) -> str:
    """Name, size and time of a file, or of all files in a folder."""
    path = Path(place)
    if not path.exists():
        return place
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    seen = [(file.name, (found := file.stat()).st_size, found.st_mtime_ns) for file in files]
    return f"{place}, {seen}"


def regrouped(batches: Iterable[Batch], size: int) -> Iterator[Batch]:
    """The same rows in batches of ``size``, but for the last."""
    waiting: list[Batch] = []
    count = 0
    for batch in batches:
        start, n_rows = 0, batch.X.shape[0]
        while start < n_rows:
            stop = min(n_rows, start + size - count)
            waiting.append(batch.part(slice(start, stop)))
            count, start = count + stop - start, stop
            if count == size:
                yield joined(waiting)
                waiting, count = [], 0
    if count:
        yield joined(waiting)


def joined(batches: Sequence[Batch]) -> Batch:
    """Batches, all with labels and weights or all without, as one."""
    if len(batches) == 1:
        return batches[0]
    rows, labels, weights = zip(*batches)
    stack: Any = sparse.vstack if sparse.issparse(rows[0]) else np.concatenate
    together = stack(rows)
    return Batch(
        together.tocsr() if sparse.issparse(together) else together,
        None if labels[0] is None else np.concatenate(labels),
        None if weights[0] is None else np.concatenate(weights),
    )
