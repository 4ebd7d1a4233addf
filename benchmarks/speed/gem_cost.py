"""What a fit of GEMClassifier() costs against rows, columns and classes: CPU seconds, wall-clock and peak memory.

    python benchmarks/speed/gem_cost.py [--rows 1000 5000] [--columns 10 100] [--classes 2 10] [--plot cost.png]
    python benchmarks/speed/gem_cost.py --at 20000 50 10

Every fit runs in a process of its own on float32 rows of a Gaussian mixture, two components a class, so that classes
overlap. Memory is the peak of the process less what it holds before the fit, rows included. What is not varied is 20
columns, 5 classes and 5000 rows; ``--at`` measures one fit of the given rows, columns and classes alone.
Ends by itself within 30 minutes on two cores at the default sizes.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from time import perf_counter, process_time

import numpy as np

ROWS = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000)
COLUMNS = (5, 10, 20, 50, 100, 200, 400, 800)
CLASSES = (2, 5, 10, 20, 50, 100, 200)
BLOCK = 5000
BASE = {"rows": 5000, "columns": 20, "classes": 5}


def mixture(rows: int, columns: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Two components a class, each with a centre and a spread along a random direction of its own.

    Made a block at a time: what else the making takes would hide the peak of a fit.
    """
    rng = np.random.default_rng(0)
    component = rng.integers(0, 2 * classes, rows)
    centres = rng.normal(size=(2 * classes, columns))
    along = rng.normal(size=(2 * classes, columns)) / np.sqrt(columns)
    X = np.empty((rows, columns), np.float32)
    for start in range(0, rows, BLOCK):
        own = component[start : start + BLOCK]
        noise, stretch = rng.normal(size=(len(own), columns)), rng.normal(size=(len(own), 1))
        X[start : start + BLOCK] = centres[own] + 1.5 * noise + 3 * stretch * along[own]
    return X, component // 2


def measure(sizes: dict[str, int]) -> dict[str, float]:
    from eigenfeat import GEMClassifier

    GEMClassifier().fit(*mixture(300, 5, 3))  # compiles
    X, y = mixture(**sizes)
    before, started, cpu = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, perf_counter(), process_time()
    model = GEMClassifier().fit(X, y)
    found = {"cpu": process_time() - cpu, "wall": perf_counter() - started}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found | {"megabytes": (peak - before) / 1000, "columns": model.fitted_.features.n_columns(X.shape[1])}


def in_a_process(sizes: dict[str, int]) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, "--one", json.dumps(sizes)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def plot(results: dict[str, list[tuple[int, dict]]], path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(results), figsize=(4 * len(results), 6), sharey="row", squeeze=False)
    for (name, found), (above, below) in zip(results.items(), axes.T):
        sizes = [size for size, _ in found]
        above.loglog(sizes, [f["cpu"] for _, f in found], "o-")
        below.loglog(sizes, [max(f["megabytes"], 1) for _, f in found], "o-", color="tab:orange")
        below.set_xlabel(name)
    axes[0, 0].set_ylabel("CPU seconds of a fit")
    axes[1, 0].set_ylabel("peak MB beside the rows")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--columns", type=int, nargs="*", default=COLUMNS)
    parser.add_argument("--classes", type=int, nargs="*", default=CLASSES)
    parser.add_argument("--at", type=int, nargs=3, metavar=("ROWS", "COLUMNS", "CLASSES"))
    parser.add_argument("--plot")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(json.loads(options.one))))
        return
    if options.at:
        found = in_a_process(dict(zip(BASE, options.at)))
        print(f"{options.at} (rows, columns, classes): {found['cpu']:.2f} CPU s, peak {found['megabytes']:.0f} MB")
        return
    results = {}
    print(f"{'':<10}{'size':>8}{'features':>10}{'CPU s':>9}{'wall s':>9}{'peak MB':>9}")
    for name in ("rows", "columns", "classes"):
        results[name] = []
        for size in getattr(options, name):
            found = in_a_process(BASE | {name: size})
            results[name].append((size, found))
            figures = f"{found['columns']:>10}{found['cpu']:>9.2f}{found['wall']:>9.2f}{found['megabytes']:>9.0f}"
            print(f"{name:<10}{size:>8}{figures}", flush=True)
    if options.plot:
        plot(results, options.plot)


if __name__ == "__main__":
    main()
