"""KernelFisherClassifier with no settings against SVC() with none, and the two searches, on sets of different kinds.

    python benchmarks/kfd_defaults.py [--sets digits vowel] [--splits 3] [--quick] [--folds 5] [--no-search]

Every model gets the table as it comes, but for the grid search, whose SVC stands behind a StandardScaler, as a user
would write it: C in 0.1 to 1000, gamma in ¼ to 4 times 1 / columns, 25 pairs. Splits are random and stratified; speech
is split by utterance. Nothing is chosen on test rows. Seconds are CPU seconds of a fit on one core. The last lines are
geometric means over sets: a set's error is the mean over its splits, and half an error is added to both sides of a
ratio so that it stays finite. Log loss is printed for the multinomial logit on left-out outputs and for one slope
("logistic").
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parent))
from eigenfeat import KernelFisherClassifier, KernelFisherClassifierCV
from gem_defaults import SETS as ALL_SETS
from gem_defaults import split

SIZES = {
    "digits": (1200, 597),
    "usps": (2500, 4000),
    "covertype, 54 columns": (3000, 10_000),
    "speech frames, 20 classes": (3000, 5000),
    "phoneme": (2500, 2000),
    "vowel": (660, 330),
    "plants100": (1100, 500),
    "waveform": (2500, 2500),
    "breast cancer": (380, 189),
    "german": (700, 300),
}
"""Training rows, and test rows at most."""


def grid_search(X: np.ndarray, folds: int) -> GridSearchCV:
    grid = {"svc__C": [0.1, 1, 10, 100, 1000], "svc__gamma": [w / X.shape[1] for w in (0.25, 0.5, 1, 2, 4)]}
    return GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds)


def models(X: np.ndarray, options: argparse.Namespace) -> dict[str, object]:
    chosen = {"KFD": KernelFisherClassifier(), "SVC": SVC()}
    if options.search:
        chosen |= {"KFD CV": KernelFisherClassifierCV(), "SVC grid": grid_search(X, options.folds)}
    return chosen


def measured(model, X, X_test, y, y_test) -> tuple[float, float]:
    """Error and CPU seconds of the fit."""
    start = process_time()
    model.fit(X, y)
    seconds = process_time() - start
    return float(np.mean(model.predict(X_test) != y_test)), seconds


def log_losses(fitted: KernelFisherClassifier, X, X_test, y, y_test) -> tuple[float, float]:
    """Of the default probabilities, and of one slope for all classes, with the same alpha."""
    slope = KernelFisherClassifier(alpha=fitted.alpha_, probability="logistic").fit(X, y)
    labels = np.arange(y.max() + 1)
    return tuple(log_loss(y_test, model.predict_proba(X_test), labels=labels) for model in (fitted, slope))


def compare(name: str, options: argparse.Namespace) -> dict[str, np.ndarray]:
    """Mean error and seconds of every model and the log losses of ours; prints them."""
    load, _, _ = ALL_SETS[name]
    n_train, n_test = SIZES[name]
    if options.quick:
        n_train, n_test = min(n_train, 500), min(n_test, 500)
    data = load()
    found: dict[str, list] = {}
    for seed in range(options.splits):
        X, X_test, y, y_test = split(data, n_train, n_test, seed)
        for label, model in models(X, options).items():
            found.setdefault(label, []).append(measured(model, X, X_test, y, y_test))
            if label == "KFD" and set(y_test) <= set(y):
                found.setdefault("log loss", []).append(log_losses(model, X, X_test, y, y_test))
    means = {label: np.mean(values, axis=0) for label, values in found.items()}
    cells = "  ".join(
        f"{label} {100 * error:5.2f} % {seconds:6.1f} s"
        for label, (error, seconds) in means.items()
        if label != "log loss"
    )
    losses = "log loss {:.3f}, one slope {:.3f}".format(*means["log loss"]) if "log loss" in means else ""
    print(f"{name:<28}{cells}  {losses}", flush=True)
    return means | {"half": np.array(0.5 / min(n_test, len(data[1])))}


def geometric(ratios: list[float]) -> str:
    return f"{np.exp(np.mean(np.log(ratios))):.3f} (least {min(ratios):.2f}, largest {max(ratios):.2f})"


def report(results: list[dict[str, np.ndarray]], ours: str, theirs: str) -> None:
    errors = [(r[ours][0] + r["half"]) / (r[theirs][0] + r["half"]) for r in results]
    seconds = [r[ours][1] / r[theirs][1] for r in results]
    print(f"{ours} / {theirs}: error {geometric(errors)}, CPU seconds {geometric(seconds)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--folds", type=int, default=5, help="of the grid search")
    parser.add_argument("--quick", action="store_true", help="500 training rows at most")
    parser.add_argument("--no-search", dest="search", action="store_false")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    rows = np.random.RandomState(0).randn(60, 3)
    KernelFisherClassifier().fit(rows, rows[:, 0] > 0)  # compiles what is compiled once a machine
    results = [compare(name, options) for name in options.sets]
    report(results, "KFD", "SVC")
    if options.search:
        report(results, "KFD CV", "SVC grid")
    losses = [r["log loss"][0] / r["log loss"][1] for r in results if "log loss" in r]
    print(f"log loss, multinomial logit / one slope: {geometric(losses)}")


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
