"""What a model says of rows it has not seen: given ones, or each part of the training rows by a model of the others."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from eigenfeat.report.values.frozen_settings import with_settings_found
from eigenfeat.report.values.subject import Rows, Subject

N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Predictions:
    """Targets and predictions, row by row.

    Attributes
    ----------
    rows : Rows
        What was predicted; ``rows.y`` is the truth.
    predicted : (n,) or (n, q) array
    probabilities : (n, k) array or None
        In the order of ``classes``.
    classes : (k,) array or None
        Those of the model.
    seen : bool
        Whether the model was fitted on these very rows: then the figures are no result.
    how : str
        Where the rows come from, in words.
    """

    rows: Rows
    predicted: np.ndarray
    probabilities: np.ndarray | None
    classes: np.ndarray | None
    seen: bool
    how: str

    @property
    def truth(self) -> np.ndarray:
        assert self.rows.y is not None
        return self.rows.y


def predictions(subject: Subject, random_state: int = 0) -> Predictions | None:
    """Of the rows to judge by, or by cross-validation where there are only training rows; None where nothing can be."""
    if not hasattr(subject.model, "predict") or subject.kind == "features":
        return None
    if subject.test is not None and subject.test.y is not None:
        test = subject.test
        if _fitted_on(subject, test):
            return Predictions(test, *_ask(subject.model, test.X), True, "the rows the model was fitted on")
        return Predictions(test, *_ask(subject.model, test.X), False, "rows that were not used to fit the model")
    if subject.test is None and subject.train is not None and subject.train.y is not None:
        return _cross_validated(subject, subject.train, random_state)
    return None


def _ask(model: Any, X: Any) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    probabilities = np.asarray(model.predict_proba(X)) if hasattr(model, "predict_proba") else None
    return np.asarray(model.predict(X)), probabilities, getattr(model, "classes_", None)


def _cross_validated(subject: Subject, rows: Rows, random_state: int) -> Predictions:
    """Each fifth of the rows predicted by a model fitted, with the settings that were found, on the others."""
    model, y = with_settings_found(subject.model), rows.y
    assert y is not None
    few = subject.kind == "classifier" and np.unique(y, return_counts=True)[1].min() < N_FOLDS
    folds = KFold if few or subject.kind != "classifier" else StratifiedKFold
    predicted, probabilities, classes = _ask(subject.model, rows.X)
    predicted = predicted.copy()
    for train, test in folds(N_FOLDS, shuffle=True, random_state=random_state).split(np.zeros(len(y)), y):
        part = rows.take(train)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer rows may well warn of being few
            fitted = clone(model).fit(part.X, part.y)
        answer, chances, known = _ask(fitted, rows.take(test).X)
        predicted[test] = answer
        if probabilities is not None and chances is not None:
            probabilities[test] = 0.0
            probabilities[np.ix_(test, np.searchsorted(classes, known))] = chances  # type: ignore[arg-type]
    how = f"{N_FOLDS} parts of the rows, each predicted by a model fitted on the others"
    return Predictions(rows, predicted, probabilities, classes, False, how)


def _fitted_on(subject: Subject, rows: Rows) -> bool:
    """Whether these are the rows of the fit, as far as can be told: by what was given, or by the model's moments."""
    if subject.train is not None:
        return rows.X is subject.train.X
    moments = getattr(subject.steps[0], "moments_", None)
    same_columns = getattr(moments, "n_features", None) == rows.X.shape[1] and getattr(rows.X, "ndim", 2) == 2
    if not same_columns or not hasattr(moments, "counts") or int(np.sum(moments.counts)) != rows.n_rows:  # type: ignore[union-attr]
        return False
    if getattr(subject.steps[0], "columns_", None) is not None:
        X = subject.steps[0]._inputs.at(np.asarray(rows.X, dtype=np.float64))
    else:
        X = rows.X
    return bool(np.allclose(np.asarray(X.mean(axis=0)).ravel(), moments.mean(), rtol=1e-6, atol=1e-9))  # type: ignore[union-attr]
