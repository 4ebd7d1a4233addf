"""Table 3 of the GEM paper: Covertype, and what the paper did not try, trees on GEM projections.

    python benchmarks/papers/gem_covertype.py [--permutations 0 1 2] [--methods default gem deep ...] [--rows N]
    python benchmarks/papers/gem_covertype.py --choose [--methods gem deep ...]

Rows are permuted and the last tenth is the test set, over three permutations. "default" is ``GEMClassifier()`` on the
columns as they come. All others see them as ``ColumnScaler()`` leaves them (GEM does that by itself): measurements
standardised or made normal, indicators 0 and 1. Fourier features are of GEM projections: a radial kernel sees nothing
but distances, and so the classes have a say in them. Settings are the first of each list below: ``--choose`` prints the
errors of all on the last 40,000 training rows of the first permutation with 100,000 rows to fit.
"""

from __future__ import annotations

import argparse
import resource
import sys
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import covertype_split
from eigenfeat import ColumnScaler, GEMClassifier, GEMFeatures, MultinomialLogit
from eigenfeat.features.maps import PowerMap, SplineMap
from eigenfeat.rows import as_rows
from eigenfeat.stages import BaseMap

PAPER = {"default": None, "gem": 12.9, "deep": 9.8, "rff": 12.7, "gem+rff": 8.4, "trees": None, "gem+trees": None}
ROOT = PowerMap((1,), soft=True)
COMMON = {"constant": True, "base_map": None, "ridge": 0.05, "alpha": 1e-6, "label_smoothing": 0.1, "max_iter": 40}
DEEP = COMMON | {"n_layers": 2, "keep_inputs": [True, False]}
PROJECTIONS = GEMFeatures(5, feature_map="identity", ridge=0.05, constant=True, keep_inputs=False, columns=None)
SETTINGS: dict[str, list[dict]] = {
    "gem": [
        COMMON | {"n_components": 20, "feature_map": SplineMap(12)},
        COMMON | {"n_components": 20, "feature_map": SplineMap(8)},
        COMMON | {"n_components": 20, "feature_map": "soft-cubic"},
    ],
    "deep": [
        DEEP | {"n_components": [8, 20], "feature_map": [SplineMap(5), SplineMap(12)]},
        DEEP | {"n_components": [8, 20], "feature_map": [SplineMap(5), SplineMap(8)]},
        DEEP | {"n_components": 20, "feature_map": [ROOT, "soft-cubic"]},
    ],
    "rff": [{"gamma": gamma} for gamma in (0.01, 0.02, 0.03)],
    "gem+rff": [
        COMMON
        | {
            "base_map": make_pipeline(PROJECTIONS, RBFSampler(gamma=gamma, n_components=2000, random_state=0)),
            "n_components": 20,
            "feature_map": "soft-cubic",
            "keep_inputs": False,
        }
        for gamma in (0.02, 0.01, 0.03)
    ],
}


def fourier_logit(X, y, X_test, gamma: float) -> np.ndarray:
    """Predictions of a logit on as many cosines as GEM + RFF has columns."""
    sampler = RBFSampler(gamma=gamma, n_components=4000, random_state=0).fit(X[:10])
    rows, test = (as_rows(Z).apply(BaseMap(sampler, 4000)) for Z in (X, X_test))
    return MultinomialLogit(1e-6, tol=1e-2, max_iter=40).fit(rows, y).predict(test)


def predictions(name: str, X, y, X_test, settings: dict) -> np.ndarray:
    """Of the test rows; a GEM classifier prints what its stages took."""
    if name == "rff":
        projected = make_pipeline(ColumnScaler(), clone(PROJECTIONS)).fit(X, y)
        return fourier_logit(projected.transform(X), y, projected.transform(X_test), **settings)
    trees = ExtraTreesClassifier(100, n_jobs=-1, random_state=0)
    if name == "trees":
        return trees.fit(X, y).predict(X_test)
    if name == "gem+trees":
        projections = GEMFeatures(3, feature_map="identity", ridge=0.05, constant=True)
        return make_pipeline(projections, trees).fit(X, y).predict(X_test)
    model = GEMClassifier(**settings).fit(X, y)
    stages = ", ".join(f"{stage} {seconds:.0f} s" for stage, seconds in model.stage_seconds_.items())
    print(f"  {name}: {stages}", flush=True)
    if not settings:
        print(f"  chosen by itself: {model.choices_}")
    return model.predict(X_test)


def choose(methods: list[str]) -> None:
    X, y, _, _ = covertype_split(0)
    for name in methods:
        for settings in SETTINGS.get(name, []):
            predicted = predictions(name, X[:100_000], y[:100_000], X[-40_000:], settings)
            error = np.mean(predicted != y[-40_000:])
            print(f"  {name}: held-out error {error:.2%} with {settings}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--permutations", type=int, nargs="+", default=[0, 1, 2], help="their seeds")
    parser.add_argument("--methods", nargs="+", default=list(PAPER), choices=list(PAPER))
    parser.add_argument("--rows", type=int, help="training rows to use: a trial run")
    parser.add_argument("--choose", action="store_true", help="print held-out errors of the candidate settings")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    if options.choose:
        choose(options.methods)
        return
    # Error in percent, seconds and CPU seconds of every permutation.
    measured: dict[str, list[tuple[float, float, float]]] = {name: [] for name in options.methods}
    for seed in options.permutations:
        X, y, X_test, y_test = covertype_split(seed)
        X, y = X[: options.rows], y[: options.rows]
        for name in options.methods:
            start, cpu_start = perf_counter(), process_time()
            predicted = predictions(name, X, y, X_test, SETTINGS.get(name, [{}])[0])
            seconds, cpu_seconds = perf_counter() - start, process_time() - cpu_start
            error = 100 * float(np.mean(predicted != y_test))
            measured[name].append((error, seconds, cpu_seconds))
            print(f"permutation {seed}, {name}: {error:.2f} %, {seconds:.0f} s, CPU {cpu_seconds:.0f} s", flush=True)
    print(f"\n{'method':<10}{'error %':>9}{'spread':>8}{'paper %':>9}{'fit and predict s':>19}{'CPU s':>7}")
    for name, figures in measured.items():
        errors, seconds, cpu_seconds = np.array(figures).T
        spread = np.std(errors, ddof=1) if len(errors) > 1 else float("nan")
        paper = "-" if PAPER[name] is None else f"{PAPER[name]:.1f}"
        print(
            f"{name:<10}{errors.mean():>9.2f}{spread:>8.2f}{paper:>9}{seconds.mean():>19.0f}{cpu_seconds.mean():>7.0f}"
        )
    print("the paper's stages, GEM + RFF: 8 s Fourier features, 58 s eigenproblems and features, 372 s logit")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
