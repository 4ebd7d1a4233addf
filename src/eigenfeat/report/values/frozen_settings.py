"""A model to fit again without searching again: with the settings that its search found."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline


def with_settings_found(model: Any) -> Any:
    """An unfitted copy in which what a search chose is given: "auto" of GEM, ``best_params_`` of a ``...CV``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenfeat import GEMClassifier
    >>> from eigenfeat.report.values.frozen_settings import with_settings_found
    >>> model = GEMClassifier(n_components=2).fit(*load_iris(return_X_y=True))
    >>> with_settings_found(model).alpha == model.choices_["alpha"]
    True
    """
    model = getattr(model, "best_estimator_", model)
    if isinstance(model, Pipeline):
        steps = [(name, step if isinstance(step, str) else with_settings_found(step)) for name, step in model.steps]
        return Pipeline(steps)
    copy = clone(model)
    allowed = set(copy.get_params(deep=False))
    found = {name: value for name, value in getattr(model, "choices_", {}).items() if name in allowed}
    given = {
        name: value
        for name, value in found.items()
        if isinstance(getattr(copy, name), str) and getattr(copy, name) == "auto"
    }
    return copy.set_params(**given)
