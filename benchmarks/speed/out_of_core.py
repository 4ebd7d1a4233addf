"""Rows that outgrow memory: GEMClassifier on a Parquet file, its memory and its time, beside what else one would do.

    python benchmarks/speed/out_of_core.py --keep times.json                                # 10^5 to 2 10^6 rows
    python benchmarks/speed/out_of_core.py --keep times.json --sizes 20000000 --plot time.png      # 8 GB of rows

Rows are drawn, float32, 100 columns, 10 classes that differ in means and in second moments, and written to Parquet in a
temporary folder, to which every size adds a file. Every fit runs in a process of its own, whose peak memory is the
system's number for it (resident set, with the libraries). Three parts:

1. The same rows from files and as an array in memory: seconds and their ratio.
2. Rows of growing number: seconds, peak memory, and the power of the rows that seconds grow with.
3. At --rival-rows, rivals in the same run: `SGDClassifier.partial_fit` on an `RBFSampler` of equal width, batch by
   batch in one pass on both cores, and XGBoost's external memory (`xgboost.DataIter`): seconds, memory, held-out error.

Either command above ends by itself within 20 minutes on two cores; with ``--keep``, the second draws its plot with the
times of the first.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

D, K, BATCH = 100, 10, 50_000
SGD_BATCH = 5000  # of thousands of features: 0.2 GB
TEST_ROWS = 20_000


def drawn(start: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows ``start`` to ``start + count``, the same however they are asked for."""
    shape = np.random.default_rng(7)
    means = 0.1 * shape.normal(size=(K, D)).astype(np.float32)
    turns = shape.normal(size=(K, D, 8)).astype(np.float32) / 8
    rng = np.random.default_rng([8, start])
    y = rng.integers(0, K, count)
    X = rng.standard_normal((count, D), dtype=np.float32)
    low = rng.standard_normal((count, 8), dtype=np.float32)
    for c in range(K):
        own = y == c
        X[own] += means[c] + 1.5 * low[own] @ turns[c].T
    return X, y


def written(folder: Path, start: int, stop: int) -> Path:
    """Rows from ``start`` to ``stop`` as one more file of a folder."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"x{j}" for j in range(D)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int64())])
    # Dictionaries of numbers that never repeat would be half as large again, and slower.
    options = {"compression": "none", "use_dictionary": False}
    with parquet.ParquetWriter(folder / f"rows-{start:09d}.parquet", schema, **options) as writer:
        for first in range(start, stop, BATCH):
            X, y = drawn(first, min(BATCH, stop - first))
            writer.write_table(pa.table([*(pa.array(column) for column in X.T), pa.array(y)], schema=schema))
    return folder


def test_rows() -> tuple[np.ndarray, np.ndarray]:
    return drawn(10**12, TEST_ROWS)


def gem_streamed(path: str, n_rows: int, limit: str) -> dict:
    import eigenfeat.rows
    from eigenfeat import GEMClassifier

    began = time.perf_counter()
    with eigenfeat.runtime(limit, progress=n_rows > 10**6) as run:
        source = eigenfeat.rows.open(path, label="y")
        model = GEMClassifier().fit(source)
    seconds = time.perf_counter() - began
    return told(model, run) | {"seconds": seconds}


def told(model, run=None) -> dict:
    X, y = test_rows()
    kept = getattr(model, "cache_", None)
    width = model.fitted_.features.n_columns(D)
    return {
        "error": 1 - model.score(X, y),
        "choices": model.stage_seconds_["choices"],
        "kept": "" if kept is None else f"{kept.what} in {kept.where}, {kept.n_bytes / 1e9:.1f} GB",
        "passes": 0 if run is None else len(run.passes),
        "width": width,
        "seconds_of": {} if run is None else seconds_of_passes(run.passes),
    }


def seconds_of_passes(passes: list) -> dict[str, list[float]]:
    """How many passes of every name there were, and seconds of one."""
    found: dict[str, list[float]] = {}
    for done in passes:
        found.setdefault(done.stage, []).append(done.seconds)
    return {name: [len(seconds), float(np.mean(seconds))] for name, seconds in found.items()}


def show_passes(n_rows: int, found: dict) -> None:
    """Seconds beside the operations that the cost model of docs/scaling.md has for a pass."""
    operations = {"moments": n_rows * D**2, "loss and gradient": 4 * n_rows * found["width"] * K}
    for name, (count, seconds) in found["seconds_of"].items():
        model = f"{operations[name] / seconds / 1e9:6.1f} Gop/s of the model" if name in operations else ""
        print(f"    {count:3.0f} x {name:28s} {seconds:8.2f} s a pass  {model}", flush=True)


def gem_in_memory(path: str, n_rows: int) -> dict:
    from eigenfeat import GEMClassifier

    X, y = np.empty((n_rows, D), np.float32), np.empty(n_rows, np.int64)
    for start in range(0, n_rows, BATCH):
        stop = min(start + BATCH, n_rows)
        X[start:stop], y[start:stop] = drawn(start, stop - start)
    began = time.perf_counter()
    model = GEMClassifier().fit(X, y)
    return told(model) | {"seconds": time.perf_counter() - began}


def batches(path: str, n_rows: int = BATCH):
    import eigenfeat.rows

    for block in eigenfeat.rows.open(path, label="y").blocks(n_rows):
        yield block.rows, block.labels


def sgd(path: str, n_rows: int, width: int = 2000) -> dict:
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDClassifier

    features = RBFSampler(gamma=0.5 / D, n_components=width, random_state=0)
    model = SGDClassifier(loss="log_loss", n_jobs=2)
    for X, y in batches(path, SGD_BATCH):
        Z = features.transform(X) if hasattr(features, "random_weights_") else features.fit_transform(X)
        model.partial_fit(Z, y, classes=np.arange(K))
    X, y = test_rows()
    return {"error": 1 - model.score(features.transform(X), y)}


def xgboost(path: str, n_rows: int) -> dict:
    import xgboost as xgb

    class Batches(xgb.DataIter):
        def __init__(self, folder: str) -> None:
            self.rows = None
            super().__init__(cache_prefix=str(Path(folder) / "cache"))

        def next(self, input_data: Callable) -> bool:
            self.rows = batches(path) if self.rows is None else self.rows
            found = next(self.rows, None)
            if found is None:
                return False
            input_data(data=found[0], label=found[1])
            return True

        def reset(self) -> None:
            self.rows = None

    with tempfile.TemporaryDirectory() as folder:
        rows = xgb.ExtMemQuantileDMatrix(Batches(folder), max_bin=256)
        settings = {"objective": "multi:softmax", "num_class": K, "tree_method": "hist", "max_depth": 6, "eta": 0.3}
        model = xgb.train(settings, rows, num_boost_round=30)
    X, y = test_rows()
    return {"error": float(np.mean(model.predict(xgb.DMatrix(X)) != y))}


def child(job: Callable, args: tuple, pipe) -> None:
    began = time.perf_counter()
    found = {"seconds": 0.0} | job(*args)
    found["seconds"] = found["seconds"] or time.perf_counter() - began
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    pipe.send(json.dumps(found))


def alone(job: Callable, *args) -> dict:
    """A job in a process of its own, with its seconds (of GEM those of the fit) and its peak memory."""
    spawn = multiprocessing.get_context("spawn")
    mine, theirs = spawn.Pipe()
    process = spawn.Process(target=child, args=(job, args, theirs))
    process.start()
    theirs.close()
    found = json.loads(mine.recv())
    process.join()
    return found


def shown(name: str, n_rows: int, found: dict) -> None:
    rest = f"  {found['passes']} passes, {found['kept']}" if found.get("kept") else ""
    print(
        f"{name:24s} {n_rows:10,d} rows {found['seconds']:8.1f} s {found['peak'] / 1e9:6.2f} GB  error "
        f"{100 * found['error']:5.2f} %{rest}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**5, 3 * 10**5, 10**6, 2 * 10**6], help="ascending")
    parser.add_argument("--memory-rows", type=int, default=300_000, help="at which a fit in memory is compared")
    parser.add_argument("--rival-rows", type=int, default=2_000_000, help="at which rivals are")
    parser.add_argument("--limit", default="1GB", help="memory of the streamed fits")
    parser.add_argument("--keep", type=Path, help="a file to add times to, and to take those of other sizes from")
    parser.add_argument("--plot", type=Path, help="where to save the plot of time against rows")
    asked = parser.parse_args()
    began = time.perf_counter()
    kept = json.loads(asked.keep.read_text()) if asked.keep and asked.keep.exists() else {}
    streamed: dict[int, dict] = {int(n_rows): found for n_rows, found in kept.items()}
    with tempfile.TemporaryDirectory() as folder:
        for before, n_rows in zip([0, *asked.sizes], asked.sizes):
            path = str(written(Path(folder), before, n_rows))
            streamed[n_rows] = alone(gem_streamed, path, n_rows, asked.limit)
            shown("GEM, from the file", n_rows, streamed[n_rows])
            show_passes(n_rows, streamed[n_rows])
            if n_rows == asked.memory_rows:
                held = alone(gem_in_memory, path, n_rows)
                shown("GEM, in memory", n_rows, held)
                print(f"  ratio of seconds, file to memory: {streamed[n_rows]['seconds'] / held['seconds']:.2f}")
            if n_rows == asked.rival_rows:
                shown("XGBoost, external memory", n_rows, alone(xgboost, path, n_rows))
                shown("RBFSampler, SGD", n_rows, alone(sgd, path, n_rows, streamed[n_rows]["width"]))
    if asked.keep:
        asked.keep.write_text(json.dumps(streamed))
    for few, many in pairwise(sorted(streamed)):
        power = np.log(streamed[many]["seconds"] / streamed[few]["seconds"]) / np.log(many / few)
        print(f"from {few:,d} to {many:,d} rows seconds grow with the power {power:.2f} of the rows")
    if asked.plot:
        plot(dict(sorted(streamed.items())), asked.plot)
    print(f"all of it: {(time.perf_counter() - began) / 60:.1f} minutes")


def plot(streamed: dict[int, dict], path: Path) -> None:
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    sizes = np.array(list(streamed), dtype=float)
    taken = np.array([found["seconds"] for found in streamed.values()])
    left.loglog(sizes, taken, "o-")
    left.loglog(sizes, taken[-1] * sizes / sizes[-1], ":", color="gray", label="linear in rows")
    left.set(xlabel="rows", ylabel="seconds of a fit")
    left.legend(frameon=False)
    right.semilogx(sizes, [found["peak"] / 1e9 for found in streamed.values()], "o-")
    right.axhline(2, linestyle=":", color="gray")
    right.set(xlabel="rows", ylabel="peak memory, GB", ylim=(0, 2.2))
    figure.suptitle("GEMClassifier from Parquet, 100 columns, 10 classes")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
