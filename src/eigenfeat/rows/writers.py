"""Tables and results of models in files that appear whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from eigenfeat._runtime.files import atomic_write, check_destination
from eigenfeat._runtime.progress import rows_counted
from eigenfeat.rows.rows import Rows

FORMATS = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".npz")


def each(function: Callable[[Any], np.ndarray], source: Rows, batch_size: int | None = None) -> Iterator[np.ndarray]:
    """Yield the results of a function, such as ``model.predict_proba``, for rows, a block at a time.

    Parameters
    ----------
    function : callable
        Of an array of rows: a method of a fitted model.
    source : Rows
    batch_size : int, optional
        Rows a block.

    Yields
    ------
    array
        With an entry for every row of a block, in the order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenfeat.rows
    >>> from eigenfeat import FisherLDA
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> source = eigenfeat.rows.open(lambda: iter([X[:60], X[60:]]))
    >>> model = FisherLDA().fit(X, X[:, 0] > 0)
    >>> [len(block) for block in eigenfeat.rows.each(model.transform, source, batch_size=50)]
    [50, 50]
    """
    for block in rows_counted(source.blocks(batch_size), "results", source.n_rows):
        yield function(block.X)


def write(
    path: str | os.PathLike,
    function: Callable[[Any], np.ndarray],
    source: Rows,
    names: Sequence[str] | None = None,
    batch_size: int | None = None,
) -> int:
    """Write the results of a function, such as ``model.predict``, for rows to a file.

    The file is there when it is complete; one that was there before stays until then.

    Parameters
    ----------
    path : path
        As in `write_table`.
    function, source, batch_size
        As in `each`.
    names : sequence of str, optional
        Of the columns; "result", or numbered, by default.

    Returns
    -------
    int
        Rows written.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> import eigenfeat.rows
    >>> from eigenfeat import FisherLDA
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = FisherLDA().fit(X, X[:, 0] > 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     eigenfeat.rows.write(f"{folder}/z.parquet", model.transform, eigenfeat.rows.as_rows(X), ["z"])
    100
    """
    n_rows = 0
    with table_writer(Path(path)) as writer, closing(each(function, source, batch_size)) as results:  # type: ignore[type-var]
        for result in results:
            writer(_as_table(np.asarray(result), names))
            n_rows += len(result)
    return n_rows


def write_table(path: str | os.PathLike | None, columns: Mapping[str, np.ndarray]) -> None:
    """Write named columns to a file; without a path, to the standard output as CSV.

    Parameters
    ----------
    path : path or None
        Ends in ``.csv``, ``.tsv``, ``.parquet``, ``.arrow``, ``.feather``, or ``.npz``, which keeps arrays as they are.
    columns : mapping of str to array
    """
    import pyarrow as pa

    path = None if path is None else Path(path)
    if path is not None and path.suffix.lower() == ".npz":
        check_output(path)
        with atomic_write(path) as stream:
            _write_npz(stream, columns)
        return
    table = pa.table({name: pa.array(np.asarray(column)) for name, column in columns.items()})
    with table_writer(path) as writer:
        writer(table)


@contextmanager
def table_writer(path: Path | None) -> Iterator[Callable[[Any], None]]:
    """Yield a function that takes tables of Arrow, one after the other, and writes them to a file or as CSV to stdout.

    The file is there, whole, once the context is left without an error; before, what was there is as it was.
    """
    if path is None:
        if sys.stdout is None:
            raise OSError("the standard output is closed: name a file to write to")
        yield _csv_writer(sys.stdout.buffer, ",")
        return
    check_output(path)
    suffix = path.suffix.lower()
    with atomic_write(path) as stream:
        if suffix in (".csv", ".tsv"):
            yield _csv_writer(stream, "\t" if suffix == ".tsv" else ",")
        else:
            with _npz_writer(stream) if suffix == ".npz" else _arrow_writer(stream, suffix) as writer:
                yield writer


def check_output(path: Path) -> None:
    """Refuse a place that no table can be written to, before the work is done that leads to one."""
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path} has the suffix {path.suffix!r}; tables are written to {', '.join(FORMATS)}")
    check_destination(path)


def _as_table(result: np.ndarray, names: Sequence[str] | None) -> Any:
    import pyarrow as pa

    columns = [result] if result.ndim == 1 else list(result.T)
    if names is None:
        names = ["result"] if len(columns) == 1 else [f"result{i}" for i in range(len(columns))]
    if len(names) != len(columns):
        raise ValueError(f"There are {len(names)} names for {len(columns)} columns of results.")
    return pa.table([pa.array(np.ascontiguousarray(column)) for column in columns], names=list(map(str, names)))


def _csv_writer(stream: Any, delimiter: str) -> Callable[[Any], None]:
    """Return what writes the header with the first table; text is quoted where it has to be."""
    import pyarrow as pa
    import pyarrow.csv

    is_started = False

    def write(table: Any) -> None:
        nonlocal is_started
        if not is_started:
            header = io.StringIO()
            csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
            stream.write(header.getvalue().encode())
            is_started = True
        options = {"include_header": False, "delimiter": delimiter}
        body = io.BytesIO()
        try:
            pyarrow.csv.write_csv(table, body, pyarrow.csv.WriteOptions(**options, quoting_style="none"))
        except pa.ArrowInvalid:  # a cell holds a delimiter, a quote or the end of a line
            body = io.BytesIO()
            pyarrow.csv.write_csv(table, body, pyarrow.csv.WriteOptions(**options, quoting_style="needed"))
        stream.write(body.getbuffer())

    return write


@contextmanager
def _arrow_writer(stream: Any, suffix: str) -> Iterator[Callable[[Any], None]]:
    import pyarrow as pa
    import pyarrow.parquet

    with ExitStack() as stack:
        writer: Any = None

        def write(table: Any) -> None:
            nonlocal writer
            if writer is None:
                opened = pyarrow.parquet.ParquetWriter if suffix == ".parquet" else pa.ipc.new_file
                writer = stack.enter_context(opened(stream, table.schema))
            writer.write_table(table)

        yield write


@contextmanager
def _npz_writer(stream: Any) -> Iterator[Callable[[Any], None]]:
    """Yield what takes columns of numbers as the matrix X, others by their names."""
    import pyarrow as pa

    tables: list[Any] = []
    yield tables.append
    table = pa.concat_tables(tables)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    numbers = [columns.pop(name) for name in table.column_names if pa.types.is_floating(table[name].type)]
    X = np.column_stack(numbers) if numbers else np.empty((len(table), 0))
    _write_npz(stream, {"X": X, **columns})


def _write_npz(stream: BinaryIO, columns: Mapping[str, np.ndarray]) -> None:
    """Write an archive as numpy's savez_compressed does, which in some versions stays open where the disk is full."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                plain = values.astype(str) if values.dtype == object else values  # text, not pickles
                np.lib.format.write_array(member, plain, allow_pickle=False)
