"""`eigenfeat.runtime`: the context manager that sets what fits run on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from pathlib import Path

from eigenfeat._runtime.checkpoint import Checkpoint
from eigenfeat._runtime.config import Listener, Runtime, activate, current
from eigenfeat._runtime.memory import parse_bytes
from eigenfeat._runtime.progress import Event, listeners_of


@contextmanager
def runtime(
    memory: int | float | str | None = None,
    *,
    scratch: str | Path | None = None,
    n_threads: int | None = None,
    progress: bool | Listener | None = None,
    checkpoint: str | Path | Checkpoint | None = None,
) -> Iterator[Runtime]:
    """Set the memory, threads and folders of fits, and what they report; for all fits until the context is left.

    These settings belong to the machine a fit runs on and not to the model, so they are no parameters of estimators.
    Contexts nest: what an inner one does not set stays as in the outer one, and progress goes to the listeners of both.
    They hold in threads, in the processes of joblib and multiprocessing and in Dask tasks; memory and threads are those
    of each process.

    Parameters
    ----------
    memory : int or str, optional
        Bytes, or text such as "2GB", that rows and what is made of them may take; by default half of what is free in
        the container or on the machine. What does not fit is kept on disk, or read again in every pass.
    scratch : path, optional
        The folder for scratch files; by default that of the system's temporary files. They are deleted in the end, also
        after a failure.
    n_threads : int, optional
        Threads that linear algebra may use in each process; by default as many as BLAS uses.
    progress : bool or callable, optional
        True prints a line a pass to stderr; a callable is given an event for every stage that begins and, now and then,
        for every pass over rows: ``event.stage``, ``event.done``, ``event.total``, ``str(event)``.
    checkpoint : path, optional
        A folder in which the fit of a row source leaves its results as it goes: moments, choices, directions, every
        pass of the optimiser and, twice a minute, the sums of the pass that is being made. A fit that is started again
        with it goes on from there and ends with the same model, to the last bit; a folder of another estimator, other
        parameters, data or versions is refused. Its files are deleted when the context is left without an error. They
        are pickles: open only those of your own making.

    Yields
    ------
    Runtime
        With ``passes``, the events of all passes over rows that have ended.

    Examples
    --------
    >>> import numpy as np
    >>> import eigenfeat
    >>> import eigenfeat.rows
    >>> from eigenfeat import FisherLDA
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> source = eigenfeat.rows.open(lambda: iter([(X, X[:, 0] > 0)]))
    >>> with eigenfeat.runtime(memory="500MB") as run:
    ...     model = FisherLDA().fit(source)
    >>> [(done.stage, done.done) for done in run.passes]
    [('moments', 300)]
    """
    outer, passes = current(), list[Event]()

    def record(event: Event) -> None:
        if event.is_pass and event.finished:
            passes.append(event)

    given = checkpoint if isinstance(checkpoint, Checkpoint | None) else Checkpoint(checkpoint)
    inner = Runtime(
        memory=outer.memory if memory is None else parse_bytes(memory),
        scratch=outer.scratch if scratch is None else _folder(scratch),
        n_threads=outer.n_threads if n_threads is None else _thread_count(n_threads),
        checkpoint=given or outer.checkpoint,
        listeners=(*outer.listeners, record, *listeners_of(progress)),
        passes=passes,
    )
    if given is not None and inner.memory is None:
        # What is free decides between equivalent ways: a fit that is resumed takes those of the first attempt.
        inner = replace(inner, memory=given.recall("memory budget", None, lambda: inner.memory_budget))
    with activate(inner):
        yield inner
    if given is not None:
        given.delete()


def _folder(path: str | Path) -> Path:
    if not Path(path).is_dir():
        raise ValueError(f"scratch must be a folder that exists; got {str(path)!r}.")
    return Path(path)


def _thread_count(n_threads: int) -> int:
    if isinstance(n_threads, bool) or not isinstance(n_threads, Integral) or n_threads < 1:
        raise ValueError(f"n_threads must be a whole number, at least 1; got {n_threads!r}.")
    return int(n_threads)
