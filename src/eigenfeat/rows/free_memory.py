"""How much memory may still be used."""

from __future__ import annotations

from pathlib import Path

#: Where Linux says how much memory may still be used, and where a container's limit and use are.
MEMINFO = Path("/proc/meminfo")
CONTAINER = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current"))


def available_bytes() -> int | None:
    """What may still be allocated: of the machine, or of the container where that is less; None where nobody says."""
    found = [number for number in (_of_machine(), _of_container()) if number is not None]
    return min(found, default=None)


def _of_machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in MEMINFO.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _of_container() -> int | None:
    try:
        limit, used = (path.read_text().strip() for path in CONTAINER)
        return None if limit == "max" else max(0, int(limit) - int(used))
    except (OSError, ValueError):
        return None
