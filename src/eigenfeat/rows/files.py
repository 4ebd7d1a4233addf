"""Tables in CSV, Parquet and npz files: numbers, and a label column."""

from __future__ import annotations

import csv
import os
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from eigenfeat._destination import check_destination, replacing
from eigenfeat.rows.labels import as_numbers_if_all_are, label_cells

#: Columns taken for the label when none is named.
USUAL_LABELS = ("label", "target", "class", "y")
#: Rows converted at a time: text is never held for the whole file.
CHUNK = 20_000
FORMATS = (".csv", ".tsv", ".parquet", ".npz")
#: What readers raise at files that are damaged or of another format; pyarrow's errors are among these types.
DAMAGE = (
    csv.Error,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    NotImplementedError,
    OverflowError,
)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file.

    Attributes
    ----------
    X : (n, d) float array
    y : (n,) array or None
        Labels: whole numbers, or text.
    names : tuple of str, or None
        Columns of X, where the file names them.
    """

    X: np.ndarray
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
        ``.csv`` or ``.tsv`` with a header line, ``.parquet``, or ``.npz`` with an array ``X`` (and one of labels).
    label : str, optional
        The label column (or npz array). Without it, one called label, target, class or y is taken if there is one.
    drop : collection of str
        Columns to leave out.
    features : sequence of str, optional
        Columns to read and their order, where the file names its columns; all but the label by default.

    Raises
    ------
    ValueError
        For an unknown format, an absent column, or cells that are not numbers, by name and line.

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
    path = Path(path)
    if path.suffix not in FORMATS:
        raise ValueError(f"{path} has the suffix {path.suffix!r}; tables are read from {', '.join(FORMATS)}")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    with readable(path):
        if path.suffix == ".npz":
            return _from_npz(path, label)
        names, chunks = _from_parquet(path) if path.suffix == ".parquet" else _from_csv(path)
        return _assembled(path, names, chunks, label, drop, features)


def _assembled(
    path: Path,
    names: list[str],
    chunks: Iterator[Any],
    label: str | None,
    drop: Collection[str],
    features: Sequence[str] | None,
) -> Table:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{path} has several columns called {_some(twice)}: names must tell columns apart")
    label = _label_column(path, names, label)
    absent = [name for name in drop if name not in names]
    if absent:
        raise ValueError(f"{path} has no column {_some(absent)} to drop; it has {_some(names)}")
    if features is None:
        features = [name for name in names if name != label and name not in drop]
    kept = _feature_columns(path, names, features)
    blocks, labels, n_rows = [], [], 0
    for columns in chunks:
        blocks.append(np.column_stack([_numbers(columns[j], n_rows, names[j], path) for j in kept]))
        if label is not None:
            labels.append(label_cells(columns[names.index(label)], n_rows, label, str(path)))
        n_rows += len(blocks[-1])
    if not n_rows:
        raise ValueError(f"{path} has no rows")
    y = None if label is None else as_numbers_if_all_are(np.concatenate(labels), label, str(path))
    return Table(np.concatenate(blocks), y, tuple(features))


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """What the readers of formats raise, as a refusal that names the file."""
    try:
        yield
    except DAMAGE as problem:
        if isinstance(problem, ValueError) and str(path) in str(problem):
            raise  # it says what is wrong already
        raise ValueError(
            f"{path} cannot be read as a {path.suffix} file ({str(problem) or type(problem).__name__}): it is damaged, "
            "cut short or of another format. Write it again"
        ) from problem


def _to_npz(stream: BinaryIO, columns: Mapping[str, np.ndarray]) -> None:
    """As numpy's savez_compressed, which in some versions leaves an archive open where the disk is full."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in columns.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                plain = values.astype(str) if values.dtype == object else values  # text, not pickles
                np.lib.format.write_array(member, plain, allow_pickle=False)


def write_table(path: str | os.PathLike | None, columns: Mapping[str, np.ndarray]) -> None:
    """Write named columns to a ``.csv``, ``.tsv``, ``.parquet`` or ``.npz`` file, or as CSV to the standard output."""
    if path is None:
        if sys.stdout is None:
            raise OSError("the standard output is closed: name a file to write to")
        _to_csv(sys.stdout, columns, ",")
        return
    path = Path(path)
    check_output(path)
    with replacing(path) as stream:
        if path.suffix == ".npz":
            _to_npz(stream, columns)
        elif path.suffix == ".parquet":
            arrow = _pyarrow()
            arrow.parquet.write_table(arrow.table(dict(columns)), stream)
        else:
            text = TextIOWrapper(stream, encoding="utf-8", newline="")
            _to_csv(text, columns, "\t" if path.suffix == ".tsv" else ",")
            text.detach()  # flushed; the stream is closed by whoever opened it


def check_output(path: Path) -> None:
    """Refuses a place that no table can be written to, before the work is done that leads to one."""
    if path.suffix not in FORMATS:
        raise ValueError(f"{path} has the suffix {path.suffix!r}; tables are written to {', '.join(FORMATS)}")
    if path.suffix == ".parquet":
        _pyarrow()
    check_destination(path)


def _from_csv(path: Path) -> tuple[list[str], Iterator[Any]]:
    """Column names, and the cells of some thousand rows at a time, column by column."""
    stream = path.open(newline="", encoding="utf-8-sig")  # once: a pipe cannot be read again
    rows = csv.reader(stream, delimiter="\t" if path.suffix == ".tsv" else ",")
    names = next(rows, [])
    if names and all(_is_number(name) for name in names):
        stream.close()
        raise ValueError(f"the first line of {path} holds numbers; it must name the columns")

    def chunks() -> Iterator[Any]:
        with stream:
            chunk = []
            for row in rows:
                if not row:
                    continue
                if len(row) != len(names):
                    raise ValueError(
                        f"{path}, line {rows.line_num}: {len(row)} cells where the header has {len(names)}"
                    )
                chunk.append(row)
                if len(chunk) == CHUNK:
                    yield list(zip(*chunk))
                    chunk = []
            if chunk:
                yield list(zip(*chunk))

    return names, chunks()


def _from_parquet(path: Path) -> tuple[list[str], Iterator[Any]]:
    file = _pyarrow().parquet.ParquetFile(path)
    batches = file.iter_batches(batch_size=CHUNK)
    cells = ([column.to_numpy(zero_copy_only=False) for column in batch.columns] for batch in batches)
    return file.schema_arrow.names, cells


def _from_npz(path: Path, label: str | None) -> Table:
    with np.load(path, allow_pickle=False) as arrays:
        if "X" not in arrays:
            raise ValueError(f"{path} has no array 'X'; it has {_some(arrays.files)}")
        label = _label_column(path, [name for name in arrays.files if name != "X"], label)
        y = None if label is None else arrays[label]
        X = arrays["X"]
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(f"the array 'X' of {path} must be rows and columns of numbers; it is {X.dtype} of {X.shape}")
    if y is not None and y.shape != X.shape[:1]:
        raise ValueError(f"{path}: {label!r} has shape {y.shape} for {len(X)} rows of X")
    return Table(X, None if y is None else label_cells(y, 0, str(label), str(path)), None)


def _label_column(path: Path, names: Sequence[str], label: str | None) -> str | None:
    if label is None:
        return next((name for name in USUAL_LABELS if name in names), None)
    if label not in names:
        raise ValueError(f"{path} has no column {label!r} for the label; it has {_some(names)}")
    return label


def _feature_columns(path: Path, names: list[str], features: Sequence[str]) -> list[int]:
    if not len(features):
        raise ValueError(f"{path} has no feature columns; it has {_some(names)}")
    place = {name: j for j, name in enumerate(names)}
    missing = [name for name in features if name not in place]
    if missing:
        raise ValueError(
            f"{path} lacks {len(missing)} of the {len(features)} features asked for: {_some(missing)}. It has "
            f"{_some(names)}"
        )
    return [place[name] for name in features]


def _numbers(column: Any, start: int, name: str, path: Path) -> np.ndarray:
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        return column.astype(np.float64)
    try:
        return np.array(column, dtype=np.float64)
    except (ValueError, TypeError):
        pass  # empty cells, or cells that are no numbers
    try:
        return np.array(["nan" if cell in ("", None) else cell for cell in column], dtype=np.float64)
    except (ValueError, TypeError):
        row, cell = next((i, c) for i, c in enumerate(column) if not (c in ("", None) or _is_number(c)))
        raise ValueError(
            f"column {name!r} of {path} holds {cell!r} in row {start + row + 1}: features must be numbers. Drop the "
            f"column (--drop {name}), encode it, or, if it is the label, say so (--label {name})"
        ) from None


def _to_csv(stream: TextIO, columns: Mapping[str, np.ndarray], delimiter: str) -> None:
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(np.asarray(column).tolist() for column in columns.values())))


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (ValueError, TypeError):
        return False
    return True


def _some(names: Sequence[str], limit: int = 8) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as missing:
        raise ImportError("Parquet files need pyarrow: pip install pyarrow") from missing
    return pyarrow
