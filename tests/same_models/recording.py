"""A case: an estimator, the rows it is fitted to, and what of the fitted model is recorded."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from same_data import Rows
from scipy import sparse

import eigenfeat

TOLERANCE = 1e-8
"""Relative, to each number and to the largest of its array: what rounding changes in a well-posed fit is far below."""

MOST_NUMBERS = 90
"""Numbers stored of one output."""

Fit = Callable[[Any, Rows], Any]
Extra = Callable[[Any, Rows], dict[str, Any]]


def new(estimator: str, **parameters) -> Any:
    """An estimator by its public name, with a fixed seed where it takes one."""
    kind = getattr(eigenfeat, estimator)
    known = inspect.signature(kind).parameters
    if "random_state" in known:
        parameters.setdefault("random_state", 0)
    return kind(**parameters)


def plain_fit(estimator, rows: Rows):
    return estimator.fit(rows.X, rows.y)


def weighted_fit(estimator, rows: Rows):
    return estimator.fit(rows.X, rows.y, sample_weight=rows.weights)


def grouped_fit(estimator, rows: Rows):
    return estimator.fit(rows.X, rows.y, groups=rows.groups)


def fit_in_batches(estimator, rows: Rows):
    """Two calls of ``partial_fit``; the first has rows of every class."""
    half = rows.X.shape[0] // 2
    estimator.partial_fit(rows.X[:half], rows.y[:half])
    return estimator.partial_fit(rows.X[half:], rows.y[half:])


def nothing_more(estimator, rows: Rows) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Case:
    """One fit. ``outputs`` are methods, called with the rows held out, and attributes of the fitted estimator."""

    name: str
    make: Callable[[], Any]
    rows: Callable[[], Rows]
    outputs: tuple[str, ...]
    fit: Fit = plain_fit
    extra: Extra = nothing_more
    tolerance: float = TOLERANCE
    reason: str = ""

    def __post_init__(self) -> None:
        if self.tolerance != TOLERANCE and not self.reason:
            raise ValueError(f"{self.name}: a tolerance other than {TOLERANCE} needs a reason.")

    def record(self) -> dict[str, np.ndarray]:
        """Fit, and return the outputs as they are stored, by name."""
        rows = self.rows()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of iterations that are few on purpose
            estimator = self.fit(self.make(), rows)
            found = {name: output(estimator, name, rows) for name in self.outputs}
            found |= self.extra(estimator, rows)
        return {name: condensed(numbers(value, estimator)) for name, value in found.items() if value is not None}


def output(estimator, name: str, rows: Rows):
    """What a method says of the rows held out, or the value of an attribute."""
    value = getattr(estimator, name)
    return value(rows.test) if callable(value) else value


def numbers(value, estimator) -> np.ndarray:
    """An output as an array of numbers; labels that are text become their place among the classes."""
    array = value.toarray() if sparse.issparse(value) else np.asarray(value)
    return np.searchsorted(estimator.classes_, array) if array.dtype.kind in "OU" else array


def condensed(array: np.ndarray) -> np.ndarray:
    """The array, or of a large one its shape, some of its entries, and sums with random signs of which each has a part.

    A change of any entry changes one of the sums.
    """
    if array.size <= MOST_NUMBERS:
        return array
    flat = array.ravel()
    n_entries, n_sums = MOST_NUMBERS * 2 // 3, MOST_NUMBERS // 3
    entries = flat[np.linspace(0, flat.size - 1, n_entries).astype(int)]
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=flat.size)
    sums = np.bincount(np.arange(flat.size) % n_sums, signs * flat, minlength=n_sums) / np.sqrt(flat.size / n_sums)
    return np.concatenate([entries, sums, array.shape]).astype(array.dtype if array.dtype.kind == "f" else np.float64)


def body(stored: np.ndarray) -> np.ndarray:
    """What was stored without the shape at its end: tolerances are relative to numbers of the model."""
    return stored[:MOST_NUMBERS] if stored.size > MOST_NUMBERS else stored
