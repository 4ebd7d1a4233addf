"""What many passes read is kept in memory if it fits, else on disk if it fits; models do not depend on where."""

import subprocess
import sys

import numpy as np
import pytest

import eigenfeat
import eigenfeat.rows
from eigenfeat.rows import Block, Rows
from eigenfeat.rows.cache import CachedRows, cache_at, decide

rng = np.random.default_rng(0)
N = 500
X, Y, W = rng.normal(size=(N, 4)), rng.integers(0, 3, N), rng.exponential(size=N)


class Stream(Rows):
    """A stream whose passes are counted."""

    n_columns, dtype, n_passes = 4, np.dtype(np.float64), 0

    def blocks(self, batch_size=None):
        self.n_passes += 1
        for start in range(0, N, 90):
            part = slice(start, min(start + 90, N))
            yield Block(X[part], Y[part], W[part], start=start)


@pytest.mark.parametrize(
    ("limit", "free", "where"), [("1MB", 1e9, "memory"), ("1kB", 1e9, "disk"), ("1kB", 0, "source")]
)
def test_rows_are_where_they_fit(limit, free, where, monkeypatch):
    usage = type("Usage", (), {"free": free})
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    source = Stream()
    with eigenfeat.runtime(limit):
        decision = decide(source, N)
        rows = source.cache()
    assert decision.where == where and decision.n_bytes == N * (4 * 8 + 24)
    assert (rows is source) == (where == "source")
    n_passes = source.n_passes
    for size in (64, None):
        blocks = list(rows.blocks(size))
        for name, expected in (("X", X), ("y", Y), ("weight", W)):
            assert np.array_equal(np.concatenate([getattr(block, name) for block in blocks]), expected)
    assert source.n_passes == n_passes + 2 * (where == "source")


def test_blocks_do_not_depend_on_where_rows_are():
    with eigenfeat.runtime("1MB"):
        in_memory = decide(Stream(), N)
    with eigenfeat.runtime("1kB"):
        on_disk = decide(Stream(), N)
        both = [cache_at(Stream(), N, decision) for decision in (in_memory, on_disk)]
        one, other = ([block.n_rows for block in rows.blocks()] for rows in both)
    assert one == other


def test_what_passes_take_beside_is_no_room_for_rows():
    with eigenfeat.runtime("1MB"):
        assert decide(Stream(), N, reserved=1_000_000).where == "disk"


def test_a_source_that_changed_is_refused():
    with eigenfeat.runtime("1MB"), pytest.raises(ValueError, match="had 501 rows and has 500 now"):
        CachedRows(Stream(), N + 1, decide(Stream(), N))


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
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(model.cache_.where, grown, sum(p.done for p in run.passes))
"""


def test_the_memory_of_a_streamed_fit_keeps_to_its_budget():
    """160,000 rows of 60 float32 columns are 38 MB; a limit of 20 beside the blocks."""
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    where, grown, n_rows = done.stdout.split()
    assert where in ("disk", "source") and int(n_rows) > 5 * 160_000
    blocks = 64e6 + 3 * 16e6 + 32e6  # expanded rows, blocks read ahead, rows of a sample
    assert int(grown) * 1024 < 20e6 + blocks
