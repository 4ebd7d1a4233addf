"""Threads of our own beside those of BLAS: either may use the cores, not both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads() -> int:
    """How many threads BLAS may use now."""
    libraries = _controller().select(user_api="blas").info()
    return max((library["num_threads"] for library in libraries), default=1)


class _SharedLimit:
    """One limit for the whole process, set by the first who asks for it and lifted by the last who leaves.

    The number of BLAS threads is a setting of the process. Were every thread to set and restore it by itself, one that
    entered while another was inside would take the limit for the setting, and leave it so for ever.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()
                self._limit = None


_shared_limit = _SharedLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which every BLAS call runs in the thread that made it; safe to enter from several threads."""
    _shared_limit.enter()
    try:
        yield
    finally:
        _shared_limit.leave()
