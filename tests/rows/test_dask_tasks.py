"""Values on workers: sent there, worked on there, and brought here when they are asked for."""

import pickle
from operator import add

import numpy as np
import pytest

from eigenfeat.rows import ArrayRows, ClassTotals
from eigenfeat.rows.dask_tasks import Remote, cluster, dask_module, sent

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    local = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0")
    with local, distributed.Client(local) as client:
        yield client


def test_a_value_stays_there_until_it_is_asked_for(client):
    three = Remote(sent(3))
    assert three.then(add, 4).here("a sum") == 7
    assert three.then(add, Remote(sent(5))).here("a sum") == 8
    assert pickle.loads(pickle.dumps(three)).then(add, 1).here("a sum") == 4


def test_without_a_cluster_or_dask_the_way_out_is_told():
    with pytest.raises(ImportError, match=r"pip install \"eigenfeat\[dask\]\""):
        dask_module("dask_that_is_not_there")


def test_rows_at_hand_leave_nothing_elsewhere():
    with pytest.raises(TypeError, match="ArrayRows is read here"):
        ArrayRows(np.zeros((2, 2))).summed_there(ClassTotals())


def test_the_client_in_force_is_the_one_that_was_started(client):
    assert cluster() is client
