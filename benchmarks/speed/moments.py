"""Class moments in one pass, against per-class ``A.T @ A`` on rows that are already split by class.

    python benchmarks/speed/moments.py

The rival does no gathering by class, no mean and no centring, and holds a second copy of the data; it is the
floor of what the products cost. Both run in float32 on both cores; times are the best of interleaved repeats.
"""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path
from time import perf_counter, sleep

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_covertype, load_mnist
from eigenfeat.moments import DenseMoments

REPEATS = 9


def measure(X: np.ndarray, y: np.ndarray) -> tuple[float, float, float, float]:
    """Seconds of ours and of the rival, relative difference of the result, peak extra memory of ours in MB."""
    parts = [np.ascontiguousarray(X[y == c]) for c in np.unique(y)]
    ours, rival = [], []
    for _ in range(REPEATS):
        start = perf_counter()
        products = [A.T @ A for A in parts]
        rival.append(perf_counter() - start)
        sleep(0.2)  # idle BLAS threads spin for a while: neither side should pay for the other
        start = perf_counter()
        moments = DenseMoments().update(X, y)
        ours.append(perf_counter() - start)
        sleep(0.2)
    expected = products[0] / len(parts[0])
    difference = np.abs(moments.second_moment(0).matrix - expected).max() / np.abs(expected).max()
    tracemalloc.start()
    DenseMoments().update(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return min(ours), min(rival), difference, peak / 1e6


def main() -> None:
    mnist = load_mnist()
    cover = load_covertype()
    sets = {
        "MNIST": ((mnist["X_train"] / np.float32(255)).astype(np.float32), mnist["y_train"]),
        "Covertype": (cover["X"].astype(np.float32), cover["y"]),
    }
    print(
        f"{'data':<12}{'rows x columns':>18}{'ours s':>10}{'A.T @ A s':>12}{'speed':>8}{'differ':>10}{'extra MB':>10}"
    )
    ratios = []
    for name, (X, y) in sets.items():
        ours, rival, difference, peak = measure(X, y)
        ratios.append(f"{name} {rival / ours:.2f}")
        shape = f"{X.shape[0]} x {X.shape[1]}"
        print(f"{name:<12}{shape:>18}{ours:>10.3f}{rival:>12.3f}{rival / ours:>8.2f}{difference:>10.1e}{peak:>10.0f}")
    print("share of the rival's speed:", ", ".join(ratios))


if __name__ == "__main__":
    main()
