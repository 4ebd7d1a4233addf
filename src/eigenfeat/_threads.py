"""Threads of our own beside those of BLAS: either may use the cores, not both."""

from __future__ import annotations

from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads() -> int:
    """How many threads BLAS may use now."""
    libraries = _controller().select(user_api="blas").info()
    return max((library["num_threads"] for library in libraries), default=1)


def one_blas_thread():
    """A context in which every BLAS call runs in the thread that made it."""
    return _controller().limit(limits=1, user_api="blas")
