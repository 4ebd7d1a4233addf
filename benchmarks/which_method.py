"""Where each kind of method is at home: error and seconds of defaults, on sets that need no download.

    python benchmarks/which_method.py [--quick]

Every model as it comes, with nothing tuned; those that need columns of one size get a `StandardScaler`. Ten splits into
halves, stratified (three with ``--quick``): mean error in % with its standard deviation over splits, and the mean
seconds of a fit on one thread. Four sets come with scikit-learn; four are simulated, each the home of one kind: classes
that differ in their means, in single thresholds, by a curved boundary, in their covariances.
"""

from __future__ import annotations

import argparse
import warnings
from time import perf_counter

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from eigenfeat import FisherLDA, GEMClassifier, KernelFisherClassifier

MODELS = {
    "logit": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "trees": lambda: ExtraTreesClassifier(n_estimators=300, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "SVC": lambda: make_pipeline(StandardScaler(), SVC()),
    "FisherLDA": lambda: make_pipeline(StandardScaler(), FisherLDA(shrinkage="auto")),
    "kernel Fisher": KernelFisherClassifier,
    "GEM": GEMClassifier,
}


def means(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three classes, one covariance: what a logit and Fisher's discriminant assume."""
    y = rng.integers(3, size=1000)
    return rng.normal(size=(3, 10))[y] * 0.7 + rng.normal(size=(1000, 10)), y


def thresholds(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Whether three single columns of fifteen pass their thresholds: what trees ask."""
    X = rng.uniform(size=(1000, 15))
    return X, (X[:, 0] > 0.5).astype(int) + 2 * (X[:, 1] > 0.3) * (X[:, 2] > 0.6)


def covariances(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Four classes with one mean, each long in another direction of twelve mixed columns."""
    y = rng.integers(4, size=1000)
    sources = rng.normal(size=(1000, 12))
    sources[np.arange(1000), y] *= 4
    return sources @ rng.normal(size=(12, 12)), y


def sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    return {
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits": load_digits(return_X_y=True),
        "means": means(rng),
        "thresholds": thresholds(rng),
        "curved": make_moons(1000, noise=0.25, random_state=0),
        "covariances": covariances(rng),
    }


def measured(make, X: np.ndarray, y: np.ndarray, n_splits: int) -> tuple[np.ndarray, float]:
    """Errors of every split in %, and seconds of a fit."""
    errors, seconds = [], []
    for train, test in StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=0).split(X, y):
        start = perf_counter()
        model = make().fit(X[train], y[train])
        seconds.append(perf_counter() - start)
        errors.append(100 * np.mean(model.predict(X[test]) != y[test]))
    return np.array(errors), float(np.mean(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three splits instead of ten")
    n_splits = 3 if parser.parse_args().quick else 10
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    print("".join(f"{name:>15}" for name in ("error, %", *MODELS)))
    total = dict.fromkeys(MODELS, 0.0)
    for name, (X, y) in sets().items():
        cells = []
        for model, make in MODELS.items():
            errors, seconds = measured(make, X, y, n_splits)
            total[model] += seconds
            cells.append(f"{errors.mean():.1f} ± {errors.std(ddof=1):.1f}")
        print(f"{name:>15}" + "".join(f"{cell:>15}" for cell in cells), flush=True)
    print(f"{'seconds, all':>15}" + "".join(f"{seconds:>15.1f}" for seconds in total.values()))


if __name__ == "__main__":
    main()
