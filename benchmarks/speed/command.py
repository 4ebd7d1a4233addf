"""The command on all of Covertype: time, memory and error of `eigenfeat fit`, and rows a second of `eigenfeat predict`.

    python benchmarks/speed/command.py [--rows N] [--budget 10m] [--method auto] [--no-report] [--keep FOLDER]
    python benchmarks/speed/command.py --keep FOLDER --predict-only

Each command runs in a process of its own, as a user would start it, on a CSV in a temporary folder. Beside it stands
HistGradientBoostingClassifier on the same split, fitted to the table as pandas reads it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

sys.path.insert(0, str(Path(__file__).parents[1]))

from datasets import load_covertype
from eigenfeat.rows.readers.sources import open_source

MEASURED = (
    *("Elevation", "Aspect", "Slope", "Horizontal_Distance_To_Hydrology", "Vertical_Distance_To_Hydrology"),
    *("Horizontal_Distance_To_Roadways", "Hillshade_9am", "Hillshade_Noon", "Hillshade_3pm"),
    "Horizontal_Distance_To_Fire_Points",
)
NAMES = [*MEASURED, *(f"Wilderness_Area{i}" for i in range(1, 5)), *(f"Soil_Type{i}" for i in range(1, 41))]
LABEL = "Cover_Type"


def run(arguments: list[str], **streams) -> tuple[subprocess.CompletedProcess, float, float, float]:
    """A command of eigenfeat: what it said, seconds by the clock and of the processor, and peak memory in GB."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "eigenfeat.cli", *arguments], stdout=subprocess.PIPE, **streams)
    said: list[bytes] = []
    reader = threading.Thread(target=lambda: said.append(process.stdout.read()))
    reader.start()
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    reader.join()
    code = os.waitstatus_to_exitcode(status)
    if code:
        raise SystemExit(f"eigenfeat {' '.join(arguments)} ended with {code}")
    done = subprocess.CompletedProcess(arguments, code, said[0])
    return done, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6


def predicted(table: Path, model: Path, said: Path, options: list[str], n_rows: int) -> tuple[float, float, float]:
    """Seconds by the clock and of the processor, and peak memory, of predicting a table from the standard input."""
    with table.open("rb") as stream:
        arguments = ["predict", str(model), "-", "-o", str(said), "--force", "--quiet", *options]
        _, seconds, cpu, memory = run(arguments, stdin=stream)
    assert sum(1 for _ in said.open("rb")) == n_rows + 1
    return seconds, cpu, memory


def boosting(table: Path, seed: int) -> tuple[float, float, int]:
    """Seconds and held-out error of HistGradientBoostingClassifier on the split of the command."""
    start = time.perf_counter()
    frame = pd.read_csv(table)
    y = frame.pop(LABEL).to_numpy()
    index = np.unique(y, return_inverse=True)[1]
    kept, held = train_test_split(np.arange(len(y)), test_size=round(0.2 * len(y)), random_state=seed, stratify=index)
    model = HistGradientBoostingClassifier(random_state=0).fit(frame.iloc[np.sort(kept)], y[np.sort(kept)])
    wrong = float(np.mean(model.predict(frame.iloc[held]) != y[held]))
    return time.perf_counter() - start, wrong, len(held)


def readings(table: Path) -> str:
    """Seconds that the command's reader and pandas take for the table, the better of two each."""
    took: dict[str, float] = {}
    readers = {"the command's": lambda: open_source(table).read(), "pandas'": lambda: pd.read_csv(table)}
    for name in [*readers] * 2:
        start = time.perf_counter()
        readers[name]()
        took[name] = min(took.get(name, np.inf), time.perf_counter() - start)
    return ", ".join(f"{name} reader {seconds:.2f} s" for name, seconds in took.items())


def fitted(table: Path, model: Path, page: Path, asked: argparse.Namespace) -> None:
    """Fit, and print what came of it."""
    fit = ["fit", str(table), "--label", LABEL, "-o", str(model), "--force", "--json"]
    fit += [] if asked.no_report else ["--report", str(page)]
    fit += ["--time-budget", asked.budget] if asked.budget else []
    fit += ["--method", asked.method] if asked.method else []
    done, seconds, cpu, memory = run(fit)
    facts = json.loads(done.stdout)
    result = facts["result"]
    print(f"eigenfeat fit: {seconds:.0f} s (processor {cpu:.0f} s), peak memory {memory:.2f} GB")
    print(f"  stages, seconds: {facts['seconds']}")
    print(f"  chosen: {facts['method']}, {facts['chosen by']}; {facts['rows fitted']:,} rows fitted")
    for words in facts.get("warnings", ()):
        print(f"  warning: {words}")
    print(
        f"  held-out error {result['error']:.2%} of {result['rows']:,} rows ({result['baseline_words']}: "
        f"{result['baseline']:.2%}), {', '.join(f'{k} {v:.4f}' for k, v in result['extra'].items())}"
    )
    if page.exists():
        print(f"  report {page.stat().st_size / 1e6:.2f} MB")
    sys.stdout.flush()


def answered(table: Path, model: Path, said: Path, n_rows: int) -> None:
    """Predict from the standard input, and print how fast."""
    few = table.with_name("few.csv")
    few.write_bytes(b"".join(table.open("rb").readlines(200_000)[:1001]))
    start = predicted(few, model, said, [], 1000)[0]
    print(f"eigenfeat predict of 1,000 rows: {start:.1f} s, the start of the program and of the model")
    for proba in ([], ["--proba"]):
        seconds, cpu, memory = predicted(table, model, said, proba, n_rows)
        print(
            f"eigenfeat {' '.join(['predict', *proba])} from the standard input: {seconds:.1f} s (processor "
            f"{cpu:.1f} s), {n_rows / seconds:,.0f} rows/s ({n_rows / (seconds - start):,.0f} after the "
            f"start; {n_rows / cpu:,.0f} a processor second), peak memory {memory:.2f} GB",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, help="of the table; all by default")
    parser.add_argument("--budget", help="--time-budget of the fit")
    parser.add_argument("--method", help="--method of the fit")
    parser.add_argument("--no-report", action="store_true")
    parser.add_argument("--no-boosting", action="store_true")
    parser.add_argument("--predict-only", action="store_true", help="with the model that is in the folder")
    parser.add_argument("--keep", type=Path, help="a folder for the files, instead of a temporary one")
    asked = parser.parse_args()
    data = load_covertype()
    chosen = np.random.default_rng(0).permutation(len(data["y"]))[: asked.rows]
    chosen = np.sort(chosen)
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        table, model, page, said = (folder / n for n in ("covertype.csv", "model.skops", "report.html", "said.csv"))
        columns = dict(zip([*NAMES, LABEL], [*data["X"][chosen].T, data["y"][chosen]]))
        pyarrow.csv.write_csv(pa.table({name: pa.array(values) for name, values in columns.items()}), table)
        print(f"{len(chosen):,} rows, {table.stat().st_size / 1e6:.0f} MB", flush=True)
        if not asked.predict_only:
            fitted(table, model, page, asked)
        answered(table, model, said, len(chosen))
        print(readings(table))  # last: what a process has read counts for the peak memory of those it starts
        if not (asked.no_boosting or asked.predict_only):
            seconds, wrong, n = boosting(table, 0)
            print(f"HistGradientBoostingClassifier(): {seconds:.0f} s, held-out error {wrong:.2%} of {n:,} rows")


if __name__ == "__main__":
    main()
