"""Tables of numbers in files, with a label column; and tables written to files, whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import sys
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from eigenfeat._runtime.files import atomic_write, check_destination
from eigenfeat.rows.labels import as_numbers_if_all_are, label_cells

#: Columns taken for the label when none is named.
USUAL_LABELS = ("label", "target", "class", "y")
OUTPUTS = (".csv", ".tsv", ".parquet", ".arrow", ".npz")


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file.

    Attributes
    ----------
    X : (n, d) float array, or CSR matrix
    y : (n,) array or None
        Labels: whole numbers, or text.
    names : tuple of str, or None
        Columns of X, where the file names them.
    """

    X: Any
    y: np.ndarray | None
    names: tuple[str, ...] | None


def read_table(
    path: str | os.PathLike,
    label: str | None = None,
    drop: Collection[str] = (),
    features: Sequence[str] | None = None,
) -> Table:
    """Read features, and labels where there are any.

    Parameters
    ----------
    path : path
        As in `eigenfeat.rows.table_files.open_table`; ``-`` is the standard input.
    label : str, optional
        The label column (or npz array). Without it, one called label, target, class or y is taken if there is one.
    drop : collection of str
        Columns to leave out.
    features : sequence of str, optional
        Columns to read and their order, where the file names its columns; all but the label by default.

    Raises
    ------
    ValueError
        For an unknown format, an absent column, or cells that are not numbers: all of them in one message, by name
        and row.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from eigenfeat.rows import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "flowers.csv"
    ...     _ = path.write_text("width,length,kind\\n1,2.5,rose\\n3,4,tulip\\n")
    ...     table = read_table(path, label="kind")
    >>> table.names, table.y.tolist(), table.X.tolist()
    (('width', 'length'), ['rose', 'tulip'], [[1.0, 2.5], [3.0, 4.0]])
    """
    from eigenfeat.rows.table_files import BadTable, open_table  # pyarrow takes a moment to import

    file = open_table(path)
    if file.kind == "svmlight":
        return _from_svmlight(Path(path), file.place)
    label = label_column(file.place, file.names, label)
    absent = [name for name in drop if name not in file.names]
    if absent:
        raise ValueError(f"{file.place} has no column {_some(absent)} to drop; it has {_some(file.names)}")
    if features is None:
        features = [name for name in file.names if name != label and name not in drop]
    check_columns(file.place, file.names, features)
    table = file.read([*features, *([] if label is None or label in features else [label])])
    blocks, problems = [], []
    for name in features:
        try:
            blocks.append(_numbers(table.column(name), name))
        except ValueError as problem:
            problems.append(str(problem))
    if problems:
        raise BadTable(file.place, problems)
    y = None if label is None else labels_of(table.column(label), label, file.place)
    is_matrix = file.kind == "npz"
    X = np.column_stack(blocks)
    return Table(X, y, None if is_matrix else tuple(features))


def labels_of(column: Any, name: str, place: str) -> np.ndarray:
    """A column of labels as numbers or text, every one of them there."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return label_cells(column.to_numpy(), 0, name, place)
    if column.null_count:
        label_cells([cell.as_py() for cell in column], 0, name, place)  # says where
    encoded = (
        column.combine_chunks().dictionary_encode()
        if not pa.types.is_dictionary(kind)
        else column.unify_dictionaries().combine_chunks()
    )
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes, words = encoded.indices.to_numpy(), [str(word) for word in encoded.dictionary.to_pylist()]
    try:
        distinct = label_cells(words, 0, name, place)
    except ValueError:
        return label_cells([words[code] for code in codes], 0, name, place)  # with the row it is in
    return as_numbers_if_all_are(distinct, name, place)[codes]


def _from_svmlight(path: Path, place: str) -> Table:
    from sklearn.datasets import load_svmlight_file

    from eigenfeat.rows.table_files import explained

    with explained(place):
        X, y = load_svmlight_file(str(path))
    whole = np.array_equal(y, np.floor(y))
    return Table(X, y.astype(np.int64) if whole else y, None)


@contextmanager
def written_table(path: Path | None) -> Iterator[Any]:
    """A function that takes tables of Arrow, one after the other, and writes them to a file or as CSV to the output.

    The file is there, whole, once the context is left without an error; before, what was there is as it was.
    """
    if path is None:
        if sys.stdout is None:
            raise OSError("the standard output is closed: name a file to write to")
        yield _csv_writer(getattr(sys.stdout, "buffer", None) or sys.stdout, ",")
        return
    check_output(path)
    suffix = path.suffix.lower()
    with atomic_write(path) as stream:
        if suffix in (".csv", ".tsv"):
            yield _csv_writer(stream, "\t" if suffix == ".tsv" else ",")
        elif suffix == ".npz":
            with _npz_writer(stream) as write:
                yield write
        else:
            with _arrow_writer(stream, suffix) as write:
                yield write


def write_table(path: str | os.PathLike | None, columns: Mapping[str, np.ndarray]) -> None:
    """Write named columns to a ``.csv``, ``.tsv``, ``.parquet``, ``.arrow`` or ``.npz`` file.

    An ``.npz`` file keeps arrays as they are. Without a path, they go to the standard output as CSV.
    """
    import pyarrow as pa

    path = None if path is None else Path(path)
    if path is not None and path.suffix.lower() == ".npz":
        check_output(path)
        with atomic_write(path) as stream:
            _to_npz(stream, columns)
        return
    table = pa.table({name: pa.array(np.asarray(column)) for name, column in columns.items()})
    with written_table(path) as write:
        write(table)


def check_output(path: Path) -> None:
    """Refuses a place that no table can be written to, before the work is done that leads to one."""
    if path.suffix.lower() not in OUTPUTS:
        raise ValueError(f"{path} has the suffix {path.suffix!r}; tables are written to {', '.join(OUTPUTS)}")
    check_destination(path)


def _csv_writer(stream: Any, delimiter: str) -> Any:
    """Writes the header with the first table; text is quoted where it has to be."""
    import pyarrow as pa
    import pyarrow.csv

    started = False

    def write(table: Any) -> None:
        nonlocal started
        content = io.BytesIO()
        if not started:
            header = io.StringIO()
            csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(table.column_names)
            content.write(header.getvalue().encode())
            started = True
        for quoting in ("none", "needed"):  # the first is refused where text holds delimiters
            body = io.BytesIO()
            options = pyarrow.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=quoting)
            try:
                pyarrow.csv.write_csv(table, body, options)
                break
            except pa.ArrowInvalid:
                if quoting == "needed":
                    raise
        content.write(body.getbuffer())
        whole = content.getvalue()
        stream.write(whole.decode() if isinstance(stream, io.TextIOBase) else whole)

    return write


@contextmanager
def _arrow_writer(stream: Any, suffix: str) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet

    writers: list[Any] = []

    def write(table: Any) -> None:
        if not writers:
            opened = pyarrow.parquet.ParquetWriter if suffix == ".parquet" else pa.ipc.new_file
            writers.append(opened(stream, table.schema))
        writers[0].write_table(table)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()


@contextmanager
def _npz_writer(stream: Any) -> Iterator[Any]:
    """Columns of numbers as the matrix X, others by their names."""
    import pyarrow as pa

    tables: list[Any] = []
    yield tables.append
    table = pa.concat_tables(tables)
    numbers = [name for name in table.column_names if pa.types.is_floating(table.column(name).type)]
    rest = {name: table.column(name).to_numpy() for name in table.column_names if name not in numbers}
    X = np.column_stack([table.column(name).to_numpy() for name in numbers]) if numbers else np.empty((len(table), 0))
    _to_npz(stream, {"X": X, **rest})


def _to_npz(stream: BinaryIO, columns: Mapping[str, np.ndarray]) -> None:
    """As numpy's savez_compressed, which in some versions leaves an archive open where the disk is full."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                plain = values.astype(str) if values.dtype == object else values  # text, not pickles
                np.lib.format.write_array(member, plain, allow_pickle=False)


def label_column(place: str, names: Sequence[str], label: str | None) -> str | None:
    """The column of labels: the one that was asked for, or one of the usual names."""
    if label is None:
        return next((name for name in USUAL_LABELS if name in names), None)
    if label not in names:
        raise ValueError(f"{place} has no column {label!r} for the label; it has {_some(names)}")
    return label


def check_columns(place: str, names: Sequence[str], features: Sequence[str]) -> None:
    """Refuses a table that lacks columns."""
    if not len(features):
        raise ValueError(f"{place} has no feature columns; it has {_some(names)}")
    missing = [name for name in features if name not in set(names)]
    if missing:
        raise ValueError(
            f"{place} lacks {len(missing)} of the {len(features)} features asked for: {_some(missing)}. It has "
            f"{_some(names)}"
        )


def _numbers(column: Any, name: str) -> np.ndarray:
    """Cells as floats, NaN where they are empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return _plain(column)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        empty = pc.equal(column, "")
        try:
            return _plain(pc.if_else(empty, pa.scalar(None, kind), column))
        except pa.ArrowInvalid:
            cells = column.to_pylist()
            rows = [i for i, cell in enumerate(cells) if cell and not _is_number(cell)]
        if not rows:  # blanks around numbers
            return np.array([float(cell) if cell else np.nan for cell in cells])
        found = f"{cells[rows[0]]!r} in row {rows[0] + 1}" + (f", and {len(rows) - 1} more" if len(rows) > 1 else "")
    else:
        found = f"cells of the type {kind}"
    raise ValueError(
        f"column {name!r} holds {found}: features must be numbers here. Use eigenfeat.TableEncoder, which takes text "
        f"and dates, leave the column out (drop), or, if it is the label, say so (label={name!r})"
    )


def _plain(column: Any) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_boolean(column.type):
        column = pc.cast(column, pa.uint8())
    wanted = column.type if pa.types.is_float32(column.type) else pa.float64()
    return pc.cast(column, wanted).to_numpy()


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (ValueError, TypeError):
        return False
    return True


def _some(names: Sequence[str], limit: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
