"""What the constants that steer the solvers are worth, each measured beside its present value.

    python benchmarks/speed/constants.py [--only PASS_SLOWNESS ...]

A constant decides when to do what, never what comes out. For each, the quantity it stands for is measured where that
can be done directly, or the cost is measured as the constant varies.
Processor seconds are printed, which other load on the machine disturbs less; passes and columns are counted and do not
depend on it. Everything together takes less than ten minutes on two cores. MNIST and other files are used where they
are (``EIGENFEAT_DATA``); without them, scikit-learn's digits alone.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import FOLDER, load_arrays, load_mnist, load_usps
from eigenfeat import GEMFeatures, KernelFisherClassifier, MultinomialLogit
from eigenfeat.features.maps import FeatureMap, SplineMap, as_feature_map
from eigenfeat.kernel import linear as kernel_linear
from eigenfeat.kernel import lp
from eigenfeat.linear import logit, preconditioner_table, sample_start
from eigenfeat.linear.objective import WORTH_CHOOSING
from eigenfeat.linear.passes import Passes
from eigenfeat.linear.preconditioners import GramPreconditioner, PreconditionerRequest
from eigenfeat.linear.sample_preconditioner import SamplePreconditioner
from eigenfeat.moments import DenseForm, collect_moments
from eigenfeat.quotients import Quotient, Regularisation, contrast
from eigenfeat.rows import as_rows
from eigenfeat.solvers import krylov, solve
from eigenfeat.stages import Affine, FeatureLayer, LayerRows


@contextmanager
def patched(module: ModuleType, **values: Any) -> Iterator[None]:
    """A module's constants at other values for a while."""
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def seconds(run: Callable[[], Any], repeats: int = 2) -> float:
    """Processor seconds of the quickest of some runs."""
    times = []
    for _ in range(repeats):
        start = process_time()
        run()
        times.append(process_time() - start)
    return min(times)


# ------------------------------------------------------------------ the convex stage


@cache
def gem_features() -> dict[str, tuple[np.ndarray, np.ndarray, float]]:
    """GEM features, labels and a penalty of least held-out error, by name of the set."""
    X, y = load_digits(return_X_y=True)
    sets = {"digits": ((X / 16).astype(np.float32), y, 2, 1e-3)}
    if (FOLDER / "mnist.npz").exists():
        mnist = load_mnist()
        sets["MNIST, 5000 rows"] = (
            (mnist["X_train"][:5000] / 255).astype(np.float32),
            mnist["y_train"][:5000],
            1,
            1e-3,
        )
    return {
        name: (GEMFeatures(n_components=k, ridge=0.1, keep_inputs=False).fit(X, y).transform(X), y, alpha)
        for name, (X, y, k, alpha) in sets.items()
    }


def pass_slowness() -> None:
    print("time an operation of a pass over that of building the Gram preconditioner; PASS_SLOWNESS =", end=" ")
    print(preconditioner_table.PASS_SLOWNESS)
    for name, (rows, y, alpha) in gem_features().items():
        for k in (2, 10):
            labels = y % k
            solver = logit.LogitSolver(as_rows(rows, y=labels), k)
            solver.fit(alpha, max_iter=1)
            objective = solver.objective
            d = objective.shape[0]
            n = len(rows)
            point = objective.at(np.zeros(objective.shape))
            request = PreconditionerRequest(point, n, 0, objective.column_scale)
            one_pass = seconds(lambda o=objective: o.at(np.full(o.shape, 1e-3)), 5)
            build = seconds(lambda o=objective, r=request: GramPreconditioner.build(o, r), 3)
            ratio = (one_pass / (4 * n * d * k)) / (build / (n * d**2 + d**3 / 3))
            print(f"  {name}, {n} x {d}, {k} classes: pass {one_pass:.4f} s, build {build:.4f} s, slowness {ratio:.1f}")


def logit_cost(name: str, values: tuple[float, ...], smoothing: float = 0.0) -> None:
    """Cost as a constant varies, and what is gained for it: gaps are estimates, objectives are not."""
    print(f"passes and processor seconds to a relative gap of 1e-4 as {name} varies; it is {getattr(logit, name)}")
    for label, (rows, y, alpha) in gem_features().items():
        lines = []
        for value in values:
            model = MultinomialLogit(alpha, tol=1e-4, max_iter=2000, label_smoothing=smoothing)
            with patched(logit, **{name: value}):
                spent = seconds(lambda m=model, X=rows, t=y: m.fit(X, t), 2)
            lines.append((value, model.n_passes_, model.n_iter_, spent, model.objective_))
        lowest = min(objective for *_, objective in lines)
        for value, passes, steps, spent, objective in lines:
            cost = f"{passes:.1f} passes, {steps} steps, {spent:.2f} s"
            print(f"  {label}, {value:g}: {cost}, {objective / lowest - 1:.1e} above the lowest", flush=True)


def newton_gap() -> None:
    logit_cost("NEWTON_GAP", (1e-1, 1e-2, 1e-3, 1e-5))


def smoothed_newton_gap() -> None:
    logit_cost("SMOOTHED_NEWTON_GAP", (1e-1, 1e-2, 1e-3, 1e-4, 1e-5), smoothing=0.2)


SHARES = (1.0, 0.75, 0.5, 0.25)


def worth_choosing() -> None:
    print(f"time of a pass over chosen rows, as a share of that over all in place; it is {WORTH_CHOOSING}")
    for n, d, k in ((5000, 2500, 7), (20_000, 500, 20), (2000, 784, 10)):
        passes = Passes(as_rows(np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)))
        everywhere = np.full((passes.n_columns, k), 1e-3)

        def spent(over: Passes, C: np.ndarray = everywhere) -> float:
            return seconds(lambda: over.there_and_back(C, lambda *_: None), 5)

        whole = spent(passes)
        shares = {
            share: spent(passes.of_rows(np.linspace(0, n - 1, int(n * share)).astype(int))) / whole for share in SHARES
        }
        print(f"  {n} x {d}, {k} classes: " + ", ".join(f"{share:g}: {time:.2f}" for share, time in shares.items()))


def rebuild_margin() -> None:
    logit_cost("REBUILD_MARGIN", (0.0, 1.0, 2.0, 4.0, 16.0))


def blunt() -> None:
    """A sample of rows against a Gram matrix, as the penalty becomes weak: time to a gap, and how low both end."""
    print("damping of a sample in penalties, and what sample and Gram matrix take; BLUNT =", preconditioner_table.BLUNT)
    if not (FOLDER / "mnist.npz").exists():
        print("  needs mnist.npz")
        return
    for name, feature_map in (("soft-cubic", as_feature_map("soft-cubic")), ("splines", SplineMap(6))):
        rows = _features_of_mnist(20_000, feature_map)
        for alpha in (1e-3, 1e-4, 1e-5, 1e-6):
            _compare_preconditioners(f"{name}, {rows.n_columns} columns, alpha {alpha:g}", rows, alpha)


def _features_of_mnist(n_rows: int, feature_map: FeatureMap) -> LayerRows:
    mnist = load_mnist()
    X, y = (mnist["X_train"][:n_rows] / 255).astype(np.float32), mnist["y_train"][:n_rows].astype(np.intp)
    projection = Affine.of(GEMFeatures(12, ridge=0.3, columns=None).fit(X, y).components_.T.astype(np.float32))
    return LayerRows.of(as_rows(X, y=y), FeatureLayer(projection, feature_map.fit(projection.apply(X[:5000]))))


def scarce_start() -> None:
    """A start from a quarter of the rows with fewer than four a column, and none: passes over all rows, and time."""
    print("fits with a start from 15,000 rows of MNIST and without")
    if not (FOLDER / "mnist.npz").exists():
        print("  needs mnist.npz")
        return
    rows = _features_of_mnist(60_000, as_feature_map("soft-cubic"))
    for smoothing, alpha in ((0.2, 1e-4), (0.2, 1e-5), (0.0, 1e-3), (0.0, 1e-5)):
        told = []
        for least in (1, np.inf):
            with patched(sample_start, LEAST_SCARCE_ROWS_PER_COLUMN=least), patched(logit, RULING_PENALTY=np.inf):
                start = process_time()
                fit = logit.LogitSolver(rows, 10, smoothing=smoothing).fit(alpha, tol=1e-2)
                told.append(f"{fit.n_passes:.0f} passes, {process_time() - start:.1f} s, to {fit.objective:.5f}")
        print(
            f"  {rows.n_columns} columns, smoothing {smoothing}, alpha {alpha:g}: " + "; none: ".join(told), flush=True
        )


def _compare_preconditioners(name: str, rows: LayerRows, alpha: float) -> None:
    ends = {}
    for solver in ("sample", "gram"):
        fitted = logit.LogitSolver(rows, 10, smoothing=0.2, solver=solver)
        start = process_time()
        fit = fitted.fit(alpha, tol=1e-2, max_iter=40)
        ends[solver] = (process_time() - start, fit.n_iter, fit.objective)
    objective = fitted.objective
    request = PreconditionerRequest(None, preconditioner_table.PROBE_ROWS, 0, objective.column_scale)
    damping = SamplePreconditioner.build(objective, request).damping / alpha
    lowest = min(end[2] for end in ends.values())
    told = "; ".join(f"{s} {t:.1f} s, {n} steps, {o / lowest - 1:.1e} above" for s, (t, n, o) in ends.items())
    print(f"  {name}: damping {damping:.0f}; {told}", flush=True)


# ------------------------------------------------------------------ the Krylov solver


def spectra() -> dict[str, Quotient]:
    """Problems of different spectra: steep, slow, flat with a random edge, and class pairs of MNIST."""
    d, rng = 600, np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    shapes = {
        "geometric, 1 to 1e-4": np.geomspace(1, 1e-4, d),
        "1/i": 1 / np.arange(1, d + 1),
        "1/i²": 1 / np.arange(1, d + 1) ** 2.0,
    }
    problems = {name: Quotient(DenseForm((Q * s) @ Q.T), DenseForm(np.eye(d))) for name, s in shapes.items()}
    X = rng.standard_normal((2 * d, d))
    problems["Wishart, two rows a column"] = Quotient(DenseForm(X.T @ X / len(X)), DenseForm(np.eye(d)))
    if (FOLDER / "mnist.npz").exists():
        mnist = load_mnist()
        moments = collect_moments(mnist["X_train"][:20_000] / 255.0, mnist["y_train"][:20_000])
        pairs = contrast(moments, [(3, 8), (1, 7), (0, 4)], regularisation=Regularisation(0.1))
        problems.update({f"MNIST {q.label}": q for q in pairs})
    return problems


def columns_a_direction(quotient: Quotient, k: int, tol: float) -> float:
    """Basis columns a direction at which the search meets the tolerance, looked at after every block."""
    steps = []
    apply = krylov._apply

    def counted(*arguments):
        steps.append(1)
        return apply(*arguments)

    with patched(krylov, ONSET=0.0, PER_DIGIT=0.0, _apply=counted), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solve([quotient], k, solver="krylov", tol=tol)
    return len(steps) * krylov._block_size(k) / k


def krylov_columns() -> None:
    print(f"basis columns a direction = ONSET + PER_DIGIT · digits; they are {krylov.ONSET} and {krylov.PER_DIGIT}")
    digits = np.arange(1, 7)
    onsets, slopes = [], []
    for name, quotient in spectra().items():
        for k in (5, 20):
            columns = np.array([columns_a_direction(quotient, k, 10.0**-digit) for digit in digits])
            kept = columns < krylov.GIVE_UP - 1
            if kept.sum() < 3:
                print(f"  {name}, {k} directions: {np.round(columns, 1)} columns a direction: given up")
                continue
            slope, onset = np.polyfit(digits[kept], columns[kept], 1)
            onsets.append(onset)
            slopes.append(slope)
            print(
                f"  {name}, {k} directions: columns a direction for 1..6 digits {np.round(columns, 1)}: "
                f"onset {onset:.2f}, a digit {slope:.2f}",
                flush=True,
            )
    for share in (0.25, 0.5, 0.75):
        onset, slope = np.quantile(onsets, share), np.quantile(slopes, share)
        print(f"  {share:.0%} of the problems: onset at most {onset:.2f}, a digit at most {slope:.2f}")


# ------------------------------------------------------------------ the default penalty


def classification_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    sets = {
        "digits": load_digits(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
    }
    if (FOLDER / "vowel.npz").exists():
        vowel = load_arrays("vowel.npz", "Elements of Statistical Learning")
        sets["vowel"] = vowel["X_train"], vowel["y_train"]
    if (FOLDER / "usps.npz").exists():
        usps = load_usps()
        sets["USPS, 2000 rows"] = usps["X_train"][:2000], usps["y_train"][:2000]
    return sets


def crowded() -> None:
    print(
        "own rows of classes beside a Gram matrix, smoothed labels, relative gap of 0.1 for alpha · rows 10, 1 and 0.1"
    )
    print(f'  "auto" takes them from {preconditioner_table.CROWDED} classes times columns a row on, up to', end=" ")
    print(f"{preconditioner_table.MOST_COLUMNS_PER_CLASS} columns a class")
    rng, d = np.random.default_rng(0), 64
    for k, n in ((10, 200), (26, 60), (26, 30), (100, 40), (100, 20), (300, 12)):
        y = np.repeat(np.arange(k), n)
        shapes = 0.5 * np.eye(d) + rng.normal(size=(k, d, d)) / np.sqrt(d)
        centres = 0.5 * rng.normal(size=(k, d))
        X = np.concatenate([centre + rng.normal(size=(n, d)) @ A for centre, A in zip(centres, shapes)])
        directions = GEMFeatures(class_pairs="hypercube", n_pairs=4 * k, n_components=1, max_components=160, ridge=0.3)
        rows = directions.set_params(feature_map="soft-cubic").fit(X.astype(np.float32), y).transform(X)
        source, columns = as_rows(rows.astype(np.float32), y=y), rows.shape[1]
        line = [f"  {k} classes, {len(y)} rows, {columns} columns: {k * columns / len(y):.0f} and {columns / k:.0f};"]
        for name in ("gram", "classes"):
            start, solver, found, passes = (
                process_time(),
                logit.LogitSolver(source, k, smoothing=0.2, solver=name),
                None,
                0.0,
            )
            for penalty in (10, 1, 0.1):
                initial = None if found is None else (found.coef, found.intercept)
                found = solver.fit(penalty / len(y), tol=0.1, initial=initial)
                passes += found.n_passes
            line.append(f"{name} {passes:.0f} passes, {process_time() - start:.2f} s, objective {found.objective:.4f};")
        print(*line, flush=True)


# ------------------------------------------------------------------ kernel problems


def crossing(sizes: list[int], first: list[float], second: list[float]) -> str:
    """Where the second becomes the quicker one, between the sizes measured."""
    ahead = np.log(np.array(second) / np.array(first))
    for (n, a), (m, b) in pairwise(zip(sizes, ahead)):
        if a > 0 >= b:
            return f"{n * (m / n) ** (a / (a - b)):.0f} rows"
    return f"below {sizes[0]} rows" if ahead[0] <= 0 else f"above {sizes[-1]} rows"


def lp_max_rows() -> None:
    print(f'processor seconds of both against rows; "auto" goes from lp to column_generation at {lp.MAX_ROWS} rows')
    sizes = [60, 125, 250, 500, 1000]
    for noise, alpha in ((0.2, 1.0), (0.35, 0.3)):
        times: dict[str, list[float]] = {"lp": [], "column_generation": []}
        for n in sizes:
            X, y = make_moons(n, noise=noise, random_state=0)
            for solver, spent in times.items():
                model = KernelFisherClassifier(alpha=alpha, loss="absolute", penalty="sparse", gamma=2.0, solver=solver)
                spent.append(seconds(lambda m=model, X=X, y=y: m.fit(X, y), 2 if n <= 500 else 1))
        for n, one, two in zip(sizes, *times.values()):
            print(f"  moons of noise {noise}, alpha {alpha}, {n} rows: lp {one:.3f} s, column_generation {two:.3f} s")
        print(f"  equal at {crossing(sizes, *times.values())}", flush=True)


def linear_max_rows() -> None:
    print(f'linear (all rows) against nystrom (centres); "auto" changes at {kernel_linear.MAX_ROWS} rows')
    if not (FOLDER / "mnist.npz").exists():
        print("  needs mnist.npz")
        return
    mnist = load_mnist()
    X, X_test = ((mnist[key] / 255).astype(np.float32) for key in ("X_train", "X_test"))
    y, y_test = mnist["y_train"] % 2, mnist["y_test"] % 2
    for n in (1000, 2000, 4000, 8000):
        for solver in ("linear", "nystrom"):
            model = KernelFisherClassifier(alpha=1.0, gamma=0.02, solver=solver)
            spent = seconds(lambda m=model, n=n: m.fit(X[:n], y[:n]), 1)
            error = 1 - model.score(X_test[:2000], y_test[:2000])
            matrix = f"; its matrix {4 * n**2 / 1e6:.0f} MB" if solver == "linear" else ""
            print(f"  MNIST parity, {n} rows, {solver}: {spent:.2f} s, error {error:.2%}{matrix}", flush=True)


PARTS: dict[str, Callable[[], None]] = {
    "PASS_SLOWNESS": pass_slowness,
    "NEWTON_GAP": newton_gap,
    "SMOOTHED_NEWTON_GAP": smoothed_newton_gap,
    "WORTH_CHOOSING": worth_choosing,
    "REBUILD_MARGIN": rebuild_margin,
    "BLUNT": blunt,
    "LEAST_SCARCE_ROWS_PER_COLUMN": scarce_start,
    "CROWDED": crowded,
    "ONSET_PER_DIGIT": krylov_columns,
    "LP_MAX_ROWS": lp_max_rows,
    "LINEAR_MAX_ROWS": linear_max_rows,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="+", default=list(PARTS), choices=list(PARTS), metavar="NAME", help="|".join(PARTS)
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.only:
        start = process_time()
        print(f"{name}: ", end="", flush=True)
        PARTS[name]()
        print(f"  ({process_time() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
