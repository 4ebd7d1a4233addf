"""One way to open rows that outgrow memory, whatever they are kept in."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from eigenfeat.rows.batches import batch_rows
from eigenfeat.rows.columns import Name, Reading
from eigenfeat.rows.csv_files import CSV_DELIMITERS, CsvRows, plain_suffix
from eigenfeat.rows.datasets import DATASET_FORMATS, DatasetRows
from eigenfeat.rows.memory_maps import MemoryMapRows, open_npy
from eigenfeat.rows.missing import column_means
from eigenfeat.rows.rows import Rows
from eigenfeat.rows.svmlight import OPENERS, SVMLIGHT_SUFFIXES, SvmlightRows


def open(
    rows: str | os.PathLike | Callable[[], Iterable[Any]] | np.memmap,
    label: Name | Sequence[Name] | None = None,
    weight: Name | None = None,
    columns: Sequence[Name] | int | None = None,
    drop: Collection[Name] = (),
    filter: Any = None,
    missing: str | float | Mapping[Name, float] = "refuse",
    batch_size: int | None = None,
    dtype: Any = None,
    delimiter: str | None = None,
) -> Rows:
    """A source of rows that are read a block at a time, and never all in memory.

    Parameters
    ----------
    rows : path, function or memory map
        - ``.parquet``, ``.pq``, ``.feather``, ``.arrow``, ``.ipc``, or a folder of such files, in which folders called
          ``name=value`` make a column;
        - ``.csv`` or ``.tsv`` with a header line, also compressed (``.csv.gz``, ``.bz2``, ``.zst``);
        - ``.svmlight``, ``.libsvm`` or ``.svm``, also compressed (``.gz``, ``.bz2``, ``.xz``): sparse rows;
        - ``.npy``, or a memory map: an (n, d) array, its columns by index;
        - a function that returns an iterable of batches whenever it is called, once a pass: arrays, sparse matrices,
          pandas, polars or Arrow tables, alone or as (X, y) or (X, y, weights).
    label : column or list of columns, optional
        Where labels or targets are: text, numbers or a dictionary; several columns are targets side by side.
    weight : column, optional
        Where the weights of the rows are.
    columns : list of columns, optional
        The features and their order; all that are nothing else by default. For svmlight, the number of columns.
    drop : collection of columns
        To leave out.
    filter : pyarrow expression, or list of (column, operator, value), optional
        Rows to keep. In a data set, partitions and row groups without such rows are not read.
    missing : {"refuse", "drop", "mean"}, number or mapping
        What becomes of missing features: an error that names the first; rows left out; filled with the means of the
        columns (which a pass finds first), with a number, or with numbers by column.
    batch_size : int, optional
        Rows a block; by default as many as make 16 MB.
    dtype : float32 or float64, optional
        What rows are read in; float32 where all features are stored so, else float64.
    delimiter : str, optional
        Between the cells of a CSV file; by default as the suffix says.

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
        by file, column and row, with what to do.
    ImportError
        Where pyarrow is needed (all but svmlight, .npy and batches of arrays) and not installed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import eigenfeat.rows
    >>> from eigenfeat.moments import collect_moments
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "flowers.csv"
    >>> _ = path.write_text("width,length,kind\\n1,2.5,rose\\n3,4,tulip\\n2,3.5,rose\\n")
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
    dtype = None if dtype is None else np.dtype(dtype)
    if dtype not in (None, np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype}.")
    if isinstance(missing, str) and missing not in ("refuse", "drop", "mean"):
        raise ValueError(f'missing must be "refuse", "drop", "mean", a number or numbers by column, got {missing!r}.')
    reading = Reading(label, weight, columns, drop, filter, missing, batch_size, dtype)
    if missing != "mean":
        return _opened(rows, reading, delimiter)
    with_gaps = _opened(rows, replace(reading, missing=np.nan), delimiter)
    names = with_gaps.names or with_gaps.columns.features  # type: ignore[attr-defined]
    return _opened(rows, replace(reading, missing=dict(zip(names, column_means(with_gaps)))), delimiter)


def _opened(rows: Any, reading: Reading, delimiter: str | None) -> Rows:
    if isinstance(rows, np.ndarray):
        return MemoryMapRows(rows, reading)
    if callable(rows):
        return batch_rows(rows, reading)
    if not isinstance(rows, str | os.PathLike):
        raise ValueError(
            f"Rows are opened from a path, or a function that makes batches anew for every pass; got "
            f"{type(rows).__name__}. Wrap what makes the batches: open(lambda: ...)."
        )
    path = Path(rows)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    if not (path.is_dir() or path.is_file()):
        raise ValueError(f"{path} is no file: it cannot be read again at every pass. Write what it holds to a file.")
    if path.is_dir() or path.suffix in DATASET_FORMATS:
        return DatasetRows(path, reading)
    if plain_suffix(path) in CSV_DELIMITERS or delimiter is not None:
        return CsvRows(path, reading, delimiter)
    if path.suffix == ".npy":
        return open_npy(path, reading)
    if {path.suffix, Path(path.stem).suffix if path.suffix in OPENERS else ""} & {*SVMLIGHT_SUFFIXES}:
        return SvmlightRows(path, reading)
    known = (*DATASET_FORMATS, *CSV_DELIMITERS, ".npy", *SVMLIGHT_SUFFIXES)
    raise ValueError(
        f"{path} has the suffix {path.suffix!r}; rows are read from {', '.join(known)}, from folders of Parquet files, "
        "and with delimiter= from any text file whose first line names its columns."
    )
