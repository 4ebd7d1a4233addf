"""Rows on the workers of a Dask cluster: passes are made there, only sums of them come here; and lazy results.

A partition becomes a block on the worker that has it and stays there. A pass sends the empty accumulator once, as a
task that workers fetch from each other, updates a copy with every partition, and merges the copies as a tree of
neighbours: neither the number of workers nor the loss of some changes the order of the sums. Lost workers, retries and
timeouts are `distributed`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import accumulate, chain
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat._runtime.config import Runtime, activate, current, runtime
from eigenfeat._runtime.progress import Event, Pass
from eigenfeat.rows.accumulators import Accumulator, AnyAccumulator, BlockFunction, ClassCounts, map_blocks
from eigenfeat.rows.block import Block, concatenate
from eigenfeat.rows.rows import BLOCK_ROWS, Rows

MERGED_TOGETHER = 4
"""Accumulators that one task merges: a task costs some milliseconds whatever it does, and so many are in its memory."""


def is_dask(X: Any) -> bool:
    """Tell Dask collections and lists of delayed blocks by the names of their types: Dask is not imported."""
    if isinstance(X, list | tuple) and len(X) and type(X[0]).__module__.startswith("dask."):
        return True
    return type(X).__module__.startswith("dask") and hasattr(X, "__dask_graph__")


def dask_module(name: str) -> Any:
    """Import a module of Dask, which is an extra."""
    try:
        return import_module(name)
    except ImportError as missing:
        raise ImportError('Rows on a cluster need Dask: pip install "eigenfeat[dask]"') from missing


def get_client() -> Any:
    """Return the client of the cluster in force."""
    try:
        return dask_module("distributed").get_client()
    except ValueError as problem:
        raise ValueError(
            "Rows of Dask are worked on by a cluster, and there is none: start one first, as "
            "dask.distributed.Client(n_workers=2, threads_per_worker=1) for this machine."
        ) from problem


# ---------------------------------------------------------------------- passes


class DaskRows(Rows):
    """Blocks on the workers of a cluster.

    Parameters
    ----------
    blocks : list of futures
        Of `Block`, in order.
    starts : list of int
        Rows before each, and at the end the number of all.
    n_columns : int
    dtype : dtype
    names : tuple of str, optional
    class_counts : ClassCounts, optional
        Of labels that are indices into classes.
    made_by : object, optional
        Functions that made the blocks of those of a collection.
    """

    def __init__(
        self,
        blocks: Sequence[Any],
        starts: Sequence[int],
        n_columns: int,
        dtype: np.dtype,
        names: tuple[str, ...] | None = None,
        class_counts: ClassCounts | None = None,
        made_by: Any = (),
    ) -> None:
        self._blocks, self.starts = list(blocks), list(starts)
        self._n_columns, self._dtype, self._names = n_columns, np.dtype(dtype), names
        self._class_counts, self._made_by = class_counts, made_by

    def checkpoint_key(self) -> Any:
        """Return shapes and functions: partitions have no names that are the same in another attempt."""
        return self.identity, self.starts, self._made_by

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Bind the blocks to the client of the task that unpickles them."""
        self.__dict__.update(state)
        client = get_client()
        for block in self._blocks:
            block.bind_client(client)

    @property
    def n_columns(self) -> int:
        return self._n_columns

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    @property
    def n_rows(self) -> int:
        return self.starts[-1]

    @property
    def names(self) -> tuple[str, ...] | None:
        return self._names

    @property
    def class_counts(self) -> ClassCounts | None:
        return self._class_counts

    @property
    def is_local(self) -> bool:
        return False

    @property
    def memory(self) -> int:
        """Bytes that all workers may use together."""
        return sum(worker["memory_limit"] or 0 for worker in get_client().scheduler_info(-1)["workers"].values())

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        """Bring blocks here, one at a time: for a look at some rows."""
        client = get_client()
        for future, start, end in zip(self._blocks, self.starts, self.starts[1:]):
            for first in range(0, end - start, batch_size or max(1, end - start)):
                chosen = slice(first, None if batch_size is None else first + batch_size)
                yield client.submit(_part, future, start, chosen, pure=False).result()

    def reduce(self, accumulator: AnyAccumulator, name: str = "rows") -> AnyAccumulator:
        return current().recall(name, (self, accumulator), lambda: self._reduce(accumulator, name))

    def _reduce(self, accumulator: AnyAccumulator, name: str) -> AnyAccumulator:
        with Pass(name, self.n_rows) as counter:
            total = self._tree(accumulator).result()
            counter.add(self.n_rows)
        return total

    def _tree(self, accumulator: Accumulator) -> Any:
        """Return the future sum over all rows: one sum a partition, neighbours merged until one is left."""
        delayed = partial(dask_module("dask").delayed, pure=False)  # all tasks of a pass go in one message
        empty, updated, merged = broadcast((current().portable(), accumulator)), delayed(_updated), delayed(_merged)
        parts = [updated(empty, block, start) for block, start in zip(self._blocks, self.starts)]
        while len(parts) > 1:
            groups = [parts[i : i + MERGED_TOGETHER] for i in range(0, len(parts), MERGED_TOGETHER)]
            parts = [merged(*group) if len(group) > 1 else group[0] for group in groups]
        return get_client().compute(parts[0], optimize_graph=False)

    def persist(
        self,
        functions: Sequence[tuple[BlockFunction, int | None]],
        n_columns: int,
        class_counts: ClassCounts | None,
    ) -> DaskRows:
        """Apply functions (with the rows they take at a time) once and keep the results; join small neighbours."""
        if not functions:
            return self
        client = get_client()
        sent = client.compute(broadcast(tuple(functions)), optimize_graph=False)
        blocks = client.map(_mapped, [sent] * len(self._blocks), self._blocks, self.starts[:-1], pure=False)
        lengths = [length for length, _ in _shapes(blocks)]  # a function may leave rows out
        groups = joined_neighbours(lengths, BLOCK_ROWS)
        joined = [client.submit(_concatenated, blocks[i:j], pure=False) if j - i > 1 else blocks[i] for i, j in groups]
        starts = [0, *accumulate(sum(lengths[i:j]) for i, j in groups)]
        made_by = (*self._made_by, *functions)
        return DaskRows(joined, starts, n_columns, self.dtype, None, class_counts, made_by)

    def starmap(self, function: Callable, tasks: Sequence[tuple], nested: bool = False) -> list[Any]:
        client = get_client()
        if not nested:
            return client.gather(
                [client.submit(_task, current().portable(), function, *task, pure=False) for task in tasks]
            )
        if len(tasks) == 1 or current().checkpoint is not None:  # the steps of one fit, in one process
            return super().starmap(function, tasks)
        return _fits(client, function, tasks)


def broadcast(value: Any) -> Any:
    """Return a value as a delayed task: unlike scattered data, it is made again where its worker is lost.

    It goes as bytes: what cannot be unpickled on a worker is then the error of this task.
    """
    pickle = dask_module("distributed.protocol.pickle")
    return dask_module("dask").delayed(pickle.loads, pure=False)(pickle.dumps(value))


def _fits(client: Any, function: Callable, tasks: Sequence[tuple]) -> list[Any]:
    """Run tasks that make passes of their own, as many at a time as there are workers.

    Such a task leaves its thread to others while it waits for its passes.
    """
    pickle = dask_module("distributed.protocol.pickle")
    workers = list(client.scheduler_info(-1)["workers"]) or [None]
    sent = client.submit(bytes, pickle.dumps(function), pure=False)
    environment, options = current().portable(), {"allow_other_workers": True, "pure": False}
    results: list[tuple[Any, list[Event]]] = []
    for start in range(0, len(tasks), len(workers)):
        results += client.gather(
            [
                client.submit(_fit, environment, sent, pickle.dumps(task), workers=worker, **options)
                for task, worker in zip(tasks[start:], workers)
            ]
        )
    for event in chain.from_iterable(passes for _, passes in results):
        current().notify(event)
    return [result for result, _ in results]


def _task(sent: Runtime, function: Callable, *arguments: Any) -> Any:
    with activate(sent):
        return function(*arguments)


def _fit(sent: Runtime, function: bytes, task: bytes) -> tuple[Any, list[Event]]:
    pickle = dask_module("distributed.protocol.pickle")
    dask_module("distributed").secede()
    with activate(sent), runtime() as run:
        return pickle.loads(function)(*pickle.loads(task)), run.passes


def joined_neighbours(lengths: Sequence[int], least: int) -> list[tuple[int, int]]:
    """Group consecutive blocks until each group has ``least`` rows; the last may have fewer.

    Examples
    --------
    >>> joined_neighbours([5, 0, 2, 3, 9, 1], 4)
    [(0, 1), (1, 4), (4, 5), (5, 6)]
    """
    groups, first, total = list[tuple[int, int]](), 0, 0
    for stop, length in enumerate(lengths, start=1):
        total += length
        if total >= least or stop == len(lengths):
            groups.append((first, stop))
            first, total = stop, 0
    return groups


def _shapes(blocks: Sequence[Any]) -> list[tuple[int, int]]:
    """Return rows and columns of every partition, whose errors are named."""
    client = get_client()
    try:
        return client.gather(client.map(_shape, blocks, pure=False))
    except Exception as problem:
        failed = next((i for i, block in enumerate(blocks) if block.status == "error"), None)
        if failed is None:
            raise
        raise ValueError(f"Partition {failed} could not be made: {problem}") from problem


def _shape(block: Block) -> tuple[int, int]:
    return block.X.shape


def _part(block: Block, start: int, chosen: slice) -> Block:
    return replace(block, start=start).take(chosen)


def _updated(sent: tuple[Runtime, Accumulator], block: Block, start: int) -> Accumulator:
    accumulator = deepcopy(sent[1])  # the worker's own copy serves its other partitions
    if block.n_rows:
        with activate(sent[0]):
            accumulator.update(replace(block, start=start))
    return accumulator.result()


def _merged(first: Accumulator, *others: Accumulator) -> Accumulator:
    total = deepcopy(first)  # a task may run again
    for other in others:
        total.merge(other)
    return total


def _concatenated(blocks: Sequence[Block]) -> Block:
    return concatenate([block for block in blocks if block.n_rows] or blocks[:1])


def _mapped(functions: Sequence[tuple[BlockFunction, int | None]], block: Block, start: int) -> Block:
    parts: Iterator[Block] = iter((replace(block, start=start),))
    for function, step in functions:
        parts = chain.from_iterable(map(partial(_apply, function, step), parts))
    return _collected(parts, block)


def _apply(function: BlockFunction, step: int | None, block: Block) -> Iterator[Block]:
    return map_blocks(function, block, step)


def _collected(parts: Iterator[Block], source: Block) -> Block:
    """Join what was made of a block, each part as it is made: there are never two copies of all rows."""
    first = next(parts, None)
    if first is None:
        return source.take(slice(0))
    if sparse.issparse(first.X) or first.n_rows == source.n_rows:
        return concatenate([first, *parts])
    X, n_rows = np.empty((source.n_rows, first.X.shape[1]), dtype=first.X.dtype), 0
    labels = list[Block]()
    for part in chain([first], parts):
        X[n_rows : n_rows + part.n_rows] = part.X
        n_rows += part.n_rows
        labels.append(replace(part, X=np.empty((part.n_rows, 0))))
    return replace(concatenate(labels), X=X if n_rows == len(X) else X[:n_rows].copy())


# ---------------------------------------------------------------------- collections


def dask_rows(X: Any, y: Any = None, sample_weight: Any = None, label: str | None = None) -> DaskRows:
    """Return the rows of a Dask array or dataframe, or of a list of delayed blocks; workers make the partitions.

    Parameters
    ----------
    X : Dask array, dataframe, or list of delayed arrays, dataframes or tuples ``(X, y)`` or ``(X, y, weights)``
        Arrays may be cut in columns too, and lengths of partitions need not be known.
    y, sample_weight : Dask array or series, list of delayed, or str, optional
        In as many partitions as X, or of known lengths; of a dataframe the name of a column.
    label : str, optional
        The column of a dataframe that holds labels: the same as ``y="column"``.

    Raises
    ------
    ValueError
        For a partition that cannot be read, by its number, and for parts that do not go together.
    """
    label = y if isinstance(y, str) else label
    weight = sample_weight if isinstance(sample_weight, str) else None
    y, sample_weight = (None if isinstance(part, str) else part for part in (y, sample_weight))
    parts, names, dtype = _partitions(X, {label, weight})
    sides = [_aligned(part, X, len(parts), name) for part, name in ((y, "y"), (sample_weight, "sample_weight"))]
    client, delayed = get_client(), dask_module("dask").delayed
    if dtype is None:
        dtype = client.compute(delayed(_float_type)(parts[0])).result()
    blocks = client.compute(
        [
            delayed(Partition(i, dtype, names, label, weight).block)(
                part, *(None if side is None else side[i] for side in sides)
            )
            for i, part in enumerate(parts)
        ]
    )
    shapes = _shapes(blocks)
    odd = next((i for i, (_, width) in enumerate(shapes) if width != shapes[0][1]), None)
    if odd is not None:
        raise ValueError(f"Partition {odd} has {shapes[odd][1]} columns where partition 0 has {shapes[0][1]}.")
    starts = [0, *accumulate(length for length, _ in shapes)]
    if not starts[-1]:
        raise ValueError("There are no rows in any partition.")
    return DaskRows(blocks, starts, shapes[0][1], dtype, names)


def _partitions(X: Any, labels: set) -> tuple[list[Any], tuple[str, ...] | None, np.dtype | None]:
    """Return delayed partitions, names of the feature columns and the type of the rows, where these are known."""
    if isinstance(X, list | tuple):
        return list(X), None, None
    if hasattr(X, "to_dask_array"):  # a dataframe
        absent = [name for name in labels if name is not None and name not in list(X.columns)]
        if absent:
            raise ValueError(f"The dataframe has no column {absent[0]!r}; it has {list(X.columns)[:8]}.")
        names = tuple(str(name) for name in X.columns if name not in labels)
        kinds = {str(X.dtypes[name]) for name in names}
        return X.to_delayed(), names, np.dtype(np.float32 if kinds == {"float32"} else np.float64)
    if X.ndim != 2:
        raise ValueError(f"Rows must be a Dask array of two dimensions, got {X.ndim}.")
    X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    return X.to_delayed()[:, 0].tolist(), None, np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


def _aligned(part: Any, X: Any, n_parts: int, name: str) -> list[Any] | None:
    """Return the partitions of labels or weights, cut as those of X."""
    if part is None:
        return None
    if not isinstance(part, list | tuple) and not hasattr(part, "to_delayed"):
        raise ValueError(
            f"{name} of Dask rows must be a Dask array or series, a list of delayed blocks or the name of a column; "
            f"got {type(part).__name__}. Make one of it: dask.array.from_array({name}, chunks=X.chunks[0])."
        )
    chunks = getattr(X, "chunks", None)
    if chunks is not None and hasattr(part, "rechunk") and not np.isnan([*chunks[0], *part.chunks[0]]).any():
        part = part.rechunk({0: chunks[0]})
    blocks = list(part) if isinstance(part, list | tuple) else np.ravel(part.to_delayed()).tolist()
    if len(blocks) != n_parts:
        raise ValueError(f"{name} has {len(blocks)} partitions and X has {n_parts}: cut them alike.")
    return blocks


@dataclass(frozen=True, eq=False)
class Partition:
    """How a partition becomes a block.

    Attributes
    ----------
    number : int
        Of the partition: errors name it.
    dtype : dtype
        Of the rows.
    names : tuple of str or None
        Feature columns of a dataframe.
    label, weight : str or None
        Other columns.
    """

    number: int
    dtype: np.dtype
    names: tuple[str, ...] | None = None
    label: str | None = None
    weight: str | None = None

    def block(self, rows: Any, labels: Any = None, weights: Any = None) -> Block:
        if isinstance(rows, tuple):
            rows, labels, weights = (*rows, None, None)[:3]
        if self.label is not None:
            labels = rows[self.label]
        if self.weight is not None:
            weights = rows[self.weight]
        if self.names is not None:
            rows = rows[list(self.names)]
        rows = rows.tocsr().astype(self.dtype) if sparse.issparse(rows) else np.asarray(rows, dtype=self.dtype)
        labels, weights = _vector(labels), _vector(weights)
        for name, values in (("labels", labels), ("weights", weights)):
            if values is not None and len(values) != rows.shape[0]:
                raise ValueError(
                    f"Partition {self.number} has {rows.shape[0]} rows and {len(values)} {name}: cut X and y alike."
                )
        return Block(rows, labels, None if weights is None else weights.astype(np.float64))


def _vector(values: Any) -> np.ndarray | None:
    if values is None:
        return None
    values = np.asarray(values)
    return values.astype(np.str_) if values.dtype.kind in "OT" else values


def _float_type(part: Any) -> np.dtype:
    rows = part[0] if isinstance(part, tuple) else part
    return np.dtype(np.float32 if getattr(rows, "dtype", None) == np.float32 else np.float64)


# ---------------------------------------------------------------------- results


@dataclass(frozen=True)
class BlockMethod:
    """A method of a fitted model as a function of a block of rows; ``empty`` is its result of no rows."""

    model: Any
    name: str
    empty: np.ndarray

    def __call__(self, block: Any) -> np.ndarray:
        return getattr(self.model, self.name)(block) if block.shape[0] else self.empty


def lazy_results(model: Any, name: str, X: Any, names: Sequence[str] | None, n_columns: int) -> Any:
    """Return what a method makes of a Dask collection, lazily: a Dask array, or for a list a list of delayed blocks.

    Parameters
    ----------
    model : estimator
        Fitted.
    name : str
        Of the method.
    X : Dask array, dataframe or list of delayed blocks
    names : sequence of str or None
        Columns of a dataframe that the model was fitted to.
    n_columns : int
        That it was fitted to.
    """
    array, delayed = dask_module("dask.array"), dask_module("dask").delayed
    if isinstance(X, list | tuple):
        return [delayed(getattr(model, name))(block) for block in X]
    is_frame = hasattr(X, "to_dask_array")
    if is_frame and names is not None and set(names) <= set(X.columns):
        X = X[list(names)]
    width = len(X.columns) if is_frame else X.shape[1]
    if width != n_columns:
        raise ValueError(f"X has {width} columns, but {type(model).__name__} was fitted with {n_columns}.")
    kind = np.float32 if not is_frame and X.dtype == np.float32 else np.float64
    example = getattr(model, name)(X._meta_nonempty if is_frame else np.zeros((2, n_columns), dtype=kind))
    method = BlockMethod(model, name, example[:0])
    if is_frame:
        blocks = [
            array.from_delayed(delayed(method)(part), (np.nan, *example.shape[1:]), dtype=example.dtype)
            for part in X.to_delayed()
        ]
        return array.concatenate(blocks, allow_unknown_chunksizes=True)
    X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    if example.ndim == 1:
        return X.map_blocks(method, dtype=example.dtype, drop_axis=1, meta=method.empty)
    return X.map_blocks(method, dtype=example.dtype, chunks=(X.chunks[0], (example.shape[1],)), meta=method.empty)
