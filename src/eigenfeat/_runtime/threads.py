"""Threads of our own next to those of BLAS: either may use the cores, not both.

How many threads BLAS uses is a setting of the process, and OpenBLAS has one pool for all callers: one that finds it
taken does not sleep but spins, on the very cores that those at work need. Eight threads with an eigenproblem each can
so take minutes for what one does in seconds. threadpoolctl, from 3.7 on, heeds the first thread that sets a limit and
ignores all others without a word. So limits are set here, under one lock and one count for the process, and whoever
works in a thread keeps to one (`limit_blas_off_main`).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import Context, ContextVar, copy_context
from functools import cache
from threading import Lock, current_thread, main_thread
from typing import Any

from threadpoolctl import ThreadpoolController

SKINNY = 32
"""Columns up to which a product of a matrix with them takes as long as to read it."""


@cache
def _libraries() -> list[Any]:
    return ThreadpoolController().select(user_api="blas").lib_controllers


# Limits on the threads of BLAS, of the whole process. The first to come saves what was set before, the last to leave
# restores it. Were every thread to save and restore by itself, one that entered while another was inside would take the
# limit for the setting, and leave it so for ever.
_lock = Lock()
_unlimited: list[int] = []
_blas_limits: list[int] = []
_limits: list[int] = []  # of BLAS and of threads of ours


@contextmanager
def _limited(n_threads: int, limits: list[int]) -> Iterator[None]:
    with _lock:
        if not _blas_limits and not _limits:
            _unlimited[:] = _numbers()
        limits.append(n_threads)
        _set_numbers()
    try:
        yield
    finally:
        with _lock:
            limits.remove(n_threads)
            _set_numbers()


def _numbers() -> list[int]:
    return [library.get_num_threads() for library in _libraries()]


def _set_numbers() -> None:
    for library, number in zip(_libraries(), _unlimited):
        # From any thread: the public setter works only in the first thread to call it.
        set_number = getattr(library, "_real_set_num_threads", library.set_num_threads)
        set_number(min([number, *_blas_limits, *_limits]))


_is_single: ContextVar[bool] = ContextVar("eigenfeat_one_blas_thread", default=False)


def usable_threads() -> int:
    """Return the threads that the caller may use: one inside `one_blas_thread` and `thread_pool`."""
    if _is_single.get():
        return 1
    with _lock:
        numbers = _unlimited if _blas_limits or _limits else _numbers()
        return max((min([number, *_limits]) for number in numbers), default=1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run every BLAS call in the thread that makes it; safe to enter from several threads."""
    was_single = _is_single.get()
    _is_single.set(True)
    try:
        with _limited(1, _blas_limits):
            yield
    finally:
        _is_single.set(was_single)


@contextmanager
def thread_pool(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Start threads that see the context variables of their maker and whose BLAS calls each run in one of them."""
    with one_blas_thread(), ThreadPoolExecutor(n_threads, initializer=_adopt, initargs=(copy_context(),)) as pool:
        yield pool


def reader_thread(name: str) -> ThreadPoolExecutor:
    """Return one thread that sees the context variables of its maker, which may go on meanwhile."""
    return ThreadPoolExecutor(1, name, initializer=_adopt, initargs=(copy_context(),))


def _adopt(context: Context) -> None:
    for variable, value in context.items():
        variable.set(value)


def limit_threads(n_threads: int) -> AbstractContextManager[None]:
    """Keep BLAS and the threads of `usable_threads` to so many, in the whole process."""
    return _limited(n_threads, _limits)


def limit_blas_off_main() -> AbstractContextManager[None]:
    """Leave the threads of BLAS to the main thread: of others there are likely to be several.

    So what is fitted in threads is the same bit for bit however they interleave: how many threads BLAS uses changes
    how it rounds, and a limit that a neighbour sets is one for all.
    """
    return nullcontext() if current_thread() is main_thread() else _limited(1, _blas_limits)


def limit_blas_for_skinny(n_columns: int) -> AbstractContextManager[None]:
    """Keep BLAS to one thread for products with so few columns that reading the matrix is all they cost.

    Between passes that threads of ours make, that is: those of OpenBLAS, once called, go on spinning for a tenth of a
    second, on the cores that the next pass needs. Threads of ours may be as many as before (`usable_threads`).
    """
    return _limited(1, _blas_limits) if n_columns <= SKINNY else nullcontext()
