"""The cost model of docs/scaling.md against a cluster of this machine: operations, bytes, memory and passes of a fit.

    python benchmarks/speed/cost_model.py [--rows 1000000]
    python benchmarks/speed/cost_model.py --plan

GEM with its settings given is fitted to drawn rows (float32) on two workers of one thread: once at a base size, then
with twice the rows, twice the columns, and twice the directions. Of every pass over all rows the CPU seconds of both
workers, the bytes that the client sent and was sent, and those that workers sent each other are counted (these also
hold a block of rows now and then, which another worker had time for). A model holds where operations a second do not
depend on the size, and bytes are those it names.

Printed, a line a step and size: passes, CPU seconds of one, 10⁹ operations of the model a CPU second; bytes between
client and workers and among workers, each with what the model says; then the memory of a worker beyond what it had
before the fit, beside the model's; and in the end, for every step, how far its speeds are apart. An operation is a
multiplication with its addition.

With ``--plan`` nothing is run: what the model says of 10⁹ rows of 10³ columns and 100 classes, and of 10⁶ sparse
columns, on 32 workers whose speeds are assumed.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import psutil

from eigenfeat import GEMClassifier
from eigenfeat.rows import CacheDecision, DaskRows

WORKERS, PARTS, BYTES = 2, 8, 4  # PARTS: of the rows
HISTOGRAM = 2 * 241 * 8 * 8
"""Bytes of the histogram of curvatures that goes with a gradient."""
EXPANDED = 64e6
"""Bytes of expanded rows that are worked on at a time."""


@dataclass(frozen=True)
class Size:
    """n rows, d columns, k classes, c directions a pair."""

    n: int
    d: int = 60
    k: int = 5
    c: int = 4

    @property
    def m(self) -> int:
        """Directions: all pairs."""
        return self.k * (self.k - 1) * self.c

    @property
    def p(self) -> int:
        """Columns of the logit: inputs, six functions of every projection, the constant."""
        return self.d + 6 * self.m + 1

    @property
    def logit(self) -> float:
        """Operations of a loss and its gradient: three powers of a projection, or with many classes formed features."""
        return 2 * self.n * self.k * (self.d + 3 * self.m if self.k <= 32 else self.p)

    def model(self) -> dict[str, tuple[float, float, float]]:
        """Operations, bytes between client and workers, and bytes among workers, of one pass of every name.

        Sums merge four at a time: of those of all partitions, and of the merged ones, all but one in w come from
        another worker.
        """
        merges = 4 / 3 * PARTS * (1 - 1 / WORKERS)
        moments = 8 * self.k * self.d**2
        gradient = 8 * self.p * self.k + HISTOGRAM
        sent = gradient + 8 * self.p * self.k + BYTES * self.d * self.m  # empty sums, coefficients, the projection
        return {
            "moments": (self.n * self.d**2, moments, merges * moments),
            "loss and gradient": (self.logit, sent + gradient, (WORKERS - 1) * sent + merges * gradient),
        }

    def memory(self, kept: int) -> float:
        """Bytes a worker: its share of rows, and of what passes read; what a part of a block is expanded to."""
        return (self.n * BYTES * self.d + kept) / WORKERS + EXPANDED

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
    n_rows: int
    steps: dict[str, Step] = field(default_factory=dict)
    peak: float = 0.0

    def __call__(self, reduce: Callable, rows: DaskRows, accumulator: Any, name: str) -> Any:
        sent = len(pickle.dumps(accumulator))
        before = self._state()
        result = reduce(rows, accumulator, name)
        after = self._state()
        if rows.n_rows < self.n_rows:  # of a sample
            return result
        step = self.steps.setdefault(name, Step())
        step.passes += 1
        step.cpu += after[0] - before[0]
        step.client_bytes += sent + len(pickle.dumps(result))
        step.worker_bytes += after[1] - before[1]
        return result

    def _state(self) -> np.ndarray:
        states = np.array(list(self.client.run(worker_state).values()))
        self.peak = max(self.peak, states[:, 2].max())
        return states[:, :2].sum(axis=0)


def worker_state(dask_worker: Any) -> tuple[float, float, float]:
    """CPU seconds of a worker so far, bytes that others sent it, and its memory now."""
    incoming = sum(entry["total"] for entry in dask_worker.transfer_incoming_log)
    return time.process_time(), incoming, float(psutil.Process().memory_info().rss)


def fitted(size: Size) -> tuple[dict[str, Step], float, CacheDecision]:
    """Steps of a fit, the memory that rows and fit added to a worker, and what passes read, on a cluster of its own."""
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
        before = Watch(client, 0)
        before._state()
        step = -(-size.n // PARTS)
        rows, labels = da.from_array(X, chunks=(step, -1)), da.from_array(y, chunks=step)
        rows, labels = client.persist([rows, labels])
        wait([rows, labels])
        watch, reduce = Watch(client, size.n), DaskRows.reduce
        DaskRows.reduce = lambda rows, accumulator, name="rows": watch(reduce, rows, accumulator, name)  # type: ignore
        try:
            model.fit(rows, labels)
        finally:
            DaskRows.reduce = reduce  # type: ignore[method-assign]
        return watch.steps, watch.peak - before.peak, model.cache_


def show(
    name: str, size: Size, steps: dict[str, Step], memory: float, kept: CacheDecision, speeds: dict[str, list[float]]
) -> None:
    print(f"{name}: n = {size.n:,}, d = {size.d}, k = {size.k}, m = {size.m}, p = {size.p}")
    for label, (operations, by_client, by_workers) in size.model().items():
        found = steps[label]
        if label == "loss and gradient" and kept.what == "inputs":
            operations += size.n * size.d * size.m  # projected in every pass
        speed = operations * found.passes / found.cpu / 1e9
        speeds.setdefault(label, []).append(speed)
        print(
            f"  {label:18s} {found.passes:3d} passes {found.cpu / found.passes:7.3f} CPU s each {speed:6.2f} Gop/s"
            f"  client {found.client_bytes / found.passes / 1e3:8.1f} kB (model {by_client / 1e3:8.1f})"
            f"  workers {found.worker_bytes / found.passes / 1e3:8.1f} kB (model {by_workers / 1e3:8.1f})"
        )
    others = {label: step.passes for label, step in steps.items() if label not in size.model()}
    print("  other passes: " + ", ".join(f"{count} x {label}" for label, count in others.items()))
    print(f"  passes read {kept.what}; memory a worker: {memory / 1e6:.0f} MB", end=" ")
    print(f"(model {size.memory(kept.n_bytes) / 1e6:.0f} MB)", flush=True)


SPEED, SPARSE_SPEED = 1e12, 1.6e10
"""Operations a second of a worker of 32 cores in matrix products, and with sparse rows: assumed."""
DISK = 1e9
"""Bytes a second that a worker reads, or sends: assumed."""
MEMORY = 512e9
"""Of a worker: assumed."""
PASSES = 20
"""Of the logit, with those of its calibration."""


def plan() -> None:
    """What the model says of sizes that this machine does not hold."""
    w, large = 32, Size(10**9, 1000, 100)
    m, n, d, k = 2000, large.n, large.d, large.k
    p = d + 6 * m + 1
    rows, projected = n * d * BYTES, n * (d + m) * BYTES
    room = 0.5 * w * MEMORY - 2 * rows
    print(f"{n:.0e} rows x {d} columns x {k} classes, m = {m} directions, p = {p} features, {w} workers")
    print(f"  rows {rows / 1e12:.0f} TB, read in {rows / w / DISK:.0f} s; moments {8 * k * d**2 / 1e9:.1f} GB,")
    print(f"    {n * d**2:.1e} operations, {n * d**2 / w / SPEED:.0f} s")
    print(
        f"  inputs beside projections {projected / 1e12:.0f} TB; room for {room / 1e12:.0f} TB beside rows and inputs:"
    )
    print(f"    {'kept' if projected <= room else 'projected again in every pass'}; memory a worker", end=" ")
    print(f"{(2 * rows if projected > room else rows + projected) / w / 1e9:.0f} GB")
    logit, again = 2 * n * k * p, n * d * m if projected > room else 0
    seconds = (logit + again) / w / SPEED
    print(f"  a pass of the logit: {logit:.1e} operations and {again:.1e} of projecting, {seconds:.0f} s;", end=" ")
    print(f"{PASSES} passes {PASSES * seconds / 60:.0f} min; {16 * p * k / 1e6:.0f} MB sent a worker and pass")
    print(f"  here: Gram matrix and factor {4 * p**2 / 1e9:.1f} GB, {p**3 * 4 / 3:.0e} operations")
    p, nonzeros = 10**6, 100
    logit = 2 * n * nonzeros * k
    print(f"{n:.0e} rows x {p:.0e} sparse columns, {nonzeros} of each row not zero, {k} classes, {w} workers")
    print(f"  a class's second moment {8 * p**2 / 1e12:.0f} TB: none; MultinomialLogit, diagonal:")
    print(
        f"  a pass {logit:.0e} operations, {logit / w / SPARSE_SPEED:.0f} s; {16 * p * k / 1e9:.1f} GB sent a worker,",
        end=" ",
    )
    print(
        f"{16 * p * k / DISK:.1f} s each time that they go on; three pairs of steps here {3 * 16 * p * k / 1e9:.1f} GB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--plan", action="store_true")
    asked = parser.parse_args()
    if asked.plan:
        plan()
        return
    base = Size(asked.rows)
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
