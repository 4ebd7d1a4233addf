"""FEAST on MNIST: table 1 of the paper, its figures 4 and 5, its observations, and the full split.

Protocol (paper, appendix B.2): 1000 training images a digit are drawn; 300 make the cross-moment, 500 train an SVM on
the rectified projections, 100 test it; the 100 left over choose the SVM's settings. The score is learnt without labels
from the 60000 training images less those that choose and test. The same SVMs are judged on the official 10000 test
images, too: a figure of 1000 images has a standard error of about 0.6 points, and is a multiple of 0.1 where it comes
from one draw; the paper's kernel figures are multiples of 0.02. Its 97.54 % with the Gaussian kernel at 1000 features
was not reproduced by any method here (docs/results.md).

Third-order moments of 3000 rows say nothing along 784 directions: the noise of the moment grows like d^(3/2) / n.
Scores live on the 50 leading principal axes (the paper's auto-encoder has 50 hidden units), where each axis has
unit variance. A component is a direction in that space, applied to the images through the axes; its 784 pixels have
no more parameters.

Every method's directions get the same treatment: projections of the centred images, both sides rectified, unit rows
for the linear SVM, the nearest tight frame for the Gaussian kernel, which looks at distances.

`--part paper` is the paper's own way: appendix B.2's auto-encoder on pixels (100 epochs, batches of 15) and the
stochastic updates of B.3 alone, one row a batch, one start: 1000 components, of which the strongest make the smaller
ranks.
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
N_AXES, N_TRAIN = 50, 60_000


@dataclass(frozen=True)
class Draw:
    """Row numbers of one draw from the training set, and the rows that may be used without labels."""

    features: np.ndarray
    train: np.ndarray
    choose: np.ndarray
    test: np.ndarray
    unlabelled: np.ndarray
    official: np.ndarray


def draw(y: np.ndarray, seed: int) -> Draw:
    """Of the first 60000 images, those to train with; the others are the official test images."""
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.permutation(np.flatnonzero(y[:N_TRAIN] == digit))[:1000] for digit in range(10)])
    parts = [drawn[:, a:b].ravel() for a, b in [(0, 300), (300, 800), (800, 900), (900, 1000)]]
    unlabelled = np.setdiff1d(np.arange(N_TRAIN), np.concatenate(parts[2:]))
    return Draw(*parts, unlabelled=unlabelled, official=np.arange(N_TRAIN, len(y)))


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


def autoencoder(
    n_hidden: int | None = 100, corruption_level: float | None = 0.5, batch_size: int = 256
) -> DenoisingAutoencoder:
    return DenoisingAutoencoder(n_hidden, corruption_level=corruption_level, max_iter=20, batch_size=batch_size)


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
    best, linear, official = linear_accuracy(features_of(unit_rows(W), X, rows, **gate), y, rows, C)
    result = {"linear": linear, "linear, 10000": official, "C": best}
    if kernel:
        width, gaussian, official = kernel_accuracy(features_of(tight_frame(W), X, rows, **gate), y, rows)
        result |= {"gaussian": gaussian, "gaussian, 10000": official, "width": width}
    return result


def features_of(W: np.ndarray, X: np.ndarray, rows: Draw, **gate) -> list[np.ndarray]:
    """Features of the rows to train, choose and test with (twice), in a unit that makes their mean square norm one."""
    mean = X[rows.unlabelled].mean(axis=0)
    indices = (rows.train, rows.choose, rows.test, rows.official)
    parts = [rectified(X[index] - mean, W, **gate) for index in indices]
    scale = np.sqrt(np.mean(np.sum(parts[0] ** 2, axis=1)))
    return [part / scale for part in parts]


def linear_accuracy(
    features: list[np.ndarray], y: np.ndarray, rows: Draw, C: tuple[float, ...]
) -> tuple[float, float, float]:
    """The chosen C, and accuracies on both sets of test rows."""
    train, choose, *tests = features
    fitted = {c: linear_svm(c).fit(train, y[rows.train]) for c in C}
    best = max(C, key=lambda c: fitted[c].score(choose, y[rows.choose]))
    labels = (y[rows.test], y[rows.official])
    return best, *(100 * fitted[best].score(test, own) for test, own in zip(tests, labels))


def kernel_accuracy(features: list[np.ndarray], y: np.ndarray, rows: Draw) -> tuple[float, float, float]:
    """The chosen kernel width, and accuracies on both sets of test rows."""
    train, choose, *tests = features
    near, far = squared_distances(train, train), squared_distances(choose, train)
    fitted = {width: kernel_svm(near, width, y[rows.train]) for width in KERNEL_WIDTHS}
    width = max(KERNEL_WIDTHS, key=lambda width: fitted[width].score(np.exp(-width * far), y[rows.choose]))
    accuracies = []
    for test, own in zip(tests, (y[rows.test], y[rows.official])):
        accuracies.append(100 * fitted[width].score(np.exp(-width * squared_distances(test, train)), own))
    return width, *accuracies


def squared_distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)
    return np.maximum(squares - 2 * (A @ B.T), 0)


def kernel_svm(distances: np.ndarray, width: float, y: np.ndarray) -> SVC:
    """An SVM with kernel ``exp(-width ‖x - x'‖²)``."""
    return SVC(C=KERNEL_C, kernel="precomputed").fit(np.exp(-width * distances), y)


def table(X: np.ndarray, y: np.ndarray, seeds: tuple[int, ...], ranks: tuple[int, ...], minutes: float) -> None:
    """Table 1: every method at every rank, mean and spread over the draws begun in time."""
    results: dict[tuple[str, int], list[dict[str, float]]] = {}
    start = time.perf_counter()
    for seed in seeds:
        if results and time.perf_counter() - start > 60 * minutes:
            break
        rows = draw(y, seed)
        for name, directions in methods(X, rows).items():
            for rank in ranks:
                results.setdefault((name, rank), []).append(one_cell(name, directions, X, y, rows, rank))
    print_tables(results, METHODS, ranks)


def one_cell(name: str, directions: Callable, X: np.ndarray, y: np.ndarray, rows: Draw, rank: int) -> dict[str, float]:
    start = time.perf_counter()
    W = directions(X, y, rows, rank)
    found = time.perf_counter() - start
    outcome = svm_accuracy(W, X, y, rows)
    values = ", ".join(f"{key} {value:g}" for key, value in outcome.items())
    print(f"{name}, {len(W)} directions in {found:.0f} s: {values}", flush=True)
    return outcome


def print_tables(results: dict, names: tuple[str, ...], ranks: tuple[int, ...]) -> None:
    n_draws = len(next(iter(results.values())))
    for kind, title in [("linear", "linear SVM"), ("gaussian", "Gaussian-kernel SVM")]:
        print(f"\n{title}, accuracy in % on 1000 images of each of {n_draws} draws, and on the official 10000")
        print(f"{'rank':<36}" + "".join(f"{rank:>16}" for rank in ranks))
        paper = {rank: f"{value:.2f}" for rank, value in zip(RANKS, PAPER[kind])}
        print(f"{'paper':<36}" + "".join(f"{paper.get(rank, '-'):>16}" for rank in ranks))
        for name in names:
            for key, what in [(kind, name), (f"{kind}, 10000", f"{name}, 10000")]:
                cells = [[outcome[key] for outcome in results.get((name, rank), [])] for rank in ranks]
                printed = (f"{np.mean(c):>9.2f} ± {np.std(c):4.2f}" if c else f"{'-':>16}" for c in cells)
                print(f"{what:<36}" + "".join(printed))


def paper_protocol(X: np.ndarray, y: np.ndarray, ranks: tuple[int, ...], n_epochs: int) -> None:
    """Appendix B as it is, one draw: its auto-encoder on pixels, its stochastic updates and nothing after them.

    Components are found one after the other, so those of a smaller rank are the strongest of the largest.
    """
    rows, name = draw(y, SEEDS[0]), "appendix B.2 and B.3"
    start = time.perf_counter()
    score = paper_autoencoder(n_epochs, early_stopping=False).fit(X[rows.unlabelled])
    print(f"\n{name}: {n_epochs} epochs in {time.perf_counter() - start:.0f} s", flush=True)

    options = {"noise": "identity", "solver": "als", "max_iter": 0, "batch_size": 1, "n_starts": 1}
    model = ScoreTensorFeatures(score, prefit=True, order=3, n_components=max(ranks), **options)
    W = model.fit(X[rows.features], y[rows.features]).components_
    print(f"{len(W)} components after {time.perf_counter() - start:.0f} s", flush=True)
    results = {(name, rank): [one_cell(name, lambda *_, r=rank: W[:r], X, y, rows, rank)] for rank in ranks}
    print_tables(results, (name,), ranks)


def ablation(X: np.ndarray, y: np.ndarray, rank: int) -> None:
    """The paper's observations (a) to (c) on the first draw, linear SVM."""
    rows = draw(y, 0)
    print(f"\nwhat matters, {rank} components, draw 0, linear SVM, test accuracy in %")

    def report(what: str, value: float) -> None:
        print(f"  {what:<50}{value:6.2f}", flush=True)

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
    for batch_size in (15, 64, 1024):
        W = feast(X, y, rows, rank, autoencoder(batch_size=batch_size))
        report(f"auto-encoder, batches of {batch_size}", svm_accuracy(W, X, y, rows, kernel=False)["linear"])
    chosen = autoencoder(None, None)
    W = feast(X, y, rows, rank, chosen)
    what = f"auto-encoder, chosen: {chosen.n_hidden_} units, corruption {chosen.corruption_level_:g}"
    report(what, svm_accuracy(W, X, y, rows, kernel=False)["linear"])
    report(
        "order 2", svm_accuracy(feast(X, y, rows, rank, GaussianMixtureScore(), order=2), X, y, rows, False)["linear"]
    )
    report("order 1", svm_accuracy(feast(X, y, rows, 9, GaussianMixtureScore(), order=1), X, y, rows, False)["linear"])


def paper_autoencoder(n_iter: int, **options) -> DenoisingAutoencoder:
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
        **options,
    )


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
    parser.add_argument("--part", choices=["all", "table", "ablation", "figures", "full", "paper"], default="all")
    parser.add_argument("--minutes", type=float, default=20, help="after which the table begins no further draw")
    options = parser.parse_args()
    data = load_mnist()
    X = np.concatenate([data["X_train"], data["X_test"]]).astype(np.float32) / 255
    y = np.concatenate([data["y_train"], data["y_test"]]).astype(int)
    quick = options.quick
    if options.part in ("all", "figures") and not quick:
        draw_figures(X, y)
    if options.part in ("all", "full"):
        full_split(data, 200 if quick else 500, 5000 if quick else None)
    if options.part in ("all", "ablation"):
        ablation(X, y, 50 if quick else 200)
    if options.part in ("all", "table"):
        table(X, y, SEEDS[: 1 if quick else options.draws], RANKS[:2] if quick else RANKS, options.minutes)
    if options.part in ("all", "paper"):
        paper_protocol(X, y, RANKS[:1] if quick else RANKS, 1 if quick else 100)


if __name__ == "__main__":
    main()
