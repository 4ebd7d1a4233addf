"""GEM with many classes: few problems against all pairs, and a thousand classes.

    python benchmarks/gem_many_classes.py [--only plants thousand]

On plants100 (100 leaf species, 16 leaves each, half of them to fit, three splits) every strategy of at most 4k
problems stands beside all k (k - 1) pairs, with equally many directions in all and with one of every pair. The
thousand classes are Gaussians with random means and covariances in 64 dimensions.
"""

from __future__ import annotations

import argparse
import resource
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).parent))
from datasets import load_plants
from eigenfeat import GEMClassifier

DIRECTIONS = 1200


def settings(strategy: str, k: int) -> dict:
    if strategy == "all, uncapped":
        return {"class_pairs": "all", "n_components": 1}
    if strategy == "all":
        return {"class_pairs": "all", "n_components": 1, "max_components": DIRECTIONS}
    n_pairs = {"contractions": None, "one-vs-rest": None}.get(strategy, 4 * k)
    problems = {"one-vs-rest": k}.get(strategy, 4 * k)
    return {"class_pairs": strategy, "n_pairs": n_pairs, "n_components": max(1, DIRECTIONS // problems)}


def plants() -> None:
    X, y = load_plants()
    k = len(np.unique(y))
    print(f"plants100: {len(y)} rows, {X.shape[1]} inputs, {k} classes, three splits in halves, default penalties")
    print(f"{'class_pairs':<14}{'problems':>9}{'directions':>11}{'error %':>9}{'spread':>8}{'fit s':>7}")
    for strategy in (
        "all, uncapped",
        "all",
        "hypercube",
        "stratified",
        "random",
        "one-vs-rest",
        "contractions",
        "auto",
    ):
        chosen = settings(strategy, k) if strategy != "auto" else {}
        errors, seconds = [], []
        for seed in range(3):
            A, B, a, b = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
            scaler = StandardScaler().fit(A)
            start = perf_counter()
            model = GEMClassifier(**chosen, random_state=seed).fit(scaler.transform(A), a)
            seconds.append(perf_counter() - start)
            errors.append(100 * np.mean(model.predict(scaler.transform(B)) != b))
        problems = k * (k - 1) if strategy.startswith("all") else len(np.unique(model.pairs_, axis=0))
        print(
            f"{strategy:<14}{problems:>9}{len(model.eigenvalues_):>11}{np.mean(errors):>9.2f}"
            f"{np.std(errors, ddof=1):>8.2f}{np.mean(seconds):>7.1f}",
            flush=True,
        )


def log_loss_of(model, X, labels) -> float:
    return -float(np.mean(model.predict_log_proba(X)[np.arange(len(labels)), labels]))


def thousand() -> None:
    k, d, n = 1000, 64, 60
    rng = np.random.default_rng(0)
    means = 0.5 * rng.normal(size=(k, d))
    shapes = rng.normal(size=(k, d, d)) / np.sqrt(d)
    y = np.repeat(np.arange(k), n)
    X = np.concatenate([means[c] + rng.normal(size=(n, d)) @ (0.5 * np.eye(d) + shapes[c]) for c in range(k)])
    A, B, a, b = train_test_split(X.astype(np.float32), y, test_size=0.25, stratify=y, random_state=0)
    start = perf_counter()
    model = GEMClassifier().fit(A, a)
    seconds = perf_counter() - start
    lda = LinearDiscriminantAnalysis().fit(A, a)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # kB on Linux
    print(
        f"{k} classes, {len(a)} rows, {d} inputs, defaults: {len(np.unique(model.pairs_, axis=0))} problems, "
        f"{len(model.eigenvalues_)} directions, error {1 - model.score(B, b):.2%}, "
        f"log loss {log_loss_of(model, B, b):.3f} in {seconds:.0f} s, {peak:.1f} GB; "
        f"LDA {1 - lda.score(B, b):.2%}, {log_loss_of(lda, B, b):.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"plants": plants, "thousand": thousand}
    parser.add_argument("--only", nargs="+", default=list(parts), choices=list(parts))
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in parser.parse_args().only:
        parts[name]()


if __name__ == "__main__":
    main()
