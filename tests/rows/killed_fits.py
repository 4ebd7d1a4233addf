"""Fits that are killed at random points and go on from their checkpoints: test_checkpoint.py runs this in a process.

Every attempt is a fork that kills itself at a block it was told; forks of a process without threads are safe.
"""

import os
import signal
import sys
from pathlib import Path

import numpy as np

import eigenfeat.rows
from eigenfeat import GEMClassifier
from eigenfeat.rows.checkpoint import Checkpoint


def fitted(folder: Path, name: str) -> None:
    model = GEMClassifier(
        3, feature_map="soft-cubic", ridge=0.3, alpha=1e-2, base_map=None, label_smoothing=0.0, classifier_tol=1e-4
    )
    source = eigenfeat.rows.open(folder / "rows.parquet", label="y", batch_size=300)
    with eigenfeat.rows.streaming("10kB", checkpoint=folder / f"{name}.checkpoint", every=0.0):
        model.fit(source)
    found = np.concatenate([model.classifiers_[0].coef_.ravel(), model.eigenvalues_, model.components_.ravel()])
    np.save(folder / f"{name}.npy", found)


def in_a_fork(folder: Path, name: str, n_blocks: float) -> bool:
    """Whether a fit came to its end, or was killed after so many blocks."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    left, save = n_blocks, Checkpoint.save_unfinished

    def save_or_die(self, *args):
        nonlocal left
        left -= 1
        if left % 1 == 0.5:  # some die before, some after the block is kept
            save(self, *args)
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        save(self, *args)

    Checkpoint.save_unfinished = save_or_die
    fitted(folder, name)
    os._exit(0)


def main(folder: Path, n_kills: int) -> None:
    assert in_a_fork(folder, "whole", np.inf)
    rng, n_killed = np.random.default_rng(0), 0
    while n_killed < n_kills:
        n_killed += not in_a_fork(folder, "killed", rng.integers(1, 25) + 0.5 * rng.integers(2))
        if (folder / "killed.npy").exists():
            print(n_killed, np.array_equal(np.load(folder / "whole.npy"), np.load(folder / "killed.npy")), flush=True)
            (folder / "killed.npy").unlink()
    assert in_a_fork(folder, "killed", np.inf)
    print(n_killed, np.array_equal(np.load(folder / "whole.npy"), np.load(folder / "killed.npy")), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
