"""Passes over files: `eigenfeat.rows.open` of this tree and of another one, and pyarrow's dataset scanner.

    python benchmarks/speed/readers.py [PATH/TO/OTHER/src] [--rows N] [--rounds N]

Files of 50 columns in a temporary folder: Parquet of many row groups and of one, CSV with whole numbers and with words
as labels. Each way makes three passes in a process of its own, the ways in turn. Printed are medians over the rounds:
seconds of the first pass (which finds what the labels of a CSV are) and of the quickest, processor seconds of all, and
the peak memory of the process with its libraries.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

HERE = Path(__file__).resolve()
N_COLUMNS, BATCH = 50, 40_000
FILES = ("many groups.parquet", "one group.parquet", "numbers.csv", "words.csv")


def write(folder: Path, n_rows: int) -> None:
    """Write the same kind of rows to files of several kinds."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    y = rng.integers(10, size=n_rows)
    columns = {f"x{j}": rng.random(n_rows, dtype=np.float32) for j in range(N_COLUMNS)}
    table = pa.table(columns | {"y": y})
    words = pa.table(columns | {"y": np.array(["rose", "tulip", "iris"])[y % 3]})
    paths = [folder / name for name in FILES]
    for path, size in zip(paths, (n_rows // 12, n_rows)):
        pyarrow.parquet.write_table(table, path, row_group_size=size, compression="none", use_dictionary=False)
    for path, part in zip(paths[2:], (table, words)):  # of a fifth of the rows: text is long
        pyarrow.csv.write_csv(part.slice(0, n_rows // 5), path)


def passes(path: str, way: str) -> dict[str, float]:
    """Seconds and memory of three passes."""
    import resource

    import pyarrow.dataset

    import eigenfeat.rows

    took, began = [], process_time()
    source = None
    n_rows = set()
    for _ in range(3):
        start = perf_counter()
        if way == "pyarrow's scanner":
            kind = Path(path).suffix[1:]
            options = {"batch_readahead": 1, "fragment_readahead": 1, "batch_size": BATCH}
            blocks = pyarrow.dataset.dataset(path, format=kind).to_batches(**options)
            n_rows.add(sum(block.num_rows for block in blocks))
        else:
            source = source or eigenfeat.rows.open(path, label="y")
            n_rows.add(sum(len(block.y if hasattr(block, "y") else block.labels) for block in source.blocks()))
        took.append(perf_counter() - start)
    assert len(n_rows) == 1, n_rows
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {"first": took[0], "best": min(took), "cpu": process_time() - began, "MB": peak}


def measured(path: Path, way: str, source: Path) -> dict[str, float]:
    command = [sys.executable, str(HERE), "--pass", str(path), way]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(source)}, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", nargs="?", type=Path, help="the src folder to compare with")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pass", dest="one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(passes(*asked.one)))
        return
    if asked.write:
        write(asked.write, asked.rows)
        return
    this = HERE.parents[2] / "src"
    ways = {"this": this, **({"other": asked.other.resolve()} if asked.other else {}), "pyarrow's scanner": this}
    print(f"{asked.rows:,} rows of {N_COLUMNS} columns, medians of {asked.rounds} rounds")
    print(f"{'file':<22}{'way':<20}{'first s':>9}{'best s':>9}{'CPU s':>8}{'MB':>7}")
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: what this one has in memory counts for the peak of those it starts.
        subprocess.run([sys.executable, str(HERE), "--write", folder, "--rows", str(asked.rows)], check=True)
        for path in (Path(folder) / name for name in FILES):
            found: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
            for _ in range(asked.rounds):
                for way, source in ways.items():
                    found[way].append(measured(path, way, source))
            for way, rounds in found.items():
                first, best, cpu, peak = (median(one[key] for one in rounds) for key in ("first", "best", "cpu", "MB"))
                print(f"{path.name:<22}{way:<20}{first:>9.3f}{best:>9.3f}{cpu:>8.2f}{peak:>7.0f}", flush=True)


if __name__ == "__main__":
    main()
