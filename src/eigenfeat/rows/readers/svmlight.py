"""Rows of svmlight (libsvm) files, compressed or not, as sparse blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.block import Block
from eigenfeat.rows.readers.locations import Location, explained
from eigenfeat.rows.readers.options import ReadOptions
from eigenfeat.rows.readers.stream import FileRows

PARSED_BYTES = 4 << 20
"""Bytes of text that are parsed at a time."""


class SvmlightRows(FileRows):
    """Rows ``label index:value ...`` of text files, as CSR blocks.

    A first pass finds the largest index, whether counting starts at zero or one, and the number of rows. Saying the
    number of columns saves it; counting then starts at one, as the format has it.

    Parameters
    ----------
    locations : sequence of Location
    options : ReadOptions
        How they are read; ``columns`` may be the number of columns.
    """

    is_sparse = True

    def __init__(self, locations: Sequence[Location], options: ReadOptions) -> None:
        self.locations, self.options, self._first_index = locations, options, 1
        place = ", ".join(location.place for location in locations)
        others = [options.label, options.weight, options.filter, options.delimiter, options.encoding, *options.drop]
        is_plain = all(value is None for value in others) and options.missing == "refuse"
        if not is_plain or not isinstance(options.columns, int | None):
            raise ValueError(
                f"{place} is svmlight: its first cells are the labels, and its columns have no names to choose by. Of "
                "open's options it takes columns (their number), batch_size and dtype."
            )
        identity = "; ".join(location.identity for location in locations)
        dtype = np.dtype(options.dtype or np.float64)
        super().__init__(place, options.columns or 0, dtype, options.batch_size, identity=identity)
        self._has_whole_labels = True
        if options.columns is None:
            self._scan()

    def batches(self, size: int) -> Iterator[Block]:
        width, first = self.n_columns, self._first_index
        for place, first_line, text in self._texts():
            X, y = self._parsed(text, place, first_line)
            outside = X.indices[(X.indices < first) | (X.indices >= first + width)]
            if len(outside):
                raise ValueError(
                    f"{place} has index {outside[0]} at or after line {first_line}, and columns from {first} to "
                    f"{first + width - 1}: open it without columns to have them counted."
                )
            rows = sparse.csr_matrix((X.data, X.indices - first, X.indptr), shape=(X.shape[0], width))
            yield Block(rows, y.astype(np.int64) if self._has_whole_labels and _is_whole(y) else y)

    def _scan(self) -> None:
        lowest, highest, n_rows = 1, 0, 0
        for place, first_line, text in self._texts():
            X, y = self._parsed(text, place, first_line)
            n_rows += X.shape[0]
            self._has_whole_labels &= _is_whole(y)
            if X.nnz:
                lowest, highest = min(lowest, int(X.indices.min())), max(highest, int(X.indices.max()))
        if not n_rows:
            raise ValueError(f"{self.place} has no rows.")
        self._first_index, self._n_columns, self._n_rows = lowest, highest + 1 - lowest, n_rows

    def _texts(self) -> Iterator[tuple[str, int, bytes]]:
        """Yield some thousand whole lines at a time, with their file and the number of the first."""
        for location in self.locations:
            first_line, left = 1, b""
            with explained(location.place), location.stream() as stream:
                while read := stream.read(PARSED_BYTES):
                    block, newline, left = (left + read).rpartition(b"\n")
                    if newline:
                        yield location.place, first_line, block + newline
                        first_line += block.count(b"\n") + 1
                if left:
                    yield location.place, first_line, left

    def _parsed(self, text: bytes, place: str, first_line: int) -> tuple[Any, np.ndarray]:
        """Return rows with their indices as they are written, and labels."""
        from sklearn.datasets import load_svmlight_file  # takes longer to import than most files to read

        try:
            return load_svmlight_file(BytesIO(text), dtype=self.dtype, zero_based=True)
        except ValueError as error:
            lines = text.splitlines()
            if len(lines) > 1:
                for i, line in enumerate(lines):
                    self._parsed(line, place, first_line + i)
            raise ValueError(
                f"{place}, line {first_line}: {error}. Lines read 'label index:value ...', one number a label."
            ) from error


def _is_whole(y: np.ndarray) -> bool:
    return bool((y == np.floor(y)).all() and (np.abs(y) < 2.0**63).all())
