"""What can be fitted by name: families of the library and baselines, each after a table encoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import Pipeline

import eigenfeat
from eigenfeat.features.maps import SplineMap
from eigenfeat.tables import TableEncoder, make_tabular

FLOAT32_CELLS = 20_000_000
"""Tables with more cells than this are encoded in float32: half the memory."""

MOST_KERNEL_ROWS = 5000
"""Kernel methods are compared on no more rows than this: their time grows with the square."""


MANY_ROWS = 100_000
"""From so many rows on, GEM's defaults, found on 5000 of them, are held against splines of its projections."""

KNOTS, SPLINED_DIRECTIONS, SPLINED_PENALTY = 8, 640, 0.3
"""Of "gem-splines" on many rows: knots a projection, about how many of these, ``alpha`` times rows. Fitted to 100,000
training rows of Covertype and judged on others of them, 420 projections had 14.2 % error with a penalty of 1, 13.6 with
0.1 and 15.6 with 10; 840 had 12.7 % with 1. On 424,000 rows 1,120 had 9.0 % with 0.1, in four times the time of 420."""


def _then_logit(features: Any) -> Pipeline:
    return Pipeline([("features", features), ("classifier", eigenfeat.MultinomialLogit())])


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "gem": lambda: eigenfeat.GEMClassifier(),
    "gem-splines": lambda: eigenfeat.GEMClassifier(base_map=None, feature_map=SplineMap(KNOTS), ridge=0.05),
    "deep-gem": lambda: eigenfeat.GEMClassifier(n_layers=2),
    "lda": lambda: eigenfeat.FisherLDA(ridge=1e-6),  # columns of one category add up to one
    "kernel-fisher": lambda: eigenfeat.KernelFisherClassifierCV(),
    "logit": lambda: eigenfeat.MultinomialLogit(),
    "cca": lambda: _then_logit(eigenfeat.LeastSquaresLDA()),
    "feast": lambda: _then_logit(eigenfeat.ScoreTensorFeatures()),
}
REGRESSORS: dict[str, Callable[[], Any]] = {
    "gem": lambda: eigenfeat.GEMRegressor(),
    "kernel-fisher": lambda: eigenfeat.KernelFisherRegressor(),
    "cca": lambda: eigenfeat.LeastSquaresCCA(),
    "opls": lambda: eigenfeat.LeastSquaresOPLS(),
}
MULTILABEL: dict[str, Callable[[], Any]] = {
    "cca": lambda: eigenfeat.LeastSquaresCCA(),
    "opls": lambda: eigenfeat.LeastSquaresOPLS(),
}
METHODS = {"classification": CLASSIFIERS, "regression": REGRESSORS, "multilabel": MULTILABEL}

#: What a leaderboard has beside our own.
BASELINES: dict[str, dict[str, Callable[[], Any]]] = {
    "classification": {
        "majority": lambda: DummyClassifier(),
        "sklearn lda": lambda: LinearDiscriminantAnalysis(),
        "sklearn logit": lambda: LogisticRegression(max_iter=1000),
        "hist gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    },
    "regression": {
        "mean": lambda: DummyRegressor(),
        "ridge": lambda: RidgeCV(),
        "hist gradient boosting": lambda: HistGradientBoostingRegressor(random_state=0),
    },
    "multilabel": {"mean": lambda: DummyRegressor(), "ridge": lambda: RidgeCV()},
}
#: What "auto" chooses from by cross-validation where rows are few, the simplest first; the last where they are many.
AUTO = {
    "classification": ("lda", "logit", "kernel-fisher", "gem"),
    "regression": ("opls", "kernel-fisher", "gem"),
    "multilabel": ("cca", "opls"),
}
DESCRIPTIONS = {
    "auto": "the best of a few by cross-validation on the training rows; gem, or gem-splines, where rows are many",
    "gem": "GEM features and a multinomial logit (regression: GEM on slices of y)",
    "gem-splines": "GEM with splines of its projections: for very many rows",
    "deep-gem": "two layers of GEM",
    "lda": "Fisher's linear discriminant",
    "kernel-fisher": "kernel Fisher discriminant, its kernel chosen by leave-one-out",
    "logit": "multinomial logit",
    "cca": "canonical correlations by least squares (classes: then a logit)",
    "opls": "orthonormal partial least squares",
    "feast": "score tensor features, then a logit",
}


def named(method: str, task: str, parameters: dict[str, Any]) -> Any:
    """An unfitted estimator: a method by its name, or any estimator of the library by that of its class.

    Raises
    ------
    ValueError
        For a name or a parameter it does not have, with those it has.
    """
    methods = METHODS[task]
    estimator = methods[method]() if method in methods else _public(method, task)
    allowed = estimator.get_params(deep=True)
    unknown = sorted(set(parameters) - set(allowed))
    if unknown:
        raise ValueError(f"{method} has no parameter {', '.join(unknown)}; it has {', '.join(sorted(allowed))}")
    return estimator.set_params(**parameters)


def for_rows(estimator: Any, method: str, parameters: dict[str, Any], n_rows: int, n_classes: int) -> Any:
    """The estimator of a method, with what depends on how many rows there are and was not given."""
    if method != "gem-splines" or n_rows < MANY_ROWS // 10:
        return estimator
    pairs = n_classes * (n_classes - 1)
    sized = {
        "n_components": max(2, round(SPLINED_DIRECTIONS / pairs)),
        "alpha": SPLINED_PENALTY / n_rows,
        "label_smoothing": 0.0,
    }
    return estimator.set_params(**{name: value for name, value in sized.items() if name not in parameters})


def _public(name: str, task: str) -> Any:
    found = getattr(eigenfeat, name, None) if name in eigenfeat.__all__ else None
    if not (isinstance(found, type) and issubclass(found, BaseEstimator)):
        words = ", ".join(["auto", *METHODS[task]])
        raise ValueError(
            f"there is no method {name!r} for {task}; there are {words}, and the estimators of the library by their "
            f"names ({', '.join(class_names())})"
        )
    return found()


def class_names() -> list[str]:
    """Estimators that can be fitted on a table."""
    public = {name: getattr(eigenfeat, name) for name in eigenfeat.__all__}
    kinds = {k: v for k, v in public.items() if isinstance(v, type) and issubclass(v, BaseEstimator)}
    return sorted(set(kinds) - {"TableEncoder", "CommonSpatialPatterns", "SPoC"})


def on_table(estimator: Any, n_cells: int, kinds: dict[str, str], is_sparse: bool = False) -> Any:
    """The estimator behind an encoder; by itself for sparse rows, which are numbers already."""
    if is_sparse:
        return Pipeline([("model", estimator)])
    model = make_tabular(estimator)
    encoder: TableEncoder = model.named_steps["table"]
    encoder.set_params(kinds=kinds or None, dtype="float32" if n_cells > FLOAT32_CELLS else "float64")
    return model


def can_evaluate(estimator: Any) -> bool:
    return is_classifier(estimator) or is_regressor(estimator)
