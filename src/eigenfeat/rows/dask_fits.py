"""Fits side by side on a cluster: each is a task, which makes its passes over the rows with tasks of its own.

Such a task leaves its thread to others while it waits for its passes (`distributed.secede`), and where its worker dies,
it runs again from the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eigenfeat.rows.dask_tasks import cluster, dask_module
from eigenfeat.rows.dask_waiting import awaited
from eigenfeat.rows.progress import PassReport
from eigenfeat.rows.streaming import current, streaming


def fits_there(function: Callable, tasks: Sequence[tuple]) -> list[Any]:
    """Results of a function for each of some tuples of arguments, as many at a time as there are workers.

    Parameters
    ----------
    function : callable
        Sent once, with all that it holds: sources of rows on the same cluster may be part of it. What it warns of stays
        in the log of its worker.
    tasks : sequence of tuples

    Returns
    -------
    list
        In the order of the tasks.
    """
    client, pickle = cluster(), dask_module("distributed.protocol.pickle")
    workers = list(client.scheduler_info(-1)["workers"]) or [None]
    sent = client.submit(bytes, pickle.dumps(function), pure=False)
    found: list[tuple[Any, list[PassReport]]] = []
    for start in range(0, len(tasks), len(workers)):
        found += awaited(
            [
                client.submit(_fit, sent, pickle.dumps(task), workers=worker, allow_other_workers=True, pure=False)
                for task, worker in zip(tasks[start:], workers)
            ],
            "fits side by side",
        )
    for _, passes in found:
        current().passes.extend(passes)
    return [result for result, _ in found]


def _fit(function: bytes, task: bytes) -> tuple[Any, list[PassReport]]:
    """A result, and the passes that were made for it."""
    pickle = dask_module("distributed.protocol.pickle")
    dask_module("distributed").secede()
    with streaming() as run:
        return pickle.loads(function)(*pickle.loads(task)), run.passes
