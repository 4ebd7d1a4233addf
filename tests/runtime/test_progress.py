"""Stages and passes are reported to all who listen."""

import pytest

from eigenfeat._runtime import progress
from eigenfeat._runtime.config import runtime
from eigenfeat._runtime.progress import Event, Pass, counted, report, rows_counted


class Rows:
    def __init__(self, n_rows):
        self.n_rows = n_rows


def test_stages_are_heard_until_the_end_of_the_context():
    heard = []
    with runtime(progress=lambda event: heard.append(str(event))):
        assert list(counted([5, 6], "candidate")) == [5, 6]
        report("directions", note="best so far 3")
    report("nobody")
    assert heard == ["candidate 1 of 2", "candidate 2 of 2", "directions (best so far 3)"]


def test_a_pass_is_reported_now_and_then_and_at_its_end(monkeypatch):
    times = iter([0.0, 0.5, 2.0, 2.2, 4.0])
    monkeypatch.setattr(progress, "perf_counter", lambda: next(times))
    heard = []
    with runtime(progress=heard.append), Pass("moments", 100) as counter:
        for _ in range(3):
            counter.add(20)
    assert [(event.done, event.finished) for event in heard] == [(40, False), (60, True)]
    assert str(heard[0]) == "moments: 40 of 100 rows, 20 rows/s, 3 s left"
    assert str(heard[1]) == "moments: 60 rows, 15 rows/s, 4.0 s"


def test_a_pass_that_fails_has_not_ended():
    with runtime() as run:
        with pytest.raises(KeyError), Pass("moments", None):
            raise KeyError
        blocks = rows_counted([Rows(3), Rows(4)], "moments", 7)
        next(blocks)
        blocks.close()
        assert run.passes == []
        assert [block.n_rows for block in rows_counted([Rows(3), Rows(4)], "moments", 7)] == [3, 4]
    assert [(event.stage, event.done, event.total) for event in run.passes] == [("moments", 7, 7)]
    assert str(Event("a", 5, None, seconds=1.0)) == "a: 5 rows, 5 rows/s, 1.0 s"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_printed_progress_is_a_line_that_moves_or_a_line_a_pass(capsys, monkeypatch, is_terminal):
    with runtime(progress=True):
        monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
        report("directions")
        with Pass("labels", 10) as counter:
            counter.add(10)
    printed = capsys.readouterr().err
    assert printed.startswith("\r\033[Kdirections\r\033[Klabels: 10 rows" if is_terminal else "labels: 10 rows")
    assert printed.endswith("s\n")


def test_what_is_no_listener_is_refused():
    with pytest.raises(ValueError, match="progress must be True, False or a function"), runtime(progress=3):
        pass


def test_an_error_of_a_listener_ends_what_reports():
    def stop(event):
        raise TimeoutError(event.stage)

    with pytest.raises(TimeoutError, match="directions"), runtime(progress=stop):
        report("directions")
