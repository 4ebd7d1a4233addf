"""The runtime in force: a value, and how threads and other processes come to it.

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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, TypeVar

from eigenfeat._runtime.memory import available_memory
from eigenfeat._runtime.threads import limit_threads

if TYPE_CHECKING:
    from eigenfeat._runtime.checkpoint import Checkpoint
    from eigenfeat._runtime.progress import Event

UNKNOWN_MEMORY = 2_000_000_000
"""Bytes that a fit may use where nobody sets a budget and the system does not say what is free."""

Item = TypeVar("Item")
Result = TypeVar("Result")
State = TypeVar("State")

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

    def fold(
        self,
        name: str,
        inputs: Any,
        state: State,
        items: Iterable[Item],
        update: Callable[[State, Item], Any],
    ) -> State:
        """Update a state in place with every item and return it; a checkpoint resumes it, also in the middle."""
        if self.checkpoint is not None:
            return self.checkpoint.fold(name, inputs, state, items, update)
        for item in items:
            update(state, item)
        return state

    def portable(self) -> Runtime:
        """Return what holds in other processes too: listeners and the checkpoint stay in this one."""
        return replace(self, checkpoint=None, listeners=(), passes=[])


_default = Runtime()
_ACTIVE: ContextVar[Runtime | None] = ContextVar("eigenfeat_runtime", default=None)
_ACTIVE_IN_MAIN_THREAD: list[Runtime] = []
_is_left_out: ContextVar[bool] = ContextVar("eigenfeat_pickled_without_runtime", default=False)


def current() -> Runtime:
    """Return the runtime in force, or the default."""
    return _ACTIVE.get() or (_ACTIVE_IN_MAIN_THREAD[-1:] or [_default])[0]


@contextmanager
def activate(runtime: Runtime) -> Iterator[Runtime]:
    """Put a runtime in force until the context is left."""
    before = _ACTIVE.get()
    in_main_thread = current_thread() is main_thread()
    _ACTIVE.set(runtime)
    if in_main_thread:
        _ACTIVE_IN_MAIN_THREAD.append(runtime)
    try:
        with nullcontext() if runtime.n_threads is None else limit_threads(runtime.n_threads):
            yield runtime
    finally:
        _ACTIVE.set(before)
        if in_main_thread and runtime in _ACTIVE_IN_MAIN_THREAD:  # a fork has dropped it
            _ACTIVE_IN_MAIN_THREAD.remove(runtime)


def _leave_to_parent() -> None:
    """Make the runtime of the parent the default of a fork, without listeners and checkpoint."""
    global _default
    _default = current().portable()
    _ACTIVE.set(None)
    _ACTIVE_IN_MAIN_THREAD.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


@contextmanager
def pickled_without_runtime() -> Iterator[None]:
    """Leave the runtime out of what is pickled, which then depends on estimators alone: files of models, hashes."""
    was_left_out = _is_left_out.get()
    _is_left_out.set(True)
    try:
        yield
    finally:
        _is_left_out.set(was_left_out)


class RuntimeMixin:
    """Take the runtime in force into the processes of a pool; stands before `sklearn.base.BaseEstimator`.

    The state of a pickle made inside a runtime has it and the number of this process, and only workers that this very
    process started use it: a pickle that is opened anywhere else, or later, is as any other. Clones made in a worker,
    by an ensemble for instance, have it too. Files of `eigenfeat.save` never do.
    """

    _inherited_runtime: Runtime | None = None

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_inherited_runtime", None)
        runtime = current().portable()
        if not _is_left_out.get() and (runtime.memory, runtime.scratch, runtime.n_threads) != (None, None, None):
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
    if runtime is _default:
        runtime = estimator._inherited_runtime or _default
    if runtime is _default or runtime is _ACTIVE.get():
        yield
        return
    with activate(runtime):
        yield
