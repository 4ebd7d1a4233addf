"""Random damage: a file is refused with a ValueError that names it, or what it gives can be used."""

import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(("seed", "count"), [(0, 150), pytest.param(1, 3000, marks=pytest.mark.slow)])
def test_damaged_files_never_break_the_process(seed, count, tmp_path):
    script = Path(__file__).with_name("fuzz_files.py")
    done = subprocess.run(
        [sys.executable, str(script), str(seed), str(count), str(tmp_path)], capture_output=True, text=True, timeout=900
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == count, f"{lines[-1:]}\n{done.stderr[-2000:]}"
    assert not [line for line in lines if "BAD" in line]
    assert sum("refused" in line for line in lines) > count / 4
    assert sum("works" in line for line in lines) > count / 10


def test_hundreds_of_hostile_files_are_refused_and_nothing_happens():
    script = Path(__file__).with_name("refused_files.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=250)
    found = re.search(r"^(\d+) of (\d+) files refused; run or written: nothing$", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    assert found[1] == found[2] and int(found[1]) >= 200
