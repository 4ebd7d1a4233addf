"""Many class pairs at once against a loop of ``scipy.linalg.eigh``, in the same run, both free to use all cores.

Second moments of the classes, ridge 0.5 of the mean diagonal. Both sides start from the same moment matrices; times are
the best of a few interleaved repeats, scipy's also the better of all BLAS threads and one (on a busy machine threads
that wait for each other cost more than they bring); CPU seconds, which other work on the machine disturbs least, stand
beside them. The error is the largest relative difference of any eigenvalue from scipy's.

    python benchmarks/speed/pairs.py [--quick] [mnist] [random-features] [plants]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_mnist, load_plants
from eigenfeat.moments import DenseMoments, DualMoments
from eigenfeat.quotients import Quotient, Regularisation, contrast
from eigenfeat.solvers import Directions, solve

RIDGE = Regularisation(ridge=0.5)


def scipy_loop(quotients: list[Quotient], n_components: int) -> list[np.ndarray]:
    """What a careful user of scipy writes: matrices formed once, one call a pair."""
    d = quotients[0].n_features
    wanted = (d - n_components, d - 1)
    values = []
    for signal, noise in MATRICES[id(quotients)]:
        values.append(eigh(signal, noise, subset_by_index=wanted)[0][::-1])
    return values


#: Matrices of each list of quotients, formed before the clock starts.
MATRICES: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}


def form_matrices(quotients: list[Quotient]) -> None:
    arrays: dict[int, np.ndarray] = {}
    for form in [f for q in quotients for f in (q.signal, q.noise)]:
        if id(form) not in arrays:
            arrays[id(form)] = form.toarray().astype(np.float64)
    MATRICES[id(quotients)] = [(arrays[id(q.signal)], arrays[id(q.noise)]) for q in quotients]


def seconds(task: Callable[[], list]) -> tuple[np.ndarray, list]:
    """Seconds on the clock and of the processor."""
    start = np.array([time.perf_counter(), time.process_time()])
    result = task()
    return np.array([time.perf_counter(), time.process_time()]) - start, result


def compare(
    title: str, quotients: list[Quotient], n_components: int, repeats: int, tasks: dict[str, Callable[[], list]]
) -> dict[str, float]:
    """Print a line a task, with its ratio to scipy's loop; return the ratios."""
    form_matrices(quotients)
    best: dict[str, np.ndarray] = {}
    results: dict[str, list] = {}
    for _ in range(repeats):
        for threads in (None, 1):
            with threadpool_limits(threads):
                spent, results["scipy"] = seconds(lambda: scipy_loop(quotients, n_components))
            best["scipy"] = np.minimum(spent, best.get("scipy", np.inf))
        for name, task in tasks.items():
            spent, results[name] = seconds(task)
            best[name] = np.minimum(spent, best.get(name, np.inf))
    wall, processor = best["scipy"]
    print(f"{title}: {len(quotients)} pairs, top {n_components}; scipy {wall:.2f} s (CPU {processor:.2f} s)")
    for name in tasks:
        found: list[Directions] = results[name]
        error = max(np.max(np.abs(r.values / w[: r.n_directions] - 1)) for r, w in zip(found, results["scipy"]))
        residual = max(float(r.residuals.max()) for r in found)
        solvers = ", ".join(sorted({r.solver for r in found}))
        print(
            f"  {name:18s} {best[name][0]:7.3f} s {wall / best[name][0]:5.1f}x  "
            f"(CPU {best[name][1]:.3f} s {processor / best[name][1]:.1f}x)  "
            f"eigenvalue error {error:.0e}, residual {residual:.0e} ({solvers})"
        )
    del MATRICES[id(quotients)]
    return {f"{title} {name}": wall / best[name][0] for name in tasks}


def all_pairs(k: int) -> list[tuple[int, int]]:
    return [(i, j) for j in range(k) for i in range(k) if i != j]


def mnist(quick: bool) -> dict[str, float]:
    data = load_mnist()
    moments = DenseMoments().update(data["X_train"].astype(np.float32) / np.float32(255), data["y_train"])
    pairs = all_pairs(10)[: 18 if quick else None]
    quotients = contrast(moments, pairs, regularisation=RIDGE)
    tasks = {
        "float64": lambda: solve(quotients, 20),
        "float64, tol=1e-5": lambda: solve(quotients, 20, tol=1e-5),
        "float32": lambda: solve(quotients, 20, dtype=np.float32),
    }
    return compare("mnist d=784", quotients, 20, 2 if quick else 4, tasks)


def random_features(quick: bool) -> dict[str, float]:
    """Ten pairs in 3601 features: a constant and the roots of the positive parts of random projections."""
    data = load_mnist()
    rows = slice(None, None, 6 if quick else 2)
    X = data["X_train"][rows].astype(np.float32) / np.float32(255)
    P = np.random.default_rng(0).standard_normal((784, 3600), dtype=np.float32) / np.float32(28)
    features = np.concatenate([np.ones((len(X), 1), np.float32), np.sqrt(np.maximum(X @ P, 0))], axis=1)
    moments = DenseMoments().update(features, data["y_train"][rows])
    pairs = [(i, j) for j in (0, 1) for i in (2, 3, 4, 5, 6)][: 2 if quick else None]
    quotients = contrast(moments, pairs, regularisation=RIDGE)
    tasks = {
        "float64": lambda: solve(quotients, 20),
        "float64, tol=1e-5": lambda: solve(quotients, 20, tol=1e-5),
    }
    return compare("random features d=3601", quotients, 20, 1 if quick else 2, tasks)


def plants(quick: bool) -> dict[str, float]:
    """9900 small pairs: 100 classes of 16 rows in 64 columns, from dense matrices and from the rows themselves."""
    X, y = load_plants()
    X = X / X.std()
    pairs = all_pairs(100)[: 990 if quick else None]
    dense, rows = (contrast(kind().update(X, y), pairs, regularisation=RIDGE) for kind in (DenseMoments, DualMoments))
    tasks = {"from matrices": lambda: solve(dense, 10), "from rows": lambda: solve(rows, 10)}
    return compare("plants100 d=64", dense, 10, 2 if quick else 3, tasks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="mnist, random-features, plants; all of them by default")
    parser.add_argument("--quick", action="store_true", help="fewer pairs and repeats")
    options = parser.parse_args()
    parts = {"mnist": mnist, "random-features": random_features, "plants": plants}
    ratios: dict[str, float] = {}
    for name in options.parts or parts:
        ratios |= parts[name](options.quick)
    print("ratio to scipy: " + "; ".join(f"{name} {ratio:.1f}x" for name, ratio in ratios.items()))


if __name__ == "__main__":
    main()
