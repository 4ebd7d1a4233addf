"""Table 2 of the GEM paper: MNIST test errors, permutation invariant, training set as it is.

    python benchmarks/papers/gem_mnist.py [--methods gem deep three random ensemble] [--quick]

Ridge, threshold, map and penalty of each method are chosen among a few candidates on the last 10,000 training images;
the model is then fitted on all 60,000 and the test images are looked at once.
"""

from __future__ import annotations

import argparse
import resource
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from sklearn.exceptions import ConvergenceWarning

from datasets import load_mnist
from eigenfeat import GEMClassifier, MultinomialLogit
from eigenfeat.features.expansion import Expansion, Projection, as_row_source
from eigenfeat.features.layer import held
from eigenfeat.features.maps import FEATURE_MAPS, PowerMap

PAPER = {"gem": "108", "deep": "96", "three": "110", "random": "283", "ensemble": "-"}

ROOT = PowerMap((1,), soft=True)
SQUARE = PowerMap((1, 2), soft=True)

# The first layer of deep GEM follows the authors' public demonstration: few powers, no threshold.
CANDIDATES = {
    "gem": [{"n_components": 30, "ridge": 0.5, "min_eigenvalue": 2.5, "alpha": a} for a in (1e-3, 3e-4)],
    "deep": [
        {
            "n_layers": 2,
            "n_components": 20,
            "ridge": r,
            "min_eigenvalue": [None, t],
            "feature_map": [ROOT, SQUARE],
            "keep_inputs": False,
            "constant": True,
            "alpha": 1e-3,
        }
        for r, t in (([0.6, 0.5], 7.5), ([0.6, 0.5], 5.0))
    ],
}
CANDIDATES["three"] = [
    CANDIDATES["deep"][0]
    | {"n_layers": 3, "ridge": [0.6, 0.5, 0.5], "min_eigenvalue": [None, 7.5, 7.5], "feature_map": [ROOT, ROOT, SQUARE]}
]


def choose(name: str, X, y, quick: bool) -> dict:
    """The candidate with the fewest errors on the last 10,000 training images."""
    candidates = CANDIDATES[name][: 1 if quick else None]
    if len(candidates) == 1:
        return candidates[0]
    errors = []
    for candidate in candidates:
        model = GEMClassifier(**candidate).fit(X[:50_000], y[:50_000])
        errors.append(int(np.sum(model.predict(X[50_000:]) != y[50_000:])))
        print(f"  {name}: {errors[-1]} of 10,000 held-out training images wrong with {candidate}", flush=True)
    return candidates[int(np.argmin(errors))]


def random_directions(n_directions: int, X, y, X_test, seed: int) -> np.ndarray:
    """Predictions of the logit on the same map of as many random directions."""
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(n_directions, X.shape[1])).astype(np.float32)
    V /= np.sqrt(np.mean((X[:5000] @ V.T) ** 2, axis=0))[:, None]
    source = [
        Expansion(as_row_source(held(Projection(as_row_source(Z), V))), FEATURE_MAPS["soft-cubic"]) for Z in (X, X_test)
    ]
    return MultinomialLogit(3e-5).fit(source[0], y).predict(source[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", default=["gem", "deep"], choices=list(PAPER))
    parser.add_argument("--quick", action="store_true", help="first candidate only, no choice on held-out images")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    mnist = load_mnist()
    X, X_test = ((mnist[key] / np.float32(255)).astype(np.float32) for key in ("X_train", "X_test"))
    y, y_test = mnist["y_train"], mnist["y_test"]
    rows, log_probabilities, n_directions = [], [], 2000
    for name in options.methods:
        start = perf_counter()
        if name == "random":
            wrong = int(np.sum(random_directions(n_directions, X, y, X_test, seed=0) != y_test))
            rows.append((name, wrong, perf_counter() - start, f"{n_directions} directions"))
        elif name == "ensemble":
            together = np.mean(log_probabilities, axis=0)
            rows.append((name, int(np.sum(together.argmax(1) != y_test)), 0.0, "geometric mean of the above"))
        else:
            chosen = choose(name, X, y, options.quick)
            start = perf_counter()
            model = GEMClassifier(**chosen).fit(X, y)
            seconds = perf_counter() - start
            log_probabilities.append(model.predict_log_proba(X_test))
            wrong = int(np.sum(log_probabilities[-1].argmax(1) != y_test))
            n_directions = len(model._stacks[0].layers[-1].layer.eigenvalues)
            rows.append((name, wrong, seconds, str(chosen)))
        print(
            f"{rows[-1][0]:<10} {rows[-1][1]:>5} test errors (paper: {PAPER[name]}), fit {rows[-1][2]:.0f} s",
            flush=True,
        )
    print("\nmethod      errors  paper   fit s  settings")
    for name, wrong, seconds, settings in rows:
        print(f"{name:<10} {wrong:>7} {PAPER[name]:>6} {seconds:>7.0f}  {settings}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
