"""How many centres an expansion needs: error on held-out training rows at multiples of √n log n, by classes.

The default is √n log n for two classes and √(classes/2) times as many for more, at most 4,000
(`eigenfeat.estimators.kernel_settings.default_centers`); its column is marked. No test row is read. alpha by exact
leave-one-out at every number of centres, gamma the default.

    python benchmarks/speed/kfd_centers.py [--rows 9000] [--quick]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from eigenfeat import KernelFisherClassifier

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_covertype, load_mnist, load_usps

MULTIPLES = (0.5, 1.0, 2.0, 4.0)


def sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Training rows of sets with few and many classes; ten classes also as two."""
    mnist = load_mnist()
    X, y = mnist["X_train"].astype(np.float32) / 255, mnist["y_train"].astype(int)
    yield "MNIST, 10 classes", X, y
    yield "MNIST, odd or even", X, y % 2
    yield "MNIST, 45 classes", *pairs(X, y)
    usps = load_usps()
    yield "USPS, 10 classes", usps["X_train"], usps["y_train"].astype(int)
    covertype = load_covertype()
    yield "Covertype, 7 classes", covertype["X"][:15120].astype(np.float32), covertype["y"][:15120]


def pairs(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two digits side by side as one row, the class which two they are: many classes of the same rows."""
    order = np.random.RandomState(1).permutation(len(y))
    left, right = order[: len(order) // 2], order[len(order) // 2 :]
    low, high = np.minimum(y[left], y[right]), np.maximum(y[left], y[right])
    different = low != high
    return np.hstack([X[left], X[right]])[different], (10 * low + high)[different]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=9000)
    parser.add_argument("--quick", action="store_true", help="1,500 rows")
    options = parser.parse_args()
    n_rows = 1500 if options.quick else options.rows
    print("error in % of 2,000 held-out training rows (seconds of the fit); * the default")
    for name, X, y in sets():
        order = np.random.RandomState(0).permutation(len(y))
        n = min(n_rows, len(y) - 2000)
        fit, held_out = order[:n], order[n : n + 2000]
        single = np.sqrt(n) * np.log(n + 1)
        wanted = np.sqrt(max(len(np.unique(y)), 2) / 2)
        cells = []
        for multiple in sorted({*MULTIPLES, float(wanted)}):
            n_centers = min(int(single * multiple), n)
            start = time.perf_counter()
            model = KernelFisherClassifier(n_centers=n_centers).fit(X[fit], y[fit])
            seconds = time.perf_counter() - start
            error = 100 * np.mean(model.predict(X[held_out]) != y[held_out])
            mark = "*" if multiple == wanted else ""
            cells.append(f"{n_centers}{mark}: {error:.2f} ({seconds:.0f} s)")
        print(f"{name:<22} {n} rows   " + "   ".join(cells), flush=True)


if __name__ == "__main__":
    main()
