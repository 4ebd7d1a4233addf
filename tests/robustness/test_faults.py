"""What goes wrong while a command writes: older outputs stay as they were, nothing lies around, a reason is given."""

import signal
import sys

import pytest
from sklearn.datasets import load_iris

from eigenfeat import FisherLDA, save
from eigenfeat.rows import write_table

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, limits and signals of Linux")

#: Every command that writes, and what it writes.
COMMANDS = {
    "fit": (["fit", "--force", "rows.csv", "-m", "FisherLDA", "-o", "model.skops"], "model.skops"),
    "predict": (["predict", "--force", "model.skops", "rows.csv", "-o", "predicted.csv"], "predicted.csv"),
    "transform to .csv": (["transform", "--force", "model.skops", "rows.csv", "-o", "features.csv"], "features.csv"),
    "transform to .npz": (["transform", "--force", "model.skops", "rows.csv", "-o", "features.npz"], "features.npz"),
    "transform to .parquet": (
        ["transform", "--force", "model.skops", "rows.csv", "-o", "features.parquet"],
        "features.parquet",
    ),
    "report": (["report", "--force", "model.skops", "-o", "page.html"], "page.html"),
}
every_command = pytest.mark.parametrize("command", COMMANDS)


@pytest.fixture
def folder(tmp_path):
    """Rows, a model, and an older output of every command."""
    X, y = load_iris(return_X_y=True)
    write_table(tmp_path / "rows.csv", dict(zip("abcd", X.T)) | {"label": y})
    save(FisherLDA().fit(X, y), tmp_path / "model.skops")
    for _, output in COMMANDS.values():
        if output != "model.skops":
            (tmp_path / output).write_text("older")
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@every_command
def test_a_full_disk(command, run, folder):
    before = contents(folder)
    status, printed = run(COMMANDS[command][0], "full_disk")
    assert status == 1 and "File too large" in printed and "Traceback" not in printed
    assert contents(folder) == before


@every_command
def test_a_request_to_end(command, run, folder):
    before = contents(folder)
    status, printed = run(COMMANDS[command][0], "ended_while_writing")
    assert status == 128 + signal.SIGTERM and "Traceback" not in printed
    assert contents(folder) == before


@every_command
def test_a_kill_and_the_next_run(command, run, folder):
    arguments, output = COMMANDS[command]
    before = contents(folder)
    assert run(arguments, "killed_before_the_rename")[0] == -signal.SIGKILL
    after = contents(folder)
    left = after.keys() - before.keys()
    assert {name: after[name] for name in before} == before
    assert all(name.startswith(f".{output}.") and name.endswith(".part") for name in left)
    status, printed = run(arguments)
    assert status == 0, printed
    assert contents(folder).keys() == after.keys() and contents(folder)[output] != b"older"


@every_command
def test_a_folder_that_takes_no_files(command, run, folder):
    before = contents(folder)
    *arguments, _ = COMMANDS[command][0]
    status, printed = run([*arguments, f"/sys/{COMMANDS[command][1]}"])
    assert status == 1 and "Traceback" not in printed and "/sys" in printed
    assert contents(folder) == before


@every_command
def test_outputs_are_looked_at_before_the_work(command, run, folder):
    arguments, output = COMMANDS[command]
    (folder / output).unlink()
    (folder / output).mkdir()
    status, printed = run(
        ["no such file" if word in ("rows.csv", "model.skops") else word for word in arguments[:-1]] + [output]
    )
    assert status == 1 and "is a folder, not a file" in printed


def test_a_demonstration_on_a_full_disk(run, folder):
    before = contents(folder)
    status, printed = run(["demo", "--force", "--output", "."], "full_disk")
    assert status == 1 and "File too large" in printed
    assert contents(folder) == before


PRINTING = [["predict", "model.skops", "rows.csv"], ["transform", "model.skops", "rows.csv"]]


@pytest.mark.parametrize("arguments", PRINTING, ids=lambda words: words[0])
@pytest.mark.parametrize("fault", ["closed_output", "full_output", "broken_pipe"])
def test_a_standard_output_that_takes_nothing(arguments, fault, run, folder):
    before = contents(folder)
    status, printed = run(arguments, fault)
    assert status == (128 + signal.SIGPIPE if fault == "broken_pipe" else 1)
    assert "Traceback" not in printed
    assert fault == "broken_pipe" or "error" in printed
    assert contents(folder) == before
