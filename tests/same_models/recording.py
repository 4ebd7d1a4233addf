"""Cases: an estimator, the rows it is fitted to, how they are given, and the outputs that are compared."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from row_inputs import INPUTS, Given
from same_data import Data
from scipy import sparse

import eigenfeat

TOLERANCE = 1e-8
"""Relative, to each number and to the largest of its array: what rounding changes in a well-posed fit is far below."""

MOST_NUMBERS = 90
"""Numbers stored of one output."""

Fit = Callable[[Any, Given], Any]
Extra = Callable[[Any, Given], dict[str, Any]]


def new(estimator: str, **parameters) -> Any:
    """Make a public estimator by its name, with a fixed seed where it takes one."""
    kind = getattr(eigenfeat, estimator)
    if "random_state" in inspect.signature(kind).parameters:
        parameters.setdefault("random_state", 0)
    return kind(**parameters)


def fit(estimator, given: Given, **more):
    """Call ``fit`` with the weights, where the case has any."""
    weights = {} if given.weights is None else {"sample_weight": given.weights}
    return estimator.fit(given.X, given.y, **weights, **more)


def fit_in_groups(estimator, given: Given):
    return fit(estimator, given, groups=given.groups)


def partial_fit(estimator, given: Given):
    """Call ``partial_fit`` twice; the first half has rows of every class."""
    half = given.X.shape[0] // 2
    estimator.partial_fit(given.X[:half], given.y[:half])
    return estimator.partial_fit(given.X[half:], given.y[half:])


def nothing(estimator, given: Given) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Case:
    """One fit.

    Attributes
    ----------
    name : str
        ``Estimator-what is special``.
    make : callable
        Returns the estimator.
    data : callable
        Returns the rows, labels, weights and held-out rows.
    outputs : tuple of str
        Methods, called with the held-out rows, and attributes.
    given : str
        How the rows of `fit` and the held-out ones are given: a key of `INPUTS`.
    weighted : bool
        Whether the rows have weights.
    fit : callable
        Fits the estimator to what it is given.
    extra : callable
        Returns more outputs by name.
    tolerance : float
        Relative; another one than `TOLERANCE` needs a ``reason``.
    """

    name: str
    make: Callable[[], Any]
    data: Callable[[], Data]
    outputs: tuple[str, ...]
    given: str = "dense"
    weighted: bool = False
    fit: Fit = fit
    extra: Extra = nothing
    tolerance: float = TOLERANCE
    reason: str = ""

    def __post_init__(self) -> None:
        if self.tolerance != TOLERANCE and not self.reason:
            raise ValueError(f"{self.name}: a tolerance other than {TOLERANCE} needs a reason.")

    def record(self) -> dict[str, np.ndarray]:
        """Fit, and return the outputs as they are stored, by name."""
        with INPUTS[self.given](self.data(), self.weighted) as given, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of iterations that are few on purpose
            estimator = self.fit(self.make(), given)
            outputs = {name: output(estimator, name, given) for name in self.outputs}
            outputs |= self.extra(estimator, given)
            return {name: condensed(numbers(value, estimator)) for name, value in outputs.items() if value is not None}


CASE_FIELDS = {field.name for field in fields(Case)} - {"name", "make", "data"}


def cases_of(estimator: str, data: Callable[[], Data], outputs: tuple[str, ...], **usual) -> Callable[..., Case]:
    """Return a function that makes cases of one estimator; what it is given adds to the usual parameters and fields."""

    def case(name: str, data: Callable[[], Data] = data, **changed) -> Case:
        settings = {"outputs": outputs, **usual, **changed}
        chosen = {key: settings.pop(key) for key in CASE_FIELDS & settings.keys()}
        return Case(f"{estimator}-{name}", partial(new, estimator, **settings), data, **chosen)

    return case


def output(estimator, name: str, given: Given):
    """Return what a method says of the held-out rows, or the value of an attribute."""
    value = getattr(estimator, name)
    if not callable(value):
        return value
    answer = value(given.test)
    return answer.compute() if hasattr(answer, "__dask_graph__") else answer


def numbers(value, estimator) -> np.ndarray:
    """Turn an output into an array of numbers; labels that are text become their place among the classes."""
    array = value.toarray() if sparse.issparse(value) else np.asarray(value)
    return np.searchsorted(estimator.classes_, array) if array.dtype.kind in "OU" else array


def condensed(array: np.ndarray) -> np.ndarray:
    """Return the array, or of a large one some of its entries, sums with random signs, and its shape.

    Every entry is part of one of the sums, so that a change of any is seen.
    """
    if array.size <= MOST_NUMBERS:
        return array
    flat = array.ravel()
    n_entries, n_sums = MOST_NUMBERS * 2 // 3, MOST_NUMBERS // 3
    entries = flat[np.linspace(0, flat.size - 1, n_entries).astype(int)]
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=flat.size)
    sums = np.bincount(np.arange(flat.size) % n_sums, signs * flat, minlength=n_sums) / np.sqrt(flat.size / n_sums)
    return np.concatenate([entries, sums, array.shape]).astype(array.dtype if array.dtype.kind == "f" else np.float64)


def assert_same(outputs: dict[str, np.ndarray], stored: dict[str, np.ndarray], tolerance: float) -> None:
    """Compare outputs with stored ones: names, types, shapes and numbers."""
    assert outputs.keys() == stored.keys()
    for name, expected in stored.items():
        body = expected[:MOST_NUMBERS] if expected.size > MOST_NUMBERS else expected  # without the shape at its end
        atol = tolerance * np.abs(body).max(initial=0)
        np.testing.assert_allclose(outputs[name], expected, rtol=tolerance, atol=atol, err_msg=name)
        assert outputs[name].dtype == expected.dtype, name
