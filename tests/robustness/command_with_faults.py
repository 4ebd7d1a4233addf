"""Runs commands that come in as lines of JSON, each in a fork of this process, in which something goes wrong.

A fork starts with everything imported: a command takes as long as its work, not as long as its imports.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import traceback
from typing import Any


def killed_before_the_rename() -> None:
    os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)


def ended_while_writing() -> None:
    os.fsync = lambda _: os.kill(os.getpid(), signal.SIGTERM)


def full_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))


def closed_output() -> None:
    os.close(1)
    sys.stdout = None  # type: ignore[assignment]


def broken_pipe() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    os.dup2(writes, 1)


def full_output() -> None:
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


def nothing() -> None:
    pass


FAULTS = {
    fault.__name__: fault
    for fault in (
        killed_before_the_rename,
        ended_while_writing,
        full_disk,
        closed_output,
        broken_pipe,
        full_output,
        nothing,
    )
}


def run(request: dict[str, Any]) -> tuple[int, str]:
    """The exit status of a command, negative where a signal ended it, and what it prints."""
    reads, printed = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.chdir(request["folder"])
            os.dup2(printed, 1)
            os.dup2(printed, 2)
            sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
            FAULTS[request["fault"]]()
            sys.argv = ["eigenfeat", *request["arguments"]]
            main()
            status = 0
        except SystemExit as ending:
            status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                try:
                    if stream is not None:
                        stream.flush()
                except OSError:
                    status = 120  # as the interpreter ends where it cannot write what is left
            os._exit(status)
    os.close(printed)
    with open(reads) as stream:
        words = stream.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), words


if __name__ == "__main__":
    import tempfile

    from sklearn.datasets import load_iris

    import eigenfeat.cli.app  # noqa: F401
    from eigenfeat import FisherLDA, load, save
    from eigenfeat.cli import main
    from eigenfeat.report import render

    X, y = load_iris(return_X_y=True)
    with tempfile.TemporaryDirectory() as folder:  # compiled, drawn and imported once, not in every fork
        render(load(save(FisherLDA().fit(X, y), f"{folder}/model.skops")), X, y)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)
