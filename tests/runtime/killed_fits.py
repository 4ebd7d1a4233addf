"""Fits that are killed at random points and go on from their checkpoints: test_resumed_fits.py runs this in a process.

Every attempt is a fork that kills itself at a file it writes to its checkpoint; forks of a process without threads are
safe. Printed are, after all kills, whether the fit ended with the same bits, and whether it made the same steps.
"""

import os
import signal
import sys
from pathlib import Path

import numpy as np

import eigenfeat
import eigenfeat.rows
from eigenfeat import (
    DenoisingAutoencoder,
    GEMClassifier,
    GEMRegressor,
    KernelFisherClassifier,
    MultinomialLogit,
    OrientedPCA,
)
from eigenfeat._runtime.checkpoint import Checkpoint

GIVEN = {"feature_map": "soft-cubic", "base_map": None, "label_smoothing": 0.0, "classifier_tol": 1e-4}

MODELS = {
    "layers": GEMClassifier(3, n_layers=2, ridge=0.3, alpha=1e-2, **GIVEN),
    "search": GEMClassifier(3, ridge="auto", alpha="auto", n_layers=1, **GIVEN),
    "smoothing": MultinomialLogit(1e-3, label_smoothing=0.1, random_state=0),
    "moments": OrientedPCA(random_state=0),
    "kernel": KernelFisherClassifier(n_centers=20, random_state=0),
    "targets": GEMRegressor(3),
    "epochs": DenoisingAutoencoder(8, max_iter=3, random_state=0),
}


def numbers(value) -> np.ndarray:
    """All numbers in a fitted model, but for the seconds it took."""
    if isinstance(value, np.ndarray):
        return value.ravel().astype(float) if value.dtype.kind in "fiu" else np.empty(0)
    if hasattr(value, "__dict__") and type(value).__module__.startswith("eigenfeat"):
        value = vars(value)
    if isinstance(value, dict):
        values = [each for name, each in value.items() if "seconds" not in str(name) and name != "cache_"]
    elif isinstance(value, list | tuple):
        values = list(value)
    else:
        return np.array([value] if isinstance(value, float) else [], dtype=float)
    return np.concatenate([np.empty(0), *map(numbers, values)])


def fit(folder: Path, name: str, attempt: str) -> None:
    model, label = MODELS[name], "t" if name == "targets" else "y"
    source = eigenfeat.rows.open(
        folder / "rows.parquet", label=label, batch_size=300, columns=[f"x{j}" for j in range(5)]
    )
    with eigenfeat.runtime("10kB", checkpoint=Checkpoint(folder / f"{name}.checkpoint", every=0.0)):
        model.fit(source)
    np.save(folder / f"{name}.{attempt}.npy", numbers(model))


def in_a_fork(folder: Path, name: str, attempt: str, n_files: float) -> bool:
    """Fit until so many files are written; return whether it came to its end."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    write, left = Checkpoint._write, n_files

    def write_or_die(self, path, value):
        nonlocal left
        left -= 1
        if left == -0.5:  # half of the kills are after a file is written
            write(self, path, value)
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        write(self, path, value)
        with open(folder / f"{name}.{attempt}.steps", "a") as steps:
            print(path.name, file=steps)

    Checkpoint._write = write_or_die
    fit(folder, name, attempt)
    os._exit(0)


def steps(folder: Path, name: str, attempt: str) -> list[str]:
    return (folder / f"{name}.{attempt}.steps").read_text().splitlines()


def main(folder: Path, name: str, n_kills: int) -> None:
    assert in_a_fork(folder, name, "whole", np.inf)
    n_files = len(steps(folder, name, "whole"))
    rng, n_killed = np.random.default_rng(0), 0
    while n_killed < n_kills:
        n_killed += not in_a_fork(folder, name, "killed", rng.integers(1, max(2, n_files // 3)) + 0.5 * rng.integers(2))
        if n_killed < n_kills and (folder / f"{name}.killed.npy").exists():  # it survived: once more from the start
            (folder / f"{name}.killed.npy").unlink()
    assert in_a_fork(folder, name, "killed", np.inf)
    whole, killed = (np.load(folder / f"{name}.{attempt}.npy") for attempt in ("whole", "killed"))
    print(len(whole) > 10, np.array_equal(whole, killed))
    print(set(steps(folder, name, "killed")) <= set(steps(folder, name, "whole")), n_files)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
