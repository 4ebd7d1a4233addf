"""The multinomial logit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from recording import Case, new, weighted_fit
from same_data import Rows, Source, as_float32, cancer, digits, named_wine, wide, wide_words, wine, words

from eigenfeat.rows import as_rows

SINGLE = {"tolerance": 1e-4, "reason": "float32 rows, whose gradient is zero only up to their rounding"}
OUTPUTS = ("decision_function", "predict_proba", "predict", "coef_", "intercept_", "temperature_", "objective_")


def logit(name: str, rows: Source = wine, parameters: dict | None = None, **how) -> Case:
    make = partial(new, "MultinomialLogit", **{"alpha": 1e-2, "tol": 1e-9, **(parameters or {})})
    return Case(f"MultinomialLogit-{name}", make, rows, OUTPUTS, **how)


def fit_twice(estimator, rows: Rows):
    """The second fit starts where the first ended."""
    return estimator.fit(rows.X, rows.y).set_params(alpha=3e-2).fit(rows.X, rows.y)


def keyed_fit(estimator, rows: Rows):
    """Groups as the keys themselves, which they were when the outputs were stored."""
    return estimator.fit_rows(as_rows(rows.X, rows.y), keys=rows.groups)


def weighted_keyed_fit(estimator, rows: Rows):
    return estimator.fit_rows(as_rows(rows.X, rows.y, rows.weights), keys=rows.groups)


def along_alphas(estimator, rows: Rows) -> dict:
    path = estimator.alpha_path(rows.X, rows.y, [1e-3, 1e-1, 1e-2], rows.weights)
    return {"alpha_path": np.stack([member.predict_proba(rows.test) for member in path])}


def logit_cases() -> Iterator[Case]:
    yield logit("plain", extra=along_alphas)
    yield logit("defaults", parameters={"alpha": 1e-4, "tol": 1e-4})
    yield logit("digits", digits)
    yield logit("two classes", cancer)
    yield logit("two classes smoothed", cancer, {"label_smoothing": 0.2}, extra=along_alphas)
    yield logit("text labels", named_wine)
    yield logit("csr", words)
    yield logit("wide", wide)
    yield logit("wide csr", wide_words)
    yield logit("float32", as_float32(wine), {"tol": 1e-4}, **SINGLE)
    yield logit("strong penalty", parameters={"alpha": 1.0})
    yield logit("weights", fit=weighted_fit)
    yield logit("balanced", parameters={"class_weight": "balanced"}, fit=weighted_fit)
    yield logit("class weights", parameters={"class_weight": {0: 1.0, 1: 3.0, 2: 0.5}})
    yield logit("no intercept", parameters={"fit_intercept": False})
    yield logit("smoothed", parameters={"label_smoothing": 0.1})
    yield logit("smoothed groups", parameters={"label_smoothing": 0.1}, fit=keyed_fit)
    yield logit("smoothed groups weights", digits, {"label_smoothing": 0.3}, fit=weighted_keyed_fit)
    yield logit("gram", words, {"solver": "gram"})
    yield logit("diagonal", digits, {"solver": "diagonal"})
    yield logit("small batches", parameters={"batch_size": 32})
    yield logit("warm start", parameters={"warm_start": True}, fit=fit_twice)
    yield logit("few steps", digits, {"max_iter": 3})
