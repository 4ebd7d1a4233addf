"""The oldest versions that pyproject.toml admits, as pins for pip: what ``make test-oldest`` installs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

FLOOR = re.compile(r"^([A-Za-z0-9_.,\[\]-]+)>=([0-9.]+)$")


def pins() -> list[str]:
    """``name==floor`` of everything that the library, its extras and its tests need."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = project["dependencies"] + [
        line for name in extras if name not in ("benchmarks", "dev", "docs") for line in extras[name]
    ]
    found = [FLOOR.match(line) for line in needed if not line.startswith("eigenfeat[")]
    assert all(found), "every requirement must have the form name>=version"
    return sorted(f"{match[1]}=={match[2]}" for match in found if match is not None)


if __name__ == "__main__":
    print("\n".join(pins()))
