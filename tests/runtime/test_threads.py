"""The limit on BLAS threads is a setting of the whole process: it survives fits in threads, failures included."""

import warnings
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Barrier, Event, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from eigenfeat import FisherLDA, GEMFeatures, KernelFisherClassifier
from eigenfeat._runtime.threads import (
    SKINNY,
    _libraries,
    limit_blas_for_skinny,
    limit_blas_off_main,
    one_blas_thread,
    thread_pool,
    usable_threads,
)
from eigenfeat.linear import logit
from eigenfeat.linear.damped_gram import DampedGram
from eigenfeat.rows import as_rows

#: Where a fit takes a few hundredths of a second: what a stall would take is minutes.
PATIENCE = 120


def pool_sizes():
    """How many threads every BLAS library would use now."""
    return {library.get_num_threads() for library in _libraries()}


def in_a_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(timeout=PATIENCE)


def test_the_limit_lasts_from_the_first_to_the_last_inside():
    with threadpool_limits(2, user_api="blas"):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)  # left in another order than entered
        assert pool_sizes() == {1}
        second.__exit__(None, None, None)
        assert pool_sizes() == {2}


def test_the_limit_is_lifted_after_a_failure():
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            raise ZeroDivisionError
        assert pool_sizes() == {2}


def test_any_thread_may_set_and_lift_the_limit_whoever_set_one_before():
    entered, leave, left = Event(), Event(), Event()

    def stay():
        with one_blas_thread():
            entered.set()
            leave.wait(PATIENCE)
        left.set()

    with threadpool_limits(2, user_api="blas"):  # by the main thread, which threadpoolctl heeds from now on
        thread = Thread(target=stay)
        thread.start()
        assert entered.wait(PATIENCE)
        assert pool_sizes() == {1}
        with one_blas_thread():
            leave.set()
            assert left.wait(PATIENCE)
            assert pool_sizes() == {1}
        assert pool_sizes() == {2}
        thread.join()


def test_a_neighbours_limit_takes_no_threads_away():
    with threadpool_limits(2, user_api="blas"), one_blas_thread():
        assert usable_threads() == 1
        assert in_a_thread(usable_threads) == 2  # for threads of its own, with a BLAS of one each
        with thread_pool(1) as pool:
            assert pool.submit(usable_threads).result() == 1
    assert in_a_thread(usable_threads) == max(pool_sizes(), default=1)


def test_only_the_main_thread_uses_the_threads_of_blas():
    def inside():
        with limit_blas_off_main():
            return pool_sizes()

    with threadpool_limits(2, user_api="blas"):
        assert inside() == {2}
        assert in_a_thread(inside) == {1}
        assert pool_sizes() == {2}


rng = np.random.default_rng(0)
y = rng.integers(3, size=1500)
X = rng.normal(size=(1500, 60)) + 0.5 * np.eye(60)[y]


@pytest.mark.parametrize(
    "make, n_fits",
    [(lambda: GEMFeatures(3), 50), (FisherLDA, 50), (lambda: KernelFisherClassifier(n_centers=100), 8)],
    ids=["GEMFeatures", "FisherLDA", "KernelFisherClassifier"],
)
def test_fits_in_threads_give_the_same_models_and_leave_the_pools_as_they_were(make, n_fits, monkeypatch):
    """Eight threads that start together. What stalled was BLAS with threads of its own, called from many: none may."""
    start, seen, eigh = Barrier(8), set(), np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda *args, **more: (seen.update(pool_sizes()), eigh(*args, **more))[1])

    def answers(model):
        return model.fit(X, y).decision_function(X) if hasattr(model, "predict") else model.fit(X, y).transform(X)

    def fit(number):
        if number < 8:
            start.wait(PATIENCE)
        return answers(make())

    with warnings.catch_warnings(), threadpool_limits(2, user_api="blas"):
        warnings.simplefilter("ignore")
        before = threadpool_info()
        in_main_thread = answers(make())
        seen.clear()
        alone = in_a_thread(lambda: answers(make()))
        with ThreadPoolExecutor(8) as pool:
            fits = [pool.submit(fit, number) for number in range(n_fits)]
            assert not wait(fits, timeout=PATIENCE).not_done, "fits in threads do not end"
        assert threadpool_info() == before
    assert seen <= {1}
    for each in fits:
        np.testing.assert_array_equal(each.result(), alone)
    np.testing.assert_allclose(in_main_thread, alone, rtol=1e-7, atol=1e-9 * np.abs(alone).max())


def test_thin_products_leave_the_cores_to_threads_of_ours():
    def inside(n_columns):
        with limit_blas_for_skinny(n_columns):
            return pool_sizes(), usable_threads()

    with threadpool_limits(2, user_api="blas"):
        assert in_a_thread(lambda: inside(SKINNY)) == ({1}, 2)
        assert in_a_thread(lambda: inside(SKINNY + 1)) == ({2}, 2)
        assert pool_sizes() == {2}


def test_blas_rests_between_the_passes_of_a_fit_and_not_where_a_preconditioner_is_factored(monkeypatch):
    seen = {"damped": set(), "solve": set()}

    def told(name, function):
        def run(*arguments):
            seen[name] |= pool_sizes()
            return function(*arguments)

        return run

    for name in seen:
        monkeypatch.setattr(DampedGram, name, told(name, getattr(DampedGram, name)))
    monkeypatch.setattr(logit, "FEW_NUMBERS", 0)
    rng = np.random.default_rng(0)
    rows = as_rows(rng.normal(size=(500, 8)), y=rng.integers(0, 3, 500))
    with threadpool_limits(2, user_api="blas"):
        assert logit.LogitSolver(rows, n_classes=3, solver="gram").fit(1e-3, tol=1e-9).converged
    assert seen == {"damped": {2}, "solve": {1}}
