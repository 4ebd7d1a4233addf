"""Fits of GEMClassifier, this source tree against an earlier one and a support-vector machine, in one run.

    python benchmarks/speed/gem_end_to_end.py [--before PATH/TO/OTHER/src] [--svc] [--only mnist covertype] [--rows N]

MNIST has the settings that ``papers/gem_mnist.py`` chooses on held-out training images, and default ones; Covertype
those of ``papers/gem_covertype.py``, splines of twelve knots on 160,000 rows. `SVC(C=5, gamma=0.02)` is what many would
pick for the images; it takes minutes. Every model has a process of its own, so that peak memory is its own, and the
trees run in turn.

GEM is fitted to the images twice. The first fit asks the system for memory, which is dear where a virtual machine has
to get it from its host (0.1 to 15 s a GB, by what ran before, were seen on one): its system seconds say how dear. The
second finds that memory with its process, which keeps what it has freed. Other fits take minutes, and are made once.
Seconds of the program, *user*, suffer least from what else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1]))
COVERTYPE_ROWS = 160_000
# For glibc's malloc: nothing that is freed goes back to the system.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40)}


def images(n_rows: int | None):
    from datasets import load_mnist

    mnist = load_mnist()
    X, X_test = ((mnist[key] / np.float32(255)).astype(np.float32) for key in ("X_train", "X_test"))
    return X[:n_rows], mnist["y_train"][:n_rows], X_test, mnist["y_test"]


def covertype(n_rows: int | None):
    from covertype_columns import scaled
    from datasets import covertype_split

    X, y, X_test, y_test = covertype_split(0)
    n_rows = n_rows or COVERTYPE_ROWS
    X, X_test = scaled(X[:n_rows], X_test)
    return X, y[:n_rows], X_test, y_test


def model_of(name: str):
    if name == "mnist, SVC":
        from sklearn.svm import SVC

        return SVC(C=5, gamma=0.02)
    from eigenfeat import GEMClassifier
    from eigenfeat.features.maps import SplineMap

    return {
        "mnist": GEMClassifier(
            30,
            ridge=0.5,
            min_eigenvalue=2.5,
            feature_map="soft-cubic",
            base_map=None,
            alpha=2e-4,
            label_smoothing=0.2,
        ),
        "mnist, defaults": GEMClassifier(),
        "covertype, splines": GEMClassifier(
            20,
            ridge=0.05,
            feature_map=SplineMap(12),
            base_map=None,
            constant=True,
            alpha=1e-6,
            label_smoothing=0.1,
            max_iter=40,
        ),
    }[name]


def fitted(name: str, X: np.ndarray, y: np.ndarray):
    """The model, and what its fit took: seconds on the clock, of the program and of the system."""
    before, start = resource.getrusage(resource.RUSAGE_SELF), perf_counter()
    model = model_of(name).fit(X, y)
    after, clock = resource.getrusage(resource.RUSAGE_SELF), perf_counter() - start
    return model, {
        "clock": clock,
        "user": after.ru_utime - before.ru_utime,
        "system": after.ru_stime - before.ru_stime,
        "peak": after.ru_maxrss / 1e6,
    }


def measure(name: str, n_rows: int | None) -> dict[str, float]:
    """Seconds of a first fit and of another, seconds to predict, test errors, GB before and at the peak."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = (covertype if name.startswith("covertype") else images)(n_rows)
    if not name.endswith("SVC"):
        model_of(name).set_params(n_components=1, max_iter=2).fit(X[:1000], y[:1000])  # compiles
    data = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    model, first = fitted(name, X, y)
    again = fitted(name, X, y)[1] if name in ("mnist", "mnist, defaults") else first
    start = perf_counter()
    errors = int(np.sum(model.predict(X_test) != y_test))
    return {
        "first": first["clock"],
        "system": first["system"],
        "again": again["clock"],
        "user": again["user"],
        "predict": perf_counter() - start,
        "errors": errors,
        "peak": first["peak"],
        "data": data,
    }


def alone(name: str, source: Path, n_rows: int | None) -> dict[str, float]:
    """`measure` in a process of its own, with the eigenfeat of a source tree."""
    command = [sys.executable, str(HERE), "--measure", name, *(["--rows", str(n_rows)] if n_rows else [])]
    environment = os.environ | KEEP_MEMORY | {"PYTHONPATH": str(source)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} with {source}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the src folder of the tree to compare with")
    parser.add_argument("--svc", action="store_true", help="the support-vector machine too")
    parser.add_argument("--only", nargs="+", default=["mnist", "covertype"], choices=["mnist", "covertype"])
    parser.add_argument("--rows", type=int, help="training rows to use: a trial run")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.rows)))
        return
    trees = {"now": HERE.parents[2] / "src"} | ({"before": options.before.resolve()} if options.before else {})
    names = [name for name in ("mnist", "mnist, defaults", "covertype, splines") if name.split(",")[0] in options.only]
    print(f"{'model':<28}{'first s':>9}{'(system)':>10}{'again s':>9}{'user s':>8}{'predict s':>11}", end="")
    print(f"{'test errors':>13}{'peak GB':>9}{'(data GB)':>11}")

    def shown(label: str, found: dict[str, float]) -> dict[str, float]:
        print(f"{label:<28}{found['first']:>9.1f}{found['system']:>10.1f}{found['again']:>9.1f}", end="")
        print(f"{found['user']:>8.1f}{found['predict']:>11.1f}{found['errors']:>13.0f}", end="")
        print(f"{found['peak']:>9.2f}{found['data']:>11.2f}", flush=True)
        return found

    def ratio(label: str, slow: dict[str, float], quick: dict[str, float]) -> None:
        shares = (f"{kind} {slow[kind] / quick[kind]:.2f}x" for kind in ("first", "again", "user"))
        print(f"{label}: {', '.join(shares)}", flush=True)

    found = {}
    for name in names:
        for tree, source in trees.items():
            found[name, tree] = shown(f"{name}, {tree}", alone(name, source, options.rows))
        if options.before:
            ratio(f"{name}: before / now", found[name, "before"], found[name, "now"])
    if options.svc:
        rival = shown("mnist, SVC", alone("mnist, SVC", trees["now"], options.rows))
        ratio("SVC / GEM", rival, found.get(("mnist", "now")) or alone("mnist", trees["now"], options.rows))


if __name__ == "__main__":
    main()
