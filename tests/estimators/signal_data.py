"""Simulated trials with a known mixing: sources whose power depends on a class, a number or a band."""

import numpy as np

MIXING = np.linalg.qr(np.random.default_rng(7).normal(size=(6, 6)))[0] * np.linspace(0.5, 2, 6)


def mixed(sources, mixing=MIXING):
    return np.einsum("cs,nst->nct", mixing, sources)


def two_classes(n=40, time=300, seed=0, mixing=MIXING):
    """Source 0 is strong in the first class, source 1 in the second, the others in neither."""
    rng = np.random.default_rng(seed)
    y = np.resize(["left", "right"], n)
    sources = rng.normal(size=(n, 6, time)) * rng.uniform(0.8, 1.25, size=(n, 6, 1))
    sources[y == "left", 0] *= 2
    sources[y == "right", 1] *= 2
    return mixed(sources, mixing), y


def four_classes(n=80, time=200, seed=0):
    """Source c is strong in class c."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    sources = rng.normal(size=(n, 6, time))
    sources[np.arange(n), y] *= 2
    return mixed(sources), y


def followed(n=120, time=300, seed=0):
    """The power of source 2 is y."""
    rng = np.random.default_rng(seed)
    y = rng.uniform(1, 4, size=n)
    sources = rng.normal(size=(n, 6, time))
    sources[:, 2] *= np.sqrt(y)[:, None]
    return mixed(sources), y


def alpha_rhythm(n=40, time=400, seed=0, sampling_rate=100.0):
    """A rhythm of 10 Hz at source 0 in class 1 only, beneath noise of all frequencies."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    sources = rng.normal(size=(n, 6, time))
    phase = rng.uniform(0, 2 * np.pi, size=(n, 1))
    sources[:, 0] += 0.5 * y[:, None] * np.sin(2 * np.pi * 10 * np.arange(time) / sampling_rate + phase)
    return mixed(sources), y


def cosines(A, B):
    """Of the angles between rows, one by one."""
    return np.abs(np.sum(A * B, axis=1)) / (np.linalg.norm(A, axis=1) * np.linalg.norm(B, axis=1))
