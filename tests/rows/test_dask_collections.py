"""Collections of every kind become the same rows, and what cannot is refused by the number of its partition."""

import numpy as np
import pytest
from dask_data import D, N, X, Y, collections

from eigenfeat import FisherLDA, KernelFisherRegressor, MultinomialLogit
from eigenfeat.rows.dask_collections import is_dask

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")


@pytest.fixture(scope="module")
def cluster():
    """Two workers, which are threads: processes are in test_dask_rows.py."""
    local = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    with local, distributed.Client(local) as client:
        yield client


def test_dataframes_lists_of_delayed_and_partitions_of_unknown_size(cluster):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    expected = MultinomialLogit(1e-3).fit(X, Y)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(kind=Y)
    lazy = dd.from_pandas(frame, npartitions=3)
    blocks = [dask.delayed((X[i : i + 800], Y[i : i + 800])) for i in range(0, N, 800)]
    some = da.from_array(np.vstack([X, X[:50] + 100]), chunks=(700, D))
    unknown = some[some[:, 0] < 50 + X[:, 0].max()]
    labels = da.from_array(np.append(Y, Y[:50]), chunks=700)[some[:, 0] < 50 + X[:, 0].max()]
    for given in ((lazy, "kind"), (blocks,), (unknown, labels)):
        found = MultinomialLogit(1e-3).fit(*given)
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-7, atol=1e-10)
    assert list(MultinomialLogit(1e-3).fit(lazy, "kind").predict(lazy).compute()) == expected.predict(X).tolist()
    (part,) = found.predict([dask.delayed(X[:9])])
    assert np.array_equal(part.compute(), expected.predict(X[:9]))


def test_partitions_that_fail_are_named(cluster):
    def fails():
        raise OSError("disk of tape 7 is gone")

    good = dask.delayed((X[:500], Y[:500]))
    with pytest.raises(ValueError, match="Partition 1 could not be made: disk of tape 7 is gone"):
        MultinomialLogit().fit([good, dask.delayed(fails)()])
    with pytest.raises(ValueError, match="Partition 1 has 5 columns where partition 0 has 6"):
        MultinomialLogit().fit([good, dask.delayed((X[:500, :5], Y[:500]))])
    with pytest.raises(ValueError, match="Partition 1 could not be made: Partition 1 has 500 rows and 499 labels"):
        MultinomialLogit().fit([good, dask.delayed((X[:500], Y[:499]))])
    with pytest.raises(ValueError, match="y has 2 partitions and X has 3"):
        MultinomialLogit().fit([dask.delayed(X[:9])] * 3, [dask.delayed(Y[:9])] * 2)
    with pytest.raises(ValueError, match=r"y of Dask rows must be a Dask array .* got ndarray"):
        MultinomialLogit().fit(da.from_array(X), Y)
    with pytest.raises(ValueError, match=r"contains NaN or infinity: the first is nan in row 701, column 2"):
        spoilt = X.copy()
        spoilt[700, 2] = np.nan
        FisherLDA().fit(da.from_array(spoilt, chunks=(500, D)), da.from_array(Y, chunks=500))
    with pytest.raises(ValueError, match="KernelFisherRegressor needs its rows in memory"):
        KernelFisherRegressor().fit(*collections()[:2])


def test_mixed_types_and_no_rows(cluster):
    mixed = [dask.delayed((X[:500].astype(np.float32), Y[:500])), dask.delayed((X[500:900], Y[500:900]))]
    assert MultinomialLogit().fit(mixed).coef_.dtype == np.float32
    with pytest.raises(ValueError, match="There are no rows in any partition"):
        MultinomialLogit().fit([dask.delayed((X[:0], Y[:0]))])


def test_what_is_dask_is_known_by_name():
    assert is_dask(da.ones((3, 2))) and is_dask([dask.delayed(1)])
    assert not is_dask(X) and not is_dask([[1.0, 2.0]]) and not is_dask([])
