"""How far the defaults of GEMClassifier are from tuned settings, on ten sets of different kinds and sizes.

    python benchmarks/gem_defaults.py [--sets digits wine]

Inputs are scaled to [-1, 1] column by column for tables, and by one factor for images, as the guide says; nothing else
is done to them. "Tuned" is the best of a grid over ridge, components a pair, alpha and label smoothing on held-out
training rows, refitted on all training rows. Test rows are looked at once for each of the two.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from itertools import product
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import MinMaxScaler

sys.path.insert(0, str(Path(__file__).parent))
from datasets import covertype_split, load_arrays, load_ida, load_mnist, load_plants, load_usps
from eigenfeat import GEMClassifier

GRID = {
    "ridge": (0.1, 0.5, 2.0),
    "n_components": (5, 20),
    "alpha": (1e-5, 1e-4, 1e-3),
    "label_smoothing": (0.0, 0.2),
}


def halves(X, y):
    return train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)


def of_arrays(arrays, n_rows=None):
    X, y, X_test, y_test = (arrays[key] for key in ("X_train", "y_train", "X_test", "y_test"))
    return X[:n_rows], X_test, y[:n_rows], y_test


def of_ida(name):
    data = load_ida(name)
    train, test = data["train_idx"][0], data["test_idx"][0]
    return data["X"][train], data["X"][test], data["y"][train], data["y"][test]


def of_phoneme():
    data = load_arrays("phoneme.npz", "Elements of Statistical Learning")
    train = data["is_train"].astype(bool)
    return data["X"][train], data["X"][~train], data["y"][train], data["y"][~train]


def of_covertype(n_rows):
    X, y, X_test, y_test = covertype_split(0)
    return X[:n_rows], X_test, y[:n_rows], y_test


SETS = {
    "digits": lambda: halves(*load_digits(return_X_y=True)),
    "breast cancer": lambda: halves(*load_breast_cancer(return_X_y=True)),
    "wine": lambda: halves(*load_wine(return_X_y=True)),
    "vowel": lambda: of_arrays(load_arrays("vowel.npz", "Elements of Statistical Learning")),
    "phoneme": of_phoneme,
    "usps": lambda: of_arrays(load_usps()),
    "mnist, 10,000 rows": lambda: of_arrays(load_mnist(), 10_000),
    "covertype, 20,000 rows": lambda: of_covertype(20_000),
    "waveform": lambda: of_ida("waveform"),
    "plants100": lambda: halves(*load_plants()),
}
IMAGES = ("digits", "usps", "mnist, 10,000 rows")


def scaled(name, X, X_test):
    if name in IMAGES:
        largest = np.abs(X).max()
        return (X / largest).astype(np.float32), (X_test / largest).astype(np.float32)
    scaler = MinMaxScaler((-1, 1)).fit(X)
    return scaler.transform(X).astype(np.float32), scaler.transform(X_test).astype(np.float32)


def tuned(X, y) -> dict:
    """The settings of least error over three folds, or one held-out third where rows are many."""
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))[: 1 if len(y) > 4000 else 3]
    candidates = [dict(zip(GRID, values)) for values in product(*GRID.values())]
    errors = [np.mean([1 - GEMClassifier(**c).fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds]) for c in candidates]
    return candidates[int(np.argmin(errors))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"{'set':<24}{'rows':>7}{'inputs':>7}{'classes':>8}{'default':>9}{'tuned':>9}{'ratio':>7}{'fit s':>7}  tuned")
    ratios = []
    for name in options.sets:
        X, X_test, y, y_test = SETS[name]()
        X, X_test = scaled(name, X, X_test)
        start = perf_counter()
        model = GEMClassifier().fit(X, y)
        seconds = perf_counter() - start
        default = 1 - model.score(X_test, y_test)
        best = tuned(X, y)
        error = 1 - GEMClassifier(**best).fit(X, y).score(X_test, y_test)
        # One more error on both sides keeps the ratio of small counts finite.
        ratios.append((default * len(y_test) + 1) / (error * len(y_test) + 1))
        print(
            f"{name:<24}{len(y):>7}{X.shape[1]:>7}{len(model.classes_):>8}{default:>9.2%}{error:>9.2%}"
            f"{ratios[-1]:>7.2f}{seconds:>7.1f}  {best}",
            flush=True,
        )
    print(f"geometric mean of the ratios {np.exp(np.mean(np.log(ratios))):.3f}, largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
