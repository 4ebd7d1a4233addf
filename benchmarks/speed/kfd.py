"""Model selection and fit on USPS: leave-one-out of KFD against GridSearchCV of SVC; solvers against each other.

    python benchmarks/speed/kfd.py [--quick] [--only selection shapes smo]

Seconds are of the processor, one thread and one process, so that other work on the machine does not bend them. "shapes"
has two sets of other shapes, speech frames (20 classes, 39 columns) and log-periodograms (5 classes, 256
columns), on which both searches have their own default or usual grids; `benchmarks/kfd_defaults.py` has ten.
"""

from __future__ import annotations

import argparse
import sys
import tracemalloc
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from eigenfeat import KernelFisherClassifier, KernelFisherClassifierCV

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_usps
from gem_defaults import phoneme, speech, split

GAMMA = 1 / (0.3 * 256)
GAMMAS = GAMMA * 2.0 ** np.arange(-2, 3)
ALPHAS = 10.0 ** np.arange(-3, 2)


def timed(model, data: dict) -> tuple[float, float]:
    start = process_time()
    model.fit(data["X_train"], data["y_train"])
    seconds = process_time() - start
    return seconds, 100 * (1 - model.score(data["X_test"], data["y_test"]))


def selection(data: dict, n_centers: int) -> list[str]:
    """A 5 x 5 grid each, in the same run on one core; C = 1/alpha."""
    results = {}
    for name, model in (
        ("KFD, leave-one-out, full expansion", KernelFisherClassifierCV(ALPHAS, GAMMAS, columns=None)),
        ("KFD, leave-one-out, its own grid", KernelFisherClassifierCV(columns=None)),
        (
            f"KFD, leave-one-out, {n_centers} centres",
            KernelFisherClassifierCV(ALPHAS, GAMMAS, n_centers=n_centers, random_state=0, columns=None),
        ),
        ("SVC, five folds", GridSearchCV(SVC(), {"C": 1 / ALPHAS, "gamma": GAMMAS}, cv=5)),
    ):
        results[name] = timed(model, data)
        print(f"{name:<40}{results[name][0]:8.1f} s, error {results[name][1]:.2f} %", flush=True)
    svc = results.pop("SVC, five folds")
    lines = []
    for name, (seconds, error) in results.items():
        ratio, difference = svc[0] / seconds, error - svc[1]
        lines.append(f"{name}: {ratio:.1f}x faster than GridSearchCV(SVC), error {difference:+.2f} points")
    return lines


def shapes(n_rows: int) -> list[str]:
    """The searches as they come, on standardised columns for the support vector machine."""
    lines = []
    for name, load in (("speech frames", speech), ("phoneme", phoneme)):
        X, X_test, y, y_test = split(load(), n_rows, 2000, seed=0)
        data = {"X_train": X, "X_test": X_test, "y_train": y, "y_test": y_test}
        grid = {"svc__C": 1 / ALPHAS, "svc__gamma": 2.0 ** np.arange(-2, 3) / X.shape[1]}
        ours = timed(KernelFisherClassifierCV(), data)
        theirs = timed(GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=5), data)
        lines.append(
            f"{name}, {len(y)} rows: KFD {ours[0]:.1f} s, {ours[1]:.2f} %, SVC {theirs[0]:.1f} s, {theirs[1]:.2f} %: "
            f"{theirs[0] / ours[0]:.1f}x faster"
        )
    return lines


def smo(data: dict) -> list[str]:
    """Memory allocated by Python and numpy, and time, at one significant figure and exactly."""
    lines = []
    for solver, tol in (("linear", None), ("smo", 1e-1)):
        model = KernelFisherClassifier(
            gamma=GAMMA, alpha=1e-1, solver=solver, tol=tol, threshold="least-squares", columns=None
        )
        seconds, error = timed(model, data)
        tracemalloc.start()
        model.fit(data["X_train"], data["y_train"])
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        lines.append(f"{solver:<8} M = {len(data['y_train'])}: {seconds:6.1f} s, {peak:6.0f} MB, error {error:.2f} %")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run on 600 rows")
    parser.add_argument("--only", nargs="+", choices=["selection", "shapes", "smo"])
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    data = load_usps()
    if options.quick:
        data = {key: value[:600] for key, value in data.items()}
    parts = {
        "smo": lambda: smo(data),
        "selection": lambda: selection(data, 150 if options.quick else 2000),
        "shapes": lambda: shapes(400 if options.quick else 2400),
    }
    lines = [line for name in options.only or parts for line in parts[name]()]
    print("\n".join(lines))


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
