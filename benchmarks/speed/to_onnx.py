"""A GEM classifier of MNIST as an ONNX graph: latency of one row, rows a second, and how far the outputs are apart.

    python benchmarks/speed/to_onnx.py [--quick] [--dtype float32]

The model is fitted on the training images (10,000 of them; 2,000 with ``--quick``), without columns or base map of its
own; rows are test images. One thread on both sides; the graph has probabilities and labels alone. Latency is the median
of 200 calls with one row, throughput the median of ten calls with 2,000 rows at once, and of as many with 250 rows at a
time, which stay in the processor's caches (`predict_proba` cuts rows by itself).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import onnxruntime
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_mnist
from eigenfeat import GEMClassifier, to_onnx


def median_seconds(call, repeats: int) -> float:
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        call()
        seconds.append(perf_counter() - start)
    return float(np.median(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer training rows, a smoke run")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    options = parser.parse_args()
    threadpool_limits(1)
    data = load_mnist()
    n_train = 2_000 if options.quick else 10_000
    train, test = (data[f"X_{part}"].reshape(len(data[f"X_{part}"]), -1) for part in ("train", "test"))
    X, rows = (part.astype(options.dtype) / 255 for part in (train[:n_train], test[:2_000]))
    model = GEMClassifier(
        columns=None, base_map=None, feature_map="soft-cubic", ridge=1.0, label_smoothing=0.2, alpha=1e-4
    ).fit(X, data["y_train"][:n_train])
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    graph = to_onnx(model, dtype=options.dtype, outputs=["probabilities", "label"]).SerializeToString()
    session = onnxruntime.InferenceSession(graph, settings)
    run = lambda X: session.run(["probabilities"], {"X": X})[0]  # noqa: E731
    apart = np.abs(run(rows) - model.predict_proba(rows)).max()
    one = rows[:1]
    print(f"{options.dtype}, {n_train} training rows, graph of {len(graph) / 1e6:.1f} MB, outputs {apart:.1e} apart")
    print(f"{'':<15}{'one row':>12}{'rows a second':>16}{'250 at a time':>16}")
    for name, call in {"predict_proba": model.predict_proba, "ONNX Runtime": run}.items():
        latency = median_seconds(lambda call=call: call(one), 200)
        at_once = median_seconds(lambda call=call: call(rows), 10)
        in_parts = median_seconds(lambda c=call: [c(rows[i : i + 250]) for i in range(0, len(rows), 250)], 10)
        print(f"{name:<15}{1e3 * latency:>9.2f} ms{len(rows) / at_once:>16.0f}{len(rows) / in_parts:>16.0f}")


if __name__ == "__main__":
    main()
