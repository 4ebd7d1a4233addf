"""Rows that tests of Dask share, and how they are cut."""

import numpy as np

rng = np.random.default_rng(0)
N, D = 3000, 6
X = rng.normal(size=(N, D)) @ rng.normal(size=(D, D))
X[:, 0] **= 2
Y = np.array(["iris", "rose", "tulip"])[np.argmax(X[:, :3] + rng.normal(size=(N, 3)), axis=1)]
W = rng.exponential(size=N)
UNEVEN = (1100, 0, 3, 900, 997)


def collections(chunks=UNEVEN, columns=4):
    import dask.array as da

    return da.from_array(X, chunks=(chunks, columns)), da.from_array(Y, chunks=1000), da.from_array(W, chunks=N)
