"""A cluster that loses workers is waited for while any may come back; then the fit ends and says what is missing."""

import os
import signal
import time

import numpy as np
import pytest

from eigenfeat import FisherLDA
from eigenfeat.rows import dask_waiting
from eigenfeat.rows.dask_waiting import ClusterLost, awaited

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

X = np.random.default_rng(0).normal(size=(200, 3))


@pytest.fixture
def client():
    """One process, which the cluster gives up as soon as it dies."""
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "10ms"}):
        local = distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="1GB"
        )
        with local, distributed.Client(local) as client:
            yield client


@pytest.fixture(autouse=True)
def in_haste(monkeypatch):
    monkeypatch.setattr(dask_waiting, "LOOK_EVERY", 0.3)


def kill_worker(client):
    (pid,) = client.run(os.getpid).values()
    os.kill(pid, signal.SIGKILL)
    while client.scheduler_info(-1)["workers"]:
        time.sleep(0.05)


def test_workers_that_a_cluster_has_given_up_are_asked_for_again(client):
    rows, labels = da.from_array(X, chunks=(100, 3)), da.from_array(X[:, 0] > 0, chunks=100)
    persisted = client.persist([rows, labels])
    distributed.wait(persisted)
    kill_worker(client)
    while client.cluster.workers:  # given up: without us no worker would ever come back
        time.sleep(0.05)
    found = FisherLDA().fit(*persisted)
    np.testing.assert_allclose(np.abs(found.components_), np.abs(FisherLDA().fit(X, X[:, 0] > 0).components_))


def test_without_workers_a_pass_ends_and_is_named(client, monkeypatch):
    monkeypatch.setattr(dask_waiting, "PATIENCE", 1.0)
    client.cluster.scale(0)
    while client.scheduler_info(-1)["workers"]:
        time.sleep(0.05)
    with pytest.raises(ClusterLost, match=r"no worker for 1 seconds \(the pass \"moments\": 0 of 1 results"):
        awaited([client.submit(abs, -1)], 'the pass "moments"')


def test_scattered_rows_that_are_lost_are_said_to_be(client):
    (there,) = client.scatter([X])
    rows = da.from_delayed(dask.delayed(lambda part: part)(there), X.shape, dtype=X.dtype)
    kill_worker(client)
    with pytest.raises(ClusterLost, match=r"lost data that it cannot make again \(partitions"):
        FisherLDA().fit(rows, da.from_array(X[:, 0] > 0, chunks=200))


def test_a_task_that_kills_every_worker_is_given_up(client):
    client.cluster.scheduler.allowed_failures = 0
    with pytest.raises(ClusterLost, match=r"Workers died again and again \(a pass\)"):
        awaited([client.submit(os._exit, 1)], "a pass")


def test_errors_of_tasks_are_raised_as_they_are(client):
    with pytest.raises(ZeroDivisionError):
        awaited([client.submit(divmod, 1, 0)], "a pass")
    assert awaited([client.submit(abs, -n) for n in range(3)], "a pass") == [0, 1, 2]
