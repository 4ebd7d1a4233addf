"""USPS digits (thesis 5.2.1, 5.2.2, 5.3.1): KFD against SVC, few terms, SMO, and invariances.

gamma and alpha are chosen on rows held out of the training set, or by leave-one-out on it, or are the thesis' own; the
thesis reports the best over its grids on the test set, so its figures are a little better than its models.

    python benchmarks/papers/kfd_usps.py [--quick] [--only full greedy smo invariances virtual curves] [--plot FILE]

The run-time curves of figures 5.8 and 5.9 go to FILE, docs/figures/kfd_runtime.png in the documentation.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.svm import SVC

from eigenfeat import KernelFisherClassifier, KernelFisherClassifierCV
from eigenfeat.kernel.invariances import Rotation, Thickening, Translation

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_usps

THESIS_GAMMA = 1 / (0.3 * 256)
SHAPE = (16, 16)
# Both directions of each transformation, so that neither is preferred.
MOVES = [
    Translation(SHAPE, down=1), Translation(SHAPE, down=-1), Translation(SHAPE, right=1), Translation(SHAPE, right=-1),
    Rotation(SHAPE, 10), Rotation(SHAPE, -10), Thickening(SHAPE, 0.5), Thickening(SHAPE, -0.5),
]  # fmt: skip


def timed(model, data: dict) -> tuple[float, float]:
    """Test error in percent and seconds of fitting."""
    start = time.perf_counter()
    model.fit(data["X_train"], data["y_train"])
    seconds = time.perf_counter() - start
    return 100 * (1 - model.score(data["X_test"], data["y_test"])), seconds


def held_out_choice(data: dict, models: list) -> int:
    """Number of the model with the least error on the last fifth of the training rows."""
    cut = int(0.8 * len(data["y_train"]))
    order = np.random.RandomState(0).permutation(len(data["y_train"]))
    X, y = data["X_train"][order], data["y_train"][order]
    errors = [1 - model.fit(X[:cut], y[:cut]).score(X[cut:], y[cut:]) for model in models]
    return int(np.argmin(errors))


def full(data: dict) -> None:
    candidates = [SVC(gamma=g * THESIS_GAMMA, C=C) for g in (0.5, 1.0, 2.0) for C in (3.0, 10.0)]
    svc = candidates[held_out_choice(data, candidates)]
    error, seconds = timed(svc, data)
    print(f"{'SVC':<48}{error:6.2f} %  (thesis 4.2) {seconds:6.1f} s  gamma {svc.gamma:.4f}, C {svc.C:g}", flush=True)
    kfd = KernelFisherClassifierCV([1e-3, 1e-2, 1e-1, 1.0], [g * THESIS_GAMMA for g in (0.5, 1.0, 2.0)], columns=None)
    error, seconds = timed(kfd, data)
    print(
        f"{'KFD, full expansion, leave-one-out over 3 x 4':<48}{error:6.2f} %  (thesis 3.7) {seconds:6.1f} s  "
        f"gamma {kfd.gamma_:.4f}, alpha {kfd.alpha_:g}",
        flush=True,
    )


def greedy(data: dict) -> None:
    """Table 5.1: tolerance x threshold, at most 499 terms for every class of its own choice."""
    figures = {1e-1: (10.4, 10.3), 1e-2: (6.4, 6.3), 5e-3: (5.3, 5.3), 1e-3: (3.9, 3.8)}
    for tol, thesis in figures.items():
        model = KernelFisherClassifier(
            gamma=THESIS_GAMMA,
            alpha=1e-3,
            solver="greedy",
            tol=tol,
            max_terms=499,
            threshold="margin",
            random_state=0,
            columns=None,
        )
        outputs, cuts, n_terms = [], [], []
        start = time.perf_counter()
        for digit in range(10):
            model.fit(data["X_train"], data["y_train"] == digit)
            outputs.append(model.decision_function(data["X_test"]) + model.threshold_)
            cuts.append(model.threshold_[0])
            n_terms.append(len(model.support_))
        seconds = time.perf_counter() - start
        for name, cut, figure in (("least-squares", np.zeros(10), thesis[0]), ("margin", np.array(cuts), thesis[1])):
            wrong = np.argmax(np.array(outputs).T - cut, axis=1) != data["y_test"]
            label = f"greedy, tol {tol:g}, up to {max(n_terms)} terms, {name}"
            print(f"{label:<48}{100 * wrong.mean():6.2f} %  (thesis {figure}) {seconds:6.1f} s", flush=True)


def smo(data: dict) -> None:
    for tol, label in ((1e-1, "one significant figure"), (1e-3, "three")):
        model = KernelFisherClassifier(
            gamma=THESIS_GAMMA, alpha=1e-2, solver="smo", tol=tol, threshold="least-squares", columns=None
        )
        error, seconds = timed(model, data)
        print(f"{f'SMO, {label}':<48}{error:6.2f} %  (thesis 3.5) {seconds:6.1f} s", flush=True)


def with_copies(X: np.ndarray) -> np.ndarray:
    """The rows and their transformed copies."""
    return np.vstack([X, *(move(X) for move in MOVES)]).astype(X.dtype)


def virtual_centers(X: np.ndarray, n_centers: int) -> np.ndarray:
    """k-means centres of the rows and their transformed copies."""
    clusters = MiniBatchKMeans(n_centers, batch_size=4 * n_centers, n_init=1, max_iter=3, random_state=0)
    return clusters.fit(with_copies(X)).cluster_centers_.astype(X.dtype)


def invariances(data: dict, n_centers: int) -> None:
    start = time.perf_counter()
    centers = virtual_centers(data["X_train"], n_centers)
    print(f"{n_centers} k-means centres of {len(MOVES) + 1} x {len(data['y_train'])} rows: "
          f"{time.perf_counter() - start:.0f} s", flush=True)  # fmt: skip

    best = None
    for strength in (0.0, 0.3, 1.0, 3.0):
        moves = [(strength / len(MOVES), move) for move in MOVES] if strength else None
        model = KernelFisherClassifierCV(
            [1e-3, 1e-2, 1e-1], [0.5 * THESIS_GAMMA, THESIS_GAMMA], centers=centers, invariances=moves
        )
        start = time.perf_counter()
        model.fit(data["X_train"], data["y_train"])
        print(
            f"  strength {strength:g}: leave-one-out error {100 * model.loo_error_:.2f} % at gamma {model.gamma_:.4f}, "
            f"alpha {model.alpha_:g}, {time.perf_counter() - start:.1f} s",
            flush=True,
        )
        if strength == 0:
            print_error("KFD over virtual centres", model, data, "3.7")
        if best is None or model.loo_error_ < best[0].loo_error_:
            best = model, strength
    print_error(f"the same with tangent covariances x {best[1]:g}", best[0], data, "3.1")


def virtual(data: dict, candidates: tuple[int, ...]) -> None:
    """Translated copies of the rows of least left-out margin, against those of the support vectors of an SVM.

    The thesis' gamma; how many rows are copied is chosen on a fifth of the training rows, which is held out.
    """
    X, y = data["X_train"], data["y_train"]

    def model(n_rows: int) -> KernelFisherClassifier:
        more = {"invariances": MOVES[:4], "virtual_rows": n_rows} if n_rows else {}
        return KernelFisherClassifier(gamma=THESIS_GAMMA, alpha=1e-2, solver="linear", columns=None, **more)

    best = candidates[held_out_choice(data, [model(n_rows) for n_rows in candidates])]
    error, seconds = timed(model(best), data)
    print(
        f"{f'KFD, copies of {best} rows of least margin':<48}{error:6.2f} %  (thesis 3.1) {seconds:6.1f} s", flush=True
    )
    start = time.perf_counter()
    support = SVC(gamma=THESIS_GAMMA, C=10.0).fit(X, y).support_
    rows = np.vstack([X, *(move(X[support]) for move in MOVES[:4])]).astype(X.dtype)
    svc = SVC(gamma=THESIS_GAMMA, C=10.0).fit(rows, np.r_[y, np.tile(y[support], 4)])
    error, seconds = 100 * (1 - svc.score(data["X_test"], data["y_test"])), time.perf_counter() - start
    print(f"{f'SVC, copies of {len(support)} support vectors':<48}{error:6.2f} %  {seconds:20.1f} s", flush=True)


def print_error(name: str, fitted, data: dict, thesis: str) -> None:
    error = 100 * (1 - fitted.score(data["X_test"], data["y_test"]))
    print(f"{name:<48}{error:6.2f} %  (thesis {thesis})", flush=True)


def curves(data: dict, quick: bool, file: Path | None) -> None:
    """Run time and ten-class error against rows (figures 5.8 and 5.9), all ten one-against-the-rest problems."""
    sizes = (250, 500) if quick else (500, 1000, 2000, 4000, 7291)
    settings: list[tuple[str, str, dict]] = [("exact", "linear", {})]
    settings += [(f"greedy {tol:g}", "greedy", {"tol": tol, "max_terms": 499}) for tol in (1e-1, 1e-2, 1e-3)]
    settings += [(f"SMO {tol:g}", "smo", {"tol": tol}) for tol in (1e-1, 1e-2, 1e-3, 1e-4)]
    figures = np.empty((len(settings), len(sizes), 2))
    print(f"{'rows':>6}" + "".join(f"{name:>16}" for name, _, _ in settings))
    for j, n in enumerate(sizes):
        part = {**data, "X_train": data["X_train"][:n], "y_train": data["y_train"][:n]}
        for i, (_, solver, options) in enumerate(settings):
            model = KernelFisherClassifier(
                gamma=THESIS_GAMMA,
                alpha=1e-2,
                solver=solver,
                threshold="least-squares",
                random_state=0,
                columns=None,
                **options,
            )
            figures[i, j] = timed(model, part)
        print(f"{n:6d}" + "".join(f"{s:8.2f} s{e:5.1f} %" for e, s in figures[:, j]), flush=True)
    if file is not None:
        draw(file, sizes, [name for name, _, _ in settings], figures)


def draw(file: Path, sizes: tuple[int, ...], names: list[str], figures: np.ndarray) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for name, line in zip(names, figures):
        family = name.split()[0]
        colour = {"exact": "black", "greedy": "tab:blue", "SMO": "tab:orange"}[family]
        shade = 1.0 if family == "exact" else 1.0 - 0.22 * [n for n in names if n.startswith(family)].index(name)
        for axis, values in zip(axes, (line[:, 1], line[:, 0])):
            axis.plot(sizes, values, "o-", color=colour, alpha=shade, markersize=3, linewidth=1.2, label=name)
    axes[0].set(xscale="log", yscale="log", xlabel="training rows", ylabel="seconds, ten classes")
    axes[1].set(xscale="log", xlabel="training rows", ylabel="ten-class test error, %")
    axes[1].legend(fontsize=7, ncols=2)
    for axis in axes:
        axis.set_xticks(sizes, [str(n) for n in sizes], fontsize=8)
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    figure.savefig(file, dpi=120)
    plt.close(figure)
    print(f"plot written to {file}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke run on 600 rows")
    parser.add_argument("--only", nargs="+", choices=["full", "greedy", "smo", "invariances", "virtual", "curves"])
    parser.add_argument("--centers", type=int, default=3000)
    parser.add_argument("--plot", type=Path, help="file of the redrawn figures")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    data = load_usps()
    if options.quick:
        data = {key: value[:600] for key, value in data.items()}
        options.centers = 150
    parts = {
        "full": lambda: full(data),
        "greedy": lambda: greedy(data),
        "smo": lambda: smo(data),
        "invariances": lambda: invariances(data, options.centers),
        "virtual": lambda: virtual(data, (0, 50, 100) if options.quick else (0, 650, 1300, 2600)),
        "curves": lambda: curves(data, options.quick, options.plot),
    }
    for name in options.only or parts:
        parts[name]()


if __name__ == "__main__":
    main()
