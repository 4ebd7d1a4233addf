"""Problems whose matrices stay on workers have the directions of the same problems here."""

import numpy as np
import pytest

from eigenfeat.moments import collect_moments, sharded_moments
from eigenfeat.moments.sharded import matrix_bytes
from eigenfeat.quotients import Regularisation, contrast
from eigenfeat.rows import streaming
from eigenfeat.rows.dask_collections import dask_rows
from eigenfeat.solvers import solve

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

rng = np.random.default_rng(0)
N, D, K = 400, 5, 4
X = rng.normal(size=(N, D)) @ rng.normal(size=(D, D))
Y = rng.integers(K, size=N)
X *= 1 + Y[:, None] * rng.random(D)


@pytest.fixture(scope="module")
def moments():
    """On workers that are threads, and here."""
    local = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    with local, distributed.Client(local):
        rows = dask_rows(da.from_array(X, chunks=(150, D)), da.from_array(Y, chunks=150))
        yield sharded_moments(rows, K, matrix_bytes(1, D)), collect_moments(X, Y)


@pytest.mark.parametrize("limit", [1, 3 * matrix_bytes(1, D), 10**9], ids=["a signal", "two signals", "all"])
@pytest.mark.parametrize("noise", ["second_moment", "covariance"])
@pytest.mark.parametrize(
    "ridge", [Regularisation(0.1), Regularisation(0.2, "oas", "diagonal")], ids=["plain", "shrunk"]
)
def test_directions_are_those_of_the_same_problems_here(moments, limit, noise, ridge):
    pairs = [(i, j) for j in range(K) for i in range(K) if i != j] + [(np.full(K, 1 / K), 0), (1, "identity")]
    there, here = (contrast(own, pairs, noise=noise, regularisation=ridge) for own in moments)
    with streaming(limit):
        found = solve(there, 2)
    for one, other in zip(found, solve(here, 2)):
        np.testing.assert_allclose(one.values, other.values, rtol=1e-9)
        np.testing.assert_allclose(np.abs(one.vectors.toarray()), np.abs(other.vectors.toarray()), rtol=1e-6, atol=1e-8)
