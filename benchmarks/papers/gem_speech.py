"""Table 4 of the GEM paper, on spoken digits: which class pairs, and ensembles of them, when classes are many.

    python benchmarks/papers/gem_speech.py [--draws 5] [--directions 600] [--every 3] [--rows N]

TIMIT is licensed; the Free Spoken Digit Dataset stands in for it: 429 inputs (39 coefficients, five frames either side)
and 180 classes (speaker x digit x third of the utterance). Every third training frame is used, for neighbours share ten
of their eleven frames, and all test frames. Columns are standardised on the training rows. Every model
has as many directions; each strategy is drawn several times. Penalties are chosen on one in ten training utterances,
left out for that.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.special import log_softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_speech
from eigenfeat import GEMClassifier, MultinomialLogit
from eigenfeat.features.expansion import as_row_source
from eigenfeat.features.layer import TransformedRows

STRATEGIES = ("hypercube", "random", "stratified")


def gem(strategy: str, n_directions: int, alpha: float, seed: int = 0) -> GEMClassifier:
    return GEMClassifier(
        1, class_pairs=strategy, n_pairs=n_directions, alpha=alpha, label_smoothing=0.0, random_state=seed
    )


def measures(log_probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Frame error and cross-entropy."""
    own = log_probabilities[np.arange(len(labels)), labels]
    return np.array([np.mean(log_probabilities.argmax(axis=1) != labels), -own.mean()])


def fourier(X: np.ndarray, n_features: int, gamma: float):
    sampler = RBFSampler(gamma=gamma, n_components=n_features, random_state=0).fit(X[:10])
    return lambda rows: TransformedRows(as_row_source(rows), sampler, n_features)


def best(candidates, score) -> float:
    """The candidate of least held-out cross-entropy."""
    losses = [score(candidate) for candidate in candidates]
    for candidate, loss in zip(candidates, losses):
        print(f"    {candidate:g}: held-out error {loss[0]:.2%}, cross-entropy {loss[1]:.4f}", flush=True)
    return candidates[int(np.argmin([loss[1] for loss in losses]))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--directions", type=int, default=600)
    parser.add_argument("--every", type=int, default=3, help="of so many training frames one is used")
    parser.add_argument("--rows", type=int, help="training rows to use: a trial run")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y, X_test, y_test, utterance = load_speech()
    X, y, utterance = (part[:: options.every] for part in (X, y, utterance))
    if options.rows:
        take = np.random.default_rng(0).permutation(len(y))[: options.rows]
        X, y, utterance = X[take], y[take], utterance[take]
    classes, y = np.unique(y, return_inverse=True)
    y_test = np.searchsorted(classes, y_test)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    out = utterance % 10 == 0
    print(f"{len(y)} training frames, {len(y_test)} test frames, {X.shape[1]} inputs, {len(classes)} classes")

    def held_out(model, rows=lambda rows: rows) -> np.ndarray:
        return measures(model.fit(rows(X[~out]), y[~out]).predict_log_proba(rows(X[out])), y[out])

    print("  penalty of the logit on raw inputs:")
    alpha = best((1e-2, 1e-3, 1e-4), lambda alpha: held_out(MultinomialLogit(alpha, tol=1e-3)))
    results: dict[str, np.ndarray] = {}
    results["logit on the inputs"] = measures(
        MultinomialLogit(alpha, tol=1e-3).fit(X, y).predict_log_proba(X_test), y_test
    )
    for name, model in (
        ("LDA", LinearDiscriminantAnalysis()),
        ("QDA", QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1)),
    ):
        results[name] = measures(model.fit(X, y).predict_log_proba(X_test), y_test)

    n_features = 6 * options.directions + X.shape[1]
    print(f"  width of the Fourier features ({n_features} cosines):")
    gamma = best(
        (1e-3, 3e-4),
        lambda gamma: held_out(MultinomialLogit(1e-5, tol=1e-3), fourier(X, n_features, gamma)),
    )
    rows = fourier(X, n_features, gamma)
    results["RFF of equal size"] = measures(
        MultinomialLogit(1e-5, tol=1e-3).fit(rows(X), y).predict_log_proba(rows(X_test)), y_test
    )

    print("  penalty of GEM:")
    alpha = best((1e-3, 1e-4, 1e-5), lambda alpha: held_out(gem("hypercube", options.directions, alpha)))
    draws: dict[str, np.ndarray] = {}
    for strategy in STRATEGIES:
        members, figures = [], []
        for draw in range(options.draws):
            model = gem(strategy, options.directions, alpha, seed=draw).fit(X, y)
            members.append(model.predict_log_proba(X_test))
            figures.append(measures(members[-1], y_test))
            stages = ", ".join(f"{stage} {seconds:.0f} s" for stage, seconds in model.stage_seconds_.items())
            print(
                f"  {strategy} draw {draw}: error {figures[-1][0]:.2%}, cross-entropy {figures[-1][1]:.4f}, "
                f"{len(model.eigenvalues_)} directions, {stages}",
                flush=True,
            )
        draws[strategy] = np.array(figures)
        results[f"GEM {strategy}, ensemble of {options.draws}"] = measures(
            log_softmax(np.mean(members, axis=0), axis=1), y_test
        )

    print(f"\n{'model':<34} {'frame error':>18} {'cross-entropy':>18}")
    for name, (error, entropy) in results.items():
        print(f"{name:<34} {error:>18.2%} {entropy:>18.4f}")
    for strategy, figures in draws.items():
        (error, entropy), (error_spread, entropy_spread) = figures.mean(axis=0), figures.std(axis=0, ddof=1)
        print(
            f"{'GEM ' + strategy:<34} {f'{error:.2%} ± {100 * error_spread:.2f}':>18} "
            f"{f'{entropy:.4f} ± {entropy_spread:.4f}':>18}"
        )
    print("the paper, TIMIT: GEM 41.87 ± 0.07 %, 1.637 ± 0.001; ensemble of five 40.86 %, 1.581")


if __name__ == "__main__":
    main()
