"""Speed of the third-order decomposition: 1000 components on MNIST, cost against rows, and tensorly's CP beside it.

    python benchmarks/speed/feast.py [--part digits] [--before PATH/TO/OTHER/src] [--quick]

`--before` runs the digits with another tree of the library too, in a process of its own with one BLAS thread; it is
stopped after five CPU minutes. The last line is the ratio of CPU seconds to tensorly
at d = 50 and rank 30, on three tensors with signal: both fit the same cross-moment of rows and labels; tensorly needs
the tensor as an array, whose making is not counted, and its sweeps end where the error is ours, if it gets there.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_mnist
from eigenfeat import GaussianMixtureScore, ScoreTensorFeatures
from eigenfeat._runtime.threads import one_blas_thread
from eigenfeat.scores.cross_tensor import DenseTensor, StreamedTensor, centred_labels
from eigenfeat.scores.decomposition import Search, decompose
from eigenfeat.scores.gaussian import DiagonalPrecision, GaussianMixtureDensity

BEFORE_SECONDS = 300
BEFORE = """
import sys, time
import numpy as np
from eigenfeat import ScoreTensorFeatures

rows = np.load(sys.argv[1])
start = time.process_time()
model = ScoreTensorFeatures(n_components=int(sys.argv[2])).fit(rows["X"], rows["y"])
print(f"{len(model.components_)} components in {time.process_time() - start:.1f} CPU s, "
      f"relative error {model.relative_error_:.4f}")
"""


def digits() -> tuple[np.ndarray, np.ndarray]:
    """MNIST in 8 x 8 pixels, 3800 rows."""
    data = load_mnist()
    images = data["X_train"][:3800].astype(float).reshape(-1, 28, 28)[:, 2:26, 2:26]
    return images.reshape(-1, 8, 3, 8, 3).mean(axis=(2, 4)).reshape(-1, 64), data["y_train"][:3800].astype(int)


def limited() -> None:
    """CPU seconds, because wall seconds depend on what else the machine does."""
    resource.setrlimit(resource.RLIMIT_CPU, (BEFORE_SECONDS, BEFORE_SECONDS))


def digits_before(source: Path, n_components: int) -> None:
    """The same with another tree, whose defaults were third order on the pixels as they are."""
    X, y = digits()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.npz"
        np.savez(path, X=X, y=y)
        command = [sys.executable, "-c", BEFORE, str(path), str(n_components)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(source)}
        done = subprocess.run(command, env=environment, preexec_fn=limited, capture_output=True, text=True)
    lines = (done.stdout or done.stderr).strip().splitlines() or [f"not ended after {BEFORE_SECONDS} CPU s"]
    print(f"64 pixels, 3800 rows, before: {lines[-1]}", flush=True)


def digits_components(n_components: int) -> None:
    """Third order alone on the pixels, as the paper has it, also to a fit as loose as it once was, and all defaults."""
    X, y = digits()
    pixels = {"order": 3, "columns": "none", "n_axes": "all"}
    runs = {"order 3, pixels": pixels, "order 3, pixels, tol 1e-3": {**pixels, "tol": 1e-3}, "defaults": {}}
    ScoreTensorFeatures(n_components=5, **pixels).fit(X[:500], y[:500])  # compiles
    for what, options in runs.items():
        start = time.process_time()
        model = ScoreTensorFeatures(n_components=n_components, **options).fit(X, y)
        seconds = time.process_time() - start
        print(
            f"64 pixels, 3800 rows, {what}: {len(model.components_)} components in {seconds:.1f} CPU s, relative error "
            f"{model.relative_error_:.4f}",
            flush=True,
        )


def mnist_components(n_components: int) -> None:
    """300 images a digit, all 784 pixels, Gaussian score learnt from the 60000."""
    data = load_mnist()
    X, y = data["X_train"].astype(np.float32) / 255, data["y_train"].astype(int)
    rows = np.concatenate([np.flatnonzero(y == digit)[:300] for digit in range(10)])
    start = time.perf_counter()
    score = GaussianMixtureScore(ridge=0.1).fit(X)
    pretrained = time.perf_counter()
    model = ScoreTensorFeatures(score, prefit=True, order=3, n_components=n_components, max_iter=30, tol=1e-4)
    model.fit(X[rows], y[rows])
    seconds = time.perf_counter() - pretrained
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"MNIST, d = 784, {len(rows)} rows: {len(model.components_)} components in {seconds:.0f} s (limit 600), after "
        f"{pretrained - start:.1f} s for the score; peak memory {peak:.2f} GB (limit 2)",
        flush=True,
    )


def planted(n_rows: int, n_features: int, rank: int, seed: int = 0) -> StreamedTensor:
    """Ten labels, each a sum of cubic Hermite polynomials of planted projections, under a standard Gaussian.

    The moment's expectation has as many components; its noise is about ``d³ / (6 n)`` of it, in squares.
    """
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((n_features, rank))
    W /= np.linalg.norm(W, axis=0)
    X = rng.standard_normal((n_rows, n_features))
    P = X @ W
    Y = (P**3 - 3 * P) @ rng.standard_normal((rank, 10)) / 6
    density = GaussianMixtureDensity(np.ones(1), np.zeros((1, n_features)), (DiagonalPrecision(np.ones(n_features)),))
    return StreamedTensor(density, X, centred_labels(Y), 3)


def dense_tensor(tensor: StreamedTensor) -> np.ndarray:
    """``Σ y ⊗ (x⊗x⊗x - Sym(I⊗x))`` of a standard Gaussian by one GEMM a block, many times as fast as ``toarray``."""
    X, d, k = tensor.X, tensor.n_features, tensor.n_labels
    first, second = np.triu_indices(d)
    cubes = np.zeros((k * d, len(first)))
    for start in range(0, len(X), 2000):
        rows, labels = X[start : start + 2000], tensor.labels[start : start + 2000]
        weighted = (labels[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
        cubes += weighted.T @ (rows[:, first] * rows[:, second])
    array = np.empty((k, d, d, d))
    array[:, :, first, second] = array[:, :, second, first] = cubes.reshape(k, d, -1)
    means, diagonal = tensor.labels.T @ X, np.arange(d)
    for mean, label in zip(means, array):
        label[:, diagonal, diagonal] -= mean[:, None]
        label[diagonal, :, diagonal] -= mean
        label[diagonal, diagonal, :] -= mean
    return array


def cost_against_rows(sizes: tuple[int, ...]) -> None:
    """Seconds of one product with 100 vectors, the best of four."""
    seconds = []
    for n in sizes:
        tensor = planted(n, 100, 20)
        V = np.random.default_rng(1).standard_normal((100, 100))
        times = []
        for _ in range(4):
            start = time.perf_counter()
            tensor.label_products(V, V, V)
            times.append(time.perf_counter() - start)
        seconds.append(min(times))
        print(f"a product with 100 vectors, d = 100, {n:>7} rows: {seconds[-1] * 1e3:8.1f} ms", flush=True)
    slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    print(f"cost grows like n^{slope:.2f}")


def beside_tensorly(n_features: int, rank: int, n_rows: int, n_iter: int, seed: int) -> float:
    """Both fit one array on one thread; tensorly stops where its error is at most a thousandth above ours."""
    import tensorly
    from tensorly.decomposition import parafac

    tensor = planted(n_rows, n_features, rank, seed)
    T = dense_tensor(tensor)
    assert np.allclose(T[:, 0, 1, 2], tensor.label_products(*np.eye(n_features)[:3, :, None])[:, 0])
    with one_blas_thread():
        start = time.process_time()
        search = Search(n_init=1, max_iter=100, tol=1e-6)
        found = decompose(DenseTensor(T), rank, np.random.default_rng(seed), search).components
        ours = time.process_time() - start
        fitted = np.einsum("kr,ir,jr,lr->kijl", found.label_factors, *[found.vectors] * 3, optimize=True)
        error = np.linalg.norm(T - fitted) / np.linalg.norm(T)
        options = {"init": "random", "random_state": seed, "tol": 1e-7}
        start = time.process_time()
        cp = parafac(T, rank, n_iter, callback=lambda _, own: True if own <= 1.001 * error else None, **options)
        theirs = time.process_time() - start
    other = np.linalg.norm(T - tensorly.cp_to_tensor(cp)) / np.linalg.norm(T)
    print(f"d = {n_features}, rank {rank}, {n_rows} rows, 10 labels, draw {seed}, relative error and CPU seconds:")
    print(
        f"  eigenfeat {error:.4f} in {ours:.2f}, tensorly {other:.4f} in {theirs:.2f}, ratio {theirs / ours:.1f}",
        flush=True,
    )
    return theirs / ours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="50 components on MNIST, fewer rows, d = 30")
    parser.add_argument("--before", type=Path, help="the src folder of a tree whose digits are to be timed too")
    parser.add_argument("--part", choices=["all", "digits", "mnist", "rows", "tensorly"], default="all")
    options = parser.parse_args()
    quick, part = options.quick, options.part
    if part in ("all", "digits"):
        digits_components(50 if quick else 200)
        if options.before is not None:
            digits_before(options.before.resolve(), 50 if quick else 200)
    if part in ("all", "mnist"):
        mnist_components(50 if quick else 1000)
    if part in ("all", "rows"):
        cost_against_rows((2000, 8000, 32000) if quick else (5000, 20_000, 80_000, 320_000))
    if part in ("all", "tensorly"):
        size = (30, 10, 3000, 50) if quick else (50, 30, 100_000, 300)
        ratios = [beside_tensorly(*size, seed) for seed in range(3)]
        print(f"ratio to tensorly: {np.exp(np.mean(np.log(ratios))):.1f} times faster in geometric mean (wanted: 20)")


if __name__ == "__main__":
    main()
