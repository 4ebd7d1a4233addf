"""Figures 5.1-5.7 of the KFD thesis, redrawn: python examples/kernel_fisher_figures.py [folder]

Toy data and scikit-learn's digits stand in for data that do not come with a package;
benchmarks/papers/kfd_figures.py draws figures 5.3, 5.6, 5.7 and 5.10 on the thesis' own.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, KernelPCA
from sklearn.svm import SVC, SVR

from eigenfeat import (
    FisherLDA,
    KernelFisherClassifier,
    KernelFisherFeatures,
    KernelFisherRegressor,
    OrientedKernelPCA,
)


def toy_classes(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping clouds, one of them bent."""
    rng = np.random.RandomState(seed)
    angle = np.pi * rng.rand(n)
    bent = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * rng.randn(n, 2)
    cloud = np.array([0.0, 0.1]) + 0.3 * rng.randn(n, 2)
    return np.vstack([bent, cloud]), np.repeat([1, 0], n)


def parabolas(n: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Each class two noisy parabolas mirrored at an axis."""
    rng = np.random.RandomState(0)
    t, side = rng.uniform(-1, 1, 2 * n), np.where(rng.rand(2 * n) < 0.5, -1, 1)
    up = np.column_stack([t, side * (0.3 + 0.6 * t**2)]) + 0.08 * rng.randn(2 * n, 2)
    y = np.repeat([0, 1], n)
    return np.where(y[:, None] == 1, up, up[:, ::-1]), y


def plane(X: np.ndarray, steps: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    a, b = np.meshgrid(np.linspace(low[0], high[0], steps), np.linspace(low[1], high[1], steps))
    return a, b, np.column_stack([a.ravel(), b.ravel()])


def figure_5_1(axes: np.ndarray) -> None:
    """KFD and linear sparse KFD, linear and with an RBF kernel; circles are the rows used."""
    X, y = toy_classes(0)
    a, b, points = plane(X)
    kinds = [("squared", "coefficients", 0.1, "KFD"), ("absolute", "sparse", 1.0, "LSKFD")]
    panels = [(kernel, *kind) for kind in kinds for kernel in ("linear", "rbf")]
    for axis, (kernel, loss, penalty, alpha, name) in zip(axes, panels):
        model = KernelFisherClassifier(kernel, 1.0, alpha, loss, penalty, threshold="least-squares").fit(X, y)
        axis.contour(a, b, model.decision_function(points).reshape(a.shape), [-1, 0, 1], linestyles=[":", "-", ":"])
        axis.scatter(*X.T, c=y, cmap="coolwarm", s=8)
        if penalty == "sparse":
            axis.scatter(*X[model.support_].T, s=60, facecolors="none", edgecolors="k")
        axis.set_title(f"{name}, {kernel}: {len(model.support_)} rows")


def figure_5_2(axes: np.ndarray) -> None:
    """The KFD feature beside the first two of kernel PCA, polynomial kernel of degree two."""
    X, y = parabolas()
    a, b, points = plane(X)
    kernel = {"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": 1.0}
    kfd = KernelFisherFeatures(1, alpha=1e-2, **kernel).fit(X, y).transform(points)[:, 0]
    pca = KernelPCA(2, **kernel).fit(X).transform(points)
    for axis, values, title in zip(axes, (kfd, *pca.T), ("KFD", "kernel PCA 1", "kernel PCA 2")):
        axis.contourf(a, b, values.reshape(a.shape), 15, cmap="gray")
        axis.scatter(*X.T, c=y, cmap="coolwarm", s=6)
        axis.set_title(title)


def figure_5_3(axes: np.ndarray) -> None:
    """One digit against the others in the plane of two features, fitted on 500 rows."""
    X, labels = load_digits(return_X_y=True)
    X, y = X / 16, (labels == 4).astype(int)
    embeddings = {
        "PCA": PCA(2).fit(X[:500]),
        "kernel PCA": KernelPCA(2, kernel="rbf", gamma=0.05).fit(X[:500]),
        "LDA, all digits": FisherLDA(n_components=2, ridge=1e-3).fit(X[:500], labels[:500]),
        "KFD, all digits": KernelFisherFeatures(2, gamma=0.05, alpha=1e-2).fit(X[:500], labels[:500]),
    }
    for axis, (title, model) in zip(axes, embeddings.items()):
        axis.scatter(*np.asarray(model.transform(X)).T, c=y, cmap="coolwarm", s=4)
        axis.set_title(title)


def figure_5_4(axes: np.ndarray) -> None:
    """The first feature of kernel PCA and of oriented kernel PCA under rotation and translation."""
    rng = np.random.RandomState(0)
    X = rng.randn(150, 2) * [1.0, 0.7]
    c, s = np.cos(0.2), np.sin(0.2)
    moves = {
        "kernel PCA": None,
        "oriented: rotation": [lambda rows: rows @ np.array([[c, s], [-s, c]])],
        "oriented: x-translation": [lambda rows: rows + np.array([0.3, 0.0])],
    }
    a, b, points = plane(X)
    for axis, (title, invariances) in zip(axes, moves.items()):
        model = OrientedKernelPCA(1, gamma=0.5, alpha=1e-3, invariances=invariances).fit(X)
        axis.contourf(a, b, model.transform(points)[:, 0].reshape(a.shape), 15, cmap="gray")
        axis.scatter(*X.T, s=4)
        axis.set_title(title)


def figure_5_5(axes: np.ndarray) -> None:
    """Sparse regression on the sinc function, noise-free and noisy, with the number of terms beside SVR's."""
    x = np.linspace(-10, 10, 100)[:, None]
    truth = np.sinc(x[:, 0] / np.pi)
    noise = np.random.RandomState(0).randn(100)
    for axis, deviation, width, alpha in zip(axes, (0.0, 0.2), (4.0, 3.0), (0.01, 0.1)):
        y = truth + deviation * noise
        model = KernelFisherRegressor(gamma=1 / width, alpha=alpha, loss="squared", penalty="sparse").fit(x, y)
        svr = SVR(gamma=1 / width, C=1.0, epsilon=max(0.01, deviation / 2)).fit(x, y)
        axis.plot(x, y, ".", x, model.predict(x), "-")
        axis.plot(x[model.support_], y[model.support_], "ko", fillstyle="none")
        axis.set_title(f"{len(model.support_)} terms, SVR {len(svr.support_)}")


def ringnorm(n: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussians in twenty dimensions, one twice as wide."""
    y = rng.randint(2, size=n)
    wide = 2 * rng.randn(n, 20)
    narrow = 2 / np.sqrt(20) + rng.randn(n, 20)
    return np.where(y[:, None] == 1, wide, narrow), y


def figures_5_6_and_5_7(axes: np.ndarray) -> None:
    """Outputs on training and test rows of ringnorm: columns too little, right and too much regularisation."""
    rng = np.random.RandomState(0)
    (X, y), (X_test, y_test) = ringnorm(400, rng), ringnorm(4000, rng)
    X, X_test = X / 2, X_test / 2

    def models(factor: float):
        options = {"gamma": 0.1, "threshold": "least-squares"}
        yield "KFD", KernelFisherClassifier(alpha=0.3 * factor, penalty="coefficients", **options)
        yield "robust KFD", KernelFisherClassifier(alpha=0.3 * factor, loss="absolute", **options)
        yield "LSKFD", KernelFisherClassifier(alpha=3 * factor, loss="absolute", penalty="sparse", **options)
        yield "SVM", SVC(gamma=0.1, C=3 / factor)

    bins = np.linspace(-2.5, 2.5, 60)
    for column, factor in enumerate((0.01, 1.0, 10.0)):
        for row, (name, model) in enumerate(models(factor)):
            model.fit(X, y)
            axis = axes[row, column]
            for data, labels, style in ((X, y, {"alpha": 0.6}), (X_test, y_test, {"histtype": "step"})):
                outputs = model.decision_function(data)
                for label, colour in ((0, "tab:blue"), (1, "tab:red")):
                    axis.hist(outputs[labels == label], bins, density=True, color=colour, **style)
            axis.set_title(f"{name}, {('too little', 'about right', 'too much')[column]}")


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("kernel_fisher_figures")
    folder.mkdir(parents=True, exist_ok=True)
    figures = {
        "5_1": (figure_5_1, (1, 4)),
        "5_2": (figure_5_2, (1, 3)),
        "5_3": (figure_5_3, (1, 4)),
        "5_4": (figure_5_4, (1, 3)),
        "5_5": (figure_5_5, (1, 2)),
        "5_6_and_5_7": (figures_5_6_and_5_7, (4, 3)),
    }
    for name, (draw, (rows, columns)) in figures.items():
        figure, axes = plt.subplots(rows, columns, figsize=(4 * columns, 3.4 * rows))
        draw(axes)
        figure.tight_layout()
        figure.savefig(folder / f"figure_{name}.png", dpi=80)
        plt.close(figure)
    print(f"{len(figures)} figures in {folder}")


if __name__ == "__main__":
    main()
