"""FEAST on MNIST: table 1 of the paper, its figures 4 and 5, its observations, and the full split.

Protocol (paper, appendix B.2): 1000 training images a digit are drawn; 300 make the cross-moment, 500 train an SVM
on the rectified projections, 100 test it; the 100 left over choose the SVM's settings. The score is learnt without
labels from the 60000 training images less those that choose and test.

Third-order moments of 3000 rows say nothing along 784 directions: the noise of the moment grows like d^(3/2) / n.
Scores live on the 50 leading principal axes (the paper's auto-encoder has 50 hidden units), where each axis has
unit variance. A component is a direction in that space, applied to the images through the axes; its 784 pixels have
no more parameters.

Every method's directions get the same treatment: projections of the centred images, both sides rectified, unit rows
for the linear SVM, the nearest tight frame for the Gaussian kernel, which looks at distances.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import linalg
from sklearn.decomposition import PCA
from sklearn.svm import SVC, LinearSVC

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_mnist
from eigenfeat import DenoisingAutoencoder, GaussianMixtureScore, GEMFeatures, ScoreTensorFeatures

FIGURES = Path(__file__).parents[2] / "docs" / "figures"
RANKS = (50, 200, 500, 1000)
PAPER = {"linear": (86.5, 90.65, 94.4, 95.6), "gaussian": (95.88, 96.12, 96.86, 97.54)}
# Of the reported draws. Draw 0 was looked at while the settings were chosen, and is ablated; draws 1 to 5 were looked
# at before the projections were centred.
SEEDS = (6, 7, 8, 9, 10)
LINEAR_C, KERNEL_C = (1.0, 10.0), 10.0
KERNEL_WIDTHS = (0.5, 1.0, 2.0, 4.0)
CHOOSING = np.random.default_rng(0).permutation(5000)[:2000]  # training rows of SVMs whose settings are compared
N_AXES = 50


@dataclass(frozen=True)
class Draw:
    """Row numbers of one draw from the training set, and the rows that may be used without labels."""

    features: np.ndarray
    train: np.ndarray
    choose: np.ndarray
    test: np.ndarray
    unlabelled: np.ndarray


def draw(y: np.ndarray, seed: int) -> Draw:
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.permutation(np.flatnonzero(y == digit))[:1000] for digit in range(10)])
    parts = [drawn[:, a:b].ravel() for a, b in [(0, 300), (300, 800), (800, 900), (900, 1000)]]
    held_out = np.concatenate(parts[2:])
    return Draw(*parts, unlabelled=np.setdiff1d(np.arange(len(y)), held_out))


class Axes:
    """Principal axes of unlabelled images, scaled to unit variance."""

    def __init__(self, X: np.ndarray, n_axes: int = N_AXES) -> None:
        self.pca = PCA(n_axes, whiten=True, svd_solver="covariance_eigh").fit(X)

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        return self.pca.transform(X).astype(np.float32)

    def directions(self, components: np.ndarray) -> np.ndarray:
        return (components @ self.pca.components_).astype(np.float32)


class Pretrained:
    """What a draw learns without labels: axes, and a score in their coordinates."""

    def __init__(self, X: np.ndarray, rows: Draw, score, n_axes: int = N_AXES) -> None:
        self.axes = Axes(X[rows.unlabelled], n_axes)
        self.score = score.fit(self.axes.coordinates(X[rows.unlabelled]))

    def directions(self, X: np.ndarray, y: np.ndarray, rows: Draw, rank: int, order: int = 3) -> np.ndarray:
        """FEAST directions in pixels, (rank, 784)."""
        model = ScoreTensorFeatures(
            self.score, prefit=True, order=order, n_components=rank, max_iter=50, tol=1e-4, n_init=1
        )
        model.fit(self.axes.coordinates(X[rows.features]), y[rows.features])
        return self.axes.directions(model.components_)


def feast(X, y, rows: Draw, rank: int, score, n_axes: int = N_AXES, order: int = 3) -> np.ndarray:
    return Pretrained(X, rows, score, n_axes).directions(X, y, rows, rank, order)


def autoencoder(n_hidden: int = 100, corruption_level: float = 0.5) -> DenoisingAutoencoder:
    return DenoisingAutoencoder(n_hidden, corruption_level=corruption_level, max_iter=20, batch_size=256)


def principal(X, y, rows: Draw, rank: int) -> np.ndarray:
    return PCA(min(rank, 784), svd_solver="covariance_eigh").fit(X[rows.unlabelled]).components_.astype(np.float32)


def random_directions(X, y, rows: Draw, rank: int) -> np.ndarray:
    return np.random.default_rng(int(rows.test[0])).standard_normal((rank, X.shape[1])).astype(np.float32)


def gem(X, y, rows: Draw, rank: int) -> np.ndarray:
    model = GEMFeatures(n_components=-(-rank // 90) + 2).fit(X[rows.features], y[rows.features])
    return model.components_[np.argsort(-model.eigenvalues_)[:rank]].astype(np.float32)


METHODS = ("FEAST, Gaussian score", "FEAST, auto-encoder", "principal axes", "random directions", "GEM")


def methods(X: np.ndarray, rows: Draw) -> dict[str, Callable]:
    """By name, functions of (X, y, rows, rank) that return directions in rows; scores are learnt here, once."""
    scores = GaussianMixtureScore(), autoencoder()
    found = (*(Pretrained(X, rows, score).directions for score in scores), principal, random_directions, gem)
    return dict(zip(METHODS, found))


def unit_rows(W: np.ndarray) -> np.ndarray:
    return W / np.linalg.norm(W, axis=1, keepdims=True)


def tight_frame(W: np.ndarray) -> np.ndarray:
    """The nearest W to unit rows with ``WᵀW`` the identity on their span: projections keep distances there.

    Principal axes are one already.
    """
    U, values, V = linalg.svd(unit_rows(W), full_matrices=False)
    kept = values > 1e-5 * values[0]
    return U[:, kept] @ V[kept]


def rectified(X: np.ndarray, W: np.ndarray, sides: int = 2, alpha: float = 2.0) -> np.ndarray:
    """``max(0, δ w·x)^(α/2)`` for one δ or both."""
    P = X @ W.T
    both = np.hstack([P, -P]) if sides == 2 else P
    return np.maximum(both, 0) ** np.float32(alpha / 2)


def linear_svm(C: float) -> LinearSVC:
    return LinearSVC(C=C, max_iter=200, tol=1e-3, random_state=0)


def svm_accuracy(
    W: np.ndarray, X: np.ndarray, y: np.ndarray, rows: Draw, kernel: bool = True, C=LINEAR_C, **gate
) -> dict[str, float]:
    """Test accuracy of both SVMs, their settings chosen on the rows set apart for that."""
    best, linear = linear_accuracy(features_of(unit_rows(W), X, rows, **gate), y, rows, C)
    result = {"linear": linear, "C": best}
    if kernel:
        width, gaussian = kernel_accuracy(features_of(tight_frame(W), X, rows, **gate), y, rows)
        result |= {"gaussian": gaussian, "width": width}
    return result


def features_of(W: np.ndarray, X: np.ndarray, rows: Draw, **gate) -> list[np.ndarray]:
    """Features of the rows to train, choose and test with, in a unit that makes their mean square norm one."""
    mean = X[rows.unlabelled].mean(axis=0)
    parts = [rectified(X[index] - mean, W, **gate) for index in (rows.train, rows.choose, rows.test)]
    scale = np.sqrt(np.mean(np.sum(parts[0] ** 2, axis=1)))
    return [part / scale for part in parts]


def linear_accuracy(features: list[np.ndarray], y: np.ndarray, rows: Draw, C: tuple[float, ...]) -> tuple[float, float]:
    """The chosen C and the test accuracy."""
    train, choose, test = features
    y_train = y[rows.train]

    def held_out(c: float) -> float:
        return linear_svm(c).fit(train[CHOOSING], y_train[CHOOSING]).score(choose, y[rows.choose])

    best = max(C, key=held_out) if len(C) > 1 else C[0]
    return best, 100 * linear_svm(best).fit(train, y_train).score(test, y[rows.test])


def kernel_accuracy(features: list[np.ndarray], y: np.ndarray, rows: Draw) -> tuple[float, float]:
    """The chosen kernel width and the test accuracy."""
    train, choose, test = features
    y_train = y[rows.train]
    near, far = squared_distances(train, train), squared_distances(choose, train[CHOOSING])
    among = near[np.ix_(CHOOSING, CHOOSING)]

    def held_out(width: float) -> float:
        return kernel_svm(among, width, y_train[CHOOSING]).score(np.exp(-width * far), y[rows.choose])

    width = max(KERNEL_WIDTHS, key=held_out)
    distances = squared_distances(test, train)
    return width, 100 * kernel_svm(near, width, y_train).score(np.exp(-width * distances), y[rows.test])


def squared_distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    return np.maximum(squares - 2 * (A @ B.T), 0)


def kernel_svm(distances: np.ndarray, width: float, y: np.ndarray) -> SVC:
    """An SVM with kernel ``exp(-width ‖x - x'‖²)``."""
    return SVC(C=KERNEL_C, kernel="precomputed").fit(np.exp(-width * distances), y)


def table(X: np.ndarray, y: np.ndarray, seeds: tuple[int, ...], ranks: tuple[int, ...]) -> None:
    """Table 1: every method at every rank, mean and spread over the draws."""
    results: dict[tuple[str, int], list[dict[str, float]]] = {}
    for seed in seeds:
        rows = draw(y, seed)
        for name, directions in methods(X, rows).items():
            for rank in ranks:
                start = time.perf_counter()
                W = directions(X, y, rows, rank)
                found = time.perf_counter() - start
                outcome = svm_accuracy(W, X, y, rows)
                results.setdefault((name, rank), []).append(outcome)
                print(
                    f"draw {seed}, {name}, {len(W)} directions in {found:.0f} s: "
                    + ", ".join(f"{key} {value:g}" for key, value in outcome.items()),
                    flush=True,
                )
    for kind, title in [("linear", "linear SVM"), ("gaussian", "Gaussian-kernel SVM")]:
        print(f"\n{title}, test accuracy in % ({len(seeds)} draws)")
        print(f"{'rank':<24}" + "".join(f"{rank:>16}" for rank in ranks))
        paper = {rank: f"{value:.2f}" for rank, value in zip(RANKS, PAPER[kind])}
        print(f"{'paper':<24}" + "".join(f"{paper.get(rank, '-'):>16}" for rank in ranks))
        for name in METHODS:
            cells = [[outcome[kind] for outcome in results[name, rank]] for rank in ranks]
            print(f"{name:<24}" + "".join(f"{np.mean(c):>9.2f} ± {np.std(c):4.2f}" for c in cells))


def ablation(X: np.ndarray, y: np.ndarray, rank: int, n_iter: int) -> None:
    """The paper's observations (a) to (c) on the first draw, linear SVM."""
    rows = draw(y, 0)
    print(f"\nwhat matters, {rank} components, draw 0, linear SVM, test accuracy in %")

    def report(what: str, value: float) -> None:
        print(f"  {what:<44}{value:6.2f}", flush=True)

    base = feast(X, y, rows, rank, GaussianMixtureScore())
    report("Gaussian score, 50 axes, two-sided, alpha 2", svm_accuracy(base, X, y, rows, kernel=False)["linear"])
    for sides, alpha in [(1, 2.0), (2, 1.0), (2, 1.5), (2, 3.0)]:
        outcome = svm_accuracy(base, X, y, rows, kernel=False, sides=sides, alpha=alpha)
        report(f"gating: {'one' if sides == 1 else 'two'}-sided, alpha {alpha:g}", outcome["linear"])
    for C in (0.1, 1.0, 10.0, 100.0):
        report(f"C = {C:g}", svm_accuracy(base, X, y, rows, kernel=False, C=(C,))["linear"])
    for other in (rank // 4, 2 * rank):
        W = feast(X, y, rows, other, GaussianMixtureScore())
        report(f"{other} components", svm_accuracy(W, X, y, rows, kernel=False)["linear"])
    for n_axes in (20, 30, 80):
        W = feast(X, y, rows, rank, GaussianMixtureScore(), n_axes=n_axes)
        report(f"{n_axes} axes", svm_accuracy(W, X, y, rows, kernel=False)["linear"])
    for n_hidden in (25, 50, 100, 200):
        W = feast(X, y, rows, rank, autoencoder(n_hidden))
        report(f"auto-encoder, {n_hidden} hidden units", svm_accuracy(W, X, y, rows, kernel=False)["linear"])
    for corruption_level in (0.2, 1.0):
        W = feast(X, y, rows, rank, autoencoder(corruption_level=corruption_level))
        report(f"auto-encoder, corruption {corruption_level:g}", svm_accuracy(W, X, y, rows, kernel=False)["linear"])
    report(
        "order 2", svm_accuracy(feast(X, y, rows, rank, GaussianMixtureScore(), order=2), X, y, rows, False)["linear"]
    )
    report("order 1", svm_accuracy(feast(X, y, rows, 9, GaussianMixtureScore(), order=1), X, y, rows, False)["linear"])
    W = paper_score_directions(X, y, rows, 50, n_iter)
    report("the paper's auto-encoder on pixels, 50", svm_accuracy(W, X, y, rows, kernel=False)["linear"])


def paper_autoencoder(n_iter: int) -> DenoisingAutoencoder:
    """Appendix B.2, step 1: 50 hidden units, 20 % of the pixels masked, plain SGD at 0.1 in batches of 15."""
    return DenoisingAutoencoder(
        50,
        output="sigmoid",
        corruption="masking",
        corruption_level=0.2,
        gain=1.0,
        solver="sgd",
        learning_rate=0.1,
        batch_size=15,
        max_iter=n_iter,
    )


def paper_score_directions(X: np.ndarray, y: np.ndarray, rows: Draw, rank: int, n_iter: int) -> np.ndarray:
    """Third-order components of the paper's own score, on all 784 pixels, by its stochastic updates."""
    score = paper_autoencoder(n_iter).fit(X[rows.unlabelled])
    model = ScoreTensorFeatures(
        score, prefit=True, order=3, n_components=rank, noise="identity", solver="als", max_iter=5, batch_size=16
    )
    return model.fit(X[rows.features], y[rows.features]).components_


def draw_figures(X: np.ndarray, y: np.ndarray) -> None:
    """Figures 4 and 5: first-order directions, and sixteen of the third order, as images."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = draw(y, 0)
    FIGURES.mkdir(parents=True, exist_ok=True)
    for name, order, rank, shape in [("first", 1, 4, (1, 4)), ("third", 3, 200, (2, 8))]:
        W = feast(X, y, rows, rank, GaussianMixtureScore(), order=order)
        figure, axes = plt.subplots(*shape, figsize=(1.2 * shape[1], 1.25 * shape[0]), layout="constrained")
        for axis, w in zip(axes.ravel(), W):
            axis.imshow(w.reshape(28, 28), cmap="RdBu_r", vmin=-np.abs(w).max(), vmax=np.abs(w).max())
            axis.axis("off")
        path = FIGURES / f"feast_mnist_{name}_order.png"
        figure.savefig(path, dpi=70)
        print(f"figure: {path.relative_to(FIGURES.parents[1])}")


def full_split(data: dict[str, np.ndarray], rank: int, n_rows: int | None) -> None:
    """All 60000 labelled rows for the moment and the SVM, the official 10000 to test."""
    X, X_test = (data[key].astype(np.float32) / 255 for key in ("X_train", "X_test"))
    y, y_test = data["y_train"].astype(int), data["y_test"].astype(int)
    order = np.random.default_rng(0).permutation(len(y))[:n_rows]
    X, y = X[order], y[order]
    start = time.perf_counter()
    axes = Axes(X)
    Z = axes.coordinates(X)
    model = ScoreTensorFeatures(order=3, n_components=rank, n_axes="all", columns="none").fit(Z, y)
    W = axes.directions(model.components_)
    found = time.perf_counter() - start
    train, test = (rectified(part - axes.pca.mean_, unit_rows(W)) for part in (X, X_test))
    scale = np.sqrt(np.mean(np.sum(train**2, axis=1)))
    accuracy = linear_svm(10.0).fit(train / scale, y).score(test / scale, y_test)
    print(
        f"\nfull split, {len(y)} rows: {rank} components in {found:.0f} s, linear SVM {100 * accuracy:.2f} % "
        f"({round((1 - accuracy) * len(y_test))} errors; {time.perf_counter() - start:.0f} s in all)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one draw, ranks 50 and 200, a part of the rest")
    parser.add_argument("--draws", type=int, default=len(SEEDS))
    parser.add_argument("--part", choices=["all", "table", "ablation", "figures", "full"], default="all")
    options = parser.parse_args()
    data = load_mnist()
    X, y = data["X_train"].astype(np.float32) / 255, data["y_train"].astype(int)
    quick = options.quick
    if options.part in ("all", "figures") and not quick:
        draw_figures(X, y)
    if options.part in ("all", "full"):
        full_split(data, 200 if quick else 500, 5000 if quick else None)
    if options.part in ("all", "ablation"):
        ablation(X, y, 50 if quick else 200, 1 if quick else 15)
    if options.part in ("all", "table"):
        table(X, y, SEEDS[: 1 if quick else options.draws], RANKS[:2] if quick else RANKS)


if __name__ == "__main__":
    main()
