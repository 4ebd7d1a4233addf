"""Covertype, ten times over, on a cluster of this machine: one worker, two, and memory.

    python benchmarks/speed/dask_scaling.py [--copies 10] [--rows 581012] [--components 5]
    python benchmarks/speed/dask_scaling.py --fourier

Rows are Covertype's (`EIGENFEAT_DATA`), copied with noise so that no two are alike, as a Dask array of float32. The
model is GEM with its settings given, so that every fit does the same: moments, eigenproblems, passes of the logit.
Printed: seconds of the fit on one and on two workers of one thread each and in memory on two threads, their ratios, the
peak memory of the client, bytes that passes sent to it, and the largest difference of probabilities.

With ``--fourier``, all of Covertype (no copies) through 500 random Fourier features: held-out error on the cluster and
in memory.
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
from sklearn.preprocessing import StandardScaler

from eigenfeat import GEMClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from datasets import load_covertype

N_TEST = 50_000
MEMORY = 16_000_000_000  # of all workers


def gem(n_components: int, base_map: Any = None) -> GEMClassifier:
    return GEMClassifier(
        n_components,
        columns=None if base_map is not None else "standardise",
        class_pairs="all",
        feature_map="soft-cubic",
        ridge=0.3,
        alpha=1e-5,
        base_map=base_map,
        label_smoothing=0.0,
        max_iter=30,
    )


def covertype(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    data = load_covertype()
    X, y = data["X"], data["y"]
    order = np.random.default_rng(0).permutation(len(X))[:n_rows]
    return np.asarray(X, dtype=np.float32)[order], np.asarray(y)[order]


def copied(X: np.ndarray, number: int) -> np.ndarray:
    """A copy of the rows, apart from the others by a hundredth of the spread of every column; the first is X."""
    if number == 0:
        return X
    noise = np.random.default_rng(number).standard_normal(X.shape, dtype=np.float32)
    return X + noise * (X.std(axis=0) / 100)


class Counted:
    """Bytes of what passes bring to the client."""

    def __init__(self) -> None:
        from eigenfeat.rows import DaskRows

        self.n_bytes, summed = 0, DaskRows._summed

        def counting(source, statistic, name):
            result = summed(source, statistic, name)
            self.n_bytes += len(pickle.dumps(result)) + len(pickle.dumps(statistic))
            return result

        DaskRows._summed = counting  # type: ignore[method-assign]


def on_workers(n_workers: int, X: np.ndarray, y: np.ndarray, copies: int, make: Callable) -> tuple[float, Any]:
    """Seconds of a fit on rows that the workers have, and the model."""
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    limit = MEMORY // n_workers  # the same in all: one worker and two keep the same
    local = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=limit)
    with local, Client(local) as client:
        step = -(-len(X) // 4)
        rows = da.concatenate([da.from_array(copied(X, i), chunks=(step, X.shape[1])) for i in range(copies)])
        labels = da.concatenate([da.from_array(y, chunks=step)] * copies)
        rows, labels = client.persist([rows, labels])
        wait([rows, labels])
        make().fit(rows[:step], labels[:step])  # compiles
        began = perf_counter()
        model = make().fit(rows, labels)
        return perf_counter() - began, model


def fourier(X: np.ndarray, y: np.ndarray, n_components: int) -> None:
    """All of Covertype through Fourier features: errors."""
    train, test = slice(N_TEST, None), slice(0, N_TEST)
    scale = StandardScaler().fit(X[train])
    X = scale.transform(X).astype(np.float32)

    def make() -> GEMClassifier:
        return gem(n_components, RBFSampler(gamma=0.05, n_components=500, random_state=0))

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
    parser.add_argument("--fourier", action="store_true")
    asked = parser.parse_args()
    X, y = covertype(asked.rows)
    if asked.fourier:
        fourier(X, y, asked.components)
        return
    counted = Counted()

    def make() -> GEMClassifier:
        return gem(asked.components)

    one, _ = on_workers(1, X, y, asked.copies, make)
    print(f"one worker        {one:7.1f} s", flush=True)
    counted.n_bytes = 0
    two, model = on_workers(2, X, y, asked.copies, make)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"two workers       {two:7.1f} s  {one / two:.2f} times as fast; {model.kept_.what} on the workers")
    print(f"  client: peak {peak / 1e9:.2f} GB; passes brought and sent {counted.n_bytes / 1e6:.1f} MB", flush=True)
    rows, labels = np.concatenate([copied(X, i) for i in range(asked.copies)]), np.tile(y, asked.copies)
    began = perf_counter()
    held = make().fit(rows, labels)
    seconds = perf_counter() - began
    difference = np.abs(model.predict_proba(X[:5000]) - held.predict_proba(X[:5000])).max()
    print(f"in memory         {seconds:7.1f} s  two workers take {two / seconds:.2f} times as long")
    print(f"  largest difference of probabilities: {difference:.1e}")


if __name__ == "__main__":
    main()
