"""Fits that are tasks: in order, with passes of their own over rows that stay where they are."""

from functools import partial

import numpy as np
import pytest

import eigenfeat
from eigenfeat.rows import ClassTotals
from eigenfeat.rows.dask_collections import dask_rows

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

X = np.arange(20.0).reshape(10, 2)
Y = np.arange(10) % 2


@pytest.fixture(scope="module")
def rows():
    """On two workers, which are threads: processes are in test_dask_rows.py."""
    local = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    with local, distributed.Client(local):
        yield dask_rows(da.from_array(X, chunks=(4, 2)), da.from_array(Y, chunks=4))


def total(rows, factor):
    """Makes a pass and looks at a row, on a worker."""
    return factor * int(rows.reduce(ClassTotals(), "labels of a fit").counts.sum()) + next(rows.blocks(1)).X[0, 1]


def test_fits_make_passes_of_their_own(rows):
    with eigenfeat.runtime() as run:
        assert rows.fits(partial(total, rows), [(factor,) for factor in range(5)]) == [1, 11, 21, 31, 41]
    assert [done.stage for done in run.passes] == ["labels of a fit"] * 5


def test_errors_of_fits_are_raised_as_they_are(rows):
    with pytest.raises(ZeroDivisionError):
        rows.fits(partial(divmod, 1), [(1,), (0,)])


def test_with_a_checkpoint_fits_are_made_in_order_and_kept(rows, tmp_path):
    with eigenfeat.runtime(checkpoint=tmp_path / "fit.checkpoint") as run:
        assert rows.fits(partial(total, rows), [(1,), (2,)]) == [11, 21]
        assert [done.stage for done in run.passes] == ["labels of a fit"] * 2
