"""What laws over all estimators compare: rows of two kinds, and everything an estimator answers."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
from fuzz_subjects import subjects, takes, takes_trials
from sklearn.base import is_regressor

VERBS = ("transform", "decision_function", "predict_proba", "score_samples")
N_ROWS, N_COLUMNS = 72, 4


def problem(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Three classes that overlap a little, of different sizes and covariances; trials where those are taken."""
    rng = np.random.default_rng(5)
    model = subjects()[name]()
    codes = np.repeat([0, 1, 2], [30, 24, 18])
    if takes_trials(model):
        X = rng.normal(size=(N_ROWS, N_COLUMNS, 30))
        X[np.arange(N_ROWS), codes] *= 2
        return X, codes
    mixing = rng.normal(size=(3, N_COLUMNS, N_COLUMNS))
    X = np.array([rng.normal(size=N_COLUMNS) @ mixing[c] for c in codes]) + 2 * np.eye(N_COLUMNS)[codes]
    y = X[:, 0] - X[:, 1] ** 2 + 0.1 * rng.normal(size=N_ROWS) if is_regressor(model) else codes
    return X, y


def fitted(name: str, X: Any, y: Any, weights: Any = None) -> Any:
    model = subjects()[name]()
    more = {} if weights is None else {"sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, **more)


@cache
def plain_model(name: str) -> Any:
    """The model that most laws compare with: of all rows, as they are."""
    return fitted(name, *problem(name))


def answers(model: Any, X: Any) -> dict[str, np.ndarray]:
    verbs = [verb for verb in VERBS if hasattr(model, verb)] + (["predict"] if is_regressor(model) else [])
    return {verb: np.asarray(getattr(model, verb)(X)) for verb in verbs}


def difference(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    """The largest, relative to the largest answer of its verb; infinite where there are more answers in one."""
    worst = 0.0
    for verb, expected in other.items():
        if one[verb].shape != expected.shape:
            return np.inf
        worst = max(worst, float(np.abs(one[verb] - expected).max() / (np.abs(expected).max() or 1.0)))
    return worst


def takes_weights(name: str) -> bool:
    return takes(subjects()[name](), "sample_weight")
