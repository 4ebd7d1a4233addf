"""Tasks that kill the worker that runs them, for test_dask_rows.py.

A module of its own, whose folder is on the path of the workers too: that of a test is not, however it was started.
"""

import os
import signal

from eigenfeat.rows import Accumulator, ClassTotals


class KillsOnce:
    """A worker dies in the middle of a pass, once: a file tells that it has."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __call__(self):
        if not os.path.exists(self.mark):
            open(self.mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)


class Fatal(Accumulator):
    """A statistic whose first update kills the worker."""

    def __init__(self, statistic, kill):
        self.statistic, self.kill = statistic, kill

    def update(self, block):
        self.kill()
        self.statistic.update(block)

    def merge(self, other):
        self.statistic.merge(other.statistic)


class FatalTask:
    """A function whose first call kills the worker."""

    def __init__(self, function, kill):
        self.function, self.kill = function, kill

    def __call__(self, *args):
        self.kill()
        return self.function(*args)


def n_rows(rows, factor):
    """A fit of its own: one pass."""
    return factor * rows.reduce(ClassTotals(), "labels").n_rows
