"""FEAST with few labels: MNIST test error against labelled rows, with the score learnt from all 60000 unlabelled.

Four sets of features with the same multinomial logit, its penalty chosen by cross-validation on the labelled rows:
third-order components of a score that all rows trained, GEM on the labelled rows, random directions, and the pixels.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_mnist
from eigenfeat import GaussianMixtureScore, GEMFeatures, MultinomialLogit, ScoreTensorFeatures

FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "feast_semisupervised.png"
NAMES = ("FEAST", "GEM", "random directions", "pixels")
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)
N_AXES, N_DIRECTIONS = 50, 200


def rectified(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    P = X @ (W / np.linalg.norm(W, axis=1, keepdims=True)).T
    return np.maximum(np.hstack([P, -P]), 0)


def error(train: np.ndarray, y: np.ndarray, test: np.ndarray, y_test: np.ndarray) -> float:
    scale = np.sqrt(np.mean(np.sum(train**2, axis=1)) / 10)
    search = GridSearchCV(MultinomialLogit(), {"alpha": ALPHAS}, cv=3).fit(train / scale, y)
    return 100 * (1 - search.score(test / scale, y_test))


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
    parser.add_argument("--quick", action="store_true", help="10 and 50 labels a digit, one draw, 2000 test rows")
    quick = parser.parse_args().quick
    counts, n_draws = ((10, 50), 1) if quick else ((10, 30, 100, 300, 1000), 3)
    data = load_mnist()
    X, X_test = (data[key].astype(np.float32) / 255 for key in ("X_train", "X_test"))
    y, y_test = data["y_train"].astype(int), data["y_test"].astype(int)
    if quick:
        X_test, y_test = X_test[:2000], y_test[:2000]
    start = time.perf_counter()
    axes = PCA(N_AXES, whiten=True, svd_solver="covariance_eigh").fit(X)
    Z = axes.transform(X).astype(np.float32)
    score = GaussianMixtureScore().fit(Z)
    print(f"axes and score from {len(X)} unlabelled rows in {time.perf_counter() - start:.1f} s")
    print(f"test error in %, mean ± spread over {n_draws} draws of the labelled rows")
    print(f"{'labels a digit':<16}" + "".join(f"{name:>20}" for name in NAMES), flush=True)
    curves: dict[str, list[list[float]]] = {name: [] for name in NAMES}
    for count in counts:
        errors: dict[str, list[float]] = {name: [] for name in NAMES}
        for seed in range(n_draws):
            rng = np.random.default_rng(seed)
            rows = np.concatenate([rng.permutation(np.flatnonzero(y == digit))[:count] for digit in range(10)])
            feast = ScoreTensorFeatures(
                score, prefit=True, n_components=N_DIRECTIONS, max_iter=50, tol=1e-4, n_init=1, random_state=seed
            ).fit(Z[rows], y[rows])
            gem = GEMFeatures(n_components=5).fit(X[rows], y[rows])
            directions = {
                "FEAST": (feast.components_ @ axes.components_).astype(np.float32),
                "GEM": gem.components_[np.argsort(-gem.eigenvalues_)[:N_DIRECTIONS]].astype(np.float32),
                "random directions": rng.standard_normal((N_DIRECTIONS, X.shape[1])).astype(np.float32),
            }
            for name, W in directions.items():
                errors[name].append(error(rectified(X[rows], W), y[rows], rectified(X_test, W), y_test))
            errors["pixels"].append(error(X[rows], y[rows], X_test, y_test))
        cells = (f"{np.mean(errors[name]):.2f} ± {np.std(errors[name]):.2f}" for name in NAMES)
        print(f"{count:<16}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
        for name in NAMES:
            curves[name].append(errors[name])
    if not quick:
        draw(counts, curves)
    print(f"{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
