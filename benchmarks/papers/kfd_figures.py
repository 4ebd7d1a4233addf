"""Figures 5.3, 5.6, 5.7 and 5.10 of the KFD thesis on its own data: USPS digits and 100 realisations of ringnorm.

5.3: the plane of two features fitted to the first 500 digits, 4 against the rest, of all the others. Fisher's
between-class scatter of two classes has one direction; the second is that of most variance over within-class scatter
among those orthogonal to it, which a thousandth of the total scatter in the signal asks for. 5.6: training outputs of
four methods at too little, right and too much regularisation; 5.7: training beside test outputs at the right one. The
right strength has the least cross-validation error on the training rows of the first realisation, at the width that
KFD's leave-one-out takes there; too little and too much are a hundredth and thirty times of it. How different training
and test outputs are is the total variation distance of their histograms. 5.10: the digits and their transformations.

    python benchmarks/papers/kfd_figures.py [--quick] [--only 5.3 5.6 5.10] [--plot docs/figures]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.decomposition import PCA, KernelPCA
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from eigenfeat import KernelFisherClassifier, KernelFisherClassifierCV, KernelRayleighFeatures, RayleighFeatures
from eigenfeat.kernel.invariances import Rotation, Thickening, Translation

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_ida, load_usps

SHAPE = (16, 16)
THESIS_GAMMA = 1 / (0.3 * 256)
MOVES = {
    "shift right": Translation(SHAPE, right=1), "shift left": Translation(SHAPE, right=-1),
    "shift down": Translation(SHAPE, down=1), "shift up": Translation(SHAPE, down=-1),
    "rotate left": Rotation(SHAPE, 10), "rotate right": Rotation(SHAPE, -10),
    "thickening": Thickening(SHAPE, 0.5), "thinning": Thickening(SHAPE, -0.5),
}  # fmt: skip
METHODS = ("KFD", "robust KFD", "LSKFD", "SVM")
FACTORS = {"too small": 0.01, "right": 1.0, "too large": 30.0}
BINS = np.linspace(-2.5, 2.5, 51)
ALPHAS = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]


def features() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Figure 5.3: two features of every method at the digits that were not fitted, and which of these are a 4."""
    data = load_usps()
    X = np.vstack([data["X_train"], data["X_test"]]).astype(np.float64)
    y = np.concatenate([data["y_train"], data["y_test"]]).astype(int) == 4
    few, labels, rest = X[:500], y[:500], X[500:]
    signal = ["between", (1e-3, "total")]
    models = {
        "PCA": PCA(2).fit(few),
        "kernel PCA": KernelPCA(2, kernel="rbf", gamma=THESIS_GAMMA).fit(few),
        "Fisher": RayleighFeatures(signal, "within", 2, ridge=1e-3).fit(few, labels),
        "KFD": KernelRayleighFeatures(signal, "within", 2, gamma=THESIS_GAMMA, alpha=1e-2, columns=None).fit(
            few, labels
        ),
    }
    embedded = {name: np.asarray(model.transform(rest)) for name, model in models.items()}
    for name, values in embedded.items():
        areas = [max(area, 1 - area) for area in (roc_auc_score(y[500:], column) for column in values.T)]
        print(
            f"5.3  {name:<11} area under the curve, 4 against the rest: {areas[0]:.3f}, second feature {areas[1]:.3f}"
        )
    return embedded, y[500:]


def model(method: str, gamma: float, strength: float):
    options = {"gamma": gamma, "alpha": strength, "columns": None, "threshold": "least-squares"}
    return {
        "KFD": lambda: KernelFisherClassifier(penalty="coefficients", **options),
        "robust KFD": lambda: KernelFisherClassifier(loss="absolute", **options),
        "LSKFD": lambda: KernelFisherClassifier(loss="absolute", penalty="sparse", **options),
        "SVM": lambda: SVC(gamma=gamma, C=1 / strength),
    }[method]()


def ringnorm(n_runs: int) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Rows, labels, and realisations: those at hand, and random ones of the same 400 training rows for the others."""
    data = load_ida("ringnorm")
    X, y = data["X"].astype(np.float64), data["y"].ravel()
    splits = list(zip(data["train_idx"], data["test_idx"]))[:n_runs]
    orders = [np.random.RandomState(seed).permutation(len(y)) for seed in range(n_runs - len(splits))]
    return X / X.std(axis=0), y, splits + [(order[:400], order[400:]) for order in orders]


def right_strengths(X: np.ndarray, y: np.ndarray) -> tuple[float, dict[str, float]]:
    """The width, and the strength of every method, by cross-validation on these rows."""
    gammas = [0.01, 0.03, 0.1, 0.3]
    options = {"columns": None, "threshold": "least-squares"}
    kfd = KernelFisherClassifierCV(ALPHAS, gammas, penalty="coefficients", **options).fit(X, y)
    gamma = kfd.gamma_
    robust = KernelFisherClassifierCV(ALPHAS, [gamma], loss="absolute", **options).fit(X, y)
    sparse = KernelFisherClassifierCV(ALPHAS[2:], [gamma], loss="absolute", penalty="sparse", **options).fit(X, y)
    svm = GridSearchCV(SVC(gamma=gamma), {"C": [1 / alpha for alpha in ALPHAS]}, cv=5).fit(X, y)
    chosen = (kfd.alpha_, robust.alpha_, sparse.alpha_, 1 / svm.best_params_["C"])
    return gamma, dict(zip(METHODS, chosen))


def one_run(X, y, split, gamma: float, strengths: dict[str, float]) -> np.ndarray:
    """(methods, factors, train and test, classes, bins): shares of outputs; and the errors, as a further bin."""
    train, test = split
    found = np.zeros((len(METHODS), len(FACTORS), 2, 2, len(BINS)))
    for m, method in enumerate(METHODS):
        for f, factor in enumerate(FACTORS.values()):
            # A hundredth of LSKFD's has a term a row and takes minutes: a tenth shows the same.
            least = 0.1 if method == "LSKFD" else 0.01
            fitted = model(method, gamma, strengths[method] * max(factor, least)).fit(X[train], y[train])
            for s, rows in enumerate((train, test)):
                outputs = np.clip(fitted.decision_function(X[rows]), BINS[0], BINS[-1])
                for c, label in enumerate((-1, 1)):
                    of_class = outputs[y[rows] == label]
                    found[m, f, s, c, :-1] = np.histogram(of_class, BINS)[0] / len(of_class)
                    found[m, f, s, c, -1] = 100 * np.mean((of_class > 0) != (label > 0))
    return found


def outputs(n_runs: int, n_jobs: int) -> np.ndarray:
    """Figures 5.6 and 5.7: histograms of outputs, averaged over realisations."""
    X, y, splits = ringnorm(n_runs)
    gamma, strengths = right_strengths(X[splits[0][0]], y[splits[0][0]])
    print(f"5.6  ringnorm, gamma {gamma:g}, " + ", ".join(f"{name} {value:.3g}" for name, value in strengths.items()))
    runs = Parallel(n_jobs)(delayed(one_run)(X, y, split, gamma, strengths) for split in splits)
    mean = np.mean(runs, axis=0)
    for m, method in enumerate(METHODS):
        shares = mean[m, 1, :, :, :-1]
        apart = np.abs(shares[0] - shares[1]).sum(axis=1).mean() / 2
        training, test = mean[m, 1, :, :, -1].mean(axis=1)
        print(
            f"5.7  {method:<11} {n_runs} realisations: error {training:.2f} % at training rows, {test:.2f} % at test "
            f"rows, total variation between their outputs {apart:.3f}"
        )
    return mean


def draw_features(axes, embedded: dict[str, np.ndarray], is_four: np.ndarray) -> None:
    for axis, (name, values) in zip(axes.ravel(), embedded.items()):
        axis.plot(*values[~is_four].T, "+", color="tab:blue", markersize=2)
        axis.plot(*values[is_four].T, "x", color="tab:red", markersize=3)
        axis.set_title(name)


def draw_outputs(axes, mean: np.ndarray, panels: list[tuple[int, int, int, str]]) -> None:
    middle = (BINS[1:] + BINS[:-1]) / 2
    for axis, (m, f, s, title) in zip(axes.ravel(), panels):
        for c, colour in enumerate(("tab:blue", "tab:red")):
            axis.bar(middle, mean[m, f, s, c, :-1], width=BINS[1] - BINS[0], color=colour, alpha=0.6)
        axis.set_title(title, fontsize=9)
        axis.set_yticks([])


def draw_digits(axes) -> None:
    """Figure 5.10: the first of every digit, and what the transformations make of it."""
    data = load_usps()
    first = [int(np.flatnonzero(data["y_train"] == digit)[0]) for digit in range(10)]
    digits = data["X_train"][first].astype(np.float64)
    for row, (name, images) in zip(
        axes, {"original": digits, **{n: move(digits) for n, move in MOVES.items()}}.items()
    ):
        row[0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=7)
        for axis, image in zip(row, images):
            axis.imshow(image.reshape(SHAPE), cmap="gray", vmin=-1, vmax=1)
            axis.set_xticks([])
            axis.set_yticks([])


def save(folder: Path | None, name: str, shape: tuple[int, int], draw, *parts) -> None:
    if folder is None:
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    size = (0.6 * shape[1], 0.6 * shape[0]) if name == "kfd_digits" else (2.6 * shape[1], 2.2 * shape[0])
    figure, axes = plt.subplots(*shape, figsize=size)
    draw(axes, *parts)
    figure.tight_layout(pad=0.3)
    figure.savefig(folder / f"{name}.png", dpi=80)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three realisations instead of 100")
    parser.add_argument("--only", nargs="+", choices=["5.3", "5.6", "5.10"], default=["5.3", "5.6", "5.10"])
    parser.add_argument("--plot", type=Path, help="folder of the figures")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if "5.3" in options.only:
        save(options.plot, "kfd_features", (2, 2), draw_features, *features())
    if "5.6" in options.only:
        mean = outputs(3 if options.quick else 100, options.jobs)
        names = list(FACTORS)
        panels = [(m, f, 0, f"{METHODS[m]}, {names[f]}") for m in range(4) for f in range(3)]
        save(options.plot, "kfd_outputs", (4, 3), draw_outputs, mean, panels)
        panels = [(m, 1, s, f"{METHODS[m]}, {('training', 'test')[s]}") for s in range(2) for m in range(4)]
        save(options.plot, "kfd_outputs_test", (2, 4), draw_outputs, mean, panels)
    if "5.10" in options.only and options.plot is not None:
        save(options.plot, "kfd_digits", (len(MOVES) + 1, 10), draw_digits)


if __name__ == "__main__":
    main()
