"""A fit that is killed goes on from its checkpoint and ends the same; one of another fit is refused by name."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eigenfeat.rows
from eigenfeat import FisherLDA, MultinomialLogit, OrientedPCA
from eigenfeat.rows.checkpoint import Checkpoint, steps_of

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 5))
Y = np.argmax(X[:, :3] + rng.normal(size=(1500, 3)), axis=1)


def written(path, rows=X, labels=Y):
    columns = {f"x{j}": rows[:, j] for j in range(rows.shape[1])}
    parquet.write_table(pa.table(columns | {"y": labels}), path, row_group_size=400)
    return path


@pytest.mark.parametrize("n_kills", [20])
def test_a_fit_killed_at_random_points_ends_as_if_it_had_not_been(tmp_path, n_kills):
    written(tmp_path / "rows.parquet")
    script = Path(__file__).with_name("killed_fits.py")
    done = subprocess.run([sys.executable, script, tmp_path, str(n_kills)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert int(lines[-1][0]) == n_kills
    assert [same for _, same in lines] == ["True"] * len(lines)
    assert not (tmp_path / "killed.checkpoint").exists()


def test_steps_are_not_repeated_and_steps_within_steps_are_one(tmp_path):
    calls = []

    def step(name, value):
        def compute():
            calls.append(name)
            return value

        return compute

    def outer(checkpoint):
        return checkpoint.remembered("outer", lambda: checkpoint.remembered("inner", step("inner", 1)) + 1)

    path = tmp_path / "a.checkpoint"
    for _ in range(2):
        checkpoint = Checkpoint(path)
        checkpoint.begin({"data": "x"})
        assert outer(checkpoint) == 2
        assert checkpoint.remembered("last", step("last", 7)) == 7
        checkpoint.close()
    assert calls == ["inner", "last"]
    assert steps_of(path) == ["outer", "last"]


def interrupted(path, model, source):
    """A checkpoint as a failure after the first pass leaves it."""

    class Stop(Exception):
        pass

    def stop(report):
        if report.done:
            raise Stop

    with pytest.raises(Stop), eigenfeat.rows.streaming("10kB", checkpoint=path, progress=stop, every=0.0):
        model.fit(source)
    assert path.exists()


def test_a_checkpoint_of_other_data_settings_or_estimators_is_refused_by_name(tmp_path):
    source = eigenfeat.rows.open(written(tmp_path / "a.parquet"), label="y")
    other = eigenfeat.rows.open(written(tmp_path / "b.parquet", X[:1000], Y[:1000]), label="y")
    path = tmp_path / "fit.checkpoint"
    interrupted(path, MultinomialLogit(1e-3), source)
    for model, rows, words in (
        (MultinomialLogit(1e-2), source, "of another settings: it has '.*0.001"),
        (FisherLDA(), source, "of another estimator: it has 'MultinomialLogit"),
        (MultinomialLogit(1e-3), other, "of another data: .*a.parquet"),
    ):
        with pytest.raises(ValueError, match=words), eigenfeat.rows.streaming("10kB", checkpoint=path):
            model.fit(rows)
    with eigenfeat.rows.streaming("10kB", checkpoint=path):
        found = MultinomialLogit(1e-3).fit(source)
    np.testing.assert_allclose(found.coef_, MultinomialLogit(1e-3).fit(X, Y).coef_, rtol=1e-9)
    assert not path.exists()


def test_a_file_that_breaks_off_is_named_and_leaves_the_checkpoint_intact(tmp_path):
    path, kept = tmp_path / "fit.checkpoint", written(tmp_path / "whole.parquet")
    source = eigenfeat.rows.open(kept, label="y")
    interrupted(path, MultinomialLogit(1e-3), source)
    before = steps_of(path)
    content = bytearray(kept.read_bytes())
    found = kept.stat()
    start = parquet.ParquetFile(kept).metadata.row_group(2).column(0).data_page_offset
    content[start : start + 60] = b"\xff" * 60
    kept.write_bytes(content)
    os.utime(kept, ns=(found.st_atime_ns, found.st_mtime_ns))
    damaged = pytest.raises(ValueError, match=r"whole\.parquet, row group 2")
    with damaged, eigenfeat.rows.streaming("10kB", checkpoint=path):
        MultinomialLogit(1e-3).fit(source)
    assert steps_of(path)[: len(before)] == before


def test_what_cannot_be_repeated_or_opened_is_refused(tmp_path):
    source = eigenfeat.rows.as_rows(X, Y)
    stream = eigenfeat.rows.open(lambda: iter([(X, Y)]))
    refused = pytest.raises(ValueError, match="must be repeatable: give random_state a number")
    with refused, eigenfeat.rows.streaming(checkpoint=tmp_path / "a"):
        OrientedPCA(random_state=None).fit(stream)
    absent = tmp_path / "no" / "a"
    with pytest.raises(ValueError, match="cannot be opened"), eigenfeat.rows.streaming(checkpoint=absent):
        pass
    (tmp_path / "text").write_text("not a database, but a text of some length that SQLite will not take for one" * 20)
    with pytest.raises(ValueError, match="cannot be opened"), eigenfeat.rows.streaming(checkpoint=tmp_path / "text"):
        FisherLDA().fit(source)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of files")
def test_a_checkpoint_is_its_users_alone(tmp_path):
    path = tmp_path / "open"
    with eigenfeat.rows.streaming(checkpoint=path):
        assert path.stat().st_mode & 0o777 == 0o600
        Path(tmp_path / "other").write_bytes(path.read_bytes())
    (tmp_path / "other").chmod(0o666)
    refused = pytest.raises(ValueError, match="others may write to it")
    with refused, eigenfeat.rows.streaming(checkpoint=tmp_path / "other"):
        pass
