"""Modules that have moved: importing one by its old name fails with the new one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder

MOVED = {
    "eigenfeat.data": "eigenfeat.rows (read_table, write_table, Table)",
    "eigenfeat.persistence": "eigenfeat.export (save and load are also names of eigenfeat itself)",
    "eigenfeat.features.expansion": "eigenfeat.rows (sources) and eigenfeat.stages (what is made of their rows)",
}


class _MovedFinder(MetaPathFinder):
    """Asked last, after every finder that could find the module."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: object = None) -> None:
        if fullname in MOVED:
            raise ModuleNotFoundError(f"{fullname} is gone: use {MOVED[fullname]}.", name=fullname)


def announce() -> None:
    """Make imports of the old names say the new ones."""
    sys.meta_path.append(_MovedFinder())
