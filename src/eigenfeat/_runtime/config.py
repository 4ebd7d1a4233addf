"""`eigenfeat.runtime`: what fits run on, and how threads and other processes come to it.

`current` answers with the innermost runtime that was activated in this thread (a context variable: each of several
asyncio tasks or threads has its own). A thread that has none, of a `ThreadPoolExecutor` or joblib's threads for
instance, takes the innermost that the *main* thread is in; one that another thread activated stays that thread's, so
that neighbours do not report to, or resume from, what is not theirs. Threads that eigenfeat starts itself have the
runtime of the thread that started them (`eigenfeat._runtime.threads`).

Estimators take the runtime with them into processes: what is pickled inside a runtime has it in its state, and a fit in
a worker of the process that pickled it runs under it (`RuntimeMixin`). Dask tasks are sent `Runtime.portable`.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, TypeVar

from eigenfeat._runtime.checkpoint import Checkpoint
from eigenfeat._runtime.memory import available_memory, parse_bytes
from eigenfeat._runtime.threads import limit_threads

if TYPE_CHECKING:
    from eigenfeat._runtime.progress import Event

UNKNOWN_MEMORY = 2_000_000_000
"""Bytes that a fit may use where nobody sets a budget and the system does not say what is free."""

Result = TypeVar("Result")
Sums = TypeVar("Sums")

Listener = Callable[["Event"], None]


@dataclass(frozen=True, eq=False)
class Runtime:
    """What fits may use, whom they report to and where they leave the results of their steps.

    Attributes
    ----------
    memory : int or None
        Bytes that rows and what is made of them may take, in every process; None: half of what is free.
    scratch : Path or None
        The folder of scratch files; None: that of the system's temporary files.
    n_threads : int or None
        Threads of BLAS and of ours; None: as many as BLAS would use.
    checkpoint : Checkpoint or None
    listeners : tuple of callables
        Called with every `eigenfeat._runtime.progress.Event`.
    passes : list of Event
        The passes over rows that have ended under this runtime.
    """

    memory: int | None = None
    scratch: Path | None = None
    n_threads: int | None = None
    checkpoint: Checkpoint | None = None
    listeners: tuple[Listener, ...] = ()
    passes: list[Event] = field(default_factory=list)

    @property
    def memory_budget(self) -> int:
        """Bytes that rows and what is made of them may take."""
        if self.memory is not None:
            return self.memory
        available = available_memory()
        return UNKNOWN_MEMORY if available is None else available // 2

    def notify(self, event: Event) -> None:
        """Call all listeners."""
        for listener in self.listeners:
            listener(event)

    def recall(self, name: str, inputs: Any, compute: Callable[[], Result]) -> Result:
        """Return what ``compute`` returns, or returned for equal inputs in a fit that was interrupted."""
        return compute() if self.checkpoint is None else self.checkpoint.recall(name, inputs, compute)

    def fold(self, name: str, inputs: Any, sums: Sums, items: Iterable[Any]) -> Sums:
        """Update sums in place with every item and return them; a checkpoint resumes it, also in the middle."""
        if self.checkpoint is not None:
            return self.checkpoint.fold(name, inputs, sums, items)
        for item in items:
            sums.update(item)  # type: ignore[attr-defined]
        return sums

    def portable(self) -> Runtime:
        """Return what holds in other processes too: listeners and the checkpoint stay in this one."""
        return replace(self, checkpoint=None, listeners=(), passes=[])


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
    if scratch is not None and not Path(scratch).is_dir():
        raise ValueError(f"scratch must be a folder that exists; got {str(scratch)!r}.")
    if n_threads is not None and (not isinstance(n_threads, Integral) or n_threads is True or n_threads < 1):
        raise ValueError(f"n_threads must be a whole number, at least 1; got {n_threads!r}.")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ValueError(f"progress must be True, False or a function of an event; got {progress!r}.")
    listener = _print if progress is True else progress or None
    own = checkpoint if isinstance(checkpoint, Checkpoint | None) else Checkpoint(checkpoint)
    outer = current()
    passes: list[Event] = []

    def record(event: Event) -> None:
        if event.finished:
            passes.append(event)

    inner = Runtime(
        memory=outer.memory if memory is None else parse_bytes(memory),
        scratch=outer.scratch if scratch is None else Path(scratch),
        n_threads=outer.n_threads if n_threads is None else int(n_threads),
        checkpoint=own or outer.checkpoint,
        listeners=(*outer.listeners, record, *([listener] if listener else [])),
        passes=passes,
    )
    if own is not None and inner.memory is None:
        # What is free decides between equivalent ways: a fit that is resumed takes those of the first attempt.
        inner = replace(inner, memory=own.recall("memory budget", None, lambda: inner.memory_budget))
    with activate(inner):
        yield inner
    if own is not None:
        own.delete()


def _print(event: Event) -> None:
    """Print to stderr: on a terminal a line that moves, else a line for every pass that has ended."""
    if sys.stderr.isatty():
        print(f"\r\033[K{event}", end="\n" if event.finished else "", file=sys.stderr, flush=True)
    elif event.finished:
        print(event, file=sys.stderr, flush=True)


# ---------------------------------------------------------------------- the one in force

_default = Runtime()
_active: ContextVar[Runtime | None] = ContextVar("eigenfeat_runtime", default=None)
_active_in_main_thread: list[Runtime] = []


def current() -> Runtime:
    """Return the runtime in force, or the default."""
    return _active.get() or (_active_in_main_thread[-1:] or [_default])[0]


@contextmanager
def activate(runtime: Runtime) -> Iterator[Runtime]:
    """Put a runtime in force until the context is left."""
    before = _active.get()
    stack = _active_in_main_thread if current_thread() is main_thread() else []
    _active.set(runtime)
    stack.append(runtime)
    try:
        with nullcontext() if runtime.n_threads is None else limit_threads(runtime.n_threads):
            yield runtime
    finally:
        _active.set(before)
        with suppress(ValueError):  # a fork has dropped it
            stack.remove(runtime)


def _leave_to_parent() -> None:
    """Make the runtime of the parent the default of a fork, without listeners and checkpoint."""
    global _default
    _default = current().portable()
    _active.set(None)
    _active_in_main_thread.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


# ---------------------------------------------------------------------- estimators in other processes


class RuntimeMixin:
    """Take the runtime in force into the processes of a pool; stands before `sklearn.base.BaseEstimator`.

    The state of a pickle made inside a runtime has it and the number of this process, and only workers that this very
    process started use it: a pickle that is opened anywhere else, or later, is as any other. Clones made in a worker,
    by an ensemble for instance, have it too. Files of `eigenfeat.save` never do.
    """

    _inherited_runtime: Runtime | None = None

    def checkpoint_key(self) -> dict[str, Any]:
        """Return the state without the runtime, which changes no result."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_inherited_runtime"}

    def __getstate__(self) -> dict[str, Any]:
        state, runtime = self.checkpoint_key(), current().portable()
        if runtime.memory or runtime.scratch or runtime.n_threads:
            state["_inherited_runtime"] = (os.getpid(), runtime)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        maker, runtime = state.pop("_inherited_runtime", (None, None))
        super().__setstate__(state)  # type: ignore[misc]
        parent = multiprocessing.parent_process()
        if parent is not None and parent.pid == maker:
            self._inherited_runtime = runtime

    def __sklearn_clone__(self) -> Any:
        clone = super().__sklearn_clone__()  # type: ignore[misc]
        if self._inherited_runtime is not None:
            clone._inherited_runtime = self._inherited_runtime
        return clone


@contextmanager
def runtime_of_fit(estimator: RuntimeMixin) -> Iterator[None]:
    """Run a fit under one runtime: the one in force where it begins, or else the one the estimator came with."""
    runtime = current()
    if runtime is _default and estimator._inherited_runtime is not None:
        runtime = estimator._inherited_runtime
    with nullcontext() if runtime is _active.get() else activate(runtime):
        yield


@contextmanager
def pickled_without_runtime() -> Iterator[None]:
    """Leave the runtime out of what this thread pickles, which then depends on estimators alone: files of models."""
    before = _active.get()
    _active.set(Runtime())
    try:
        yield
    finally:
        _active.set(before)
