"""Predictions as rows are read: whatever happens, a whole file or the old one."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from messy import write_messy

from eigenfeat import FisherLDA, make_tabular, save
from eigenfeat.cli.data import Reading
from eigenfeat.cli.predicting import run_predict, run_transform
from eigenfeat.cli.talk import Talk
from eigenfeat.rows.readers.sources import open_source


@pytest.fixture
def model(tmp_path):
    y = write_messy(tmp_path / "train.csv")
    X = open_source(tmp_path / "train.csv").read().drop_columns(["outcome"])
    fitted = make_tabular(FisherLDA(ridge=1e-6)).fit(X, y)
    save(fitted, tmp_path / "model.skops")
    return fitted


def test_the_id_goes_with_the_answer(model, tmp_path):
    y = write_messy(tmp_path / "new.csv", 150, seed=1, delimiter="|")
    talk = Talk(quiet=True)
    out = tmp_path / "out.csv"
    run_predict(tmp_path / "model.skops", str(tmp_path / "new.csv"), Reading(("outcome",)), [], True, out, talk)
    table = open_source(out).read()
    assert table.column_names == ["customer_id", "prediction", "p(buys)", "p(leaves)"]
    assert table.column("customer_id")[0].as_py() == "C100000"
    assert talk.facts["result"]["error"] == pytest.approx(np.mean(table.column("prediction").to_numpy() != y))
    run_transform(
        tmp_path / "model.skops", str(tmp_path / "new.csv"), Reading(), ["city"], tmp_path / "f.parquet", talk
    )
    assert open_source(tmp_path / "f.parquet").names == ["city", "customer_id", "fisherlda0"]


@pytest.mark.parametrize(
    ("command", "how"), [("predict", signal.SIGTERM), ("transform", signal.SIGKILL)], ids=["ended", "killed"]
)
def test_a_killed_command_leaves_the_old_file(command, how, model, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    header, *rows = (tmp_path / "train.csv").read_bytes().splitlines(keepends=True)
    arguments = [sys.executable, "-m", "eigenfeat.cli", command, str(tmp_path / "model.skops"), "-", "-o", str(out)]
    process = subprocess.Popen([*arguments, "--force"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process.stdin.write(header + b"".join(rows) * 40)
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not [name for name in os.listdir(tmp_path) if name.endswith(".part")]:
        time.sleep(0.05)
    process.send_signal(how)
    process.wait(timeout=60)
    process.stdin.close()
    assert process.returncode != 0
    assert out.read_text() == "old"
