"""A runtime holds within its context: in its thread, in threads and processes started there, and for nobody else."""

import asyncio
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from eigenfeat._runtime import config
from eigenfeat._runtime.config import UNKNOWN_MEMORY, RuntimeMixin, activate, current, runtime, runtime_of_fit
from eigenfeat._runtime.progress import report
from eigenfeat._runtime.threads import reader_thread, thread_pool, usable_threads


def budget():
    return current().memory


def in_a_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def test_settings_end_with_their_context():
    assert current().memory is None and current().memory_budget > 0
    with runtime("1MB") as outer:
        assert current() is outer and outer.memory_budget == 10**6
        with pytest.raises(KeyError), runtime(5000) as inner:
            assert current() is inner
            raise KeyError
        assert current() is outer
    assert current().memory is None


def test_an_inner_context_adds_to_the_outer_one(tmp_path):
    heard = []
    with runtime("1MB", n_threads=1, progress=lambda event: heard.append(("outer", event.stage))) as outer:
        with runtime(scratch=tmp_path, progress=lambda event: heard.append(("inner", event.stage))) as inner:
            assert (inner.memory, inner.n_threads, inner.scratch) == (10**6, 1, tmp_path)
            report("stage")
        assert outer.scratch is None
    assert heard == [("outer", "stage"), ("inner", "stage")]


def test_half_of_what_is_free_is_the_default(monkeypatch):
    monkeypatch.setattr(config, "available_memory", lambda: 1000)
    assert current().memory_budget == 500
    monkeypatch.setattr(config, "available_memory", lambda: None)
    assert current().memory_budget == UNKNOWN_MEMORY


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"memory": "lots"}, "memory must be"),
        ({"scratch": "/absent/folder"}, "scratch must be a folder"),
        ({"n_threads": 0}, "n_threads must be"),
        ({"n_threads": True}, "n_threads must be"),
        ({"n_threads": 1.5}, "n_threads must be"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, words):
    with pytest.raises(ValueError, match=words), runtime(**settings):
        pass


# ---------------------------------------------------------------------- threads


def test_threads_without_a_runtime_have_that_of_the_main_thread():
    with runtime("1MB"):
        assert in_a_thread(budget) == 10**6
        assert Parallel(2, backend="threading")(delayed(budget)() for _ in range(4)) == [10**6] * 4
        with runtime("2MB"):
            assert in_a_thread(budget) == 2 * 10**6
    assert in_a_thread(budget) is None


def test_threads_of_ours_have_the_runtime_of_the_thread_that_starts_them():
    def nested():
        with runtime("3MB"), thread_pool(2) as pool, reader_thread("reader") as reader:
            return pool.submit(budget).result(), reader.submit(budget).result()

    with runtime("1MB"):
        assert in_a_thread(nested) == (3 * 10**6, 3 * 10**6)


def test_a_runtime_of_another_thread_is_its_own():
    start = Barrier(2)

    def inside(limit):
        with runtime(limit):
            start.wait(60)
            return budget(), in_a_thread(budget)

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(inside, limit).result for limit in ("1MB", "2MB")]
        assert [result() for result in both] == [(10**6, None), (2 * 10**6, None)]
    assert budget() is None


def test_asyncio_tasks_have_their_own():
    async def inside(limit):
        with runtime(limit):
            await asyncio.sleep(0)
            return budget(), await asyncio.to_thread(budget)

    async def both():
        return await asyncio.gather(inside("1MB"), inside("2MB"))

    assert asyncio.run(both()) == [(10**6, 10**6), (2 * 10**6, 2 * 10**6)]
    assert budget() is None


def test_a_limit_on_threads_holds_for_blas_and_for_threads_of_ours():
    with threadpool_limits(2, user_api="blas"):
        with runtime(n_threads=1):
            assert usable_threads() == in_a_thread(usable_threads) == 1
            with runtime(n_threads=8):
                assert usable_threads() == 1
        assert usable_threads() == 2


def test_threads_of_ours_have_the_context_of_numpy():
    with np.errstate(divide="raise"), thread_pool(1) as pool:
        assert pool.submit(np.geterr).result()["divide"] == np.geterr()["divide"]


# ---------------------------------------------------------------------- processes


def test_processes_of_pools_have_the_runtime_that_an_estimator_was_pickled_in():
    script = Path(__file__).with_name("fits_in_processes.py")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(": ") for line in done.stdout.splitlines())
    assert lines.pop("later") == "(9000000, None, None, ())"  # what a fork was made with
    pools = {"loky", "multiprocessing", "fork", "spawn", "forkserver", "executor", "older"}
    assert set(lines) == {*pools, "clone", "nested"}
    assert set(lines.values()) == {"(1000000, 1, None, ())"}


class State:
    def __getstate__(self):
        return vars(self)

    def __setstate__(self, state):
        vars(self).update(state)


class Estimator(RuntimeMixin, State):
    def __init__(self):
        self.alpha = 1.0

    def fit(self):
        with runtime_of_fit(self):
            return current()


def test_a_pickle_is_as_any_other_wherever_it_is_opened_but_in_a_worker():
    with runtime("1MB"):
        content = pickle.dumps(Estimator())
        assert vars(pickle.loads(content)) == {"alpha": 1.0}
    assert pickle.loads(content).fit() is current()
    assert b"inherited_runtime" not in pickle.dumps(Estimator())


def test_a_fit_has_one_runtime_from_its_beginning_to_its_end():
    with runtime("1MB") as run:
        assert in_a_thread(Estimator().fit) is run


def test_what_other_processes_get_has_no_listeners_and_no_checkpoint(tmp_path):
    with runtime("1MB", progress=print, checkpoint=tmp_path / "a", n_threads=1) as run:
        portable = pickle.loads(pickle.dumps(run.portable()))
    assert (portable.memory, portable.n_threads, portable.checkpoint, portable.listeners) == (10**6, 1, None, ())
    with activate(portable), runtime() as run:
        assert run.memory == 10**6
