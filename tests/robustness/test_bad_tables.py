"""Commands given tables that are none: a result or a reason, never a trace-back."""

import random
import sys

import pytest
from bad_tables import write_bad_tables
from sklearn.datasets import load_iris

from eigenfeat import FisherLDA, save

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks of Linux")
COMMANDS = {
    "fit": ["fit", "TABLE", "-m", "FisherLDA", "--label", "label", "-o", "model.skops"],
    "predict": ["predict", "known.skops", "TABLE", "-o", "out.csv"],
}


@pytest.fixture
def tables(tmp_path):
    X, y = load_iris(return_X_y=True)
    save(FisherLDA().fit(X, y), tmp_path / "known.skops")
    return write_bad_tables(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("count", [12, pytest.param(None, marks=pytest.mark.slow)], ids=["a sample", "all"])
def test_tables_that_are_none(count, command, tables, run):
    bad = {}
    for table in random.Random(18).sample(tables, count or len(tables)):
        status, printed = run([word.replace("TABLE", table.name) for word in COMMANDS[command]])
        spoke = status == 0 or (status == 1 and "error" in printed)
        if not spoke or "Traceback" in printed:
            bad[table.name] = (status, printed[-300:])
    assert not bad
