"""Tasks of the cluster in force: who runs them, how values get there, and results that stay there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from eigenfeat.rows.dask_waiting import awaited


def cluster() -> Any:
    """The client in force."""
    distributed = dask_module("distributed")
    try:
        return distributed.get_client()
    except ValueError as problem:
        raise ValueError(
            "Rows of Dask are worked on by a cluster, and there is none: start one first, as "
            "dask.distributed.Client(n_workers=2, threads_per_worker=1) for this machine."
        ) from problem


def to_send(value: Any) -> Any:
    """A value as a delayed task: unlike scattered data, it is made again where the worker that had it is gone.

    It goes as bytes: a worker that cannot unpickle what comes with a task dies of it, and the next one after it; where
    the task itself unpickles, what is missing there is an error like any other.
    """
    pickle = dask_module("distributed.protocol.pickle")
    return dask_module("dask").delayed(pickle.loads, pure=False)(pickle.dumps(value))


def sent(value: Any) -> Any:
    """A value on its way to the workers."""
    return cluster().compute(to_send(value), optimize_graph=False)


@dataclass(frozen=True, eq=False)
class Remote:
    """A value that stays on the worker that made it; it goes when nobody refers to it any more."""

    future: Any

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickled by a task of the same cluster, it is of the client there."""
        state["future"].bind_client(cluster())
        self.__dict__.update(state)

    def then(self, function: Callable, *args: Any) -> Remote:
        """What a function makes of it, and of other arguments, remote or not, on a worker."""
        futures = (arg.future if isinstance(arg, Remote) else arg for arg in args)
        return Remote(cluster().submit(function, self.future, *futures, pure=False))

    def here(self, what: str) -> Any:
        """The value itself; errors name what it is for."""
        return awaited([self.then(_itself).future], what)[0]


def dask_module(name: str) -> Any:
    """A module of Dask, which is an extra."""
    try:
        return import_module(name)
    except ImportError as missing:
        raise ImportError('Rows on a cluster need Dask: pip install "eigenfeat[dask]"') from missing


def _itself(value: Any) -> Any:
    return value
