"""Results of a model for rows that outgrow memory: a block at a time, or into a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from eigenfeat._runtime.files import atomic_write
from eigenfeat._runtime.progress import rows_counted
from eigenfeat.rows.arrow import pyarrow
from eigenfeat.rows.rows import Rows

SUFFIXES = (".parquet", ".feather", ".arrow", ".csv")


def each(function: Callable[[Any], np.ndarray], source: Rows, batch_size: int | None = None) -> Iterator[np.ndarray]:
    """Results of a function, such as ``model.predict_proba``, for the rows of a source, a block at a time.

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
    path: str | Path,
    function: Callable[[Any], np.ndarray],
    source: Rows,
    names: Sequence[str] | None = None,
    batch_size: int | None = None,
) -> int:
    """Writes the results of a function, such as ``model.predict``, for the rows of a source to a file.

    The file is there when it is complete; one that was there before stays until then.

    Parameters
    ----------
    path : path
        Of a file that ends in .parquet, .feather, .arrow or .csv.
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
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise ValueError(f"Results are written to files that end in {', '.join(SUFFIXES)}; got {path.name!r}.")
    arrow, n_rows = pyarrow("pyarrow.parquet", "pyarrow.csv", "pyarrow.feather"), 0
    with atomic_write(path) as stream, closing(each(function, source, batch_size)) as results:  # type: ignore[type-var]
        writer = None
        for result in results:
            table = _table(arrow, np.asarray(result), names)
            writer = _writer(arrow, path.suffix, stream, table.schema) if writer is None else writer
            writer.write_table(table) if path.suffix == ".parquet" else writer.write(table)
            n_rows += len(result)
        if writer is not None:
            writer.close()
    return n_rows


def _table(arrow: Any, result: np.ndarray, names: Sequence[str] | None) -> Any:
    columns = [result] if result.ndim == 1 else list(result.T)
    if names is None:
        names = ["result"] if len(columns) == 1 else [f"result{i}" for i in range(len(columns))]
    if len(names) != len(columns):
        raise ValueError(f"There are {len(names)} names for {len(columns)} columns of results.")
    arrays = [column.tolist() if column.dtype.kind in "UO" else np.ascontiguousarray(column) for column in columns]
    return arrow.table([arrow.array(column) for column in arrays], names=list(names))


def _writer(arrow: Any, suffix: str, stream: Any, schema: Any) -> Any:
    if suffix == ".parquet":
        return arrow.parquet.ParquetWriter(stream, schema)
    return arrow.csv.CSVWriter(stream, schema) if suffix == ".csv" else arrow.ipc.new_file(stream, schema)
