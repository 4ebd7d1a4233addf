"""What passes need is kept where it is cheapest, and within the limit."""

import subprocess
import sys

import pytest
from kept_stream import N, Stream

import eigenfeat
import eigenfeat.rows
from eigenfeat.rows.keeping import Candidate, Kept, choose, choose_elsewhere, kept


@pytest.mark.parametrize(
    ("limit", "seconds", "where"), [("1MB", 0.01, "memory"), ("1kB", 0.01, "scratch"), ("1kB", 0.0, "source")]
)
def test_the_choice_is_the_cheapest_that_fits(limit, seconds, where, monkeypatch):
    if where == "source":  # as quick to make as can be: a disk is slower
        monkeypatch.setattr("eigenfeat.rows.keeping.DISK_SPEED", 1e3)
    with eigenfeat.runtime(limit):
        place, choice = choose([Candidate("rows", Stream(seconds))], N)
    assert (place, choice.where, choice.n_bytes) == (0, where, N * 44)
    source = Stream()
    assert (kept(source, choice, N) is source) == (where == "source")


def test_of_two_the_one_that_takes_less_time_to_use_is_kept():
    slow, quick = Candidate("inputs", Stream(0.001), 1.0), Candidate("projections", Stream(0.001), 0.0)
    with eigenfeat.runtime("1MB"):
        place, choice = choose([slow, quick], N)
    assert (place, choice) == (1, Kept("projections", "memory", N * 44, choice.seconds_a_pass, choice.reason))


@pytest.mark.parametrize(
    ("n_rows", "memory", "seconds_a_row", "what"),
    [
        (10_000, 1e9, 1e-8, "projections"),  # twenty passes: 2e-7 s a row, and 44 bytes are written in 1e-7 s
        (1_000_000, 1e9, 1e-8, "inputs"),  # six passes, for a sample shows the way
        (1_000_000, 1e9, 1e-7, "projections"),
        (1_000_000, 2e8, 1e-7, "inputs"),  # no room
    ],
)
def test_workers_keep_what_costs_least_and_has_room(n_rows, memory, seconds_a_row, what):
    stream = Stream()
    stream.memory = memory
    candidates = [Candidate("inputs", stream, seconds_a_row), Candidate("projections", Stream())]
    place, choice = choose_elsewhere(candidates, n_rows)
    assert (choice.what, choice.where, choice.n_bytes) == (what, "workers", n_rows * 44)
    assert candidates[place].what == what


def test_what_passes_take_beside_is_no_room_for_rows():
    with eigenfeat.runtime("1MB"):
        _, choice = choose([Candidate("rows", Stream(0.01))], N, beside=1_000_000)
    assert choice.where == "scratch"


LIMITED = """
import resource, sys
import numpy as np
import eigenfeat.rows
from eigenfeat import GEMClassifier
N, D = 160_000, 60
def batches():
    rng = np.random.default_rng(0)
    for _ in range(N // 20_000):
        y = rng.integers(0, 3, 20_000)
        X = rng.standard_normal((20_000, D), dtype=np.float32)
        X[:, 0] *= 1 + y
        yield X, y
model = GEMClassifier(2, feature_map="soft-cubic", ridge=0.3, alpha=1e-3, base_map=None, label_smoothing=0.2)
warm = np.random.default_rng(1).normal(size=(3000, D)).astype(np.float32)
model.fit(warm, np.arange(3000) % 3)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with eigenfeat.runtime("20MB") as run:
    model.fit(eigenfeat.rows.open(batches))
print(model.kept_.where, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, sum(p.done for p in run.passes))
"""


def test_the_memory_of_a_streamed_fit_keeps_to_its_budget():
    """160,000 rows of 60 float32 columns are 38 MB; a limit of 20 beside the blocks."""
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    where, grown, n_rows = done.stdout.split()
    assert where in ("scratch", "source") and int(n_rows) > 5 * 160_000
    blocks = 64e6 + 3 * 16e6 + 32e6  # expanded rows, blocks read ahead, rows of a sample
    assert int(grown) * 1024 < 20e6 + blocks
