"""What parameters are tried with: every value a constraint names, and values that nobody should give."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

NUMBERS = (0, 1, -1, 2, 0.5, 1e-300, 1e-12, 1e12, 1e300, math.nan, math.inf, 10**9)
OTHERS: tuple[Any, ...] = (None, "no such word", True, [], {}, (1, 2), np.float32(0.5), object())

CLASS_WEIGHTS: dict[str, Any] = {
    "balanced": "balanced",
    "unknown word": "unbalanced",
    "infinite": {0: math.inf, 1: 1, 2: 1},
    "NaN": {0: math.nan, 1: 1, 2: 1},
    "negative": {0: -1, 1: 1, 2: 1},
    "of an unknown class": {99: 1},
    "all zero": {0: 0, 1: 0, 2: 0},
    "a zero": {0: 0, 1: 1, 2: 1},
    "tiny": {0: 1e-300, 1: 1e-300, 2: 1e-300},
    "huge": {0: 1e300, 1: 1e300, 2: 1e300},
    "empty": {},
    "of some": {0: 2.0},
    "text": {0: "a", 1: "b", 2: "c"},
    "a list": [1, 2, 3],
}
PRIORS: dict[str, Any] = {
    "as shares": [0.2, 0.3, 0.5],
    "not normed": [1, 1, 2],
    "a zero": [0, 0.5, 0.5],
    "all zero": [0, 0, 0],
    "negative": [-1, 1, 1],
    "NaN": [math.nan, 0.5, 0.5],
    "infinite": [math.inf, 1, 1],
    "too few": [0.5, 0.5],
    "tiny": [1e-310, 1e-310, 1e-310],
    "huge": [1e308, 1e308, 1e308],
    "text": ["a", "b", "c"],
    "a mapping": {0: 0.5, 1: 0.5},
}
#: Counts of fits, members and processes: as many as asked for are made, however long that takes.
REPETITIONS = ("n_estimators", "n_layers", "n_init", "n_restarts", "n_jobs")
SPECIAL = {"class_weight": CLASS_WEIGHTS, "priors": PRIORS}
#: What these two may not be called.
HOPELESS = (
    "unknown word",
    "infinite",
    "NaN",
    "negative",
    "of an unknown class",
    "all zero",
    "too few",
    "text",
    "a list",
)


def parameter_values(estimator: Any) -> Iterator[tuple[str, str, Any]]:
    """Names of parameters, what their values are called, and the values."""
    for name in sorted(estimator.get_params(deep=False)):
        if name in SPECIAL:
            yield from ((name, words, value) for words, value in SPECIAL[name].items())
            continue
        constraints = estimator._parameter_constraints.get(name, [])
        for constraint in constraints:
            if isinstance(constraint, StrOptions):
                yield from ((name, repr(option), option) for option in sorted(constraint.options))
        numeric = any(isinstance(constraint, Interval) for constraint in constraints)
        for value in NUMBERS if numeric else (0, -1, math.nan):
            if not (name in REPETITIONS and value == 10**9):
                yield name, repr(value), value
        for value in OTHERS:
            yield name, "an object" if type(value) is object else repr(value), value
