"""Rows of svmlight (libsvm) files, compressed or not, as sparse blocks."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from eigenfeat.rows.columns import Reading
from eigenfeat.rows.streams import Batch, FileRows

SVMLIGHT_SUFFIXES = (".svmlight", ".libsvm", ".svm")
#: What opens a compressed file, by its suffix.
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}

# Bytes of text that are parsed at a time.
PARSED_BYTES = 4 << 20


class SvmlightRows(FileRows):
    """Rows ``label index:value ...`` of a text file, as CSR blocks.

    A first pass finds the largest index, whether counting starts at zero or one, and the number of rows; saying the
    number of columns saves it (counting then starts at one, as the format has it).

    Parameters
    ----------
    path : path
    reading : Reading
        How it is read; ``columns`` may be the number of columns.
    """

    is_sparse = True

    def __init__(self, path: Path, reading: Reading) -> None:
        others = {"label": reading.label, "weight": reading.weight, "filter": reading.filter}
        asked = [name for name, value in others.items() if value is not None]
        if asked or reading.drop or reading.missing != "refuse" or not isinstance(reading.columns, int | None):
            raise ValueError(
                f"{path} is svmlight: its first cells are the labels, and its columns have no names to choose by. Of "
                "open's options it takes columns (their number), batch_size and dtype."
            )
        super().__init__(str(path), reading.columns or 0, np.dtype(reading.dtype or np.float64), reading.batch_size)
        self.path, self._first_index = path, 1
        if reading.columns is None:
            self._scan()

    def batches(self, size: int) -> Iterator[Batch]:
        width, first = self.n_columns, self._first_index
        for first_line, text in self._texts():
            X, y = self._parsed(text, first_line)
            outside = X.indices[(X.indices < first) | (X.indices >= first + width)]
            if len(outside):
                raise ValueError(
                    f"{self.place} has index {outside[0]} at or after line {first_line}, and columns from {first} to "
                    f"{first + width - 1}: open it without columns to have them counted."
                )
            rows = sparse.csr_matrix((X.data, X.indices - first, X.indptr), shape=(X.shape[0], width))
            yield Batch(rows, y.astype(np.int64) if (y == y.astype(np.int64)).all() else y)

    def _scan(self) -> None:
        lowest, highest, n_rows = 1, 0, 0
        for first_line, text in self._texts():
            X, _ = self._parsed(text, first_line)
            n_rows += X.shape[0]
            if X.nnz:
                lowest, highest = min(lowest, int(X.indices.min())), max(highest, int(X.indices.max()))
        if not n_rows:
            raise ValueError(f"{self.place} has no rows.")
        self._first_index, self._n_columns, self._n_rows = lowest, highest + 1 - lowest, n_rows

    def _texts(self) -> Iterator[tuple[int, bytes]]:
        """Some thousand whole lines at a time, with the number of the first."""
        first_line = 1
        try:
            with self._stream() as stream:
                while lines := stream.readlines(PARSED_BYTES):
                    yield first_line, b"".join(lines)
                    first_line += len(lines)
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise ValueError(f"{self.place} cannot be read beyond line {first_line}: {error}.") from error

    def _stream(self) -> IO[bytes]:
        return OPENERS.get(self.path.suffix, open)(self.path, "rb")

    def _parsed(self, text: bytes, first_line: int) -> tuple[Any, np.ndarray]:
        """Rows with their indices as they are written, and labels."""
        try:
            return load_svmlight_file(BytesIO(text), dtype=self.dtype, zero_based=True)
        except ValueError as error:
            lines = text.splitlines()
            if len(lines) > 1:
                for i, line in enumerate(lines):
                    self._parsed(line, first_line + i)
            raise ValueError(
                f"{self.place}, line {first_line}: {error}. Lines read 'label index:value ...', one number a label."
            ) from error
