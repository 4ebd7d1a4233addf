"""Reading in a thread of its own: the next blocks are read and decoded while the last one is being used."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from typing import TypeVar

from eigenfeat._runtime.threads import reader_thread

#: Blocks that are ready or being made while another is used: more would only cost memory.
DEPTH = 2

Item = TypeVar("Item")


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
