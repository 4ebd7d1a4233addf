"""Fits keep to the runtime they are started under, wherever they run."""

from concurrent.futures import ThreadPoolExecutor
from zipfile import ZipFile

import numpy as np
import pytest
from joblib import Parallel, delayed
from pool_tasks import budget_of_a_task, fit_batches, is_cached
from sklearn.base import clone

import eigenfeat
import eigenfeat.rows
from eigenfeat import FisherLDA, GEMClassifier, GEMFeatures, load, save

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))
Y = (X[:, 0] + 0.3 * rng.normal(size=600) > 0).astype(int)
MODEL = GEMClassifier(2, ridge=0.3, alpha=1e-2, base_map=None, label_smoothing=0.0, feature_map="soft-cubic")


@pytest.fixture
def source():

    def batches():
        for start in range(0, len(X), 200):
            yield X[start : start + 200], Y[start : start + 200]

    return eigenfeat.rows.open(batches)


def test_a_fit_in_another_thread_keeps_to_the_memory_budget_and_reports(source):
    with ThreadPoolExecutor(1) as pool:
        assert not is_cached(pool.submit(clone(MODEL).fit, source).result())
        with eigenfeat.runtime(memory="1kB") as run:
            assert is_cached(pool.submit(clone(MODEL).fit, source).result())
    assert len(run.passes) > 5


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_a_fit_of_joblib_keeps_to_the_memory_budget(backend):
    parts = [(X[:300], Y[:300]), (X[300:], Y[300:])]
    with Parallel(2, backend=backend) as parallel:
        for memory, expected in (("1kB", True), ("1GB", False)):
            with eigenfeat.runtime(memory):
                assert parallel(delayed(fit_batches)(clone(MODEL), parts) for _ in range(2)) == [expected] * 2


def test_tasks_of_dask_keep_to_the_memory_budget():
    distributed, array = pytest.importorskip("distributed"), pytest.importorskip("dask.array")
    local = distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0")
    with local, distributed.Client(local):
        rows = eigenfeat.rows.dask_rows(array.from_array(X, chunks=(300, 4)))
        for nested in (True, False):
            with eigenfeat.runtime("1MB", progress=lambda event: None):
                assert rows.starmap(budget_of_a_task, [(0,), (1,)], nested) == [(10**6, None, 0), (10**6, None, 1)]
            assert rows.starmap(budget_of_a_task, [(0,), (1,)], nested) == [(None, None, 0), (None, None, 1)]


@pytest.mark.parametrize("memory", [None, 10_000])
def test_moments_beyond_the_container_are_refused_on_a_large_host(tmp_path, monkeypatch, memory):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal: 256000000 kB\nMemAvailable: 256000000 kB\n")
    (tmp_path / "proc/self/cgroup").write_text("0::/\n")
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("max\n" if memory is None else f"{memory}\n")
    (tmp_path / "sys/fs/cgroup/memory.current").write_text("0\n")
    monkeypatch.setattr("eigenfeat._runtime.memory.ROOT", tmp_path)
    many = rng.normal(size=(300, 40))
    model = GEMFeatures(2, columns=None)
    if memory is None:
        model.fit(many, many[:, 0] > 0)
    else:
        with pytest.raises(ValueError, match=r"Second moments of two classes .* the machine or container has"):
            model.fit(many, many[:, 0] > 0)


def test_a_saved_model_does_not_hold_the_runtime(tmp_path):
    model = FisherLDA().fit(X, Y)
    with eigenfeat.runtime("1MB", progress=print):
        path = save(model, tmp_path / "model.skops")
    assert "runtime" not in ZipFile(path).read("schema.json").decode()
    assert vars(load(path)).keys() == vars(model).keys()
