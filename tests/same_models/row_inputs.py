"""How rows are given to an estimator: as arrays of several kinds, streams, files, and Dask collections."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
from same_data import Data
from scipy import sparse

import eigenfeat
import eigenfeat.rows

BATCH_ROWS = 37
"""Rows of a batch: every stream has several, and the last one is shorter."""


@dataclass(frozen=True, eq=False)
class Given:
    """What `fit` and the methods of a fitted estimator are called with; labels and weights may be part of X."""

    X: Any
    y: Any
    weights: Any
    test: Any
    groups: np.ndarray


@contextmanager
def little_memory() -> Iterator[None]:
    """Let fits hold so little that every stream is read a block at a time."""
    with eigenfeat.runtime(memory="1kB"):
        yield


@contextmanager
def dense(data: Data, weighted: bool) -> Iterator[Given]:
    yield Given(data.X, data.y, data.weights if weighted else None, data.test, data.groups)


@contextmanager
def csr(data: Data, weighted: bool) -> Iterator[Given]:
    with dense(data, weighted) as given:
        yield replace(given, X=sparse.csr_matrix(given.X), test=sparse.csr_matrix(given.test))


@contextmanager
def float32(data: Data, weighted: bool) -> Iterator[Given]:
    with dense(data, weighted) as given:
        yield replace(given, X=given.X.astype(np.float32), test=given.test.astype(np.float32))


@contextmanager
def batches(data: Data, weighted: bool) -> Iterator[Given]:
    """A function that returns batches, once a pass."""
    sides = (data.X, data.y, *([data.weights] if weighted else []))
    with little_memory():
        yield Given(in_batches(*sides), None, None, in_batches(data.test), data.groups)


@contextmanager
def new_batches(data: Data, weighted: bool) -> Iterator[Given]:
    """Arrays to fit, and batches of held-out rows."""
    with dense(data, weighted) as given, little_memory():
        yield replace(given, test=in_batches(data.test))


def in_batches(*sides: Any) -> eigenfeat.rows.Rows:
    def pieces() -> Iterator[Any]:
        for start in range(0, sides[0].shape[0], BATCH_ROWS):
            piece = tuple(side[start : start + BATCH_ROWS] for side in sides)
            yield piece if len(piece) > 1 else piece[0]

    return eigenfeat.rows.open(pieces)


@contextmanager
def parquet(data: Data, weighted: bool) -> Iterator[Given]:
    """A Parquet file with rows, labels (several columns where there are several a row) and weights."""
    names = [f"x{j}" for j in range(data.X.shape[1])]
    labels = ["y"] if data.y.ndim == 1 else [f"y{j}" for j in range(data.y.shape[1])]
    columns = dict(zip(names, data.X.T)) | dict(zip(labels, np.atleast_2d(data.y.T)))
    with TemporaryDirectory() as folder, little_memory():
        path, test_path = Path(folder, "rows.parquet"), Path(folder, "test.parquet")
        weights = {"weight": data.weights} if weighted else {}
        pyarrow.parquet.write_table(pyarrow.table(columns | weights), path)
        pyarrow.parquet.write_table(pyarrow.table(dict(zip(names, data.test.T))), test_path)
        label = labels[0] if len(labels) == 1 else labels
        options = {"label": label, "weight": "weight" if weighted else None, "batch_size": BATCH_ROWS}
        rows, test = eigenfeat.rows.open(path, **options), eigenfeat.rows.open(test_path)
        yield Given(rows, None, None, test, data.groups)


@contextmanager
def dask(data: Data, weighted: bool) -> Iterator[Given]:
    """Dask arrays, in partitions of unequal lengths, on a cluster whose workers are threads."""
    array, n = importlib.import_module("dask.array"), len(data.y)
    lengths = (n // 2, n // 3, n - n // 2 - n // 3)

    def parts(values: np.ndarray):
        return array.from_array(values, chunks=(lengths, *values.shape[1:]))

    cluster()
    weights = parts(data.weights) if weighted else None
    with little_memory():
        yield Given(parts(data.X), parts(data.y), weights, array.from_array(data.test, chunks=(6, -1)), data.groups)


@cache
def cluster():
    """Start workers at the first case that needs them."""
    distributed = importlib.import_module("distributed")
    local = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    return distributed.Client(local)


def close_cluster() -> None:
    """Stop the workers, if any were started."""
    if cluster.cache_info().currsize:
        client = cluster()
        client.close()
        client.cluster.close()
        cluster.cache_clear()


INPUTS = {
    "dense": dense,
    "csr": csr,
    "float32": float32,
    "batches": batches,
    "new batches": new_batches,
    "parquet": parquet,
    "dask": dask,
}
