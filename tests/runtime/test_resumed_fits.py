"""A fit that is killed goes on from its checkpoint and ends the same; a checkpoint of another fit is refused."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import eigenfeat
import eigenfeat.rows
from eigenfeat import FisherLDA, MultinomialLogit, OrientedPCA

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 5))
Y = np.argmax(X[:, :3] + rng.normal(size=(1500, 3)), axis=1)


def written(path, rows=X, labels=Y):
    columns = {f"x{j}": rows[:, j] for j in range(rows.shape[1])}
    parquet.write_table(pa.table(columns | {"y": labels, "t": rows[:, 0] ** 2}), path, row_group_size=400)
    return path


def opened(path):
    return eigenfeat.rows.open(path, label="y", columns=[f"x{j}" for j in range(5)])


@pytest.mark.parametrize("model", ["layers", "search", "smoothing", "moments", "kernel", "targets", "epochs"])
def test_a_fit_killed_at_ten_random_points_ends_with_the_same_bits(tmp_path, model):
    written(tmp_path / "rows.parquet")
    command = [sys.executable, Path(__file__).with_name("killed_fits.py"), tmp_path, model, "10"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    bits, made = done.stdout.splitlines()
    assert bits == "True True"
    assert made.startswith("True"), "a resumed fit makes steps that an uninterrupted one does not"
    assert not (tmp_path / f"{model}.checkpoint").exists()


class Stop(Exception):
    pass


def interrupted(path, model, source):
    """A checkpoint as a failure after the first pass leaves it."""

    def stop(event):
        if event.finished:
            raise Stop

    with pytest.raises(Stop), eigenfeat.runtime("10kB", checkpoint=path, progress=stop):
        model.fit(source)
    assert path.exists()


def test_a_checkpoint_of_other_data_settings_or_estimators_is_refused_by_name(tmp_path):
    source = opened(written(tmp_path / "a.parquet"))
    other = opened(written(tmp_path / "b.parquet", X[:1000], Y[:1000]))
    path = tmp_path / "fit.checkpoint"
    interrupted(path, MultinomialLogit(1e-3), source)
    for model, rows, words in (
        (MultinomialLogit(1e-2), source, "of another settings: it has '.*0.001"),
        (FisherLDA(), source, "of another estimator: it has 'MultinomialLogit"),
        (MultinomialLogit(1e-3), other, "of another data: .*a.parquet"),
    ):
        with pytest.raises(ValueError, match=words), eigenfeat.runtime("10kB", checkpoint=path):
            model.fit(rows)
    with eigenfeat.runtime("10kB", checkpoint=path):
        model = MultinomialLogit(1e-3).fit(source)
    np.testing.assert_allclose(model.coef_, MultinomialLogit(1e-3).fit(X, Y).coef_, rtol=1e-9)
    assert not path.exists()


def test_a_file_that_breaks_off_is_named_and_leaves_the_checkpoint_intact(tmp_path):
    path, data = tmp_path / "fit.checkpoint", written(tmp_path / "whole.parquet")
    source = opened(data)
    interrupted(path, MultinomialLogit(1e-3), source)
    before = set(path.iterdir())
    content, status = bytearray(data.read_bytes()), data.stat()
    start = parquet.ParquetFile(data).metadata.row_group(2).column(0).data_page_offset
    content[start : start + 60] = b"\xff" * 60
    data.write_bytes(content)
    os.utime(data, ns=(status.st_atime_ns, status.st_mtime_ns))
    damaged = pytest.raises(ValueError, match=r"whole\.parquet, row group 2")
    with damaged, eigenfeat.runtime("10kB", checkpoint=path):
        MultinomialLogit(1e-3).fit(source)
    assert before <= set(path.iterdir())


def test_a_fit_that_cannot_be_repeated_is_refused(tmp_path):
    stream = eigenfeat.rows.open(lambda: iter([(X, Y)]))
    refused = pytest.raises(ValueError, match="must be repeatable: give random_state a number")
    with refused, eigenfeat.runtime(checkpoint=tmp_path / "a"):
        OrientedPCA(random_state=None).fit(stream)
