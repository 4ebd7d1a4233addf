"""Every estimator as it comes: a change of a default shows here, and in no other case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from recording import Case, new
from row_inputs import Given
from same_data import (
    Data,
    cubic_labels,
    curve,
    followed_trials,
    labels,
    overlapping,
    table,
    three_targets,
    trials,
    uniform,
    wine,
    with_targets,
)

from eigenfeat import make_tabular

targets = with_targets(wine, three_targets)
multilabel = with_targets(wine, labels)

DATA: dict[str, Callable[[], Data]] = {
    "ColumnScaler": wine,
    "ColumnSplines": wine,
    "CommonSpatialPatterns": trials,
    "DenoisingAutoencoder": uniform,
    "FisherLDA": overlapping,
    "GEMClassifier": overlapping,
    "GEMClassifierCV": overlapping,
    "GEMFeatures": overlapping,
    "GEMRegressor": curve,
    "GaussianMixtureScore": wine,
    "HypergraphFeatures": multilabel,
    "HypergraphFeaturesCV": multilabel,
    "KernelFisherClassifier": overlapping,
    "KernelFisherClassifierCV": overlapping,
    "KernelFisherFeatures": overlapping,
    "KernelFisherRegressor": curve,
    "KernelRayleighFeatures": overlapping,
    "LeastSquaresCCA": targets,
    "LeastSquaresCCACV": targets,
    "LeastSquaresFeatures": targets,
    "LeastSquaresFeaturesCV": targets,
    "LeastSquaresLDA": wine,
    "LeastSquaresLDACV": wine,
    "LeastSquaresOPLS": targets,
    "LeastSquaresOPLSCV": targets,
    "MultinomialLogit": overlapping,
    "OrientedKernelPCA": wine,
    "OrientedPCA": wine,
    "RayleighFeatures": overlapping,
    "SPoC": followed_trials,
    "ScoreTensorClassifier": cubic_labels,
    "ScoreTensorFeatures": cubic_labels,
    "SlicedInverseRegression": curve,
    "TableEncoder": table,
    "VanishingComponents": wine,
}
METHODS = ("transform", "predict_proba", "decision_function", "predict", "score1")
LOOSE = {
    "DenoisingAutoencoder": {
        "tolerance": 1e-4,
        "reason": "trained in float32 by stochastic gradients, each step of which rounds",
    },
    "KernelFisherClassifierCV": {"tolerance": 1e-6, "reason": "the penalty it chooses is so small that rounding shows"},
}


def every_method(estimator, given: Given) -> dict:
    return {name: getattr(estimator, name)(given.test) for name in METHODS if hasattr(estimator, name)}


def default_cases() -> Iterator[Case]:
    for name, data in DATA.items():
        yield Case(f"{name}-defaults", partial(new, name), data, (), extra=every_method, **LOOSE.get(name, {}))
    yield Case("make_tabular-defaults", make_tabular, table, (), extra=every_method)
