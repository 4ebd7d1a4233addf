"""Work ahead of whoever uses it: blocks are read in a thread of their own, or made of others in some threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

from eigenfeat._runtime.threads import reader_thread

#: Blocks that are ready or being made while another is used: more would only cost memory.
DEPTH = 2

Item = TypeVar("Item")
Result = TypeVar("Result")


def read_ahead(items: Generator[Item, None, None], depth: int = DEPTH) -> Iterator[Item]:
    """The items of a generator in their order, up to ``depth`` of them made before they are asked for.

    An error of the generator is raised where its item would have been. However the pass ends, also when its consumer
    stops early, the thread has ended and the generator is closed.

    Examples
    --------
    >>> from eigenfeat.rows.read_ahead import read_ahead
    >>> list(read_ahead(n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    reader = reader_thread("eigenfeat-read-ahead")
    try:
        waiting = deque(reader.submit(next, items) for _ in range(depth))
        while True:
            try:
                item = waiting.popleft().result()
            except StopIteration:
                return
            waiting.append(reader.submit(next, items))
            yield item
            del item  # not held while the next one is waited for
    finally:
        reader.shutdown(cancel_futures=True)
        items.close()


def map_ahead(
    pool: Executor, function: Callable[[Item], Result], items: Iterable[Item], n_ahead: int
) -> Iterator[Result]:
    """Yield the results of a function for some items in their order, up to ``n_ahead`` more of them under way."""
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > n_ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
