"""How far something has come: stages are reported by whoever works, to whoever listens, if anybody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Event:
    """Something has begun.

    Attributes
    ----------
    stage : str
        Its name, as "directions" or "candidate".
    done, total : int or None
        How many of how many are behind us, where that is known.
    note : str
        What else is known, as the best so far.
    """

    stage: str
    done: int | None = None
    total: int | None = None
    note: str = ""

    @property
    def words(self) -> str:
        count = f" {(self.done or 0) + 1} of {self.total}" if self.total else ""
        return f"{self.stage}{count}" + (f" ({self.note})" if self.note else "")


Listener = Callable[[Event], None]
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("_listeners", default=())


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Until the end of the context, the listener is told of every stage of this thread."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


def counted(items: Sequence[Item], stage: str) -> Iterator[Item]:
    """The items, each reported as it begins: candidate k of n."""
    for k, item in enumerate(items):
        report(stage, k, len(items))
        yield item


def report(stage: str, done: int | None = None, total: int | None = None, note: str = "") -> None:
    """Say that a stage has begun; costs nothing where nobody listens."""
    listeners = _listeners.get()
    if listeners:
        event = Event(stage, done, total, note)
        for listener in listeners:
            listener(event)
