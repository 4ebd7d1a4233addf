"""Multi-label quality: least-squares features before a linear SVM, against the same SVM on the raw inputs.

    python benchmarks/papers/ls_multilabel.py [--quick]

bibtex and delicious with their official split. The ridge is chosen by generalized cross-validation, the number of
components and the SVM's C on a held-out fifth of the training rows (raw inputs get the same choice of C), judged
there by the mean AUC of the thirty most frequent labels. The test rows are used once a line. Micro AUC pools all
(row, label) pairs; macro AUC is the mean over labels that occur among the test rows. Times are of fitting on all
training rows, the search for the ridge included.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_multilabel
from eigenfeat import HypergraphFeaturesCV, LeastSquaresCCACV, LeastSquaresOPLSCV

SPLITS = {"bibtex": 4880, "delicious": 12920}
MODELS = {
    "raw inputs": None,
    "CCA": LeastSquaresCCACV,
    "OPLS": LeastSquaresOPLSCV,
    "star": HypergraphFeaturesCV,
}
COMPONENTS = (25, 100)
C_GRID = (0.01, 0.1, 1.0)


def prepared(name: str, n_components: int | None):
    """The step before the SVM: nothing for raw inputs, else features of unit variance."""
    if MODELS[name] is None:
        return [FunctionTransformer(accept_sparse=True)]
    return [MODELS[name](n_components), StandardScaler()]


def fit(name: str, n_components: int | None, C: float, X, Y):
    """Seconds of features and classifier, and a function from rows to scores."""
    start = perf_counter()
    steps = prepared(name, n_components)
    Z = X
    for step in steps:
        Z = step.fit_transform(Z, Y)
    middle = perf_counter()
    svm = OneVsRestClassifier(LinearSVC(C=C, dual="auto", max_iter=200, tol=1e-2, random_state=0)).fit(Z, Y)
    end = perf_counter()

    def scores(rows):
        for step in steps:
            rows = step.transform(rows)
        return svm.decision_function(rows)

    return middle - start, end - middle, scores


def macro(Y, scores) -> float:
    varied = (Y.min(axis=0) == 0) & (Y.max(axis=0) == 1)
    return roc_auc_score(Y[:, varied], scores[:, varied])


def choose(name: str, X, Y) -> tuple[int | None, float]:
    """Number of components and C on a held-out fifth of the training rows."""
    order = np.random.default_rng(0).permutation(X.shape[0])
    held, kept = order[: len(order) // 5], order[len(order) // 5 :]
    frequent = np.argsort(-Y.sum(axis=0))[:30]
    best = (-np.inf, None, 1.0)
    for k in COMPONENTS if MODELS[name] else (None,):
        steps = prepared(name, k)
        Z, Z_held = X[kept], X[held]
        for step in steps:
            Z = step.fit_transform(Z, Y[kept])
            Z_held = step.transform(Z_held)
        for C in C_GRID:
            svm = OneVsRestClassifier(LinearSVC(C=C, dual="auto", max_iter=200, tol=1e-2, random_state=0))
            auc = macro(Y[held][:, frequent], svm.fit(Z, Y[kept][:, frequent]).decision_function(Z_held))
            best = max(best, (auc, k, C), key=lambda entry: entry[0])
    return best[1], best[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a cut of bibtex, a smoke run")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # labels without a positive row in a split, LinearSVC's iterations
    print(
        f"{'data':<11}{'features':<12}{'components':>11}{'C':>7}{'micro AUC':>11}{'macro AUC':>11}"
        f"{'features s':>12}{'SVM s':>8}{'total s':>9}"
    )
    for data, cut in {"bibtex": 800}.items() if options.quick else SPLITS.items():
        X, Y = load_multilabel(data)
        Y = Y.toarray().astype(int)
        if options.quick:
            X, Y = X[:1600], Y[:1600, np.argsort(-Y.sum(axis=0))[:10]]
        for name in MODELS:
            k, C = choose(name, X[:cut], Y[:cut])
            features_s, svm_s, scores = fit(name, k, C, X[:cut], Y[:cut])
            predicted, truth = scores(X[cut:]), Y[cut:]
            micro = roc_auc_score(truth.ravel(), predicted.ravel())
            print(
                f"{data:<11}{name:<12}{k or X.shape[1]:>11}{C:>7g}{micro:>11.4f}"
                f"{macro(truth, predicted):>11.4f}{features_s:>12.1f}{svm_s:>8.1f}{features_s + svm_s:>9.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
