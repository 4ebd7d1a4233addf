"""One way to open rows, whatever they are kept in: a block at a time, or as a table in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenfeat.rows.readers.options import Given, Name, ReadOptions, column_means
from eigenfeat.rows.rows import Rows


def open(
    rows: Given | Callable[[], Iterable[Any]] | np.memmap,
    label: Name | Sequence[Name] | None = None,
    weight: Name | None = None,
    columns: Sequence[Name] | int | None = None,
    drop: Collection[Name] = (),
    filter: Any = None,
    missing: str | float | Mapping[Name, float] = "refuse",
    batch_size: int | None = None,
    dtype: Any = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Rows:
    """Open rows that are read a block at a time, and never all in memory.

    Parameters
    ----------
    rows : path, list of paths, function or memory map
        - Text with a header line (``.csv``, ``.tsv``, ``.txt``, ``.tab``, ``.dat``, ``.data``), also compressed
          (``.gz``, ``.bz2``, ``.zst``, ``.lz4``, ``.xz``): delimiter and encoding are found;
        - ``.parquet``, ``.pq``; ``.feather``, ``.arrow``, ``.ipc``;
        - ``.svmlight``, ``.libsvm`` or ``.svm``, also compressed: sparse rows;
        - ``.npy``, ``.npz`` with an array X, or a memory map: columns by index, or as x0, x1 and so on;
        - ``.xlsx``: the first sheet, in memory (``eigenfeat[excel]``);
        - a folder of such files, a glob, or a list of paths; folders called ``name=value`` make a column. The first
          file says which columns there are;
        - a URI of a file system that pyarrow or an installed fsspec can open (``s3://``, ``file://``, ``memory://``);
        - a function that returns an iterable of batches whenever it is called, once a pass: arrays, sparse matrices,
          pandas, polars or Arrow tables, alone or as (X, y) or (X, y, weights).
    label : column or list of columns, optional
        Where labels or targets are: text, numbers or a dictionary; several columns are targets side by side. Labels in
        text files are numbers where all of them are written so: 007 is text, and 7 beside it.
    weight : column, optional
        Where the weights of the rows are.
    columns : list of columns, optional
        The features and their order; all that are nothing else by default. For svmlight, the number of columns.
    drop : collection of columns
        To leave out.
    filter : pyarrow expression, or list of (column, operator, value), optional
        Rows to keep. Partitions and row groups without such rows are not read.
    missing : {"refuse", "drop", "mean"}, number or mapping
        What becomes of missing features: an error that names the first; rows left out; filled with the means of the
        columns (which a pass finds first), with a number, or with numbers by column.
    batch_size : int, optional
        Rows a block; by default as many as make 16 MB.
    dtype : float32 or float64, optional
        What rows are read in; float32 where all features are stored so, else float64.
    delimiter, encoding : str, optional
        Of text files; found by default.

    Returns
    -------
    Rows
        Every pass opens the file again and reads ahead in a thread. How many rows there are is known from the file, or
        after the first pass.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        For a suffix that is not known, files that cannot be read, absent columns, no rows, and text among the features:
        by file, column and line, with what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import eigenfeat.rows
    >>> from eigenfeat.moments import collect_moments
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "flowers.csv"
    >>> _ = path.write_text("width;length;kind\\n1;2.5;rose\\n3;4;tulip\\n2;3.5;rose\\n")
    >>> source = eigenfeat.rows.open(path, label="kind")
    >>> source.names, source.n_rows
    (('width', 'length'), None)
    >>> moments = collect_moments(source)
    >>> moments.classes, moments.means, source.n_rows
    (array(['rose', 'tulip'], dtype='<U5'), array([[1.5, 3. ], [3. , 4. ]]), 3)

    Any function that makes batches is a source; each pass calls it again.

    >>> import numpy as np
    >>> def batches():
    ...     for seed in range(3):
    ...         X = np.random.default_rng(seed).normal(size=(100, 4))
    ...         yield X, X[:, 0] > 0
    >>> eigenfeat.rows.open(batches).n_columns
    4
    """
    from eigenfeat.rows.readers.sources import open_rows  # pyarrow takes a moment to import

    options = ReadOptions(label, weight, columns, drop, filter, missing, batch_size, dtype, delimiter, encoding)
    if missing != "mean":
        return open_rows(rows, options)
    with_gaps: Any = open_rows(rows, replace(options, missing=np.nan))
    means = dict(zip(with_gaps.columns.features, column_means(with_gaps)))
    return open_rows(rows, replace(options, missing=means))


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a file, in memory.

    Attributes
    ----------
    X : (n, d) float array, or CSR matrix
    y : (n,) array or None
        Labels: numbers, or text.
    names : tuple of str, or None
        Columns of X, where the file names them.
    """

    X: Any
    y: np.ndarray | None
    names: tuple[str, ...] | None


def read_table(
    path: Given,
    label: Name | Sequence[Name] | None = None,
    drop: Collection[Name] = (),
    columns: Sequence[Name] | None = None,
    dtype: Any = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Table:
    """Read features, and labels where there are any, into memory: what `open` reads a block at a time.

    Parameters
    ----------
    path : path, or list of paths
        Files as in `open`, also ones that can be read only once; ``-`` is the standard input.
    label : column or list of columns, optional
        Without it, one called label, target, class or y is taken if there is one.
    drop : collection of columns
        To leave out.
    columns : list of columns, optional
        To read, and their order; all but the label by default.
    dtype, delimiter, encoding : optional
        As in `open`.

    Returns
    -------
    Table
        Features that are missing are NaN.

    Raises
    ------
    ValueError
        For an unknown format, an absent column, or cells that are not numbers: by file, column and line.

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
    from eigenfeat.rows.readers.sources import read_rows

    options = ReadOptions(label, None, columns, drop, dtype=dtype, delimiter=delimiter, encoding=encoding)
    block, names = read_rows(path, options)
    return Table(block.X, block.y, names)
