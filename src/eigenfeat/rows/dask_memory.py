"""Memory of a worker while it sums over rows: what one array leaves, the next one takes.

Dask starts workers with ``MALLOC_TRIM_THRESHOLD_=65536``, so that what they have freed goes back to the system. With
glibc that also fixes the size from which on an array is mapped by itself, and the pages of every array that a sum makes
and drops again are then asked for, cleared and given back, thousands of times a pass, which may take as long as the
sums. So the memory of arrays that are made while a statistic is updated or merged is kept for the next ones, up to a
bound; all other arrays, blocks of rows above all, go back as Dask means them to.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from threading import Lock
from typing import Any

#: Parameters of ``mallopt`` (malloc.h).
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
#: Bytes of an array up to which its memory is kept: the most that glibc takes.
KEPT_ARRAY = 2**25
#: Free bytes that a thread keeps at most, also after it. Assumed: several times what sums over a part of a block make.
KEPT_FREE = 2**26
#: Bytes of an array from which on glibc maps it by itself, where nobody says otherwise.
MAPPED_ARRAY = 2**17


class _KeptMemory:
    """One setting for the whole process: the first task that asks for it sets it, the last that leaves sets it back."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                _keep(KEPT_ARRAY)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                _keep(_given("MALLOC_MMAP_THRESHOLD_", MAPPED_ARRAY))


kept_memory = _KeptMemory()
"""A context in which the memory of arrays that are dropped is kept for others; for any number of threads."""


def _keep(largest_array: int) -> None:
    """From now on, of arrays up to a size; nothing where nobody has told glibc to give back more than it does."""
    library = _library()
    if library is not None and _given("MALLOC_TRIM_THRESHOLD_", KEPT_FREE) < KEPT_FREE:
        library.mallopt(TRIM_THRESHOLD, KEPT_FREE)
        library.mallopt(MMAP_THRESHOLD, largest_array)


def _given(name: str, otherwise: int) -> int:
    """A size in the environment, where glibc looks for it when a process starts."""
    value = os.environ.get(name, "")
    return int(value) if value.isdecimal() else otherwise


@cache
def _library() -> Any:
    """The C library, where it has ``mallopt``."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "mallopt") else None
