"""Covertype, ten times over, on a cluster of this machine: one worker, two, and memory.

    python benchmarks/speed/dask_scaling.py [--copies 10] [--rows 581012] [--components 5] [--tol 1e-3]
    python benchmarks/speed/dask_scaling.py --fourier

Rows are Covertype's (`EIGENFEAT_DATA`), copied with noise so that no two are alike, as a Dask array of float32. The
model is GEM with its settings given, so that every fit does the same: moments, eigenproblems, passes of the logit.
Labels are smoothed as in `papers/gem_covertype.py`: with plain ones, rounding of float32 takes fits of the same rows
other ways. By default the sample that the logit starts from leaves next to nothing to do with all rows; with a smaller
``--tol`` (`classifier_tol`) most of the time goes to passes over them.
Printed: seconds of the fit on one and on two workers of one thread each and in memory on two threads, their ratios, the
steps, passes and objective of the logit (in float32, rounding may take fits of the same rows another way), the peak
memory of the client, bytes that passes sent to it, and the largest difference of probabilities.

With ``--fourier``, all of Covertype (no copies) through 500 random Fourier features, in float64, where fits of the same
rows take the same steps: held-out error on the cluster and in memory.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.kernel_approximation import RBFSampler

from eigenfeat import GEMClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from datasets import load_covertype

N_TEST = 50_000
MEMORY = 18_000_000_000  # of all workers: room for projections of all rows beside these
PARTS = 4  # partitions of a copy
GAMMA = 0.2  # of the Fourier features: assumed


def gem(n_components: int, tol: float, base_map: Any = None) -> GEMClassifier:
    return GEMClassifier(
        n_components,
        columns="standardise" if base_map is None else "auto",
        class_pairs="all",
        feature_map="soft-cubic",
        ridge=0.3,
        alpha=3e-5,
        base_map=base_map,
        label_smoothing=0.1,
        classifier_tol=tol,
        max_iter=30,
    )


def covertype(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    data = load_covertype()
    X, y = data["X"], data["y"]
    order = np.random.default_rng(0).permutation(len(X))[:n_rows]
    return np.asarray(X, dtype=np.float32)[order], np.asarray(y)[order]


def copied(rows: np.ndarray, spread: np.ndarray, number: int, part: int) -> np.ndarray:
    """A part of a copy of the rows, apart from the others by a hundredth of the spread of every column."""
    if number == 0:
        return rows
    noise = np.random.default_rng([number, part]).standard_normal(rows.shape, dtype=np.float32)
    return rows + noise * (spread / 100)


def parts_of(X: np.ndarray) -> list[np.ndarray]:
    step = -(-len(X) // PARTS)
    return [X[start : start + step] for start in range(0, len(X), step)]


class Counted:
    """Bytes of what passes bring to the client."""

    def __init__(self) -> None:
        from eigenfeat.rows import DaskRows

        self.n_bytes, reduce = 0, DaskRows.reduce

        def counting(rows, accumulator, name="rows"):
            result = reduce(rows, accumulator, name)
            self.n_bytes += len(pickle.dumps(result)) + len(pickle.dumps(accumulator))
            return result

        DaskRows.reduce = counting  # type: ignore[method-assign]


def on_workers(n_workers: int, X: np.ndarray, y: np.ndarray, copies: int, make: Callable) -> tuple[float, Any]:
    """Seconds of a fit on rows that the workers have, and the model."""
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster, wait

    limit = MEMORY // n_workers  # the same in all: one worker and two keep the same
    local = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=limit)
    with local, Client(local) as client:
        own, spread = client.scatter(parts_of(X)), X.std(axis=0)
        blocks = [delayed(copied)(rows, spread, i, j) for i in range(copies) for j, rows in enumerate(own)]
        shapes = [rows.shape for rows in parts_of(X)] * copies
        rows = da.concatenate([da.from_delayed(*block, dtype=X.dtype) for block in zip(blocks, shapes)])
        labels = da.from_array(np.tile(y, copies), chunks=(rows.chunks[0],))
        rows, labels = client.persist([rows, labels])
        wait([rows, labels])
        few = shapes[0][0] + shapes[1][0]  # a partition for each worker, which imports and compiles
        make().fit(rows[:few], labels[:few])
        began = perf_counter()
        model = make().fit(rows, labels)
        return perf_counter() - began, model


def steps(model: GEMClassifier) -> str:
    last = model.classifiers_[0]
    return f"{last.n_iter_} steps, {last.n_passes_:.0f} passes of the logit to {last.objective_:.4f}"


def fourier(X: np.ndarray, y: np.ndarray, n_components: int, tol: float) -> None:
    """All of Covertype through Fourier features: errors."""
    train, test = slice(N_TEST, None), slice(0, N_TEST)
    X = X.astype(np.float64)

    def make() -> GEMClassifier:
        return gem(n_components, tol, RBFSampler(gamma=GAMMA, n_components=500, random_state=0))

    began = perf_counter()
    held = make().fit(X[train], y[train])
    seconds = perf_counter() - began
    print(f"in memory         {seconds:7.1f} s  error {100 * (1 - held.score(X[test], y[test])):.2f} %", flush=True)
    seconds, model = on_workers(2, X[train], y[train], 1, make)
    print(f"two workers       {seconds:7.1f} s  error {100 * (1 - model.score(X[test], y[test])):.2f} %", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=581_012)
    parser.add_argument("--copies", type=int, default=10)
    parser.add_argument("--components", type=int, default=5)
    parser.add_argument("--tol", type=float, default=1e-2, help="classifier_tol of the fits")
    parser.add_argument("--fourier", action="store_true")
    asked = parser.parse_args()
    X, y = covertype(asked.rows)
    if asked.fourier:
        fourier(X, y, asked.components, asked.tol)
        return
    counted = Counted()

    def make() -> GEMClassifier:
        return gem(asked.components, asked.tol)

    one, alone = on_workers(1, X, y, asked.copies, make)
    print(f"one worker        {one:7.1f} s  {steps(alone)}", flush=True)
    counted.n_bytes = 0
    two, model = on_workers(2, X, y, asked.copies, make)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"two workers       {two:7.1f} s  {steps(model)}; {one / two:.2f} times as fast")
    print(f"  the workers kept {model.cache_.what}, {model.cache_.n_bytes / 1e9:.1f} GB")
    print(f"  client: peak {peak / 1e9:.2f} GB; passes brought and sent {counted.n_bytes / 1e6:.1f} MB", flush=True)
    spread, own = X.std(axis=0), parts_of(X)
    rows = np.concatenate([copied(part, spread, i, j) for i in range(asked.copies) for j, part in enumerate(own)])
    labels = np.tile(y, asked.copies)
    make().fit(rows[: len(own[0])], labels[: len(own[0])])  # compiles
    began = perf_counter()
    held = make().fit(rows, labels)
    seconds = perf_counter() - began
    difference = np.abs(model.predict_proba(X[:5000]) - held.predict_proba(X[:5000])).max()
    print(f"in memory         {seconds:7.1f} s  {steps(held)}; two workers take {two / seconds:.2f} times as long")
    print(f"  largest difference of probabilities: {difference:.1e}")


if __name__ == "__main__":
    main()
