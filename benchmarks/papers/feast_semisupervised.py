"""Few labels: MNIST test error against labelled rows, with 20000 more rows that have none.

FEAST and GEM on axes learn their coordinates from all rows; label spreading and self-training (scikit-learn's) use the
rows without labels in their own way; plain GEM and the pixels do not use them. Every set of features has the same
multinomial logit, its penalty chosen by cross-validation on the labelled rows. Label spreading works on the 50 leading
axes of all rows, and its graph has the labelled rows and 5000 of the others.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_mnist
from eigenfeat import GEMFeatures, MultinomialLogit, ScoreTensorFeatures

FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "feast_semisupervised.png"
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)
COUNTS = (10, 30, 100, 300, 1000)
N_UNLABELLED, N_IN_GRAPH, GEM_AXES, GRAPH_AXES = 20_000, 5000, 150, 50


def error(train: np.ndarray, y: np.ndarray, test: np.ndarray, y_test: np.ndarray) -> float:
    scale = np.sqrt(np.mean(np.sum(train**2, axis=1)) / 10)
    search = GridSearchCV(MultinomialLogit(), {"alpha": ALPHAS}, cv=3).fit(train / scale, y)
    return 100 * (1 - search.score(test / scale, y_test))


class Few:
    """Labelled rows, rows without labels, and rows to test on."""

    def __init__(self, X, y, U, X_test, y_test, axes: PCA) -> None:
        self.X, self.y, self.U, self.X_test, self.y_test, self.axes = X, y, U, X_test, y_test, axes

    def feast(self) -> float:
        model = ScoreTensorFeatures().fit(self.X, self.y, unlabelled=self.U)
        return error(model.transform(self.X), self.y, model.transform(self.X_test), self.y_test)

    def feast_alone(self) -> float:
        model = ScoreTensorFeatures().fit(self.X, self.y)
        return error(model.transform(self.X), self.y, model.transform(self.X_test), self.y_test)

    def gem(self) -> float:
        return self._gem(self.X, self.X_test)

    def gem_on_axes(self) -> float:
        return self._gem(self.axes.transform(self.X), self.axes.transform(self.X_test))

    def _gem(self, X: np.ndarray, X_test: np.ndarray) -> float:
        model = GEMFeatures(n_components=5).fit(X, self.y)
        return error(model.transform(X), self.y, model.transform(X_test), self.y_test)

    def pixels(self) -> float:
        return error(self.X, self.y, self.X_test, self.y_test)

    def label_spreading(self) -> float:
        known, others, test = (
            self.axes.transform(rows)[:, :GRAPH_AXES] for rows in (self.X, self.U[:N_IN_GRAPH], self.X_test)
        )
        model = LabelSpreading(kernel="knn", n_neighbors=10)
        model.fit(np.vstack([known, others]), np.append(self.y, np.full(len(others), -1)))
        return 100 * (1 - model.score(test, self.y_test))

    def self_training(self) -> float:
        known, others, test = (self.axes.transform(rows) for rows in (self.X, self.U, self.X_test))
        model = SelfTrainingClassifier(LogisticRegression(C=0.1, max_iter=300), threshold=0.95, max_iter=5)
        model.fit(np.vstack([known, others]), np.append(self.y, np.full(len(others), -1)))
        return 100 * (1 - model.score(test, self.y_test))


METHODS: dict[str, Callable[[Few], float]] = {
    "FEAST": Few.feast,
    "GEM on axes": Few.gem_on_axes,
    "label spreading": Few.label_spreading,
    "self-training": Few.self_training,
    "FEAST, labelled rows": Few.feast_alone,
    "GEM, labelled rows": Few.gem,
    "pixels": Few.pixels,
}


def draw(counts: tuple[int, ...], errors: dict[str, list[list[float]]]) -> None:
    """Error against labels, mean and spread."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, of_counts in errors.items():
        means, spreads = np.mean(of_counts, axis=1), np.std(of_counts, axis=1)
        axis.errorbar(counts, means, spreads, label=name, marker="o", markersize=4, capsize=2)
    axis.set(xscale="log", yscale="log", xlabel="labels a digit", ylabel="test error in %", xticks=counts)
    axis.set_xticklabels(map(str, counts))
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_formatter("{x:g}")
    axis.minorticks_off()
    axis.set_yticks([3, 5, 10, 20, 40])
    axis.legend()
    figure.savefig(FIGURE, dpi=90)
    print(f"figure: {FIGURE.relative_to(FIGURE.parents[2])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 labels a digit, one draw, 2000 test rows")
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS, help="labels a digit")
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts, n_draws = ((10,), 1) if options.quick else (tuple(options.counts), options.draws)
    data = load_mnist()
    X, X_test = (data[key].astype(np.float32) / 255 for key in ("X_train", "X_test"))
    y, y_test = data["y_train"].astype(int), data["y_test"].astype(int)
    if options.quick:
        X_test, y_test = X_test[:2000], y_test[:2000]
    start = time.perf_counter()
    print(f"test error in %, mean ± spread over {n_draws} draws of the rows; {N_UNLABELLED} rows without labels")
    print("| labels a digit | " + " | ".join(METHODS) + " |", flush=True)
    curves: dict[str, list[list[float]]] = {name: [] for name in METHODS}
    for count in counts:
        errors: dict[str, list[float]] = {name: [] for name in METHODS}
        for seed in range(n_draws):
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(y))
            place = np.concatenate([np.flatnonzero(y[order] == digit)[:count] for digit in range(10)])
            rows, others = order[place], np.delete(order, place)[:N_UNLABELLED]
            axes = PCA(GEM_AXES, svd_solver="covariance_eigh").fit(X[np.concatenate([rows, others])])
            few = Few(X[rows], y[rows], X[others], X_test, y_test, axes)
            for name, method in METHODS.items():
                errors[name].append(method(few))
        cells = (f"{np.mean(errors[name]):.2f} ± {np.std(errors[name]):.2f}" for name in METHODS)
        print(f"| {count} | " + " | ".join(cells) + " |", flush=True)
        for name in METHODS:
            curves[name].append(errors[name])
    if counts == COUNTS:
        draw(counts, curves)
    print(f"{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
