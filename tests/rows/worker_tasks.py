"""Tasks of workers for test_dask.py, some of which kill the worker that runs them.

A module of its own, whose folder is on the path of the workers too: that of a test is not, however it was started.
"""

import os
import signal

import numpy as np

from eigenfeat.rows import Accumulator, Block, ClassCounts


class KillsOnce:
    """A worker dies in the middle of a pass, once: a file tells that it has."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __call__(self):
        if not os.path.exists(self.mark):
            open(self.mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)


class Fatal(Accumulator):
    """An accumulator whose first update kills the worker."""

    def __init__(self, accumulator, kill):
        self.accumulator, self.kill = accumulator, kill

    def update(self, block):
        self.kill()
        self.accumulator.update(block)

    def merge(self, other):
        self.accumulator.merge(other.accumulator)


class FatalTask:
    """A function whose first call kills the worker."""

    def __init__(self, function, kill):
        self.function, self.kill = function, kill

    def __call__(self, *args):
        self.kill()
        return self.function(*args)


def n_rows(rows, factor):
    """A fit of its own: one pass."""
    return factor * rows.reduce(ClassCounts(), "labels").n_rows


def odd(block):
    return block.take(np.flatnonzero(np.arange(block.start, block.start + block.n_rows) % 2))


def doubled(block):
    return Block(2 * block.X, block.y, block.weight, block.start)


def total(rows, factor):
    """Makes a pass and looks at a row, on a worker."""
    return factor * int(rows.reduce(ClassCounts(), "labels of a fit").counts.sum()) + next(rows.blocks(1)).start
