"""Few labels: MNIST test error against labelled rows, with 5000 more rows that have none.

GEM and FEAST get the rows without labels as `unlabelled`, for columns, principal axes and score, and choose their
settings by themselves from the labelled rows; label spreading and self-training (scikit-learn's) use the same rows in
their own way, on 50 and 150 principal axes of all rows. GEM and FEAST of the labelled rows alone, and a multinomial
logit on the pixels, its penalty cross-validated, stand beside them. Every count of labels has its share of
`--minutes`: when that is used up, no further draw is begun, and the table says how many there were.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_mnist
from eigenfeat import GEMClassifier, MultinomialLogit, ScoreTensorClassifier

FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "feast_semisupervised.png"
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)
COUNTS = (10, 30, 100, 300, 1000)
N_UNLABELLED, AXES, GRAPH_AXES = 5000, 150, 50


@dataclass(frozen=True)
class Few:
    """Labelled rows, rows without labels, and rows to test on."""

    X: np.ndarray
    y: np.ndarray
    U: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, model, X_test: np.ndarray | None = None) -> float:
        return 100 * (1 - model.score(self.X_test if X_test is None else X_test, self.y_test))

    def gem(self) -> float:
        return self.error(GEMClassifier().fit(self.X, self.y, unlabelled=self.U))

    def feast(self) -> float:
        return self.error(ScoreTensorClassifier().fit(self.X, self.y, unlabelled=self.U))

    def gem_alone(self) -> float:
        return self.error(GEMClassifier().fit(self.X, self.y))

    def feast_alone(self) -> float:
        return self.error(ScoreTensorClassifier().fit(self.X, self.y))

    def pixels(self) -> float:
        scale = np.sqrt(np.mean(np.sum(self.X**2, axis=1)) / 10)
        search = GridSearchCV(MultinomialLogit(tol=1e-3), {"alpha": ALPHAS}, cv=3).fit(self.X / scale, self.y)
        return self.error(search, self.X_test / scale)

    def label_spreading(self) -> float:
        return self._with_marks(LabelSpreading(kernel="knn", n_neighbors=10), GRAPH_AXES)

    def self_training(self) -> float:
        logit = LogisticRegression(C=0.1, max_iter=300)
        return self._with_marks(SelfTrainingClassifier(logit, threshold=0.95, max_iter=5), AXES)

    def _with_marks(self, model, n_axes: int) -> float:
        """scikit-learn's way: rows without labels are marked by -1."""
        rows = np.vstack([self.X, self.U])
        axes = PCA(n_axes, svd_solver="covariance_eigh").fit(rows)
        model.fit(axes.transform(rows), np.append(self.y, np.full(len(self.U), -1)))
        return self.error(model, axes.transform(self.X_test))


METHODS: dict[str, Callable[[Few], float]] = {
    "GEM": Few.gem,
    "FEAST": Few.feast,
    "label spreading": Few.label_spreading,
    "self-training": Few.self_training,
    "GEM, labelled rows": Few.gem_alone,
    "FEAST, labelled rows": Few.feast_alone,
    "pixels": Few.pixels,
}


def drawn(data: dict[str, np.ndarray], count: int, seed: int, n_test: int | None) -> Few:
    """So many labels a digit of the training images, 5000 others without, and the official test images."""
    y = data["y_train"].astype(int)
    order = np.random.default_rng(seed).permutation(len(y))
    place = np.concatenate([np.flatnonzero(y[order] == digit)[:count] for digit in range(10)])
    rows, others = order[place], np.delete(order, place)[:N_UNLABELLED]
    images = [data["X_train"][rows], data["X_train"][others], data["X_test"][:n_test]]
    X, U, X_test = (part.astype(np.float32) / 255 for part in images)
    return Few(X, y[rows], U, X_test, data["y_test"][:n_test].astype(int))


def draw(counts: tuple[int, ...], errors: dict[str, list[list[float]]]) -> None:
    """Error against labels, mean and spread."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for name, of_counts in errors.items():
        means, spreads = ([function(found) for found in of_counts] for function in (np.mean, np.std))
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
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=25, help="after which no draw is begun")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts, n_draws = ((10,), 1) if options.quick else (tuple(options.counts), options.draws)
    data = load_mnist()
    start = time.perf_counter()
    print(f"test error in %, mean ± spread over at most {n_draws} draws; {N_UNLABELLED} rows without labels")
    print("| labels a digit | draws | " + " | ".join(options.methods) + " |", flush=True)
    curves: dict[str, list[list[float]]] = {name: [] for name in options.methods}
    for place, count in enumerate(counts):
        until = start + 60 * options.minutes * (place + 1) / len(counts)
        errors: dict[str, list[float]] = {name: [] for name in options.methods}
        for seed in range(n_draws):
            if seed and time.perf_counter() > until:
                break
            few = drawn(data, count, seed, 2000 if options.quick else None)
            for name in options.methods:
                errors[name].append(METHODS[name](few))
        cells = (f"{np.mean(found):.2f} ± {np.std(found):.2f}" for found in errors.values())
        print(f"| {count} | {len(errors[options.methods[0]])} | " + " | ".join(cells) + " |", flush=True)
        for name, found in errors.items():
            curves[name].append(found)
    if counts == COUNTS:
        draw(counts, curves)
    print(f"{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
