"""The table at a path, whatever its format; or on the standard input, known by its first bytes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from eigenfeat.rows.readers.arrays import arrays_of_npz, load_npy, matrix_columns
from eigenfeat.rows.readers.errors import explained
from eigenfeat.rows.readers.excel import read_spreadsheet
from eigenfeat.rows.readers.locations import Location, locate, unknown_format
from eigenfeat.rows.readers.tables import ArrowSource, JoinedSource, MemorySource, ParquetSource, TableSource
from eigenfeat.rows.readers.text import HEAD_BYTES, JoinedStream, TextSource, read_up_to

STANDARD_INPUT = "-"

Given = str | os.PathLike | Sequence[str | os.PathLike]
"""A path, a URI, a glob, a folder, or a list of these."""


def open_source(given: Given, delimiter: str | None = None, encoding: str | None = None) -> TableSource:
    """Open the table of a path, or of the standard input where the path is ``-``.

    Parameters
    ----------
    given : path, or list of paths
        As in `eigenfeat.rows.open`.
    delimiter, encoding : str, optional
        Of text files; found by default.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        For a format that is not known, and for all that is wrong with a header, in one message.
    """
    if given == STANDARD_INPUT:
        return _of_stream(sys.stdin.buffer, "the standard input", delimiter, encoding)
    locations = locate(given)
    if len(locations) == 1 and locations[0].is_pipe:
        place = locations[0].place
        return _of_stream(open(place, "rb"), place, delimiter, encoding)
    open_one = partial(_of_file, delimiter=delimiter, encoding=encoding)
    if len(locations) == 1 and not locations[0].partitions:
        return open_one(locations[0])
    place = ", ".join(map(str, given)) if isinstance(given, list | tuple) else os.fspath(given)  # type: ignore[arg-type]
    return JoinedSource(place, locations, open_one)


def is_svmlight(given: Given) -> bool:
    """Return whether rows are sparse and have no named columns, so that they are no table."""
    return given != STANDARD_INPUT and all(location.format == "svmlight" for location in locate(given))


def _of_file(location: Location, delimiter: str | None, encoding: str | None) -> TableSource:
    place, kind = location.place, location.format
    if kind == "parquet":
        return ParquetSource(location)
    if kind == "arrow":
        return ArrowSource(location)
    if kind == "npy":
        return MemorySource(place, pa.table(matrix_columns(load_npy(location))), location.identity, is_array=True)
    if kind == "npz":
        columns = arrays_of_npz(place, location.stream)
        return MemorySource(place, pa.table(columns), location.identity, is_array=True)
    if kind == "excel":
        return MemorySource(place, read_spreadsheet(place, location.stream), location.identity)
    if kind == "text" or (kind is None and delimiter is not None):
        return TextSource(place, location.stream, delimiter, encoding, location)
    if kind == "svmlight":
        raise ValueError(f"{place} is svmlight, whose columns have no names: open it on its own")
    raise unknown_format(location)


def _of_stream(stream: Any, place: str, delimiter: str | None, encoding: str | None) -> TableSource:
    """Open a table of bytes that can be read once."""
    head = read_up_to(stream, HEAD_BYTES)
    if head.startswith(b"\x1f\x8b"):
        stream = pa.CompressedInputStream(pa.PythonFile(JoinedStream(head, stream), mode="r"), "gzip")
        with explained(place):
            head = read_up_to(stream, HEAD_BYTES)
    if not head.startswith((b"PAR1", b"ARROW1", b"PK\x03\x04")):
        return TextSource(place, partial(nullcontext, JoinedStream(head, stream)), delimiter, encoding)
    content = head + stream.read()
    opened = partial(io.BytesIO, content)
    if head.startswith(b"PK"):
        if b"[Content_Types].xml" in content or b"xl/workbook" in content:
            return MemorySource(place, read_spreadsheet(place, opened))
        return MemorySource(place, pa.table(arrays_of_npz(place, opened)), is_array=True)
    with explained(place):
        is_parquet = head.startswith(b"PAR1")
        return MemorySource(
            place, pyarrow.parquet.read_table(opened()) if is_parquet else pa.ipc.open_file(content).read_all()
        )
