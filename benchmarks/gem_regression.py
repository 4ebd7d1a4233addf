"""GEMRegressor against ridge regression on the raw inputs: R² over five splits of two sets, one with several outputs.

    python benchmarks/gem_regression.py

One output: the elevation of 20,000 plots of Covertype from their other 53 columns. Several: the lower half of
scikit-learn's digits (32 pixels) from the upper half. The columns of the first are standardised for both models, the
pixels share a unit and stay as they are (standard scores of pixels that are nearly always zero reach tens, and a cubic
map of them decides a split). Penalties of both models are chosen on the training rows by
generalized cross-validation; everything else is at its default. R² of several outputs is weighted by their variance,
for some pixels hardly vary.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).parent))
from datasets import load_covertype
from eigenfeat import GEMRegressor


def elevation() -> tuple[np.ndarray, np.ndarray]:
    data = load_covertype()
    rows = np.random.default_rng(0).permutation(len(data["y"]))[:20_000]
    X = data["X"][rows].astype(np.float64)
    return X[:, 1:], X[:, 0]


def lower_half() -> tuple[np.ndarray, np.ndarray]:
    X, _ = load_digits(return_X_y=True)
    return X[:, :32] / 16, X[:, 32:] / 16


def main() -> None:
    print(f"{'set':<34}{'rows':>7}{'inputs':>7}{'outputs':>8}{'ridge R²':>17}{'GEM R²':>17}{'fit s':>7}")
    for name, (X, y), scaling in (
        ("Covertype, elevation", elevation(), StandardScaler()),
        ("digits, lower half from upper half", lower_half(), "passthrough"),
    ):
        ridge, gem, seconds = [], [], []
        for train, test in ShuffleSplit(5, test_size=0.25, random_state=0).split(X):
            linear = make_pipeline(scaling, RidgeCV(np.logspace(-3, 5, 17))).fit(X[train], y[train])
            start = perf_counter()
            model = make_pipeline(scaling, GEMRegressor()).fit(X[train], y[train])
            seconds.append(perf_counter() - start)
            for fitted, scores in ((linear, ridge), (model, gem)):
                scores.append(r2_score(y[test], fitted.predict(X[test]), multioutput="variance_weighted"))
        columns = [f"{np.mean(scores):.4f} ± {np.std(scores, ddof=1):.4f}" for scores in (ridge, gem)]
        n_outputs = 1 if y.ndim == 1 else y.shape[1]
        print(
            f"{name:<34}{len(X):>7}{X.shape[1]:>7}{n_outputs:>8}{columns[0]:>17}{columns[1]:>17}{np.mean(seconds):>7.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
