"""A table encoder before an estimator, as one pipeline."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from eigenfeat.estimators.gem_classifier import GEMClassifier
from eigenfeat.estimators.gem_regressor import GEMRegressor
from eigenfeat.estimators.least_squares import LeastSquaresCCA
from eigenfeat.tables.encoder import TableEncoder
from eigenfeat.tables.tasks import TASKS


def make_tabular(estimator: Any = None, *, task: str = "classification", encoder: Any = None) -> Pipeline:
    """A pipeline from a table as it comes to predictions: `TableEncoder`, then an estimator.

    Parameters
    ----------
    estimator : estimator, optional
        By default `GEMClassifier`, for regression `GEMRegressor`.
    task : {"classification", "regression", "multilabel"}
        Chooses the default; `eigenfeat.tables.find_task` finds it from y.
    encoder : `TableEncoder`, optional
        By default one with its defaults. Sizes of columns are left to estimators that see to them (``columns="auto"``).

    Returns
    -------
    sklearn.pipeline.Pipeline
        With the steps "table" and "model".

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from eigenfeat import make_tabular
    >>> wine = load_wine(as_frame=True)
    >>> model = make_tabular().fit(wine.data, wine.target)
    >>> model.score(wine.data, wine.target) > 0.98
    True
    """
    if task not in TASKS:
        raise ValueError(f"task {task!r} is none of {', '.join(TASKS)}")
    if estimator is None:
        estimator = {"classification": GEMClassifier, "regression": GEMRegressor, "multilabel": LeastSquaresCCA}[task]()
    if encoder is None:
        scales_itself = getattr(estimator, "columns", None) == "auto"
        encoder = TableEncoder(columns="none" if scales_itself else "auto")
    return Pipeline([("table", encoder), ("model", estimator)])
