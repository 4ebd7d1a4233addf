"""The command: ``eigenfeat fit | compare | predict | transform | report | explain | info | list | demo``."""

from __future__ import annotations

import atexit
import gc
import signal
import sys

RARELY = (100_000, 50, 50)
"""Objects after which cycles are looked for: imports make hundreds of thousands, and hardly a cycle."""


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # unfinished files are then deleted
    gc.set_threshold(*RARELY)
    atexit.register(gc.freeze)  # a process that ends need not look through all its modules for cycles: that took 0.8 s
    from eigenfeat.cli.app import app

    app()()
