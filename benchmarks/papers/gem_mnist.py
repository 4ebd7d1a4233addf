"""Table 2 of the GEM paper: MNIST test errors, permutation invariant, training set as it is; and the paper's claims.

    python benchmarks/papers/gem_mnist.py [--methods printed default gem subclass deep three random combination claims]
                                          [--keep FOLDER] [--rows N]

"printed" is Algorithm 1 as the paper prints it, "default" is ``GEMClassifier()``. Settings of a method are those of
fewest errors among a few candidates on the last 10,000 training images; the model is then fitted on all 60,000 and
the test images are looked at once. "random" has as many random directions as the model of "gem", and its map.
"combination" is the geometric mean of that set of models that has the least log loss on the held-out images, chosen
before any test image is seen. "claims" are the paper's remarks on maps, interactions, covariances and further
eigenvectors, each beside GEM on the same rows, over several draws of 10,000 training images; no test image is used
there. Methods run one by one, each within half an hour on two cores; with ``--keep`` a later one finds the fits of an
earlier one.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import sys
import warnings
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from sklearn.exceptions import ConvergenceWarning

from datasets import load_mnist
from eigenfeat import GEMClassifier, MultinomialLogit
from eigenfeat.features.maps import FEATURE_MAPS, PowerMap, ProductMap
from eigenfeat.rows import as_rows
from eigenfeat.stages import Affine, FeatureLayer, LayerRows

PAPER = {
    "printed": "108",
    "default": "-",
    "gem": "108",
    "subclass": "-",
    "deep": "96",
    "three": "110",
    "random": "283",
    "combination": "-",
}
HELD_OUT = 10_000

# Algorithm 1: all ordered pairs, a piecewise cubic of the root, nothing but the features, a plain logit.
PRINTED = {
    "n_components": 20,
    "class_pairs": "all",
    "feature_map": "cubic",
    "keep_inputs": False,
    "label_smoothing": 0.0,
    "columns": None,
    "base_map": None,
}
# What `GEMClassifier` would settle by itself on a sample is settled here on all held-out images.
OURS = {"base_map": None, "feature_map": "soft-cubic", "label_smoothing": 0.2, "ridge": 0.5}
GEM = OURS | {"n_components": 30, "alpha": 2e-4}
SUBCLASS = OURS | {"subclasses": 2, "n_components": 6, "alpha": 2e-4}
FOUR = SUBCLASS | {"subclasses": 4, "n_components": 3}
ROOT, SQUARE = PowerMap((1,), soft=True), PowerMap((1, 2), soft=True)
# The first layer of deep GEM follows the authors' public demonstration: few powers, no threshold.
DEEP = OURS | {
    "n_layers": 2,
    "n_components": 20,
    "ridge": [0.6, 0.5],
    "feature_map": [ROOT, SQUARE],
    "keep_inputs": False,
    "constant": True,
    "alpha": 1e-4,
}
CANDIDATES: dict[str, list[dict]] = {
    "printed": [
        PRINTED | {"ridge": ridge, "min_eigenvalue": threshold, "alpha": alpha}
        for ridge, threshold, alpha in ((0.5, 2.0, 1e-4), (0.5, 2.0, 1e-3), (0.5, 2.0, 3e-3), (0.5, 2.0, 1e-2))
    ],
    "default": [{}],
    "gem": [GEM | {"min_eigenvalue": threshold} for threshold in (2.5, 1.5)],
    "subclass": [SUBCLASS, FOUR],
    "deep": [DEEP | {"min_eigenvalue": [None, threshold]} for threshold in (7.5, 5.0)],
    "three": [
        DEEP
        | {
            "n_layers": 3,
            "ridge": [0.6, 0.5, 0.5],
            "min_eigenvalue": [None, 7.5, 7.5],
            "feature_map": [ROOT, ROOT, SQUARE],
        }
    ],
}
MEMBERS: dict[str, dict] = {
    "subclass": SUBCLASS,
    "four sub-classes": FOUR,
    **{f"four sub-classes, seed {seed}": FOUR | {"random_state": seed} for seed in (1, 2)},
    "deep": CANDIDATES["deep"][0],
    "deep, two sub-classes": CANDIDATES["deep"][0] | {"subclasses": 2, "n_components": [6, 6]},
}
"""Models that the combination may take."""

CLAIMS = {
    "soft root, smoothed labels": {"feature_map": "soft-cubic", "label_smoothing": 0.2},
    "map: square": {"feature_map": "square"},
    "map: absolute value": {"feature_map": "absolute"},
    "map: root of it": {"feature_map": "sqrt"},
    "the first eigenvector only": {"n_components": 1},
    "the first two": {"n_components": 2},
    "the first five": {"n_components": 5},
    "noise: covariance": {"noise": "covariance"},
}
"""What each claim changes in GEM as printed; interactions are drawn with the rows."""

N_PRODUCTS = 2000
"""Random pairs of projections whose products are tried."""


@dataclass(frozen=True)
class Judged:
    """What a fit says of the rows it is judged by, and what it took."""

    log_probabilities: np.ndarray
    seconds: float
    cpu_seconds: float
    n_directions: int

    def wrong(self, labels: np.ndarray) -> int:
        return wrong(self.log_probabilities, labels)


class Data:
    """The images, and fits that were kept."""

    def __init__(self, keep: Path | None, n_rows: int | None) -> None:
        mnist = load_mnist()
        self.X, self.X_test = ((mnist[key] / np.float32(255)).astype(np.float32) for key in ("X_train", "X_test"))
        self.y, self.y_test = mnist["y_train"], mnist["y_test"]
        self.n_rows, self.keep = n_rows, keep
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)

    @property
    def held_labels(self) -> np.ndarray:
        return self.y[-HELD_OUT:]

    def parts(self, final: bool):
        """Rows to fit and rows to judge by: held-out training images, or in the end the test images."""
        if final:
            return self.X[: self.n_rows], self.y[: self.n_rows], self.X_test
        return self.X[:-HELD_OUT][: self.n_rows], self.y[:-HELD_OUT][: self.n_rows], self.X[-HELD_OUT:]

    def judged(self, settings: dict, final: bool) -> Judged:
        """The fit with these settings, or what was kept of it."""
        name = hashlib.sha256(repr((sorted(settings.items()), final, self.n_rows)).encode()).hexdigest()[:16]
        file = None if self.keep is None else self.keep / f"{name}.npz"
        if file is not None and file.exists():
            with np.load(file) as kept:
                return Judged(kept["log_probabilities"], *kept["seconds"], int(kept["n_directions"]))
        result = fitted(*self.parts(final), settings)
        if file is not None:
            seconds = (result.seconds, result.cpu_seconds)
            np.savez(file, **vars(result) | {"seconds": seconds})
        return result


def wrong(log_probabilities: np.ndarray, labels: np.ndarray) -> int:
    return int(np.sum(log_probabilities.argmax(axis=1) != labels))


def fitted(X: np.ndarray, y: np.ndarray, X_other: np.ndarray, settings: dict) -> Judged:
    start, cpu_start = perf_counter(), process_time()
    model = GEMClassifier(**settings).fit(X, y)
    seconds, cpu_seconds = perf_counter() - start, process_time() - cpu_start
    print("  " + ", ".join(f"{stage} {taken:.1f} s" for stage, taken in model.stage_seconds_.items()), flush=True)
    if not settings:
        print(f"  chosen by itself: {model.choices_}")
    n_directions = model.stacks_[0].layers[-1].directions.n_directions
    return Judged(model.predict_log_proba(X_other), seconds, cpu_seconds, n_directions)


def chosen(data: Data, candidates: list[dict]) -> dict:
    """The settings of fewest held-out errors."""
    if len(candidates) == 1:
        return candidates[0]
    errors = []
    for settings in candidates:
        result = data.judged(settings, final=False)
        errors.append(result.wrong(data.held_labels))
        print(
            f"  {errors[-1]} of 10,000 held-out training images wrong, {result.n_directions} directions, fit "
            f"{result.seconds:.0f} s, CPU {result.cpu_seconds:.0f} s: {settings}",
            flush=True,
        )
    return candidates[int(np.argmin(errors))]


def random_directions(data: Data) -> Judged:
    """The logit on the map of as many random directions as GEM has."""
    X, y, X_test = data.parts(final=True)
    settings = chosen(data, CANDIDATES["gem"])
    n_directions = data.judged(settings, final=True).n_directions
    start, cpu_start = perf_counter(), process_time()
    V = np.random.default_rng(0).normal(size=(n_directions, X.shape[1])).astype(np.float32)
    V /= np.sqrt(np.mean((X[:5000] @ V.T) ** 2, axis=0))[:, None]
    layer = FeatureLayer(Affine.of(V.T), FEATURE_MAPS["soft-cubic"])
    rows, test = (LayerRows.of(as_rows(Z), layer) for Z in (X, X_test))
    logit = MultinomialLogit(settings["alpha"], label_smoothing=0.2, tol=1e-3).fit(rows, y)
    seconds, cpu_seconds = perf_counter() - start, process_time() - cpu_start
    return Judged(logit.predict_log_proba(test), seconds, cpu_seconds, n_directions)


def combination(data: Data) -> Judged:
    """The geometric mean of the members of least held-out log loss: errors of sets are three of 10,000 apart."""
    held_out = {}
    for name, settings in MEMBERS.items():
        result = data.judged(settings, final=False)
        held_out[name] = result.log_probabilities
        print(f"  {name}: {result.wrong(data.held_labels)} of 10,000 held-out training images wrong", flush=True)
    sets = [names for size in range(2, len(held_out) + 1) for names in combinations(held_out, size)]

    def badness(names: tuple[str, ...]) -> tuple[float, int]:
        mean = np.mean([held_out[name] for name in names], axis=0)
        mean -= np.logaddexp.reduce(mean, axis=1, keepdims=True)
        loss = -float(mean[np.arange(HELD_OUT), data.held_labels].mean())
        return loss, wrong(mean, data.held_labels)

    ranked = sorted(sets, key=badness)
    for names in ranked[:3]:
        loss, errors = badness(names)
        print(f"  {' + '.join(names)}: {errors} of 10,000 held-out training images wrong, log loss {loss:.4f}")
    members = [data.judged(MEMBERS[name], final=True) for name in ranked[0]]
    print(f"  chosen: {' + '.join(ranked[0])}; alone {[m.wrong(data.y_test) for m in members]} test errors")
    return Judged(
        np.mean([member.log_probabilities for member in members], axis=0),
        sum(member.seconds for member in members),
        sum(member.cpu_seconds for member in members),
        sum(member.n_directions for member in members),
    )


def claims(data: Data, n_draws: int) -> None:
    """Held-out errors of GEM as printed, and of what each claim changes, over draws of the rows to fit.

    Every variant has a penalty of its own, found by log loss within the rows to fit: maps of few columns need less.
    """
    printed = PRINTED | {"n_components": 10, "ridge": 0.5, "alpha": "auto"}
    errors: dict[str, list[int]] = {}
    pool, held_out = data.X[:-HELD_OUT], data.X[-HELD_OUT:]
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        rows = rng.permutation(len(pool))[: data.n_rows or 10_000]
        products = {tuple(pair) for pair in np.sort(rng.integers(900, size=(2 * N_PRODUCTS, 2)), axis=1).tolist()}
        different = tuple(sorted(pair for pair in products if pair[0] != pair[1]))[:N_PRODUCTS]
        interactions = {"feature_map": ProductMap(FEATURE_MAPS["cubic"], different)}
        variants = {"GEM as printed": {}, **CLAIMS, f"{N_PRODUCTS} interactions beside": interactions}
        for name, change in variants.items():
            model = GEMClassifier(**printed | change).fit(pool[rows], data.y[rows])
            errors.setdefault(name, []).append(wrong(model.predict_log_proba(held_out), data.held_labels))
            alpha = model.choices_["alpha"]
            print(f"  draw {draw}, {name}: {errors[name][-1]} of 10,000 wrong, alpha {alpha:.1e}", flush=True)
    print(f"\n{f'{len(rows)} rows to fit':<32}{'held-out errors':>17}{'above GEM as printed, draw by draw':>38}")
    reference = np.array(errors["GEM as printed"])
    for name, counts in errors.items():
        spread = np.std(counts, ddof=1) if n_draws > 1 else 0.0
        more = np.array(counts) - reference
        print(f"{name:<32}{np.mean(counts):>10.0f} ± {spread:<4.0f}{', '.join(f'{x:+d}' for x in more):>38}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", default=[*PAPER, "claims"], choices=[*PAPER, "claims"])
    parser.add_argument("--keep", type=Path, help="folder for what fits say, so that none is repeated")
    parser.add_argument("--rows", type=int, help="training rows to use: a trial run")
    parser.add_argument("--draws", type=int, default=3, help="of the rows of the claims")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = Data(options.keep, options.rows)
    lines = []
    for name in options.methods:
        print(f"{name}:", flush=True)
        if name == "claims":
            claims(data, options.draws)
            continue
        if name in CANDIDATES:
            result = data.judged(chosen(data, CANDIDATES[name]), final=True)
        else:
            result = combination(data) if name == "combination" else random_directions(data)
        lines.append(
            f"{name:<12} {result.wrong(data.y_test):>6} {PAPER[name]:>6} {result.n_directions:>11} "
            f"{result.seconds:>7.0f} {result.cpu_seconds:>7.0f}"
        )
    if lines:
        print("\nmethod       errors  paper  directions   fit s   CPU s", *lines, sep="\n")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
