"""Figure 2 of the LS paper: time against the number of inputs and of rows, eigen baseline beside least squares.

    python benchmarks/papers/ls_scaling.py [--quick] [--plot docs/figures/ls_scaling.png]

The paper fixes n = 1000 and lets d grow, then d = 5000 and lets n grow, on a Yahoo set of 23,146 words, with CCA
and hypergraph (star) features under a ridge. Here: news20 with up to 130,108 words, then yahoo-arts (462 inputs, 26
labels) and delicious (500 inputs, 983 labels), where rows grow. The baseline factors the d × d matrix and runs
Lanczos; beyond 5,000 inputs it is not run (its matrix alone would take 135 GB at 130,108). Seconds are of the
processor, one thread, so that other work on the machine does not bend the curves; of short runs the median of three.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import process_time

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_multilabel, load_news20
from eigenfeat import HypergraphFeatures, LeastSquaresCCA
from eigenfeat.least_squares.targets import hypergraph_factor
from ls_baseline import exact, generalized_lanczos, largest_angle, most_frequent, whitened_labels

ALPHA = 100.0
N_COMPONENTS = 19
BASELINE_INPUTS = 5_000
MODELS = {"CCA": LeastSquaresCCA, "star": HypergraphFeatures}


def factor(model: str, Y: sparse.csr_matrix) -> np.ndarray:
    """H as the baseline needs it."""
    return whitened_labels(Y.toarray()) if model == "CCA" else hypergraph_factor(Y, "star").toarray()


def median_seconds(run):
    """Processor seconds, the median of three runs where one is short, and the last result."""
    seconds = []
    while len(seconds) < (3 if not seconds or seconds[0] < 1 else 1):
        start = process_time()
        result = run()
        seconds.append(process_time() - start)
    return float(np.median(seconds)), result


def measure(model: str, X, Y) -> tuple[float, float, float, str]:
    """Processor seconds of ours and the baseline (NaN where it is not run), sine of the angle between them, solver."""
    k = min(N_COMPONENTS, Y.shape[1] - 1)
    estimator = MODELS[model](k, penalty="ridge", alpha=ALPHA, tol=1e-6)
    ours, _ = median_seconds(lambda: estimator.fit(X, Y))
    if X.shape[1] > BASELINE_INPUTS:
        return ours, np.nan, np.nan, estimator.solver_

    def eigen():
        H = factor(model, Y)
        return H, generalized_lanczos(X, H, ALPHA, k)[1]

    baseline, (H, L) = median_seconds(eigen)
    return ours, baseline, largest_angle(estimator.components_.T, exact(X, H, L, k)), estimator.solver_


def sweep(title: str, cuts) -> dict[str, np.ndarray]:
    """Times of every model over a list of (size, X, Y)."""
    heading = f"{'model':<7}{'rows':>7}{'inputs':>8}{'ours CPU':>9}{'eigen CPU':>10}{'speed':>8}{'sine':>10}  solver"
    print(f"\n{title}\n{heading}")
    times: dict[str, list] = {model: [] for model in MODELS}
    for size, X, Y in cuts:
        for model in MODELS:
            ours, baseline, angle, solver = measure(model, X, Y)
            times[model].append((size, ours, baseline))
            print(
                f"{model:<7}{X.shape[0]:>7}{X.shape[1]:>8}{ours:>9.2f}{baseline:>10.2f}{baseline / ours:>7.1f}x"
                f"{angle:>10.1e}  {solver}",
                flush=True,
            )
    return {model: np.array(rows) for model, rows in times.items()}


def news20_cuts(n_rows, n_inputs):
    X, y, *_ = load_news20()
    Y = sparse.csr_matrix(np.eye(20)[y])
    order = np.random.default_rng(0).permutation(X.shape[0])
    for n in n_rows:
        for d in n_inputs:
            rows = np.sort(order[:n])
            columns = most_frequent(X, d)
            yield (d if len(n_inputs) > 1 else n), X[rows][:, columns], Y[rows]


def row_cuts(name: str, n_rows):
    X, Y = load_multilabel(name)
    for n in n_rows:
        yield n, X[:n], Y[:n]


def draw(results: dict[str, tuple[str, dict[str, np.ndarray]]], file: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(results), figsize=(4.2 * len(results), 3.6), layout="constrained")
    for axis, (title, (label, times)) in zip(axes, results.items()):
        for model, color in zip(times, ("C0", "C1")):
            size, ours, baseline = times[model].T
            axis.loglog(size, ours, "o-", color=color, label=f"{model}, least squares", markersize=4)
            axis.loglog(size, baseline, "s--", color=color, label=f"{model}, eigen", markersize=4)
        axis.set(title=title, xlabel=label, ylabel="processor seconds")
        axis.grid(alpha=0.3, which="both")
    axes[0].legend(fontsize=8)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=90)
    print(f"\nplot written to {file}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, a smoke run")
    parser.add_argument("--plot", type=Path, help="file of the redrawn figure")
    options = parser.parse_args()
    threadpool_limits(1)
    LeastSquaresCCA(alpha=1.0).fit(sparse.eye_array(30).tocsr(), np.arange(30.0))  # compile
    inputs = [500, 1000] if options.quick else [1000, 2000, 5000, 10_000, 20_000, 50_000, 130_108]
    rows = [500, 1000] if options.quick else [1000, 2000, 5000, 11_314]
    d = 1000 if options.quick else 5000
    results = {
        "news20, n = 1000": ("inputs", sweep("news20, n = 1000", news20_cuts([1000], inputs))),
        f"news20, d = {d}": ("rows", sweep(f"news20, d = {d}", news20_cuts(rows, [d]))),
        "yahoo-arts, d = 462": ("rows", sweep("yahoo-arts", row_cuts("yahoo-arts", [1000, 2000, 5000]))),
    }
    if not options.quick:
        results["delicious, d = 500"] = ("rows", sweep("delicious", row_cuts("delicious", [2000, 6000, 16_105])))
    if options.plot:
        draw(results, options.plot)
    speeds = [row[2] / row[1] for _, times in results.values() for model in times.values() for row in model]
    print(f"\nspeed over the eigen baseline: {np.nanmin(speeds):.1f}x to {np.nanmax(speeds):.0f}x")


if __name__ == "__main__":
    main()
