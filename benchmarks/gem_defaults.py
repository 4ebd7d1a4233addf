"""GEMClassifier with no settings against what a user would pick instead, also with none, on sets of different kinds.

    python benchmarks/gem_defaults.py [--sets digits wine] [--splits 3] [--rivals lightgbm] [--keep FOLDER]

Every model gets the table as it comes. Rivals: LightGBM, ExtraTrees(300) and HistGradientBoosting with defaults, and
a support vector machine on standardised columns with a grid of nine points, judged by three-fold cross-validation
over 2000 rows at most and then fitted to all. Splits are random and stratified; speech is split by utterance. Seconds
are CPU seconds of a fit (one core, all threads counted). Nothing is chosen on test rows. The last lines are geometric
means over sets: a set's error and log loss are means over its splits, half an error is added to both sides of an
error ratio so that it stays finite. With ``--keep`` a later run finds what an earlier one measured: sets may so be
run one by one, and all of them printed.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, GroupShuffleSplit, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parent))
from datasets import load_arrays, load_covertype, load_ida, load_mnist, load_plants, load_usps
from eigenfeat import GEMClassifier

GRID_ROWS = 2000
"""Rows, in random order, that settings of the support vector machine are chosen on."""

Data = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def whole(arrays) -> Data:
    X = np.concatenate([arrays["X_train"], arrays["X_test"]]).astype(np.float64)
    return X, np.concatenate([arrays["y_train"], arrays["y_test"]]), None


def covertype(columns=slice(None), classes=range(1, 8)) -> Data:
    arrays = load_covertype()
    X, y = arrays["X"], arrays["y"]
    chosen = np.isin(y, list(classes))
    return X[chosen][:, columns].astype(np.float64), y[chosen], None


def speech() -> Data:
    """Single frames; the label is the digit spoken by one of six speakers."""
    d = load_arrays("fsdd.npz", "Free Spoken Digit Dataset")
    y = d["y"] // 3  # speaker and digit, without the third of the utterance
    chosen = y < 20
    return d["X"][chosen].astype(np.float64), y[chosen], d["utt"][chosen]


def phoneme() -> Data:
    d = load_arrays("phoneme.npz", "Elements of Statistical Learning")
    return d["X"].astype(np.float64), d["y"], None


def ida(name: str) -> Data:
    d = load_ida(name)
    return d["X"].astype(np.float64), d["y"], None


SETS: dict[str, tuple[Callable[[], Data], int, int]] = {
    "digits": (lambda: (*load_digits(return_X_y=True), None), 1200, 597),
    "usps": (lambda: whole(load_usps()), 2500, 5000),
    "mnist": (lambda: whole(load_mnist()), 2000, 10_000),
    "covertype, 54 columns": (covertype, 6000, 20_000),
    "covertype, 10 columns, 2 classes": (lambda: covertype(slice(10), (1, 2)), 8000, 20_000),
    "speech frames, 20 classes": (speech, 3000, 10_000),
    "phoneme": (phoneme, 2500, 2000),
    "vowel": (lambda: whole(load_arrays("vowel.npz", "Elements of Statistical Learning")), 660, 330),
    "plants100": (lambda: (*load_plants(), None), 1100, 500),
    "waveform": (lambda: ida("waveform"), 2500, 2500),
    "ringnorm": (lambda: ida("ringnorm"), 3700, 3700),
    "banana": (lambda: ida("banana"), 2600, 2700),
    "breast cancer": (lambda: (*load_breast_cancer(return_X_y=True), None), 380, 189),
    "german": (lambda: ida("german"), 700, 300),
}
"""Loader, training rows, test rows at most; of wide sets so few that all rivals end within half an hour."""


def lightgbm():
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1)


class SmallGrid(ClassifierMixin, BaseEstimator):
    """A support vector machine on standardised columns, its settings chosen on the first rows."""

    def fit(self, X: np.ndarray, y: np.ndarray):
        grid = {"svc__C": [1, 10, 100], "svc__gamma": [factor / X.shape[1] for factor in (0.25, 1, 4)]}
        search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=3, refit=False)
        chosen = search.fit(X[:GRID_ROWS], y[:GRID_ROWS]).best_params_
        self.fitted_ = make_pipeline(StandardScaler(), SVC()).set_params(**chosen).fit(X, y)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.fitted_.predict(X)


RIVALS: dict[str, Callable[[np.ndarray], object]] = {
    "lightgbm": lambda X: lightgbm(),
    "extra trees": lambda X: ExtraTreesClassifier(300, random_state=0),
    "hist boosting": lambda X: HistGradientBoostingClassifier(random_state=0),
    "svc": lambda X: SmallGrid(),
}
TREES = ("lightgbm", "extra trees", "hist boosting")


def split(data: Data, n_train: int, n_test: int, seed: int):
    X, y, groups = data
    y = np.unique(y, return_inverse=True)[1]
    if groups is None:
        n_test = min(n_test, len(y) - n_train)
        return train_test_split(X, y, train_size=n_train, test_size=n_test, stratify=y, random_state=seed)
    rows = np.random.default_rng(seed).permutation(len(y))
    train, test = next(GroupShuffleSplit(1, test_size=0.4, random_state=seed).split(X, y, groups))
    train, test = rows[np.isin(rows, train)][:n_train], rows[np.isin(rows, test)][:n_test]
    return X[train], X[test], y[train], y[test]


def measured(model, X, X_test, y, y_test) -> tuple[float, float, float]:
    """Error, log loss (none where there are no probabilities) and CPU seconds of the fit."""
    start = process_time()
    model.fit(X, y)
    seconds = process_time() - start
    error = float(np.mean(model.predict(X_test) != y_test))
    if not hasattr(model, "predict_proba"):
        return error, np.nan, seconds
    return error, log_loss(y_test, model.predict_proba(X_test), labels=np.arange(y.max() + 1)), seconds


def warm_up() -> None:
    """Compiles what is compiled once a machine."""
    X, y = load_digits(return_X_y=True)
    for dtype in (np.float64, np.float32):
        GEMClassifier().fit(X[:300].astype(dtype), y[:300])
        GEMClassifier().fit(X[:300, 20:24].astype(dtype), y[:300] > 4)


def geometric(ratios: list[float]) -> str:
    return f"{np.exp(np.nanmean(np.log(ratios))):.2f} (largest {np.nanmax(ratios):.2f})"


def measure(name: str, n_splits: int, rivals: list[str]) -> dict:
    """Error, log loss and seconds of every model in every split, and what GEM chose in the last."""
    load, n_train, n_test = SETS[name]
    data = load()
    found: dict[str, list] = {model: [] for model in ("gem", *rivals)}
    for seed in range(n_splits):
        parts = split(data, n_train, n_test, seed)
        model = GEMClassifier()
        found["gem"].append(measured(model, *parts))
        for rival in rivals:
            found[rival].append(measured(RIVALS[rival](parts[0]), *parts))
    X, _, y, y_test = parts
    chosen = ", ".join(f"{key}={value}" for key, value in model.choices_.items() if key not in ("alpha", "temperature"))
    size = f"{len(y)} rows, {X.shape[1]} columns, {y.max() + 1} classes"
    return {"found": found, "n_test": len(y_test), "about": f"{name}: {size}; chosen in the last split: {chosen}"}


def kept(keep: Path | None, name: str, n_splits: int, rivals: list[str]) -> dict:
    """`measure`, or what was kept of it."""
    file = None if keep is None else keep / f"{name}, {n_splits} splits, {', '.join(rivals)}.json"
    if file is not None and file.exists():
        return json.loads(file.read_text())
    result = measure(name, n_splits, rivals)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(result))
    return result


def compare(result: dict) -> dict[str, np.ndarray]:
    """Mean error, log loss and seconds of every model; prints them."""
    means = {model: np.mean(values, axis=0) for model, values in result["found"].items()}
    means["n_test"] = np.array(result["n_test"])
    print(result["about"])
    for model_name, values in result["found"].items():
        spread = np.std(values, axis=0)
        error, loss, seconds = means[model_name]
        print(f"  {model_name:<14} error {error:7.2%} ± {spread[0]:6.2%}   log loss {loss:6.3f}   {seconds:7.2f} s")
    sys.stdout.flush()
    return means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--rivals", nargs="+", default=list(RIVALS), choices=list(RIVALS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="folder for what was measured, so that none is repeated")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        warm_up()
        results = {name: compare(kept(options.keep, name, options.splits, options.rivals)) for name in options.sets}

    def error_ratio(means, rivals) -> float:
        half = 0.5 / float(means["n_test"])
        return (means["gem"][0] + half) / (min(means[rival][0] for rival in rivals) + half)

    trees = [tree for tree in TREES if tree in options.rivals]
    if trees:
        print("error over that of the best of the trees:", geometric([error_ratio(m, trees) for m in results.values()]))
    if "svc" in options.rivals:
        print("error over that of the SVC:", geometric([error_ratio(m, ["svc"]) for m in results.values()]))
    if "lightgbm" in options.rivals:
        losses = [m["gem"][1] / m["lightgbm"][1] for m in results.values()]
        times = [m["gem"][2] / m["lightgbm"][2] for m in results.values()]
        print("log loss over LightGBM's:", geometric(losses))
        print("CPU time over LightGBM's:", geometric(times))


if __name__ == "__main__":
    main()
