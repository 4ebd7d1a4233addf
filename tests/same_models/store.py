"""Fit every case, or those named on the command line, and store the outputs that the test compares with.

Run as ``python tests/same_models/store.py [case ...]``. The outputs stored are those of commit 15b613e, the last before
fitted models became chains of stages: a case is stored again only where a change of its results is meant, and said so.
A file an estimator, so that a change of one leaves the files of the others alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from cases import CASES

OUTPUTS = Path(__file__).with_name("outputs")


def stored() -> dict[str, np.ndarray]:
    """Arrays by ``case/output``."""
    arrays: dict[str, np.ndarray] = {}
    for path in sorted(OUTPUTS.glob("*.npz")):
        with np.load(path) as file:
            arrays |= dict(file)
    return arrays


def file_of(case: str) -> Path:
    return OUTPUTS / f"{type(CASES[case].make()).__name__}.npz"


def main(names: list[str]) -> None:
    kept = {key: array for key, array in stored().items() if key.split("/")[0] not in names} if names else {}
    for name in names or CASES:
        start = perf_counter()
        kept |= {f"{name}/{output}": array for output, array in CASES[name].record().items()}
        print(f"{perf_counter() - start:6.2f} s  {name}", flush=True)
    for path in {file_of(name) for name in names or CASES}:
        own = {key: array for key, array in kept.items() if file_of(key.split("/")[0]) == path}
        np.savez_compressed(path, **own)
        print(f"{path.name}: {len(own)} arrays, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
