"""Many labels: least-squares features before a linear SVM, against the same SVM on the raw inputs.

    python benchmarks/papers/ls_multilabel.py [--quick] [--only bibtex | delicious | few | kernel | text]

- bibtex, delicious: all training rows of the official split.
- few: 300 labelled rows of bibtex, delicious (their 30 most frequent labels) and yahoo-arts, three draws.
- kernel: yeast and yahoo-arts, 1,500 and 2,000 rows, with the kernel form beside the linear one.
- text: news20 with all its 130,107 word counts, a label a class.

The ridge is the default, leave-one-out; the number of components and the SVM's C are chosen on a held-out fifth of the
training rows (raw inputs get the same choice of C), judged there by the mean AUC of the thirty most frequent labels.
The test rows are used once a line. Micro AUC pools all (row, label) pairs; macro AUC is the mean over labels that occur
among the test rows. Times are of fitting on all training rows, the search for the ridge included.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_arrays, load_multilabel, load_news20
from eigenfeat import HypergraphFeatures, LeastSquaresCCA, LeastSquaresOPLS

MODELS = {
    "raw inputs": None,
    "CCA": LeastSquaresCCA,
    "OPLS": LeastSquaresOPLS,
    "star": HypergraphFeatures,
    "CCA, RBF": partial(LeastSquaresCCA, kernel="rbf"),
    "star, RBF": partial(HypergraphFeatures, kernel="rbf"),
}
LINEAR = ("raw inputs", "CCA", "OPLS", "star")
C_GRID = (0.01, 0.1, 1.0)


@dataclass(frozen=True)
class Task:
    """Rows and labels, the first ``n_train`` rows being for training, and the features to compare."""

    name: str
    X: np.ndarray | sparse.csr_matrix
    Y: np.ndarray
    n_train: int
    models: tuple[str, ...] = LINEAR
    components: tuple[int, ...] = (25, 100)


def multilabel(name: str) -> tuple[sparse.csr_matrix, np.ndarray]:
    X, Y = load_multilabel(name)
    return X, Y.toarray().astype(int)


def official(name: str, n_train: int) -> Iterator[Task]:
    yield Task(name, *multilabel(name), n_train)


def few_rows() -> Iterator[Task]:
    for name, n_train in {"bibtex": 4880, "delicious": 12920, "yahoo-arts": 2000}.items():
        X, Y = multilabel(name)
        Y = Y[:, np.argsort(-Y.sum(axis=0))[:30]]
        for draw in range(3):
            kept = np.random.default_rng(draw).permutation(n_train)[:300]
            rows = np.concatenate([kept, np.arange(n_train, X.shape[0])])
            yield Task(f"{name}, 300 rows", X[rows], Y[rows], 300, components=(10, 25))


def by_kernel() -> Iterator[Task]:
    yeast = load_arrays("yeast.npz", "MULAN")
    X = np.vstack([yeast["X_train"], yeast["X_test"]])
    Y = np.vstack([yeast["Y_train"], yeast["Y_test"]]).astype(int)
    models = (*LINEAR, "CCA, RBF", "star, RBF")
    yield Task("yeast", X, Y, len(yeast["X_train"]), models, (13,))
    yield Task("yahoo-arts", *multilabel("yahoo-arts"), 2000, models, (25,))


def wide_text() -> Iterator[Task]:
    X, y, X_test, y_test = load_news20()
    X = sparse.vstack([X, X_test]).tocsr()
    yield Task("news20", X, np.eye(20, dtype=int)[np.concatenate([y, y_test])], len(y), ("raw inputs", "CCA"), (19,))


PARTS = {
    "bibtex": partial(official, "bibtex", 4880),
    "delicious": partial(official, "delicious", 12920),
    "few": few_rows,
    "kernel": by_kernel,
    "text": wide_text,
}


def prepared(name: str, n_components: int | None):
    """The step before the SVM: nothing for raw inputs, else features of unit variance."""
    if MODELS[name] is None:
        return [FunctionTransformer(accept_sparse=True)]
    return [MODELS[name](n_components, tol=1e-6), StandardScaler()]


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


def choose(name: str, components: tuple[int, ...], X, Y) -> tuple[int | None, float]:
    """Number of components and C on a held-out fifth of the training rows."""
    order = np.random.default_rng(0).permutation(X.shape[0])
    held, kept = order[: len(order) // 5], order[len(order) // 5 :]
    frequent = np.argsort(-Y.sum(axis=0))[:30]
    best = (-np.inf, None, 1.0)
    for k in components if MODELS[name] else (None,):
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


def run(task: Task) -> dict[str, tuple[float, float]]:
    """Print a line for each kind of features; their micro and macro AUC."""
    found = {}
    X, Y, cut = task.X, task.Y, task.n_train
    for name in task.models:
        k, C = choose(name, task.components, X[:cut], Y[:cut])
        features_s, svm_s, scores = fit(name, k, C, X[:cut], Y[:cut])
        predicted, truth = scores(X[cut:]), Y[cut:]
        micro = roc_auc_score(truth.ravel(), predicted.ravel())
        print(
            f"{task.name:<21}{name:<12}{k or X.shape[1]:>11}{C:>7g}{micro:>11.4f}"
            f"{macro(truth, predicted):>11.4f}{features_s:>12.1f}{svm_s:>8.1f}{features_s + svm_s:>9.1f}",
            flush=True,
        )
        found[name] = (micro, macro(truth, predicted))
    return found


def print_means(name: str, draws: list[dict[str, tuple[float, float]]]) -> None:
    for model in draws[0]:
        micro, macro_ = np.mean([draw[model] for draw in draws], axis=0)
        print(f"{name:<21}{model:<12}{f'mean of {len(draws)}':>18}{micro:>11.4f}{macro_:>11.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a cut of bibtex, a smoke run")
    parser.add_argument("--only", choices=list(PARTS), help="one part")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # labels without a positive row in a split, LinearSVC's iterations
    print(
        f"{'data':<21}{'features':<12}{'components':>11}{'C':>7}{'micro AUC':>11}{'macro AUC':>11}"
        f"{'features s':>12}{'SVM s':>8}{'total s':>9}"
    )
    if options.quick:
        X, Y = multilabel("bibtex")
        run(Task("bibtex, cut", X[:1600], Y[:1600, np.argsort(-Y.sum(axis=0))[:10]], 800, tuple(MODELS), (9,)))
        return
    for name, tasks in PARTS.items():
        if options.only in (None, name):
            outcomes: dict[str, list] = {}
            for task in tasks():
                outcomes.setdefault(task.name, []).append(run(task))
            for task_name, draws in outcomes.items():
                if len(draws) > 1:
                    print_means(task_name, draws)


if __name__ == "__main__":
    main()
