"""The command: ``eigenfeat fit | compare | predict | transform | report | explain | info | list | demo``."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from eigenfeat.cli.app import app

    app()()
