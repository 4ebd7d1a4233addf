"""The limit on BLAS threads is a setting of the whole process: it survives fits in threads, failures included."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from eigenfeat import GEMFeatures
from eigenfeat._threads import blas_threads, one_blas_thread


def test_the_limit_lasts_from_the_first_to_the_last_inside():
    with threadpool_limits(2, user_api="blas"):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)  # left in another order than entered
        assert blas_threads() == 1
        second.__exit__(None, None, None)
        assert blas_threads() == 2


def test_the_limit_is_lifted_after_a_failure():
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            raise ZeroDivisionError
        assert blas_threads() == 2


def test_fits_in_threads_give_the_same_models_and_leave_the_pools_as_they_were():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 20)), rng.integers(3, size=2000)
    start = Barrier(8)

    def fit(n_fits):
        start.wait()
        return [GEMFeatures(3).fit(X, y).components_ for _ in range(n_fits)]

    with threadpool_limits(2, user_api="blas"):
        expected = GEMFeatures(3).fit(X, y).components_
        with ThreadPoolExecutor(8) as pool:
            found = [components for part in pool.map(fit, [2] * 8) for components in part]
        assert blas_threads() == 2
    for components in found:
        np.testing.assert_array_equal(components, expected)
