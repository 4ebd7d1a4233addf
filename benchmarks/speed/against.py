"""This source tree against another one, such as a worktree of an earlier commit, in one run.

    python benchmarks/speed/against.py PATH/TO/OTHER/src [--rounds N] [--rows N]

Each part runs in processes of its own, the two trees in turn, so that the machine's moods meet both; the ratio is of
the medians, above one where this tree is the faster; that of processor seconds suffers less from what else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

HERE = Path(__file__).resolve()


def seconds(call) -> tuple[float, float]:
    """By the clock, and of the processor."""
    start, start_cpu = perf_counter(), process_time()
    call()
    return perf_counter() - start, process_time() - start_cpu


def parts(n_rows: int) -> dict[str, tuple[float, float]]:
    """Seconds of each part with whatever eigenfeat is on the path; names that both trees have."""
    import numpy as np

    sys.path.insert(0, str(HERE.parents[1]))
    from datasets import load_mnist
    from eigenfeat import GEMClassifier, GEMFeatures
    from eigenfeat.moments import collect_moments

    mnist = load_mnist()
    pixels, y = mnist["X_train"][:n_rows], mnist["y_train"][:n_rows]
    X, X_test = ((mnist[key] / np.float32(255)).astype(np.float32) for key in ("X_train", "X_test"))
    X = X[:n_rows]
    GEMClassifier(1).fit(X[:500], y[:500]).predict(X[:500])  # compiles
    collect_moments(pixels[:500], y[:500])
    features = GEMFeatures(20, class_pairs="all", ridge=0.5, feature_map="identity", keep_inputs=False)
    model = GEMClassifier(10, class_pairs="all", ridge=0.5, alpha=2e-4)
    return {
        "moments, uint8": seconds(lambda: collect_moments(pixels, y)),
        "moments, float32": seconds(lambda: collect_moments(X, y)),
        "moments and 90 pairs": seconds(lambda: features.fit(X, y)),
        "projections": seconds(lambda: features.transform(X_test)),
        "GEM, fit": seconds(lambda: model.fit(X, y)),
        "GEM, 10,000 predictions": seconds(lambda: model.predict(X_test)),
    }


def run(source: Path, n_rows: int) -> dict[str, tuple[float, float]]:
    environment = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, str(HERE), "--part-of", str(source), "--rows", str(n_rows)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{source}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", nargs="?", type=Path, help="the src folder to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=10_000, help="training rows")
    parser.add_argument("--part-of", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part_of:
        print(json.dumps(parts(options.rows)))
        return
    if options.other is None:
        parser.error("name the src folder of the other tree")
    trees = {"other": options.other.resolve(), "this": HERE.parents[2] / "src"}
    times: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for _ in range(options.rounds):
        for tree, source in trees.items():
            for part, took in run(source, options.rows).items():
                times.setdefault(part, {"other": [], "this": []})[tree].append(took)
    print(f"{options.rows:,} rows of MNIST, medians of {options.rounds} rounds")
    print(f"{'part':<26}{'other s':>10}{'this s':>10}{'ratio':>8}{'CPU ratio':>11}")
    for part, both in times.items():
        other, this = (list(map(median, zip(*both[tree]))) for tree in trees)
        print(f"{part:<26}{other[0]:>10.3f}{this[0]:>10.3f}{other[0] / this[0]:>8.2f}{other[1] / this[1]:>11.2f}")


if __name__ == "__main__":
    main()
