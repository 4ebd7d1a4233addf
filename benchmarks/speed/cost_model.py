"""The cost model of docs/scaling.md against a cluster of this machine: operations, bytes, memory and passes of a fit.

    python benchmarks/speed/cost_model.py [--rows 40000]

GEM with its settings given is fitted to drawn rows (float32) on two workers of one thread: once at a base size, then
with twice the rows, twice the columns, and twice the directions. Of every pass the CPU seconds of both workers, the
bytes that the client sent and was sent, and those that workers sent each other are counted. A model holds where
operations a second do not depend on the size, and bytes are those it names.

Printed, a line a step and size: passes, CPU seconds of one, 10⁹ operations of the model a CPU second; bytes between
client and workers and among workers, each with what the model says; then the memory of a worker beyond what it had
before the fit, beside the model's; and in the end, for every step, how far its speeds are apart.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eigenfeat import GEMClassifier
from eigenfeat.rows import DaskRows

WORKERS, PARTS, BYTES = 2, 8, 4


@dataclass(frozen=True)
class Size:
    """n rows, d columns, k classes, c directions a pair."""

    n: int
    d: int = 30
    k: int = 5
    c: int = 2

    @property
    def m(self) -> int:
        """Directions: all pairs."""
        return self.k * (self.k - 1) * self.c

    @property
    def p(self) -> int:
        """Columns of the logit: inputs, six functions of every projection, the constant."""
        return self.d + 6 * self.m + 1

    def model(self) -> dict[str, tuple[float, float, float]]:
        """Operations, bytes between client and workers, and bytes among workers, of one pass of every name."""
        merged = 8 * self.k * self.d**2
        gradient = 8 * self.p * self.k
        return {
            "moments": (self.n * self.d**2, merged, (WORKERS - 1) * merged),
            "loss and gradient": (4 * self.n * self.p * self.k, 2 * gradient, (WORKERS - 1) * 2 * gradient),
        }

    def memory(self) -> float:
        """Bytes a worker: its share of rows, and of the inputs beside projections that passes read."""
        return self.n * BYTES * (self.d + (self.d + self.m)) / WORKERS

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(0)
        y = rng.integers(self.k, size=self.n)
        spread = 1 + rng.random((self.k, self.d), dtype=np.float32)
        return rng.standard_normal((self.n, self.d), dtype=np.float32) * spread[y], y


@dataclass
class Step:
    """What the passes of one name took."""

    passes: int = 0
    cpu: float = 0.0
    client_bytes: float = 0.0
    worker_bytes: float = 0.0


@dataclass
class Watch:
    """Counts passes of a cluster."""

    client: Any
    steps: dict[str, Step] = field(default_factory=dict)

    def __call__(self, summed: Callable, source: DaskRows, statistic: Any, name: str) -> Any:
        sent = len(pickle.dumps(statistic))
        before = self._state()
        result = summed(source, statistic, name)
        step, after = self.steps.setdefault(name, Step()), self._state()
        step.passes += 1
        step.cpu += after[0] - before[0]
        step.client_bytes += sent + len(pickle.dumps(result))
        step.worker_bytes += after[1] - before[1]
        return result

    def _state(self) -> np.ndarray:
        return np.sum(list(self.client.run(worker_state).values()), axis=0)


def worker_state(dask_worker: Any) -> tuple[float, float]:
    """CPU seconds of a worker so far, and bytes that others sent it."""
    return time.process_time(), sum(entry["total"] for entry in dask_worker.transfer_incoming_log)


def peak_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def fitted(size: Size) -> tuple[dict[str, Step], float]:
    """Steps of a fit, and the memory that it added to a worker, both on a cluster of its own."""
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    X, y = size.rows()
    model = GEMClassifier(
        size.c,
        columns=None,
        base_map=None,
        class_pairs="all",
        feature_map="soft-cubic",
        ridge=0.3,
        alpha=1e-4,
        label_smoothing=0.0,
        max_iter=30,
    )
    local = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=":0", memory_limit="4GB")
    with local, Client(local) as client:
        few = slice(0, 4000)
        model.fit(da.from_array(X[few], chunks=(2000, -1)), da.from_array(y[few], chunks=2000))  # imports, compiles
        before = max(client.run(peak_memory).values())
        step = -(-size.n // PARTS)
        rows, labels = da.from_array(X, chunks=(step, -1)), da.from_array(y, chunks=step)
        rows, labels = client.persist([rows, labels])
        wait([rows, labels])
        watch, summed = Watch(client), DaskRows._summed
        DaskRows._summed = lambda source, statistic, name: watch(summed, source, statistic, name)  # type: ignore
        try:
            model.fit(rows, labels)
        finally:
            DaskRows._summed = summed  # type: ignore[method-assign]
        return watch.steps, max(client.run(peak_memory).values()) - before


def show(name: str, size: Size, steps: dict[str, Step], memory: float, speeds: dict[str, list[float]]) -> None:
    print(f"{name}: n = {size.n:,}, d = {size.d}, k = {size.k}, m = {size.m}, p = {size.p}")
    for label, (operations, by_client, by_workers) in size.model().items():
        found = steps[label]
        speed = operations * found.passes / found.cpu / 1e9
        speeds.setdefault(label, []).append(speed)
        print(
            f"  {label:18s} {found.passes:3d} passes {found.cpu / found.passes:7.3f} CPU s each {speed:6.2f} Gop/s"
            f"  client {found.client_bytes / found.passes / 1e3:8.1f} kB (model {by_client / 1e3:8.1f})"
            f"  workers {found.worker_bytes / found.passes / 1e3:8.1f} kB (model {by_workers / 1e3:8.1f})"
        )
    others = {label: step.passes for label, step in steps.items() if label not in size.model()}
    print("  other passes: " + ", ".join(f"{count} x {label}" for label, count in others.items()))
    print(f"  memory a worker: {memory / 1e6:.0f} MB (model {size.memory() / 1e6:.0f} MB)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=40_000)
    base = Size(parser.parse_args().rows)
    speeds: dict[str, list[float]] = {}
    sizes = {
        "base": base,
        "twice the rows": replace(base, n=2 * base.n),
        "twice the columns": replace(base, d=2 * base.d),
        "twice the directions": replace(base, c=2 * base.c),
    }
    for name, size in sizes.items():
        show(name, size, *fitted(size), speeds)
    for label, found in speeds.items():
        print(f"{label}: speeds from {min(found):.2f} to {max(found):.2f} Gop/s, {max(found) / min(found):.2f} apart")


if __name__ == "__main__":
    main()
