"""The least-squares family against the LS paper's eigen baseline, scikit-learn's CCA and its LDA by SVD.

    python benchmarks/speed/ls.py [--quick] [--only cca | lda | paper | memory] [--threads 2]

Ours and rival run in one process, one after the other. Every result is compared, by the sine of the largest
principal angle, with the exact solution of its own problem (a Cholesky factor of the noise and a singular value
decomposition of what is left). Ours is the median of three fits, a rival runs once, both with one thread; seconds are
given by the clock and by the processor, which other work on the machine does not change. The first line gives the peak
memory of a process that reads the news20 counts and fits all their 130,108 columns, the last line the ratios.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from sklearn.cross_decomposition import CCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_multilabel, load_news20
from eigenfeat import LeastSquaresCCA, LeastSquaresLDA
from ls_baseline import exact, factor_noise, generalized_lanczos, largest_angle, most_frequent, whitened_labels

ALPHA = 100.0  # word counts: the size of the ridge that held-out rows like
SMALL_ALPHA = 1e-4  # beside CCA, which has none


def timed(function):
    """Seconds on the clock, seconds of all processors, and the result."""
    clock, processor = perf_counter(), process_time()
    result = function()
    return (perf_counter() - clock, process_time() - processor), result


def median_fit(estimator, X, y):
    """Median seconds of three fits, and the last of them."""
    seconds = []
    for _ in range(3):
        spent, model = timed(lambda: estimator.fit(X, y))
        seconds.append(spent)
    return tuple(np.median(seconds, axis=0)), model


def report(name, shape, ours, rival, our_angle, rival_angle, solver):
    print(
        f"{name:<34}{shape[0]:>6} x {shape[1]:<6}{ours[0]:>8.2f}{rival[0]:>9.1f}{rival[0] / ours[0]:>7.0f}x"
        f"{ours[1]:>8.2f}{rival[1]:>9.1f}{rival[1] / ours[1]:>7.0f}x{our_angle:>10.1e}{rival_angle:>10.1e}  {solver}",
        flush=True,
    )
    return f"{rival[0] / ours[0]:.0f}x ({rival[1] / ours[1]:.0f}x of processor time)"


def against_paper(quick: bool) -> str:
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


def against_cca(quick: bool) -> str:
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


def against_lda(quick: bool) -> str:
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
    (seconds, _), model = timed(lambda: LeastSquaresLDA(penalty="ridge", alpha=ALPHA, tol=1e-6).fit(X, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"all {X.shape[1]} columns, {X.shape[0]} rows: {seconds:.1f} s by {model.solver_}, {model.n_iter_} iterations, "
        f"largest residual {model.residuals_.max():.0e}, peak memory {peak:.0f} MB"
    )


PARTS = {"cca": against_cca, "lda": against_lda, "paper": against_paper}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small cuts of the data, a smoke run")
    parser.add_argument("--only", choices=["memory", *PARTS], help="one comparison, or the fit of all columns alone")
    parser.add_argument("--threads", type=int, default=1, help="of BLAS; on a busy machine more wait for each other")
    options = parser.parse_args()
    threadpool_limits(options.threads)
    if options.only == "memory":
        peak_memory()
        return
    if options.only is None:
        subprocess.run([sys.executable, __file__, "--only", "memory"], check=True)
    X, y = load_news20()[0][:50], np.arange(50) % 2
    LeastSquaresLDA(alpha=1.0).fit(X, y)  # compile
    print(
        f"{'model, rival':<34}{'rows x columns':>15}{'ours s':>8}{'rival s':>9}{'speed':>8}{'CPU s':>8}{'rival':>9}"
        f"{'speed':>8}{'our sine':>10}{'its sine':>10}  solver"
    )
    ratios = {name: part(options.quick) for name, part in PARTS.items() if options.only in (None, name)}
    print("ratios: " + ", ".join(f"{name} {ratio}" for name, ratio in ratios.items()))


if __name__ == "__main__":
    main()
