"""Fit of GEMClassifier on MNIST against a support-vector machine, in one run: time and test errors.

    python benchmarks/speed/gem_end_to_end.py [--rows N]

`SVC(C=5, gamma=0.02)` is what many would pick for these images. GEM has the settings that
``papers/gem_mnist.py`` chooses on held-out training images. Each runs in a process of its own, so that peak memory
is its own.
"""

from __future__ import annotations

import argparse
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.svm import SVC

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_mnist
from eigenfeat import GEMClassifier


def load(n_rows: int | None):
    mnist = load_mnist()
    X, X_test = ((mnist[key] / np.float32(255)).astype(np.float32) for key in ("X_train", "X_test"))
    return X[:n_rows], mnist["y_train"][:n_rows], X_test, mnist["y_test"]


def measure(name: str, n_rows: int | None) -> tuple[float, float, int, float, float]:
    """Seconds to fit and to predict, test errors, and peak memory in GB before and after."""
    X, y, X_test, y_test = load(n_rows)
    if name == "GEM":
        model = GEMClassifier(n_components=30, ridge=0.5, min_eigenvalue=2.5, alpha=2e-4)
        GEMClassifier(1).fit(X[:500], y[:500])  # compiles
    else:
        model = SVC(C=5, gamma=0.02)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    start = perf_counter()
    model.fit(X, y)
    fitted = perf_counter()
    errors = int(np.sum(model.predict(X_test) != y_test))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return fitted - start, perf_counter() - fitted, errors, before, after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="training rows to use: a trial run")
    options = parser.parse_args()
    results = {}
    print(f"{'model':<6}{'fit s':>8}{'predict s':>11}{'test errors':>13}{'peak GB':>9}{'(data GB)':>11}")
    for name in ("GEM", "SVC"):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            results[name] = alone.submit(measure, name, options.rows).result()
        fit, predict, errors, before, after = results[name]
        print(f"{name:<6}{fit:>8.1f}{predict:>11.1f}{errors:>13}{after:>9.2f}{before:>11.2f}", flush=True)
    fit, predict = (results["SVC"][i] / results["GEM"][i] for i in (0, 1))
    print(f"SVC / GEM: fit {fit:.1f}x, predict {predict:.1f}x")


if __name__ == "__main__":
    main()
