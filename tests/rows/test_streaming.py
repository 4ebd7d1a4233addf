"""Settings of passes: in force within their context, and for nobody else."""

from importlib import import_module

import numpy as np
import pytest

import eigenfeat.rows
from eigenfeat import FisherLDA
from eigenfeat.rows.streaming import DEFAULT_LIMIT, as_bytes, current

X = np.random.default_rng(0).normal(size=(200, 3))


def test_settings_end_with_their_context():
    assert current().memory_limit is None and current().budget > 0
    with eigenfeat.rows.streaming("1MB") as outer:
        assert current() is outer and outer.budget == 10**6
        with eigenfeat.rows.streaming(5000) as inner:
            assert current() is inner
        assert current() is outer
    assert current().memory_limit is None


def test_half_of_what_is_free_is_the_default(monkeypatch):
    module = import_module("eigenfeat.rows.streaming")  # the folder's name is that of the context
    monkeypatch.setattr(module, "available_bytes", lambda: 1000)
    assert current().budget == 500
    monkeypatch.setattr(module, "available_bytes", lambda: None)
    assert current().budget == DEFAULT_LIMIT


def test_passes_are_recorded_and_told():
    told = []
    source = eigenfeat.rows.open(lambda: iter([(X, X[:, 0] > 0)]))
    with eigenfeat.rows.streaming(progress=told.append) as run:
        FisherLDA().fit(source)
    assert [report.name for report in run.passes] == [report.name for report in told if report.done] == ["moments"]


@pytest.mark.parametrize("given", ["lots", "1 XB", -5, 0, "GB"])
def test_limits_that_are_no_bytes_are_refused(given):
    with pytest.raises(ValueError, match="memory_limit must be bytes"):
        as_bytes(given)
