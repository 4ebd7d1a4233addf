"""Loaders of the benchmark data: files in the folder ``EIGENFEAT_DATA``, public loaders where one exists."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy import sparse

FOLDER = Path(os.environ.get("EIGENFEAT_DATA", Path(__file__).parents[2] / "shared" / "data"))


def path(name: str, public: str) -> Path:
    """The file of a data set, or a plain word on what is missing."""
    file = FOLDER / name
    if not file.exists():
        raise SystemExit(
            f"This benchmark needs {name}, which is not in {FOLDER}. Set EIGENFEAT_DATA to a folder that has it; "
            f"the data are public: {public}."
        )
    return file


def load_arrays(name: str, public: str) -> dict[str, np.ndarray]:
    with np.load(path(name, public), allow_pickle=False) as arrays:
        return {key: arrays[key] for key in arrays.files}


def load_mnist() -> dict[str, np.ndarray]:
    """X_train, y_train, X_test, y_test; uint8 pixels."""
    return load_arrays("mnist.npz", "OpenML mnist_784")


def load_usps() -> dict[str, np.ndarray]:
    """X_train, y_train, X_test, y_test; float32 in [-1, 1]."""
    return load_arrays("usps.npz", "OpenML USPS")


def load_covertype() -> dict[str, np.ndarray]:
    """X, y in UCI row order; the file or scikit-learn's loader."""
    if not (FOLDER / "covertype.npz").exists():
        from sklearn.datasets import fetch_covtype

        X, y = fetch_covtype(return_X_y=True)
        return {"X": X, "y": y}
    return load_arrays("covertype.npz", "sklearn.datasets.fetch_covtype")


def covertype_split(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The GEM paper's protocol: permute, the last tenth is for testing."""
    data = load_covertype()
    order = np.random.default_rng(seed).permutation(len(data["y"]))
    cut = int(0.9 * len(order))
    X, y = data["X"].astype(np.float32), data["y"]
    return X[order[:cut]], y[order[:cut]], X[order[cut:]], y[order[cut:]]


def load_speech() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Frames with five neighbours either side: X_train, y_train, X_test, y_test, utterance of each training row."""
    d = load_arrays("fsdd.npz", "Free Spoken Digit Dataset")
    X, utterance, start = d["X"], d["utt"], d["utt_start"]
    place = np.arange(len(X))
    low, high = start[utterance], start[utterance + 1] - 1
    context = np.concatenate([X[np.clip(place + k, low, high)] for k in range(-5, 6)], axis=1).astype(np.float32)
    test = d["utt_is_test"][utterance].astype(bool)
    return context[~test], d["y"][~test], context[test], d["y"][test], utterance[~test]


def load_plants() -> tuple[np.ndarray, np.ndarray]:
    d = load_arrays("plants100_shape.npz", "UCI one-hundred-plant-species-leaves")
    return d["X"].astype(np.float64), d["y"]


def load_ida(name: str) -> dict[str, np.ndarray]:
    """X, y and the official realisations train_idx, test_idx where there are any."""
    return load_arrays(f"ida_{name}.npz", "IDA benchmark repository")


def load_multilabel(name: str) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """X, Y of "bibtex", "delicious" or "yahoo-arts"."""
    X, Y = (sparse.load_npz(path(f"{name}_{part}.npz", "MULAN")).tocsr() for part in "XY")
    return X.astype(np.float64), Y.astype(np.float64)


def load_news20() -> tuple[sparse.csr_matrix, np.ndarray, sparse.csr_matrix, np.ndarray]:
    """Word counts: X_train, y_train, X_test, y_test."""
    public = "sklearn.datasets.fetch_20newsgroups_vectorized"
    X_train, X_test = (sparse.load_npz(path(f"news20_X_{part}.npz", public)).tocsr() for part in ("train", "test"))
    y = load_arrays("news20_y.npz", public)
    return X_train.astype(np.float64), y["y_train"], X_test.astype(np.float64), y["y_test"]


def load_eeg() -> dict[str, np.ndarray]:
    """Motor imagery of one subject: X (trials, channels, time) int16, y, imagined, fs, channels, classes."""
    return load_arrays("eegbci_s001.npz", "PhysioNet EEGMMI, subject 1")
