"""The rows the cases are fitted to: small, always the same, and without chance ties."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import datasets

N_TEST = 15


@dataclass(frozen=True, eq=False)
class Data:
    """Rows to fit, rows held out, and what else a fit may take."""

    X: Any
    y: np.ndarray
    test: Any
    weights: np.ndarray = field(init=False)
    groups: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(7)
        n = self.X.shape[0]
        object.__setattr__(self, "weights", rng.uniform(0.5, 2.0, size=n))
        object.__setattr__(self, "groups", rng.integers(0, n // 4, size=n))


Source = Callable[[], Data]


def split(X, y, n_train: int, seed: int = 0) -> Data:
    """The first rows of a shuffle to fit, the next ones held out."""
    order = np.random.default_rng(seed).permutation(X.shape[0])
    train, test = order[:n_train], order[n_train : n_train + N_TEST]
    return Data(X[train], y[train], X[test])


def standardised(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def as_kernel(source: Source, gamma: float) -> Source:
    """Precomputed kernel values: of the rows with each other, and of the rows held out with them."""

    def make() -> Data:
        rows = source()
        values = [
            np.exp(-gamma * ((A[:, None] - rows.X[None]) ** 2).sum(axis=2))  # no product of matrices: no BLAS
            for A in (rows.X, rows.test)
        ]
        return replace(rows, X=values[0], test=values[1])

    return make


def with_targets(source: Source, targets: Callable[[Data], np.ndarray]) -> Source:
    """The same rows with another y."""

    def make() -> Data:
        rows = source()
        return replace(rows, y=targets(rows))

    return make


@cache
def iris() -> Data:
    X, y = datasets.load_iris(return_X_y=True)
    return split(X, y, 120)


@cache
def wine() -> Data:
    X, y = datasets.load_wine(return_X_y=True)
    return split(standardised(X), y, 120)


@cache
def named_wine() -> Data:
    """Wine with text for labels."""
    rows = wine()
    return replace(rows, y=np.array(["barolo", "grignolino", "barbera"])[rows.y])


@cache
def cancer() -> Data:
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return split(standardised(X), y, 120)


@cache
def digits() -> Data:
    """Five classes in 64 columns, some of them always zero."""
    X, y = datasets.load_digits(n_class=5, return_X_y=True)
    return split(X / 16, y, 220)


@cache
def positive() -> Data:
    """Rows without a negative entry, for kernels of histograms."""
    X, y = datasets.load_wine(return_X_y=True)
    return split(X / X.max(axis=0), y, 90)


@cache
def many_classes() -> Data:
    """More classes than "auto" takes all pairs of."""
    rng = np.random.default_rng(1)
    y = np.arange(295) % 14
    spreads = rng.uniform(0.5, 2.0, size=(14, 8))
    return split(rng.normal(size=(14, 8))[y] + spreads[y] * rng.normal(size=(295, 8)), y, 280)


@cache
def overlapping() -> Data:
    """Three classes that no model tells apart without errors."""
    rng = np.random.default_rng(14)
    y = np.arange(195) % 3
    spreads = rng.uniform(0.7, 1.4, size=(3, 6))
    return split(0.5 * rng.normal(size=(3, 6))[y] + spreads[y] * rng.normal(size=(195, 6)), y, 180)


@cache
def wide() -> Data:
    """Fewer rows than columns."""
    rng = np.random.default_rng(2)
    y = np.arange(75) % 3
    X = rng.normal(size=(75, 150)) * rng.uniform(0.5, 1.5, size=150)
    X[:, :6] += 2 * rng.normal(size=(3, 6))[y]
    return split(X, y, 60)


@cache
def words() -> Data:
    """Sparse counts, as of words."""
    rng = np.random.default_rng(3)
    y = np.arange(165) % 3
    rates = rng.gamma(0.5, 0.4, size=(3, 40))
    return split(sparse.csr_matrix(rng.poisson(rates[y]).astype(float)), y, 150)


@cache
def wide_words() -> Data:
    """Sparse counts with more columns than rows."""
    rng = np.random.default_rng(4)
    y = np.arange(75) % 3
    rates = rng.gamma(0.5, 0.2, size=(3, 300))
    return split(sparse.csr_matrix(rng.poisson(rates[y]).astype(float)), y, 60)


@cache
def curve() -> Data:
    """A real target that depends on two directions of six."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(155, 6)) * [1.0, 1.2, 0.8, 1.5, 0.6, 1.0]
    y = np.sin(X[:, 0] + X[:, 1]) + 0.5 * X[:, 2] ** 2 + 0.1 * rng.normal(size=155)
    return split(X, y, 140)


def sparse_labels() -> Data:
    """Sparse zeros and ones, four labels a row."""
    return with_targets(wine, lambda data: sparse.csr_matrix(labels(data)))()


@cache
def short_cancer() -> Data:
    """Few rows of two classes, for solvers that take long."""
    data = cancer()
    return Data(data.X[:70], data.y[:70], data.test)


@cache
def short_curve() -> Data:
    """Few rows of the same, for solvers that take long."""
    rows = curve()
    return Data(rows.X[:60], rows.y[:60], rows.test)


def three_targets(data: Data) -> np.ndarray:
    """Real targets in columns, each a different function of the rows."""
    X, rng = data.X, np.random.default_rng(6)
    X = X.toarray() if sparse.issparse(X) else X
    targets = np.column_stack([X[:, 0] + X[:, 1], np.abs(X[:, 2]), X[:, 3] * X[:, 0] - X[:, 1]])
    return targets + 0.3 * rng.normal(size=targets.shape)


def labels(data: Data) -> np.ndarray:
    """Four labels a row, zeros and ones, any number of them on."""
    X, rng = data.X, np.random.default_rng(8)
    X = X.toarray() if sparse.issparse(X) else X
    return (X[:, [0, 1, 2, 3]] + 0.5 * X[:, [1, 2, 3, 4]] + rng.normal(size=(len(X), 4)) > 0.8).astype(float)


@cache
def uniform() -> Data:
    """Rows in [0, 1], for auto-encoders with a sigmoid output."""
    rng = np.random.default_rng(9)
    hidden = rng.normal(size=(215, 2))
    X = 1 / (1 + np.exp(-(hidden[:, :1] * rng.normal(size=6) + hidden[:, 1:] * rng.normal(size=6))))
    return split(X, (hidden[:, 0] > 0).astype(int), 200)


@cache
def cubic_labels() -> Data:
    """Correlated rows with labels of odd functions of two directions: every order of derivatives has something."""
    rng = np.random.default_rng(10)
    X = rng.normal(size=(415, 4))
    X[:, 1] += 0.5 * X[:, 0]
    score = (X[:, 0] + 0.5 * X[:, 2]) ** 3 + 2 * (X[:, 1] - X[:, 3]) ** 2 + X[:, 3]
    y = np.digitize(score, np.quantile(score, [1 / 3, 2 / 3]))
    return split(X, y, 400)


@cache
def trials() -> Data:
    """Trials of six channels; source c is strong in class c of three."""
    rng = np.random.default_rng(15)
    y = np.arange(75) % 3
    sources = rng.normal(size=(75, 6, 120)) * rng.uniform(0.8, 1.25, size=(75, 6, 1))
    sources[np.arange(75), y] *= 2
    return split(np.einsum("cs,nst->nct", rng.normal(size=(6, 6)), sources), np.array(["foot", "left", "right"])[y], 60)


@cache
def followed_trials() -> Data:
    """Trials of six channels; the power of one source is the target."""
    rng = np.random.default_rng(16)
    y = rng.uniform(1, 4, size=75)
    sources = rng.normal(size=(75, 6, 120))
    sources[:, 2] *= np.sqrt(y)[:, None]
    return split(np.einsum("cs,nst->nct", rng.normal(size=(6, 6)), sources), y, 60)


@cache
def table() -> Data:
    """Columns of numbers, words, dates and truth values, with gaps; two classes."""
    rng = np.random.default_rng(17)
    n = 195
    size = rng.lognormal(size=n)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.05, np.nan, size),
            "count": rng.poisson(3, size=n),
            "colour": rng.choice(["red", "green", "blue", "grey"], size=n, p=[0.4, 0.3, 0.2, 0.1]),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, size=n), unit="D"),
            "new": rng.random(n) < 0.3,
        }
    )
    frame.loc[::17, "colour"] = None
    y = np.where(np.log(size) + (frame["colour"] == "red") + 0.5 * rng.normal(size=n) > 0.5, "yes", "no")
    return Data(frame[:180], y[:180], frame[180:])
