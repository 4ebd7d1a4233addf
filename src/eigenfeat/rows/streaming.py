"""How passes over streams are made: the memory they may use, what they tell meanwhile, and what survives a crash.

These settings belong to the machine a fit runs on, not to the model, so they are no parameters of estimators:

    with eigenfeat.rows.streaming(memory_limit="2GB", checkpoint="fit.checkpoint", progress=True):
        model.fit(source)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from eigenfeat.rows.checkpoint import Checkpoint
from eigenfeat.rows.free_memory import available_bytes
from eigenfeat.rows.progress import PassReport, Progress, Watcher

if TYPE_CHECKING:
    from eigenfeat.rows.source import Rows
    from eigenfeat.rows.statistics import AnyAccumulator

#: Bytes that passes may use where nobody says and the system does not tell what is free.
DEFAULT_LIMIT = 2_000_000_000
UNITS = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}

Result = TypeVar("Result")


@dataclass(eq=False)
class Streaming:
    """The settings in force, and a record of the passes made under them.

    Attributes
    ----------
    memory_limit : int or None
        Bytes that rows and what is made of them may take; by default half of what is free when it is asked.
    scratch : Path or None
        The folder of scratch files; by default that of the system's temporary files.
    progress : callable or None
        Told of every pass, now and then.
    checkpoint : Checkpoint or None
    passes : list of `PassReport`
        Those made so far.
    """

    memory_limit: int | None = None
    scratch: Path | None = None
    progress: Watcher | None = None
    checkpoint: Checkpoint | None = None
    passes: list[PassReport] = field(default_factory=list)

    @property
    def budget(self) -> int:
        """Bytes: the limit, or half of what is free."""
        if self.memory_limit is not None:
            return self.memory_limit
        free = available_bytes()
        return DEFAULT_LIMIT if free is None else free // 2

    def remembered(self, name: str, compute: Callable[[], Result]) -> Result:
        """What ``compute`` returns, or returned before the fit was interrupted at a later point."""
        return compute() if self.checkpoint is None else self.checkpoint.remembered(name, compute)

    def reduce(self, source: Rows, statistic: AnyAccumulator, name: str) -> AnyAccumulator:
        """One pass over the blocks of a source, in order."""
        return self.remembered(name, lambda: self._pass(source, statistic, name))

    def _pass(self, source: Rows, statistic: AnyAccumulator, name: str) -> AnyAccumulator:
        n_done = 0
        if self.checkpoint is not None:
            n_done, statistic = self.checkpoint.unfinished() or (0, statistic)
        with Progress(name, source.n_rows, self.progress) as progress:
            for index, block in enumerate(source.blocks()):
                if index >= n_done:
                    statistic.update(block)
                    if self.checkpoint is not None:
                        self.checkpoint.save_unfinished(name, index + 1, statistic)
                progress.add(block.X.shape[0])
        self.passes.append(progress.report)
        return statistic


_CURRENT: ContextVar[Streaming | None] = ContextVar("eigenfeat_streaming", default=None)


def current() -> Streaming:
    """The settings in force: those of the innermost `streaming`, or defaults."""
    return _CURRENT.get() or Streaming()


@contextmanager
def streaming(
    memory_limit: int | float | str | None = None,
    *,
    checkpoint: str | Path | None = None,
    progress: bool | Watcher = False,
    scratch: str | Path | None = None,
    every: float = 30.0,
) -> Iterator[Streaming]:
    """A context in which fits and predictions of row sources keep to these settings.

    Parameters
    ----------
    memory_limit : int or str, optional
        Bytes, or text such as "2GB", that rows and projections of them may be held in; by default half of what is free.
        Beyond it, what every pass needs is written to a scratch file once or made again, whichever is quicker.
    checkpoint : path, optional
        A file in which one fit leaves its results as it goes: moments, directions, every pass of the optimiser. If it
        is there already, the fit goes on from it and ends with the same model; a checkpoint of other data, settings or
        versions is refused. It is deleted when the context is left without an error. It is a database of pickles:
        open only those of your own making.
    progress : bool or callable
        True prints a line a pass to stderr; a callable is given a `PassReport`, now and then.
    scratch : path, optional
        The folder for scratch files, which are deleted in the end, also after a failure.
    every : float
        Seconds between checkpoints within a pass.

    Yields
    ------
    Streaming

    Examples
    --------
    >>> import numpy as np
    >>> import eigenfeat.rows
    >>> from eigenfeat import FisherLDA
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> source = eigenfeat.rows.open(lambda: iter([(X, X[:, 0] > 0)]))
    >>> with eigenfeat.rows.streaming(memory_limit="500MB") as run:
    ...     model = FisherLDA().fit(source)
    >>> [(done.name, done.n_rows) for done in run.passes]
    [('moments', 300)]
    """
    run = Streaming(
        as_bytes(memory_limit),
        None if scratch is None else Path(scratch),
        None if progress is False else Watcher.of(progress),
        None if checkpoint is None else Checkpoint(Path(checkpoint), every),
    )
    token = _CURRENT.set(run)
    try:
        yield run
        if run.checkpoint is not None:
            run.checkpoint.delete()
    finally:
        if run.checkpoint is not None:
            run.checkpoint.close()
        _CURRENT.reset(token)


def as_bytes(given: Any) -> int | None:
    """A number of bytes, or text such as "500 MB", as an integer.

    Examples
    --------
    >>> as_bytes("1.5GB"), as_bytes("2 KiB"), as_bytes(100)
    (1500000000, 2048, 100)
    """
    if given is None:
        return None
    match = re.fullmatch(r"\s*([0-9.]+)\s*([kKMGT]?i?)B?\s*", str(given))
    if match is None or (match[2] not in UNITS) or not float(match[1]) > 0:
        raise ValueError(f'memory_limit must be bytes, or text such as "500MB" or "2GB"; got {given!r}.')
    return int(float(match[1]) * UNITS[match[2]])
