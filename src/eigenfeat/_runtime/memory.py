"""Memory that this process may use: of the machine, or of the container it runs in where that is less."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path("/")
"""Above ``proc`` and ``sys``, where Linux says how much memory there is."""

UNITS = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}

CGROUPS = {
    "": ("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    "memory": ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""Where control groups of version 2 (whose line in ``/proc/self/cgroup`` names no controller) and 1 are mounted, their
files with limit and use, and the line of their ``memory.stat`` with the idle file cache."""


def available_memory(root: Path | None = None) -> int | None:
    """Return the bytes that may still be allocated, or None where the system does not say."""
    return min((max(0, size - used) for size, used in _sizes(root or ROOT)), default=None)


def total_memory(root: Path | None = None) -> int | None:
    """Return the bytes that there are, used or not, or None where the system does not say."""
    sizes = [size for size, _ in _sizes(root or ROOT)]
    with suppress(AttributeError, ValueError, OSError):  # what POSIX says where there is no /proc
        sizes = sizes or [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    return min(sizes, default=None)


def parse_bytes(given: Any) -> int:
    """Return a number of bytes, or text such as "500 MB", as an integer.

    Examples
    --------
    >>> parse_bytes("1.5GB"), parse_bytes("2 KiB"), parse_bytes(100)
    (1500000000, 2048, 100)
    """
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([kKMGT]?i?)B?\s*", str(given))
    if match is None or match[2] not in UNITS or not float(match[1]) > 0:
        raise ValueError(f'memory must be a number of bytes, or text such as "500MB" or "2GB"; got {given!r}.')
    return int(float(match[1]) * UNITS[match[2]])


def _sizes(root: Path) -> Iterator[tuple[int, int]]:
    """Yield size and use of the machine's memory and of every control group that this process is in, or one around it.

    The use of a group leaves out the file cache that the kernel gives back on demand: a fit that has read a large file
    would otherwise seem to have filled its container. A container may see the mount of its own group alone, under a
    path that is the host's: folders that are not there are harmless.
    """
    machine = _numbers(root / "proc/meminfo")
    if "MemAvailable" in machine:
        yield 1024 * machine["MemTotal"], 1024 * (machine["MemTotal"] - machine["MemAvailable"])
    for controller, (mount, limit, use, idle_cache) in CGROUPS.items():
        for path in re.findall(rf"^\d+:{controller}:/(.*)$", _text(root / "proc/self/cgroup"), re.MULTILINE):
            for group in (PurePosixPath(path), *PurePosixPath(path).parents):
                folder = root / mount / group
                with suppress(ValueError):  # no such file, or "max"
                    size, used = int(_text(folder / limit)), int(_text(folder / use))
                    yield size, max(0, used - _numbers(folder / "memory.stat").get(idle_cache, 0))


def _numbers(path: Path) -> dict[str, int]:
    """Return the numbers of a file by the words before them."""
    return {name: int(number) for name, number in re.findall(r"^(\w+):?\s+(\d+)", _text(path), re.MULTILINE)}


def _text(path: Path) -> str:
    """Return the text of a file, none where it is not there."""
    try:
        return path.read_text()
    except OSError:
        return ""
