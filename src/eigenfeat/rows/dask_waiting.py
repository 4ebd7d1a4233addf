"""Waiting for the workers of a cluster: as long as there are any, and no longer.

A task without a worker waits for ever. That happens: `distributed.LocalCluster` starts a killed worker again, but gives
it up for good where it is not back after `distributed.deploy.lost-worker-timeout` (15 seconds), or has died again when
these are over. So whoever waits looks now and then whether workers are missing, asks the cluster for them, and where
none comes, says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from time import monotonic
from typing import Any

#: Seconds of waiting after which workers are counted, and between two counts.
LOOK_EVERY = 3.0
#: Seconds without any worker after which a pass is given up: enough for a worker to start on a busy machine.
PATIENCE = 120.0


class ClusterLost(RuntimeError):
    """A cluster can no longer make what it was asked for."""


def awaited(futures: Sequence[Any], what: str) -> list[Any]:
    """Results of futures, in their order.

    Parameters
    ----------
    futures : sequence of futures
        Of `distributed`, at least one.
    what : str
        What they are for: errors name it.

    Raises
    ------
    ClusterLost
        Where no worker is left and none comes back, where data are gone that cannot be made again, and where workers
        died of one of the tasks, again and again. Errors of the tasks themselves are raised as they are.
    """
    distributed, client = import_module("distributed"), futures[0].client
    since = None  # when the last worker was seen to be gone
    while True:
        try:
            distributed.wait(futures, timeout=LOOK_EVERY)
            # A worker may die now too, and gathering waits for what it had to be made again: bounded as well.
            gather = partial(client.gather, list(futures), asynchronous=True)
            return client.sync(gather, callback_timeout=PATIENCE)
        except distributed.TimeoutError:
            since = None if _workers_at_work(client) else since or monotonic()
            if since is not None and monotonic() - since > PATIENCE:
                raise ClusterLost(_without_workers(futures, what)) from None
        except distributed.CancelledError as lost:  # data that were scattered, or a scheduler that is gone
            raise ClusterLost(
                f"The cluster lost data that it cannot make again ({what}: {lost}): scattered arrays go with the "
                "worker that has them. Give rows that can be read again, such as dask.dataframe.read_parquet."
            ) from lost
        except distributed.KilledWorker as died:
            raise ClusterLost(
                f"Workers died again and again ({what}): {died} Most often their memory is too small: cut the rows "
                "into more partitions, or give workers more memory."
            ) from died


def _workers_at_work(client: Any) -> int:
    """How many workers there are; a cluster that has given some up is asked to start them again."""
    count = len(client.scheduler_info(-1)["workers"])
    wanted = len(getattr(client.cluster, "worker_spec", ()))
    if count < wanted:
        client.cluster.scale(wanted)
    return count


def _without_workers(futures: Sequence[Any], what: str) -> str:
    done = sum(future.status == "finished" for future in futures)
    return (
        f"The cluster has had no worker for {PATIENCE:.0f} seconds ({what}: {done} of {len(futures)} results were "
        "there). Start workers again and fit again; with eigenfeat.rows.streaming(checkpoint=...) around it, the fit "
        "goes on from the passes that were finished."
    )
