"""Fit every case, or those named on the command line, and store the outputs that the test compares with.

    python tests/same_models/store.py [case ...]

The outputs stored are those of commit fa39703. A case is stored again only where a change of its results is meant, with
its reason (`stored_again`). Each estimator has a file, so that a change of one leaves the others alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from cases import CASES
from row_inputs import close_cluster

OUTPUTS = Path(__file__).with_name("outputs")

Outputs = dict[str, dict[str, np.ndarray]]
"""Arrays by case and output."""


def stored() -> Outputs:
    outputs: Outputs = {}
    for path in sorted(OUTPUTS.glob("*.npz")):
        with np.load(path) as file:
            for key, array in file.items():
                case, output = key.split("/")
                outputs.setdefault(case, {})[output] = array
    return outputs


def estimator_of(case: str) -> str:
    return case.partition("-")[0]


def main(names: list[str]) -> None:
    outputs = {case: arrays for case, arrays in stored().items() if case in CASES} if names else {}
    for name in names or CASES:
        start = perf_counter()
        outputs[name] = CASES[name].record()
        print(f"{perf_counter() - start:6.2f} s  {name}", flush=True)
    close_cluster()
    for estimator in {estimator_of(name) for name in names or CASES}:
        own = [case for case in outputs if estimator_of(case) == estimator]
        path = OUTPUTS / f"{estimator}.npz"
        np.savez_compressed(path, **{f"{case}/{name}": a for case in own for name, a in outputs[case].items()})
        print(f"{path.name}: {len(own)} cases, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
