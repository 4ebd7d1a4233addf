"""The least-squares family against the LS paper's eigen baseline, scikit-learn's CCA and its LDA by SVD.

    python benchmarks/speed/ls.py [--quick]

Ours and rival run in one process, one after the other. Every result is compared, by the sine of the largest
principal angle, with the exact solution of its own problem (a Cholesky factor of the noise and a singular value
decomposition of what is left). Ours is the median of three fits, a rival runs once. The last lines give the ratios
and the peak memory of a process that reads the news20 counts and fits all their 130,108 columns.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.cross_decomposition import CCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_multilabel, load_news20
from eigenfeat import LeastSquaresCCA, LeastSquaresLDA
from ls_baseline import exact, factor_noise, generalized_lanczos, largest_angle, most_frequent, whitened_labels

ALPHA = 100.0  # word counts: the size of the ridge that held-out rows like
SMALL_ALPHA = 1e-4  # beside CCA, which has none


def timed(function):
    start = perf_counter()
    result = function()
    return perf_counter() - start, result


def median_fit(estimator, X, y):
    """Median seconds of three fits, and the last of them."""
    seconds = []
    for _ in range(3):
        spent, model = timed(lambda: estimator.fit(X, y))
        seconds.append(spent)
    return float(np.median(seconds)), model


def report(name, shape, ours, rival, our_angle, rival_angle, solver):
    print(
        f"{name:<34}{shape[0]:>7} x {shape[1]:<6}{ours:>8.2f}{rival:>9.1f}{rival / ours:>8.0f}x"
        f"{our_angle:>10.1e}{rival_angle:>10.1e}  {solver}",
        flush=True,
    )
    return rival / ours


def against_paper(quick: bool) -> float:
    X, y, *_ = load_news20()
    n, d = (1000, 3000) if quick else (5000, 20000)
    rows = np.random.default_rng(0).permutation(X.shape[0])[:n]
    X, y = X[np.sort(rows)], y[np.sort(rows)]
    X = X[:, most_frequent(X, d)]
    k = len(np.unique(y)) - 1
    ours, model = median_fit(LeastSquaresLDA(penalty="ridge", alpha=ALPHA), X, y)
    H = whitened_labels(np.eye(k + 1)[y])
    rival, (V, L) = timed(lambda: generalized_lanczos(X, H, ALPHA, k))
    truth = exact(X, H, L, k)
    return report(
        "LDA, paper's eigen baseline",
        X.shape,
        ours,
        rival,
        largest_angle(model.components_.T, truth),
        largest_angle(V, truth),
        model.solver_,
    )


def against_cca(quick: bool) -> float:
    X, Y = load_multilabel("bibtex")
    if quick:
        X, Y = X[:1500, most_frequent(X, 300)], Y[:1500]
    k = 3 if quick else 10
    Y = Y.toarray()
    ours, model = median_fit(LeastSquaresCCA(k, penalty="ridge", alpha=SMALL_ALPHA), X, Y)
    dense = X.toarray()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rival, cca = timed(lambda: CCA(k, scale=False).fit(dense, Y))
    H = whitened_labels(Y)
    truth = exact(X, H, factor_noise(X, SMALL_ALPHA), k)
    return report(
        f"CCA, scikit-learn's, {k} components",
        X.shape,
        ours,
        rival,
        largest_angle(model.components_.T, truth),
        largest_angle(cca.x_rotations_, truth),
        model.solver_,
    )


def against_lda(quick: bool) -> float:
    X, y, *_ = load_news20()
    X = X[:, most_frequent(X, 500 if quick else 5000)]
    if quick:
        X, y = X[:2000], y[:2000]
    k = len(np.unique(y)) - 1
    ours, model = median_fit(LeastSquaresLDA(penalty="ridge", alpha=ALPHA), X, y)
    dense = X.toarray()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rival, lda = timed(lambda: LinearDiscriminantAnalysis(solver="svd").fit(dense, y))
    H = whitened_labels(np.eye(k + 1)[y])
    return report(
        "LDA, scikit-learn's by SVD",
        X.shape,
        ours,
        rival,
        largest_angle(model.components_.T, exact(X, H, factor_noise(X, ALPHA), k)),
        largest_angle(lda.scalings_[:, :k], exact(X, H, factor_noise(X, 1e-6), k)),  # it has no ridge
        model.solver_,
    )


def peak_memory() -> None:
    """Run by a process of its own: fit all columns, print the seconds and this process's largest size."""
    X, y, *_ = load_news20()
    seconds, model = timed(lambda: LeastSquaresLDA(penalty="ridge", alpha=ALPHA, tol=1e-6).fit(X, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"all {X.shape[1]} columns, {X.shape[0]} rows: {seconds:.1f} s by {model.solver_}, {model.n_iter_} iterations, "
        f"largest residual {model.residuals_.max():.0e}, peak memory {peak:.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small cuts of the data, a smoke run")
    parser.add_argument("--memory", action="store_true", help="only the fit of all columns, with its peak memory")
    options = parser.parse_args()
    if options.memory:
        peak_memory()
        return
    rng = np.random.default_rng(0)
    LeastSquaresLDA(penalty="ridge").fit(load_news20()[0][:50], rng.integers(0, 2, 50))  # compile
    print(
        f"{'model, rival':<34}{'rows x columns':>17}{'ours s':>8}{'rival s':>9}{'speed':>9}"
        f"{'our sine':>10}{'its sine':>10}  solver"
    )
    ratios = {
        "paper's baseline": against_paper(options.quick),
        "scikit-learn CCA": against_cca(options.quick),
        "scikit-learn LDA": against_lda(options.quick),
    }
    subprocess.run([sys.executable, __file__, "--memory"], check=True)
    print("ratios: " + ", ".join(f"{name} {ratio:.0f}x" for name, ratio in ratios.items()))


if __name__ == "__main__":
    main()
