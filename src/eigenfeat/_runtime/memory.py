"""Memory that this process may use: of the machine, or of the container it runs in where that is less."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path("/")
"""Above ``proc`` and ``sys``, where Linux says how much memory there is."""

UNITS = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}

CGROUP_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
CGROUP_V2 = ("memory.max", "memory.current", "inactive_file")
"""Files of a control group with its limit and its use, and the line of ``memory.stat`` with its idle file cache."""


def available_memory(root: Path | None = None) -> int | None:
    """Return the bytes that may still be allocated, or None where the system does not say."""
    root = root or ROOT
    free = [limit - used for limit, used in _cgroup_limits(root)]
    free += [size for key, size in _meminfo(root).items() if key == "MemAvailable"]
    return max(0, min(free)) if free else None


def total_memory(root: Path | None = None) -> int | None:
    """Return the bytes that there are, used or not, or None where the system does not say."""
    root = root or ROOT
    sizes = [limit for limit, _ in _cgroup_limits(root)]
    sizes += [size for key, size in _meminfo(root).items() if key == "MemTotal"] or _physical_memory()
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


def _meminfo(root: Path) -> dict[str, int]:
    """Return the machine's sizes by name, none of them where there is no such file."""
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
        return {key: int(size.split()[0]) * 1024 for key, size in (line.split(":", 1) for line in lines)}
    except (OSError, ValueError, IndexError):
        return {}


def _physical_memory() -> list[int]:
    """Return what POSIX says of the machine, where there is no ``/proc``."""
    try:
        return [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):
        return []


def _cgroup_limits(root: Path) -> Iterator[tuple[int, int]]:
    """Yield limit and use of every control group that this process is in.

    The use leaves out the file cache that the kernel gives back on demand: a fit that has read a large file would
    otherwise seem to have filled its container.
    """
    for folder, (limit_file, usage_file, idle_cache) in _cgroup_folders(root):
        try:
            limit = int((folder / limit_file).read_text())  # "max" is no number
            usage = int((folder / usage_file).read_text())
        except (OSError, ValueError):
            continue
        yield limit, max(0, usage - _statistic(folder / "memory.stat", idle_cache))


def _cgroup_folders(root: Path) -> Iterator[tuple[Path, tuple[str, str, str]]]:
    """Yield the folders of this process's memory groups and of those around them, with the names of their files.

    A container may see the mount of its own group alone, under a path that is the host's: folders that are not there
    are harmless.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            mount, names = root / "sys/fs/cgroup/memory", CGROUP_V1
        elif number == "0" and not controllers:
            mount, names = root / "sys/fs/cgroup", CGROUP_V2
        else:
            continue
        folder = mount / path.lstrip("/")
        for each in (folder, *folder.parents):
            yield each, names
            if each == mount:
                break


def _statistic(path: Path, name: str) -> int:
    """Return one line of a ``memory.stat``, zero where it is not there."""
    try:
        lines = dict(line.split(maxsplit=1) for line in path.read_text().splitlines())
        return int(lines.get(name, 0))
    except (OSError, ValueError):
        return 0
