"""Figure 1 of the LS paper: eigen and least-squares forms against the number of training rows.

    python benchmarks/papers/ls_equivalence.py [--quick] [--plot docs/figures/ls_equivalence.png]

Yeast (mean ROC AUC over 14 labels) with hypergraph star, CCA and OPLS features; USPS (accuracy) with LDA features.
Ten random partitions; features are standardised and a linear SVM stands behind. The paper gives a figure without
numbers and three statements, which are checked here: the forms are equal while rank(X) = n - 1; beyond, they differ
little; the regularised ones are better. Forms:

- eigen: the generalized eigenproblem restricted to the range of X;
- LS: least squares and the second stage, as the library does it (equal to eigen at any rank);
- paper LS: the regression on T alone, as the paper does it;
- ridge: alpha by generalized cross-validation on the training rows, from the paper's grid;
- lasso: alpha by five folds of the training rows, from twenty values below the one that leaves nothing.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.linalg import lstsq
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics import roc_auc_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_arrays, load_usps
from eigenfeat import (
    HypergraphFeatures,
    HypergraphFeaturesCV,
    LeastSquaresCCA,
    LeastSquaresCCACV,
    LeastSquaresLDA,
    LeastSquaresLDACV,
    LeastSquaresOPLS,
    LeastSquaresOPLSCV,
)
from eigenfeat.least_squares.targets import class_indicator, hypergraph_factor, reduce

FORMS = ("eigen", "LS", "paper LS", "ridge", "lasso")


class PaperLeastSquares(TransformerMixin, BaseEstimator):
    """The paper's Algorithm 1 and nothing after it: X regressed on the orthonormal targets of H."""

    def __init__(self, factor=None, project=False):
        self.factor = factor
        self.project = project

    def fit(self, X, y):
        targets = reduce(self.factor(y), np.ones(len(X)), project=self.project)
        self.mean_ = X.mean(axis=0)
        self.weights_ = lstsq(X - self.mean_, targets.orthonormal)[0]
        return self

    def transform(self, X):
        return (X - self.mean_) @ self.weights_


MODELS = {
    "star": (HypergraphFeatures, HypergraphFeaturesCV, lambda Y: hypergraph_factor(Y, "star"), False),
    "CCA": (LeastSquaresCCA, LeastSquaresCCACV, lambda Y: Y, True),
    "OPLS": (LeastSquaresOPLS, LeastSquaresOPLSCV, lambda Y: Y, False),
    "LDA": (LeastSquaresLDA, LeastSquaresLDACV, lambda y: class_indicator(y, int(y.max()) + 1), True),
}


def features(model: str, form: str):
    plain, searched, factor, project = MODELS[model]
    return {
        "eigen": lambda: plain(solver="eigen"),
        "LS": lambda: plain(solver="block_cg", tol=1e-12, max_iter=5000),
        "paper LS": lambda: PaperLeastSquares(factor, project),
        "ridge": lambda: searched(penalty="ridge"),
        "lasso": lambda: searched(penalty="lasso", tol=1e-3, max_iter=200),
    }[form]()


def score(model: str, form: str, X_train, y_train, X_test, y_test) -> float:
    svm = LinearSVC(random_state=0)
    classifier = svm if model == "LDA" else OneVsRestClassifier(svm)
    pipeline = make_pipeline(features(model, form), StandardScaler(), classifier)
    if model == "LDA":
        return pipeline.fit(X_train, y_train).score(X_test, y_test)
    return roc_auc_score(y_test, pipeline.fit(X_train, y_train).decision_function(X_test))


def measure(model: str, X, y, sizes, n_partitions: int) -> np.ndarray:
    """(partitions, sizes, forms) scores on the rows left out of training."""
    scores = np.empty((n_partitions, len(sizes), len(FORMS)))
    for p in range(n_partitions):
        order = np.random.default_rng(p).permutation(len(X))
        for i, n in enumerate(sizes):
            train, test = order[:n], order[max(sizes) :]
            for j, form in enumerate(FORMS):
                scores[p, i, j] = score(model, form, X[train], y[train], X[test], y[test])
    return scores


def print_table(title: str, sizes, scores: np.ndarray) -> None:
    print(f"\n{title}: mean ± standard deviation over {len(scores)} partitions")
    print(f"{'rows':>6}" + "".join(f"{form:>17}" for form in FORMS))
    for i, n in enumerate(sizes):
        cells = [f"{scores[:, i, j].mean():.4f} ± {scores[:, i, j].std(ddof=1):.4f}" for j in range(len(FORMS))]
        print(f"{n:>6}" + "".join(f"{cell:>17}" for cell in cells), flush=True)


def print_verdicts(title: str, sizes, scores: np.ndarray, n_inputs: int) -> bool:
    """The paper's three statements, from the scores."""
    small = [i for i, n in enumerate(sizes) if n <= n_inputs]
    index = {form: j for j, form in enumerate(FORMS)}
    apart = np.abs(scores[:, :, index["eigen"]] - scores[:, :, index["paper LS"]])
    ours_apart = np.abs(scores[:, :, index["eigen"]] - scores[:, :, index["LS"]]).max()
    equal = f"{apart[:, small].max():.4f}" if small else "no such size"
    print(f"{title}: eigen - paper LS at most {equal} where n <= d, {apart.max():.4f} anywhere;", end=" ")
    print(f"eigen - LS with the second stage at most {ours_apart:.4f}.")
    holds = True
    for form in ("ridge", "lasso"):
        gain = scores[:, :, index[form]] - scores[:, :, index["eigen"]]
        error = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
        worse = [sizes[i] for i in range(len(sizes)) if gain[:, i].mean() < -error[i]]
        holds = holds and not worse
        print(f"  {form} - eigen: {gain.mean():+.4f} on average, from {gain.mean(axis=0).min():+.4f} to "
              f"{gain.mean(axis=0).max():+.4f}; worse by more than a standard error at n in {worse}.")  # fmt: skip
    return holds


def draw(results, file: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(results), figsize=(4.2 * len(results), 3.6), layout="constrained")
    styles = {"eigen": "o-", "LS": "x:", "paper LS": "s--", "ridge": "^-", "lasso": "v-"}
    for axis, (title, (sizes, scores)) in zip(np.atleast_1d(axes), results.items()):
        for j, form in enumerate(FORMS):
            mean, spread = scores[:, :, j].mean(axis=0), scores[:, :, j].std(axis=0, ddof=1)
            (line,) = axis.plot(sizes, mean, styles[form], label=form, markersize=4, linewidth=1.2)
            axis.fill_between(sizes, mean - spread, mean + spread, color=line.get_color(), alpha=0.12, linewidth=0)
        axis.set(title=title, xlabel="training rows", ylabel="accuracy" if "LDA" in title else "ROC AUC")
        axis.grid(alpha=0.3)
    np.atleast_1d(axes)[0].legend(fontsize=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=90)
    print(f"\nplot written to {file}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two partitions, three sizes")
    parser.add_argument("--plot", type=Path, help="file of the redrawn figure")
    options = parser.parse_args()
    sizes = [100, 400, 900] if options.quick else [100, 200, 300, 500, 700, 900]
    n_partitions = 2 if options.quick else 10
    warnings.simplefilter("ignore")  # constant labels of small partitions, LinearSVC's iterations
    yeast, usps = load_arrays("yeast.npz", "MULAN"), load_usps()
    X_yeast, Y_yeast = (np.concatenate([yeast[f"{a}_train"], yeast[f"{a}_test"]]) for a in "XY")
    X_usps, y_usps = (np.concatenate([usps[f"{a}_train"], usps[f"{a}_test"]]) for a in "Xy")
    results, holds = {}, True
    for model in MODELS:
        X, y = (X_usps, y_usps) if model == "LDA" else (X_yeast, Y_yeast)
        scores = measure(model, X.astype(np.float64), y.astype(int), sizes, n_partitions)
        title = f"{'USPS' if model == 'LDA' else 'yeast'}, {model}"
        results[title] = (sizes, scores)
        print_table(title, sizes, scores)
        holds = print_verdicts(title, sizes, scores, X.shape[1]) and holds
    if options.plot:
        draw(results, options.plot)
    print(
        f"regularised forms no worse than plain ones within one standard error: {'yes' if holds else 'not everywhere'}"
    )


if __name__ == "__main__":
    main()
