"""A stream whose passes are counted, for the tests of what is kept of it."""

import time

import numpy as np

from eigenfeat.rows import Block, Rows

rng = np.random.default_rng(0)
N = 500
X, Y, W = rng.normal(size=(N, 4)), rng.integers(0, 3, N), rng.exponential(size=N)


class Stream(Rows):
    n_columns, dtype, n_passes = 4, np.dtype(np.float64), 0

    def __init__(self, seconds=0.0):
        self.seconds = seconds

    def blocks(self, batch_size=None):
        self.n_passes += 1
        for start in range(0, N, 90):
            time.sleep(self.seconds)
            part = slice(start, min(start + 90, N))
            yield Block(X[part], Y[part], W[part], start=start)
