"""A time is kept within, whatever is fitted."""

import time

import numpy as np
import pyarrow as pa
import pytest

from eigenfeat._runtime.progress import report
from eigenfeat.cli.budget import Clock, TimeUp, cut_off, fitted_within, foreseen, rows_within
from eigenfeat.cli.data import Rows


class Slow:
    """A fit of so many seconds a row to a power, which tells its steps."""

    def __init__(self, seconds, power=1.0):
        self.seconds, self.power = seconds, power

    def fit(self, X, y):
        end = time.perf_counter() + self.seconds * len(X) ** self.power
        while time.perf_counter() < end:
            report("step")
            time.sleep(0.002)
        return self


def made(n):
    return Rows(pa.table({"x": np.arange(float(n))}), np.zeros(n), ("y",), "made")


def test_work_ends_at_its_first_step_after_the_time():
    start = time.perf_counter()
    with pytest.raises(TimeUp), cut_off(0.05):
        Slow(1.0).fit([0] * 100, None)
    assert time.perf_counter() - start < 1.0
    with cut_off(None):
        Slow(0.001).fit([0], None)


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_as_many_rows_as_time_allows(power):
    rows, start = made(100_000), time.perf_counter()
    done = fitted_within(lambda _: Slow(2e-4 if power == 1 else 2e-8, power), rows, 2.0, 0)
    assert time.perf_counter() - start < 2.3
    assert 1000 <= len(done.rows) < len(rows)


def test_all_rows_where_time_suffices_or_is_none():
    for seconds in (None, 20.0):
        assert len(fitted_within(lambda _: Slow(1e-8), made(5000), seconds, 0).rows) == 5000


def test_nothing_where_not_even_the_fewest_rows_can_be_fitted():
    start = time.perf_counter()
    assert fitted_within(lambda _: Slow(1.0), made(5000), 0.1, 0) is None
    assert time.perf_counter() - start < 1.0


def test_a_fit_that_is_longer_than_foretold_leaves_the_largest_that_ended():
    done = fitted_within(lambda rows: Slow(1e-6 if len(rows) < 5000 else 1.0), made(10_000), 0.5, 0)
    assert len(done.rows) == 4000


def test_time_grows_with_a_power_of_the_rows():
    assert rows_within([(1000, 1.0), (2000, 4.0)], 10**6, 16.0) == 4000
    assert rows_within([(1000, 1.0), (2000, 1.0)], 10**6, 4.0) == 8000
    assert rows_within([(1000, 1.0)], 3000, 100.0) == 3000
    assert rows_within([], 3000, 0.0) == 3000


def test_what_is_left_of_a_clock():
    assert Clock(None).left is None and Clock(None).share(0.5) is None
    assert 9 < Clock(10.0).left <= 10 and Clock(10.0).share(0.5) <= 5
    assert Clock(0.0).left == 0


def test_work_that_can_be_foreseen_is_done_on_fewer_rows():
    rows = made(5000)
    assert len(foreseen(lambda _: None, rows, None, 0)) == 5000
    assert 500 <= len(foreseen(lambda some: time.sleep(1e-4 * len(some)), rows, 0.1, 0)) < 2000
