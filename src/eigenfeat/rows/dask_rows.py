"""Rows that live on the workers of a Dask cluster: passes are made there, and only sums of them come here.

A partition becomes a block on the worker that has it and stays there (`distributed` moves it to the disk of the worker
where its memory runs out). A pass sends the empty statistic once, as a task of its own that workers fetch from each
other, updates a copy with every partition, and merges the copies as a tree, neighbours first: neither the number of
workers nor which of them dies changes the order of the sums.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.dask_fits import fits_there
from eigenfeat.rows.dask_tasks import Remote, cluster, dask_module, sent
from eigenfeat.rows.dask_waiting import ClusterLost, awaited
from eigenfeat.rows.progress import PassReport
from eigenfeat.rows.source import RowBlock, RowSource
from eigenfeat.rows.streaming import current

if TYPE_CHECKING:
    from eigenfeat.rows.statistics import AnyStatistic, Lens, Statistic


@dataclass(frozen=True, eq=False)
class Partition:
    """How a partition's rows, labels and weights become a block.

    Attributes
    ----------
    number : int
        Of the partition: errors name it.
    dtype : dtype
        Of the rows.
    names : tuple of str or None
        Columns that are rows, of a dataframe.
    label, weight : str or None
        Columns that are not.
    """

    number: int
    dtype: np.dtype
    names: tuple[str, ...] | None = None
    label: str | None = None
    weight: str | None = None

    def block(self, rows: Any, labels: Any = None, weights: Any = None) -> RowBlock:
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
        return RowBlock(0, rows, labels, None if weights is None else weights.astype(np.float64))


def _vector(values: Any) -> np.ndarray | None:
    if values is None:
        return None
    values = np.asarray(values)
    return values.astype(np.str_) if values.dtype.kind in "OT" else values


class DaskRows(RowSource):
    """Blocks on the workers of a cluster.

    Parameters
    ----------
    blocks : list of futures
        Of `RowBlock`, in order.
    starts : list of int
        Rows before each, and at the end the number of all.
    n_columns : int
    dtype : dtype
    names : tuple of str, optional
    """

    def __init__(
        self,
        blocks: Sequence[Any],
        starts: Sequence[int],
        n_columns: int,
        dtype: np.dtype,
        names: tuple[str, ...] | None = None,
    ) -> None:
        self._blocks, self.starts = list(blocks), list(starts)
        self._n_columns, self._dtype, self._names = n_columns, np.dtype(dtype), names

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickled by a task of the same cluster, the blocks are of its client."""
        self.__dict__.update(state)
        client = cluster()
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
    def is_local(self) -> bool:
        return False

    def blocks(self, batch_size: int | None = None) -> Iterator[RowBlock]:
        """Brought here, one at a time: for a look at some rows."""
        client = cluster()
        for future, start, end in zip(self._blocks, self.starts, self.starts[1:]):
            for first in range(0, end - start, batch_size or max(1, end - start)):
                chosen = slice(first, None if batch_size is None else first + batch_size)
                (block,) = awaited([client.submit(_part, future, start, chosen, pure=False)], f"rows from {start} on")
                yield block

    def summed(self, statistic: AnyStatistic, name: str = "rows") -> AnyStatistic:
        return current().remembered(name, lambda: self._summed(statistic, name))

    def _summed(self, statistic: AnyStatistic, name: str) -> AnyStatistic:
        began = perf_counter()
        (result,) = awaited([self._tree(statistic)], f'the pass "{name}"')
        self._tell(name, began)
        return result

    def summed_there(self, statistic: Statistic, name: str = "rows") -> Remote:
        began = perf_counter()
        result = Remote(self._tree(statistic))
        result.then(type).here(f'the pass "{name}"')
        self._tell(name, began)
        return result

    def _tree(self, statistic: Statistic) -> Any:
        """The statistic of all rows: one of every partition, merged neighbour with neighbour until one is left."""
        client, empty = cluster(), sent(statistic)
        parts = [client.submit(_updated, empty, *place, pure=False) for place in zip(self._blocks, self.starts)]
        while len(parts) > 1:
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [client.submit(_merged, *pair, pure=False) if len(pair) > 1 else pair[0] for pair in pairs]
        return parts[0]

    def _tell(self, name: str, began: float) -> None:
        run, report = current(), PassReport(name, self.n_rows, self.n_rows, perf_counter() - began, True)
        run.passes.append(report)
        if run.progress is not None:
            run.progress.tell(report)

    def persisted(self, lenses: Sequence[Lens] = (), n_columns: int | None = None) -> DaskRows:
        """What views make of the rows, made once and kept where it was made."""
        if not lenses:
            return self
        through = sent(tuple(lenses))
        client, places = cluster(), zip(self._blocks, self.starts)
        blocks = [client.submit(_seen, through, block, start, pure=False) for block, start in places]
        starts = [0, *accumulate(length for length, _ in _shapes(blocks))]  # a lens may leave rows out
        return DaskRows(blocks, starts, n_columns or self.n_columns, self.dtype)

    def run(self, function: Callable, tasks: Sequence[tuple]) -> list[Any]:
        """Results of a function for each of some tuples of arguments, made by the workers."""
        client = cluster()
        return awaited([client.submit(function, *task, pure=False) for task in tasks], "tasks of a fit")

    def fits(self, function: Callable, tasks: Sequence[tuple]) -> list[Any]:
        if len(tasks) == 1 or current().checkpoint is not None:  # whose steps have one order
            return super().fits(function, tasks)
        return fits_there(function, tasks)

    @property
    def memory(self) -> int:
        """Bytes that all workers may use together."""
        return sum(worker["memory_limit"] or 0 for worker in cluster().scheduler_info(-1)["workers"].values())


def is_dask(X: Any) -> bool:
    """Whether rows are a Dask collection, or a list of delayed ones; looks at names, so that Dask is not imported."""
    if isinstance(X, list | tuple) and len(X) and type(X[0]).__module__.startswith("dask."):
        return True
    return type(X).__module__.startswith("dask") and hasattr(X, "__dask_graph__")


def dask_rows(X: Any, y: Any = None, sample_weight: Any = None, label: str | None = None) -> DaskRows:
    """A source of a Dask array or dataframe, or of a list of delayed blocks, whose partitions are made by the workers.

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
    parts, names, dtype = _parts(X, {label, weight})
    sides = [_beside(part, X, len(parts), name) for part, name in ((y, "y"), (sample_weight, "sample_weight"))]
    client, delayed = cluster(), dask_module("dask").delayed
    recipes = [Partition(i, dtype or np.dtype(np.float64), names, label, weight) for i in range(len(parts))]
    if dtype is None:
        (first,) = awaited([client.compute(delayed(_type_of)(parts[0]))], "the first partition")
        recipes = [replace(recipe, dtype=first) for recipe in recipes]
    made = [
        delayed(recipe.block)(part, *(None if side is None else side[i] for side in sides))
        for i, (recipe, part) in enumerate(zip(recipes, parts))
    ]
    blocks = client.compute(made)
    shapes = _shapes(blocks)
    widths = {width for _, width in shapes}
    if len(widths) > 1:
        odd = next(i for i, (_, width) in enumerate(shapes) if width != shapes[0][1])
        raise ValueError(f"Partition {odd} has {shapes[odd][1]} columns where partition 0 has {shapes[0][1]}.")
    starts = [0, *accumulate(length for length, _ in shapes)]
    if not starts[-1]:
        raise ValueError("There are no rows in any partition.")
    return DaskRows(blocks, starts, shapes[0][1], recipes[0].dtype, names)


def _parts(X: Any, apart: set) -> tuple[list[Any], tuple[str, ...] | None, np.dtype | None]:
    """Delayed partitions, names of columns and the type of rows, where these are known."""
    if isinstance(X, list | tuple):
        return list(X), None, None
    if hasattr(X, "to_dask_array"):  # a dataframe
        absent = [name for name in apart if name is not None and name not in list(X.columns)]
        if absent:
            raise ValueError(f"The dataframe has no column {absent[0]!r}; it has {list(X.columns)[:8]}.")
        names = tuple(str(name) for name in X.columns if name not in apart)
        kinds = {str(X.dtypes[name]) for name in names}
        return X.to_delayed(), names, np.dtype(np.float32 if kinds == {"float32"} else np.float64)
    if X.ndim != 2:
        raise ValueError(f"Rows must be a Dask array of two dimensions, got {X.ndim}.")
    X = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    return X.to_delayed()[:, 0].tolist(), None, np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


def _beside(part: Any, X: Any, n_parts: int, name: str) -> list[Any] | None:
    """Partitions of what goes with the rows."""
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


def _shapes(blocks: Sequence[Any]) -> list[tuple[int, int]]:
    """Rows and columns of every partition, whose errors are named."""
    client = cluster()
    shapes = [client.submit(_shape, block, pure=False) for block in blocks]
    try:
        return awaited(shapes, "partitions")
    except ClusterLost:
        raise
    except Exception as problem:
        first = next((i for i, block in enumerate(blocks) if block.status == "error"), None)
        if first is None:
            raise
        raise ValueError(f"Partition {first} could not be made: {problem}") from problem


def _type_of(part: Any) -> np.dtype:
    rows = part[0] if isinstance(part, tuple) else part
    return np.dtype(np.float32 if getattr(rows, "dtype", None) == np.float32 else np.float64)


def _shape(block: RowBlock) -> tuple[int, int]:
    return block.rows.shape


def _placed(block: RowBlock, start: int) -> RowBlock:
    return replace(block, start=start)


def _part(block: RowBlock, start: int, chosen: slice) -> RowBlock:
    return _placed(block, start).part(chosen)


def _updated(statistic: AnyStatistic, block: RowBlock, start: int) -> AnyStatistic:
    statistic = copy.deepcopy(statistic)  # the worker's own copy serves its other partitions
    if block.n_rows:
        statistic.update(_placed(block, start))
    return statistic


def _merged(one: AnyStatistic, other: AnyStatistic) -> AnyStatistic:
    one = copy.deepcopy(one)  # a task may run again
    one.merge(other)
    return one


def _seen(lenses: Sequence[Lens], block: RowBlock, start: int) -> RowBlock:
    from eigenfeat.rows.source import joined_blocks

    blocks = [_placed(block, start)]
    for lens in lenses:
        blocks = [part for whole in blocks for part in lens(whole)] or blocks
    return joined_blocks(blocks)
