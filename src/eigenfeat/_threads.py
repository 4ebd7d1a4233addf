"""Threads of our own beside those of BLAS: either may use the cores, not both.

How many threads BLAS uses is a setting of the process, and OpenBLAS has one pool for all callers: one that finds it
taken does not sleep but turns in a loop, on the very cores that those at work need. Eight threads with an eigenproblem
each can so take minutes for what one does in seconds. threadpoolctl, from 3.7 on, heeds the first thread that sets a
limit and ignores all others without a word. So limits are set here, under one lock and one count for the process, and
whoever works in a thread keeps to one (`blas_for_this_thread`).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock, current_thread, local, main_thread
from typing import Any

from threadpoolctl import ThreadpoolController

THIN = 32
"""Columns up to which a product of a matrix with them takes as long as to read it."""


@cache
def _libraries() -> list[Any]:
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _set(library: Any, n_threads: int) -> None:
    """Whichever thread this is: the public setter does nothing but in the thread that was the first to call it."""
    getattr(library, "_real_set_num_threads", library.set_num_threads)(n_threads)


class _SharedLimit:
    """One limit for the whole process, set by the first who asks for it and lifted by the last who leaves.

    Were every thread to set and restore it by itself, one that entered while another was inside would take the limit
    for the setting, and leave it so for ever.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = [library.get_num_threads() for library in _libraries()]
                for library in _libraries():
                    _set(library, 1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, n_threads in zip(_libraries(), self._before):
                    _set(library, n_threads)

    def before(self) -> int:
        """How many threads BLAS may use where there is no limit of ours."""
        with self._lock:
            numbers = self._before if self._inside else [library.get_num_threads() for library in _libraries()]
            return max(numbers, default=1)


_shared_limit = _SharedLimit()
_this_thread = local()


def blas_threads() -> int:
    """How many threads the caller may use for linear algebra: one inside `one_blas_thread` and `own_threads`."""
    return 1 if getattr(_this_thread, "is_inside", False) else _shared_limit.before()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which every BLAS call runs in the thread that made it; safe to enter from several threads."""
    was_inside = getattr(_this_thread, "is_inside", False)
    _this_thread.is_inside = True
    try:
        with _shared_limit:
            yield
    finally:
        _this_thread.is_inside = was_inside


@contextmanager
def own_threads(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of threads, each of whose BLAS calls runs in the thread that made it."""
    with (
        one_blas_thread(),
        ThreadPoolExecutor(n_threads, initializer=setattr, initargs=(_this_thread, "is_inside", True)) as pool,
    ):
        yield pool


def blas_for_this_thread() -> AbstractContextManager[None]:
    """The threads of BLAS for the main thread; for any other one, as there are likely to be several.

    So what is fitted in threads is the same bit for bit however they interleave: how many threads BLAS uses changes
    how it rounds, and a limit that a neighbour sets is one for all.
    """
    return nullcontext() if current_thread() is main_thread() else _shared_limit


def blas_beside_ours(n_columns: int) -> AbstractContextManager[None]:
    """BLAS in the thread that calls it, for products with so few columns that reading the matrix is all they cost.

    Between passes that threads of ours make, that is: those of OpenBLAS, once called, go on turning for a tenth of a
    second, on the cores that the next pass needs. Threads of ours may be as many as before (`blas_threads`).
    """
    return _shared_limit if n_columns <= THIN else nullcontext()
