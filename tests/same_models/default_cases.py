"""Every estimator as it comes, and defaults of solvers that other cases override: a change of a default shows here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gem_cases import CLASSIFIER_DEFAULTS, FEATURE_DEFAULTS, REGRESSOR_DEFAULTS, SEARCH_DEFAULTS, penalised
from kernel_cases import kernel_fisher, written_down
from least_squares_cases import MODELS, rows_for
from recording import Case, new, plain_fit
from same_data import Rows, Source, cubic_labels, curve, overlapping, uniform, wine

TRAINED = {"tolerance": 1e-4, "reason": "trained in float32 by stochastic gradients, each step of which rounds"}

OF_CLASSES = (
    "FisherLDA",
    "GEMClassifier",
    "GEMClassifierCV",
    "GEMFeatures",
    "KernelFisherClassifier",
    "KernelFisherClassifierCV",
    "KernelFisherFeatures",
    "MultinomialLogit",
    "RayleighFeatures",
)
OF_TARGETS = ("GEMRegressor", "KernelFisherRegressor", "SlicedInverseRegression")
OF_ROWS = (
    "ColumnScaler",
    "ColumnSplines",
    "GaussianMixtureScore",
    "OrientedKernelPCA",
    "OrientedPCA",
    "VanishingComponents",
)
METHODS = ("transform", "predict_proba", "decision_function", "predict", "score1")
ADDED = {"GEMClassifier": {"transform"}, "GEMClassifierCV": {"transform"}}
"""Methods an estimator did not have when the outputs were stored."""
CHANGED = {
    "GEMClassifier": CLASSIFIER_DEFAULTS,
    "GEMClassifierCV": SEARCH_DEFAULTS,
    "GEMFeatures": FEATURE_DEFAULTS,
    "GEMRegressor": REGRESSOR_DEFAULTS,
    **{f"KernelFisher{kind}": written_down(kind) for kind in ("Classifier", "ClassifierCV", "Features", "Regressor")},
}
"""Defaults that were others then."""


def what_it_can(estimator, rows: Rows) -> dict:
    """The outputs of every method the estimator has."""
    added = ADDED.get(type(estimator).__name__, set())
    methods = [name for name in METHODS if name not in added and hasattr(estimator, name)]
    return {name: getattr(estimator, name)(rows.test) for name in methods}


def default(estimator: str, rows: Source, **how) -> Case:
    return Case(
        f"{estimator}-defaults only",
        partial(new, estimator, **CHANGED.get(estimator, {})),
        rows,
        (),
        extra=what_it_can,
        **how,
    )


def solver_case(solver: str, penalty: str = "function") -> Case:
    """A kernel solver at its own tolerance."""
    make = partial(kernel_fisher, "KernelFisherClassifier", penalty=penalty, solver=solver)
    return Case(f"KernelFisherClassifier-defaults of {solver} {penalty}", make, overlapping, (), extra=what_it_can)


def default_cases() -> Iterator[Case]:
    for estimator in OF_CLASSES:
        how = {"fit": penalised(plain_fit)} if estimator == "GEMClassifier" else {}
        yield default(estimator, overlapping, **how)
    for estimator in OF_TARGETS:
        yield default(estimator, curve)
    for estimator in OF_ROWS:
        yield default(estimator, wine)
    for model in MODELS:
        yield default(model, rows_for(model, wine))
        yield default(f"{model}CV", rows_for(model, wine))
    yield Case("GEMClassifier-chosen by itself", partial(new, "GEMClassifier"), overlapping, (), extra=what_it_can)
    yield default("ScoreTensorFeatures", cubic_labels)
    yield default("DenoisingAutoencoder", uniform, **TRAINED)
    for solver in ("greedy", "nystrom", "subset", "eigen", "smo"):
        yield solver_case(solver)
    yield solver_case("greedy", "coefficients")
    yield solver_case("qp", "sparse")
