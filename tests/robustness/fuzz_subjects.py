"""Who is tried: every public estimator as it is discovered, and settings that take other ways through the code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

import eigenfeat

ESTIMATORS: dict[str, type] = {
    name: cls
    for name, cls in inspect.getmembers(eigenfeat, inspect.isclass)
    if issubclass(cls, BaseEstimator)
    and not inspect.isabstract(cls)
    and cls is not eigenfeat.TableEncoder  # it takes what these inputs are bad for: gaps, text, columns of one value
}

#: Fewer steps and smaller grids than the defaults: what is tried is the edge, not the accuracy.
QUICK: dict[str, dict[str, Any]] = {
    "DenoisingAutoencoder": {"n_hidden": 4, "max_iter": 20},
    "GEMClassifierCV": {"ridges": [0.1], "alphas": [1e-3, 1e-2], "cv": 2},
    "ScoreTensorFeatures": {"n_components": 3, "n_init": 1, "n_restarts": 20},
}

#: Ways through the code that no default takes.
CONFIGURATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "FisherLDA(ridge=0.1)": ("FisherLDA", {"ridge": 0.1}),
    "FisherLDA(shrinkage='auto')": ("FisherLDA", {"shrinkage": "auto"}),
    "GEMClassifier(spline)": ("GEMClassifier", {"feature_map": "spline", "n_components": 2}),
    "GEMClassifier(centred)": ("GEMClassifier", {"noise": "covariance", "shrinkage": "auto", "n_components": 2}),
    "GEMClassifier(two layers)": ("GEMClassifier", {"n_layers": 2, "n_components": 2}),
    "KernelFisherClassifier(huber)": ("KernelFisherClassifier", {"loss": "huber"}),
    "KernelFisherClassifier(joint)": ("KernelFisherClassifier", {"multi_class": "joint"}),
    "KernelFisherClassifier(gaussian)": (
        "KernelFisherClassifier",
        {"threshold": "gaussian", "probability": "gaussian", "n_centers": 10},
    ),
    "KernelFisherClassifier(sparse)": ("KernelFisherClassifier", {"loss": "absolute", "penalty": "sparse"}),
    "KernelFisherClassifier(greedy)": ("KernelFisherClassifier", {"solver": "greedy", "max_terms": 10}),
    "KernelFisherClassifier(piecewise)": ("KernelFisherClassifier", {"loss": "piecewise", "probability": "huber"}),
    "KernelFisherClassifier(distance)": ("KernelFisherClassifier", {"kernel": "distance", "threshold": "least-error"}),
    "KernelFisherClassifierCV(sparse)": (
        "KernelFisherClassifierCV",
        {"alphas": [0.3, 3.0], "gammas": [0.1], "penalty": "sparse", "threshold": "auto", "cv": 2},
    ),
    "KernelFisherRegressor(epsilon)": ("KernelFisherRegressor", {"loss": "epsilon"}),
    "LeastSquaresCCA(lasso)": ("LeastSquaresCCA", {"penalty": "lasso", "alpha": 1e-3}),
    "LeastSquaresLDA(kernel)": ("LeastSquaresLDA", {"kernel": "rbf", "penalty": "ridge"}),
    "MultinomialLogit(smoothed)": ("MultinomialLogit", {"label_smoothing": 0.1, "class_weight": "balanced"}),
}


#: Penalties that count in the units of the columns: smaller rows are penalised more, as the objective says.
UNITS_OF_ROWS = ("LeastSquaresCCA(lasso)", "LeastSquaresCCACV", "LeastSquaresOPLSCV", "MultinomialLogit")
#: Penalties beside a sum over rows: smaller weights are penalised more, as the objective says.
UNITS_OF_WEIGHTS = ("GEMRegressor", "KernelFisher", "KernelRayleigh", "LeastSquares", "Hypergraph")


def judges_units(subject: str, units: str) -> bool:
    """Whether a model of input in other units must be as good as ever."""
    excused = {"rows": UNITS_OF_ROWS, "weights": UNITS_OF_WEIGHTS}.get(units, ())
    return not subject.startswith(excused)


def subjects() -> dict[str, Callable[..., Any]]:
    """What makes an estimator, by the name its outcomes go under; keyword arguments come on top."""
    makers: dict[str, Callable[..., Any]] = {}
    for name in ESTIMATORS:
        known = parameters(name)
        makers[name] = _maker(name, {key: value for key, value in QUICK.get(name, {}).items() if key in known})
    for words, (name, settings) in CONFIGURATIONS.items():
        if name in ESTIMATORS and settings.keys() <= parameters(name):  # an older library may lack some
            makers[words] = _maker(name, settings)
    return makers


def parameters(name: str) -> set[str]:
    return set(ESTIMATORS[name]().get_params(deep=False))


def takes(estimator: Any, argument: str) -> bool:
    """Whether `fit` has an argument of this name."""
    return argument in inspect.signature(type(estimator).fit).parameters


def takes_trials(estimator: Any) -> bool:
    return get_tags(estimator).input_tags.three_d_array


def _maker(name: str, settings: dict[str, Any]) -> Callable[..., Any]:
    cls = ESTIMATORS[name]
    return lambda **more: cls(**{**settings, **more})
