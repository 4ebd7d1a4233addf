"""Commands in forks of one process that has imported everything."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def server():
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).parent / "command_with_faults.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
    )
    yield process
    process.stdin.close()
    process.wait(timeout=60)


@pytest.fixture
def run(server, tmp_path):
    """Runs a command in the folder of the test, with a fault where one is named: status and what was printed."""

    def run(arguments, fault="nothing"):
        request = {"arguments": arguments, "folder": str(tmp_path), "fault": fault}
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())

    return run
