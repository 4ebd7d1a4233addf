"""The command: ``eigenfeat demo | fit | predict | transform | report``."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line."""
    missing = [name for name in ("typer", "rich", "skops", "matplotlib") if find_spec(name) is None]
    if missing:
        sys.exit(f"The eigenfeat command needs {', '.join(missing)}: pip install 'eigenfeat[all]'")
    from eigenfeat.cli.app import app  # what it imports is there

    app()()
