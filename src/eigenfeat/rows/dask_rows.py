"""Rows that live on the workers of a Dask cluster: passes are made there, and only sums of them come here.

A partition becomes a block on the worker that has it and stays there (`distributed` moves it to the disk of the worker
where its memory runs out). A pass sends the empty statistic once, as a task of its own that workers fetch from each
other, updates a copy with every partition, and merges the copies as a tree, neighbours first: neither the number of
workers nor which of them dies changes the order of the sums.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain, islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from eigenfeat.rows.dask_fits import fits_there
from eigenfeat.rows.dask_memory import kept_memory
from eigenfeat.rows.dask_tasks import Remote, cluster, dask_module, sent, to_send
from eigenfeat.rows.dask_waiting import ClusterLost, awaited
from eigenfeat.rows.progress import PassReport
from eigenfeat.rows.source import Block, Rows, joined_blocks
from eigenfeat.rows.streaming import current

if TYPE_CHECKING:
    from eigenfeat.rows.statistics import Accumulator, AnyAccumulator, Lens

#: Statistics that one task merges: a task costs some milliseconds whatever it does, and so many are in its memory.
MERGED_TOGETHER = 4
#: Rows of a persisted block at least, where its neighbours have as many: fewer take no less time.
BLOCK_ROWS = 8192


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

    def blocks(self, batch_size: int | None = None) -> Iterator[Block]:
        """Brought here, one at a time: for a look at some rows."""
        client = cluster()
        for future, start, end in zip(self._blocks, self.starts, self.starts[1:]):
            for first in range(0, end - start, batch_size or max(1, end - start)):
                chosen = slice(first, None if batch_size is None else first + batch_size)
                (block,) = awaited([client.submit(_part, future, start, chosen, pure=False)], f"rows from {start} on")
                yield block

    def reduce(self, statistic: AnyAccumulator, name: str = "rows") -> AnyAccumulator:
        return current().remembered(name, lambda: self._summed(statistic, name))

    def _summed(self, statistic: AnyAccumulator, name: str) -> AnyAccumulator:
        began = perf_counter()
        (result,) = awaited([self._tree(statistic)], f'the pass "{name}"')
        self._tell(name, began)
        return result

    def summed_there(self, statistic: Accumulator, name: str = "rows") -> Remote:
        began = perf_counter()
        result = Remote(self._tree(statistic))
        result.then(type).here(f'the pass "{name}"')
        self._tell(name, began)
        return result

    def _tree(self, statistic: Accumulator) -> Any:
        """The statistic of all rows: one of every partition, neighbours merged until one is left."""
        delayed = partial(dask_module("dask").delayed, pure=False)  # all tasks of a pass go in one message
        empty, updated, merged = to_send(statistic), delayed(_updated), delayed(_merged)
        parts = [updated(empty, *place) for place in zip(self._blocks, self.starts)]
        while len(parts) > 1:
            groups = [parts[i : i + MERGED_TOGETHER] for i in range(0, len(parts), MERGED_TOGETHER)]
            parts = [merged(*group) if len(group) > 1 else group[0] for group in groups]
        return cluster().compute(parts[0], optimize_graph=False)

    def _tell(self, name: str, began: float) -> None:
        run, report = current(), PassReport(name, self.n_rows, self.n_rows, perf_counter() - began, True)
        run.passes.append(report)
        if run.progress is not None:
            run.progress.tell(report)

    def persisted(self, lenses: Sequence[Lens] = (), n_columns: int | None = None) -> DaskRows:
        """What views make of the rows, made once and kept where it was made; small neighbours are joined."""
        if not lenses:
            return self
        client, through = cluster(), [sent(tuple(lenses))] * len(self._blocks)
        blocks = client.map(_seen, through, self._blocks, self.starts[:-1], pure=False)
        lengths = [length for length, _ in shapes_of(blocks)]  # a lens may leave rows out
        groups = neighbours(lengths, BLOCK_ROWS)
        joined = [client.submit(_joined, blocks[i:j], pure=False) if j - i > 1 else blocks[i] for i, j in groups]
        starts = [0, *accumulate(sum(lengths[i:j]) for i, j in groups)]
        return DaskRows(joined, starts, n_columns or self.n_columns, self.dtype)

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


def neighbours(lengths: Sequence[int], least: int) -> list[tuple[int, int]]:
    """Consecutive places, from one up to below another, whose lengths together are no less than asked for.

    Those at the end, which are too few, stay by themselves.

    Examples
    --------
    >>> neighbours([5, 0, 2, 3, 9, 1], 4)
    [(0, 1), (1, 4), (4, 5), (5, 6)]
    """
    groups, first, total = list[tuple[int, int]](), 0, 0
    for place, length in enumerate(lengths, start=1):
        total += length
        if total >= least or place == len(lengths):
            groups.append((first, place))
            first, total = place, 0
    return groups


def shapes_of(blocks: Sequence[Any]) -> list[tuple[int, int]]:
    """Rows and columns of every partition, whose errors are named."""
    shapes = cluster().map(_shape, blocks, pure=False)
    try:
        return awaited(shapes, "partitions")
    except ClusterLost:
        raise
    except Exception as problem:
        first = next((i for i, block in enumerate(blocks) if block.status == "error"), None)
        if first is None:
            raise
        raise ValueError(f"Partition {first} could not be made: {problem}") from problem


def _shape(block: Block) -> tuple[int, int]:
    return block.X.shape


def _placed(block: Block, start: int) -> Block:
    return replace(block, start=start)


def _part(block: Block, start: int, chosen: slice) -> Block:
    return _placed(block, start).part(chosen)


def _updated(statistic: AnyAccumulator, block: Block, start: int) -> AnyAccumulator:
    statistic = copy.deepcopy(statistic)  # the worker's own copy serves its other partitions
    if block.n_rows:
        with kept_memory:
            statistic.update(_placed(block, start))
    return statistic.result()  # type: ignore[return-value]


def _merged(first: AnyAccumulator, *others: AnyAccumulator) -> AnyAccumulator:
    whole = copy.deepcopy(first)  # a task may run again
    with kept_memory:
        for other in others:
            whole.merge(other)
    return whole


def _joined(blocks: Sequence[Block]) -> Block:
    return joined_blocks([block for block in blocks if block.n_rows] or blocks[:1])


def _seen(lenses: Sequence[Lens], block: Block, start: int) -> Block:
    parts: Iterator[Block] = iter((_placed(block, start),))
    for lens in lenses:
        parts = chain.from_iterable(map(lens, parts))
    return _gathered(parts, block)


def _gathered(parts: Iterator[Block], whole: Block) -> Block:
    """What was made of a block, its rows put in their place as they are made: there are never two copies of all."""
    begun = list(islice(parts, 2))
    if len(begun) < 2 or sparse.issparse(begun[0].X):
        return joined_blocks([*begun, *parts] or [whole.part(slice(0))])
    rows, n_rows = np.empty((whole.n_rows, begun[0].X.shape[1]), dtype=begun[0].X.dtype), 0
    beside = list[Block]()
    with kept_memory:
        for part in chain(begun, parts):
            rows[n_rows : n_rows + part.n_rows] = part.X
            n_rows += part.n_rows
            beside.append(replace(part, X=rows[:0]))
    rows = rows if n_rows == len(rows) else rows[:n_rows].copy()
    return replace(joined_blocks(beside), X=rows)
