"""Passes tell how far they are."""

import pytest

from eigenfeat.rows import progress
from eigenfeat.rows.progress import PassReport, Progress, Watcher


def test_a_pass_is_told_of_now_and_then_and_at_its_end(monkeypatch):
    times = iter([0.0, 0.5, 2.0, 2.2, 4.0])
    monkeypatch.setattr(progress, "perf_counter", lambda: next(times))
    told = []
    with Progress("moments", 100, Watcher.of(told.append)) as counted:
        for _ in range(3):
            counted.add(20)
    assert [(report.n_rows, report.done) for report in told] == [(40, False), (60, True)]
    assert told[0].rows_per_second == 20 and told[0].seconds_left == 3.0
    assert str(told[0]) == "moments: 40 of 100 rows, 20 rows/s, 3 s left"
    assert str(told[1]) == "moments: 60 rows, 15 rows/s, 4.0 s"


def test_a_pass_that_fails_is_not_told_to_be_done():
    told = []
    with pytest.raises(KeyError), Progress("moments", None, Watcher.of(told.append)):
        raise KeyError
    assert not told
    assert PassReport("a", 5, None, 1.0, False).seconds_left is None


def test_progress_on_a_terminal_is_for_people(capsys):
    with Progress("labels", 10, Watcher.of(True)) as counted:
        counted.add(10)
    assert capsys.readouterr().err.startswith("labels: 10 rows")
    with pytest.raises(ValueError, match="progress must be True, False or a function"):
        Watcher.of(3)
