"""Table 2 of the GEM paper: MNIST test errors, permutation invariant, training set as it is.

    python benchmarks/papers/gem_mnist.py [--methods gem deep three random combination] [--quick]

Settings of each method are chosen among a few candidates on the last 10,000 training images; the model is then fitted
on all 60,000 and the test images are looked at once. The combination is the geometric mean of the set of models that is
best on those held-out images, chosen before any test image is seen.
"""

from __future__ import annotations

import argparse
import resource
import sys
import warnings
from itertools import combinations
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler

from datasets import load_mnist
from eigenfeat import GEMClassifier, MultinomialLogit
from eigenfeat.features.maps import FEATURE_MAPS, PowerMap
from eigenfeat.rows import as_row_source
from eigenfeat.stages import Affine, FeatureLayer, LayerRows

PAPER = {"gem": "108", "deep": "96", "three": "110", "random": "283", "rff": "-", "combination": "-"}

ROOT = PowerMap((1,), soft=True)
SQUARE = PowerMap((1, 2), soft=True)

# The first layer of deep GEM follows the authors' public demonstration: few powers, no threshold.
DEEP = {
    "n_layers": 2,
    "n_components": 20,
    "ridge": [0.6, 0.5],
    "feature_map": [ROOT, SQUARE],
    "keep_inputs": False,
    "constant": True,
    "alpha": 1e-4,
}
CANDIDATES = {
    "gem": [{"n_components": 30, "ridge": 0.5, "min_eigenvalue": threshold, "alpha": 2e-4} for threshold in (2.5, 1.5)],
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
    "rff": [
        {
            "base_map": RBFSampler(gamma=gamma, n_components=3000, random_state=0),
            "n_components": 20,
            "ridge": 0.5,
            "feature_map": SQUARE,
            "keep_inputs": False,
            "alpha": 1e-4,
        }
        for gamma in (0.02, 0.01)
    ],
}


class Data:
    def __init__(self) -> None:
        mnist = load_mnist()
        self.X, self.X_test = ((mnist[key] / np.float32(255)).astype(np.float32) for key in ("X_train", "X_test"))
        self.y, self.y_test = mnist["y_train"], mnist["y_test"]

    def parts(self, final: bool):
        """Rows to fit and rows to judge by: held-out training images, or in the end the test images."""
        if final:
            return self.X, self.y, self.X_test, self.y_test
        return self.X[:50_000], self.y[:50_000], self.X[50_000:], self.y[50_000:]


def fitted(data: Data, settings: dict, final: bool) -> tuple[np.ndarray, float, int]:
    """Log probabilities of the rows to judge by, seconds of the fit, and directions of the last layer."""
    X, y, X_other, _ = data.parts(final)
    start = perf_counter()
    model = GEMClassifier(**settings).fit(X, y)
    seconds = perf_counter() - start
    print("  " + ", ".join(f"{stage} {taken:.1f} s" for stage, taken in model.stage_seconds_.items()), flush=True)
    return model.predict_log_proba(X_other), seconds, model.stacks_[0].layers[-1].directions.n_directions


def wrong(log_probabilities: np.ndarray, labels: np.ndarray) -> int:
    return int(np.sum(log_probabilities.argmax(axis=1) != labels))


def random_directions(data: Data, n_directions: int, seed: int) -> np.ndarray:
    """Log probabilities of the logit on the same map of as many random directions."""
    V = np.random.default_rng(seed).normal(size=(n_directions, data.X.shape[1])).astype(np.float32)
    V /= np.sqrt(np.mean((data.X[:5000] @ V.T) ** 2, axis=0))[:, None]
    layer = FeatureLayer(Affine.of(V.T), FEATURE_MAPS["soft-cubic"])
    rows, test = (LayerRows.of(as_row_source(X), layer) for X in (data.X, data.X_test))
    return MultinomialLogit(2e-4, label_smoothing=0.2, tol=1e-3).fit(rows, data.y).predict_log_proba(test)


def best_set(held_out: dict[str, np.ndarray], labels: np.ndarray) -> tuple[str, ...]:
    """The set of models, at least two, whose geometric mean has the fewest held-out errors; of equals the smallest."""
    sets = [chosen for size in range(2, len(held_out) + 1) for chosen in combinations(sorted(held_out), size)]
    errors = [wrong(np.mean([held_out[name] for name in chosen], axis=0), labels) for chosen in sets]
    for chosen, count in sorted(zip(sets, errors), key=lambda pair: pair[1])[:3]:
        print(f"  {' + '.join(chosen)}: {count} of 10,000 held-out training images wrong", flush=True)
    return sets[int(np.argmin(errors))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", default=list(PAPER), choices=list(PAPER))
    parser.add_argument("--quick", action="store_true", help="first candidate only, no choice on held-out images")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = Data()
    _, _, _, held_labels = data.parts(final=False)
    settings: dict[str, dict] = {}
    held_out: dict[str, np.ndarray] = {}
    for name in (name for name in options.methods if name in CANDIDATES):
        for number, candidate in enumerate(CANDIDATES[name][: 1 if options.quick else None]):
            label = f"{name} {number + 1}"
            settings[label] = candidate
            if not options.quick:
                held_out[label], seconds, directions = fitted(data, candidate, final=False)
                print(
                    f"  {label}: {wrong(held_out[label], held_labels)} of 10,000 held-out training images wrong, "
                    f"{directions} directions, fit {seconds:.0f} s: {candidate}",
                    flush=True,
                )
    chosen = {
        name: min(
            (label for label in settings if label.startswith(name + " ")),
            key=lambda label: wrong(held_out[label], held_labels) if label in held_out else 0,
        )
        for name in options.methods
        if name in CANDIDATES
    }
    together = best_set(held_out, held_labels) if "combination" in options.methods and len(held_out) > 1 else ()
    test: dict[str, np.ndarray] = {}
    rows, n_directions = [], 2000
    for label in dict.fromkeys([*chosen.values(), *together]):
        test[label], seconds, n_directions = fitted(data, settings[label], final=True)
        name = label.split()[0]
        if label == chosen[name]:
            rows.append((name, wrong(test[label], data.y_test), seconds))
            print(f"{name}: {rows[-1][1]} test errors (paper: {PAPER[name]}), fit {seconds:.0f} s", flush=True)
    if "random" in options.methods:
        start = perf_counter()
        rows.append(("random", wrong(random_directions(data, n_directions, 0), data.y_test), perf_counter() - start))
    if together:
        rows.append(("combination", wrong(np.mean([test[label] for label in together], axis=0), data.y_test), 0.0))
    print("\nmethod       errors  paper   fit s")
    for name, count, seconds in rows:
        print(f"{name:<12} {count:>6} {PAPER[name]:>6} {seconds:>7.0f}")
    if together:
        print(f"combination: geometric mean of {' + '.join(together)}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
