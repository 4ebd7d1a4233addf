"""GEM: features, classifier, its search over hyper-parameters, and regressor."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from recording import Case, Fit, grouped_fit, new, plain_fit, weighted_fit
from same_data import (
    Rows,
    Source,
    as_csr,
    as_float32,
    cancer,
    curve,
    digits,
    many_classes,
    named_wine,
    overlapping,
    three_targets,
    wide,
    wide_words,
    wine,
    with_targets,
    words,
)
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight

SINGLE = {"tolerance": 1e-5, "reason": "float32 rows: sums round at 6e-8, and the eigenproblem amplifies that"}
SINGLE_LOGIT = {"tolerance": 1e-4, "reason": "float32 rows, and a logit that stops at a relative gap of 3e-3"}
SINGLE_TRIAL = {"tolerance": 1e-6, "reason": "the temperature is found on features held in float32"}
SINGLE_LAYERS = {"tolerance": 1e-3, "reason": "float32 rows, whose rounding the second layer amplifies once more"}
SINGLE_RIDGE = {
    "tolerance": 1e-3,
    "reason": "float32 rows, and a regression on features that nearly depend on each other",
}

FEATURE_DEFAULTS = {"feature_map": "cubic", "keep_inputs": False, "columns": None}
SEARCH_DEFAULTS = {"columns": None, "classifier_tol": 1e-10}
CLASSIFIER_DEFAULTS = {
    **SEARCH_DEFAULTS,
    "base_map": None,
    "feature_map": "soft-cubic",
    "ridge": 1.0,
    "label_smoothing": 0.2,
}
REGRESSOR_DEFAULTS = {"ridge": 0.5, "columns": None}
"""Defaults when the outputs were stored."""

TRANSFORMED = ("transform", "eigenvalues_")
CLASSIFIED = ("predict_proba", "decision_function", "predict", "eigenvalues_")
GRID_ORDER = ("ridge", "min_eigenvalue", "n_components", "alpha")
PREDICTED = ("alpha_", "coef_", "intercept_", "contractions_")


def gem_map(kind: str, *arguments, **parameters):
    """A feature map by the name of its class; imported here so that a move of the module is mended in one place."""
    from eigenfeat.features import maps

    return getattr(maps, kind)(*arguments, **parameters)


def waves(projections: np.ndarray) -> np.ndarray:
    """A user's feature map."""
    return np.hstack([np.sin(projections), np.cos(projections)])


# ---------------------------------------------------------------- features


def features(name: str, rows: Source = digits, parameters: dict | None = None, **how) -> Case:
    make = partial(new, "GEMFeatures", **{"n_components": 2, **FEATURE_DEFAULTS, **(parameters or {})})
    return Case(f"GEMFeatures-{name}", make, rows, TRANSFORMED, **how)


def contractions() -> np.ndarray:
    """Each of five classes over a mixture of the two next ones."""
    own = np.eye(5)
    rest = 0.7 * np.roll(own, 1, axis=1) + 0.3 * np.roll(own, 2, axis=1)
    return np.stack([own, rest], axis=1)


def pair_cases() -> Iterator[Case]:
    for strategy, n_pairs in (
        ("all", None),
        ("hypercube", None),
        ("hypercube", 6),
        ("random", None),
        ("random", 5),
        ("stratified", None),
        ("stratified", 7),
        ("one-vs-rest", None),
        ("contractions", None),
        ("contractions", 3),
    ):
        yield features(f"pairs {strategy} {n_pairs}", parameters={"class_pairs": strategy, "n_pairs": n_pairs})
    yield features("pairs listed", parameters={"class_pairs": [(0, 1), (3, 2), (4, 0)]})
    yield features("pairs contracted", parameters={"class_pairs": contractions()})
    yield features("pairs listed text", named_wine, {"class_pairs": [("barolo", "barbera"), ("barbera", "grignolino")]})
    yield features("many classes", many_classes)
    yield features("many classes 20", many_classes, {"n_pairs": 20})
    yield features("many classes contractions", many_classes, {"class_pairs": "contractions"})


def map_cases() -> Iterator[Case]:
    for name in (
        "cubic",
        "soft-cubic",
        "rectified",
        "rectified-positive",
        "sqrt",
        "square",
        "absolute",
        "spline",
        "identity",
    ):
        yield features(f"map {name}", wine, {"feature_map": name})
    yield features("map powers", wine, {"feature_map": gem_map("PowerMap", (1, 4), soft=True)})
    yield features("map splines of degree 2", wine, {"feature_map": gem_map("SplineMap", n_knots=3, degree=2)})
    products = gem_map("ProductMap", gem_map("SplineMap", n_knots=4), ((0, 1), (2, 5)))
    yield features("map products", wine, {"feature_map": products})
    yield features("map function", wine, {"feature_map": waves})


def feature_cases() -> Iterator[Case]:
    yield features("plain")
    yield features("two classes", cancer)
    yield features("all components", wine, {"n_components": None})
    yield features("csr", as_csr(digits))
    yield features("words", words)
    yield features("float32", as_float32(digits), **SINGLE)
    yield features("wide", wide)
    yield features("wide csr", wide_words)
    yield features("wide float32", as_float32(wide), **SINGLE)
    yield features("ridge", parameters={"ridge": 0.2})
    yield features("threads", parameters={"n_jobs": 2})
    yield features("diagonal ridge", wine, {"ridge": 0.3, "ridge_shape": "diagonal"})
    yield features("wide diagonal ridge", wide, {"ridge_shape": "diagonal"})
    yield features("min_eigenvalue", parameters={"min_eigenvalue": 4.0})
    yield features("max_features", parameters={"max_components": 15})
    yield features("keep_inputs", parameters={"keep_inputs": True})
    yield features("constant", parameters={"constant": True, "keep_inputs": True})
    yield features("wide constant", wide, {"constant": True})
    yield features("weights", fit=weighted_fit)
    yield features("wide weights", wide, {"noise": "covariance"}, fit=weighted_fit)
    for shrinkage in ("auto", "oas", 0.3):
        yield features(f"shrinkage {shrinkage}", wine, {"shrinkage": shrinkage})
        yield features(f"wide shrinkage {shrinkage}", wide, {"shrinkage": shrinkage})
    for name, rows in (("dense", digits), ("csr", words), ("wide", wide), ("wide csr", wide_words)):
        yield features(f"covariance {name}", rows, {"noise": "covariance"})
    yield features("covariance one-vs-rest", parameters={"noise": "covariance", "class_pairs": "one-vs-rest"})
    yield features("solver dense", parameters={"solver": "dense"})
    yield features("solver dual", wide, {"solver": "dual"})
    for solver in ("krylov", "randomized"):
        yield features(f"solver {solver}", parameters={"solver": solver, "n_components": 1, "tol": 1e-12})


# ---------------------------------------------------------------- classifier


def logit_of(estimator, rows: Rows) -> dict:
    """Coefficients and temperature of the last stage, and what it relies on."""
    last = estimator.classifiers_[-1]
    return {"coef_": last.coef_, "temperature_": last.temperature_, "reliance": estimator.reliance(rows.test)[0]}


def penalised(fit: Fit) -> Fit:
    """A fit with the penalty that was the default then, 5000 over the weight of the last stage and over its columns."""

    def fitted(estimator, rows: Rows):
        if estimator.alpha == "auto" and estimator.classifier is None:
            first = clone(estimator).set_params(alpha=1.0, label_smoothing=0.0, max_iter=1)
            n_columns = fit(first, rows).classifiers_[0].n_features_in_
            weights = rows.weights if fit is weighted_fit else np.ones(len(rows.y))
            total = np.sum(weights * compute_sample_weight(estimator.class_weight, rows.y))
            estimator.set_params(alpha=5000 / (total * n_columns))
        return fit(estimator, rows)

    return fitted


def classifier(name: str, rows: Source = wine, parameters: dict | None = None, fit: Fit = plain_fit, **how) -> Case:
    make = partial(new, "GEMClassifier", **{"n_components": 2, **CLASSIFIER_DEFAULTS, **(parameters or {})})
    return Case(f"GEMClassifier-{name}", make, rows, CLASSIFIED, fit=penalised(fit), **{"extra": logit_of, **how})


def ensemble_cases() -> Iterator[Case]:
    two_layers = {"n_layers": 2, "n_components": [2, 1], "ridge": [0.5, 1.0], "keep_inputs": [False, True]}
    yield classifier("two layers", parameters=two_layers)
    lists = {"feature_map": ["rectified", "spline"], "max_components": [9, 6], "min_eigenvalue": [0.1, 0.2]}
    yield classifier("two layers lists", digits, {**two_layers, **lists, "class_pairs": "one-vs-rest"})
    yield classifier("two layers float32", as_float32(wine), {**two_layers, "classifier_tol": 3e-3}, **SINGLE_LAYERS)
    yield classifier("two layers wide", wide, two_layers)
    yield classifier("two layers shrunk", parameters={"n_layers": 2, "shrinkage": ["auto", 0.2]}, fit=weighted_fit)
    random = {"n_estimators": 3, "class_pairs": "random", "n_pairs": 6, "n_components": 1}
    yield classifier("ensemble", digits, random)
    yield classifier("deep ensemble", parameters={**random, "n_pairs": 3, "n_layers": 2, "n_estimators": 2})
    for base_map in (
        RBFSampler(gamma=0.05, n_components=40, random_state=0),
        Nystroem(gamma=0.05, n_components=20, random_state=0),
    ):
        yield classifier(type(base_map).__name__, parameters={"base_map": base_map})
        yield classifier(f"csr {type(base_map).__name__}", words, {"base_map": base_map, "constant": True})


def last_stage_cases() -> Iterator[Case]:
    yield classifier("alpha", parameters={"alpha": 1e-2})
    yield classifier("plain labels", parameters={"label_smoothing": 0.0, "alpha": 1e-2})
    yield classifier("balanced", parameters={"class_weight": "balanced"})
    yield classifier("class weights", parameters={"class_weight": {0: 1.0, 1: 2.0, 2: 0.5}}, fit=weighted_fit)
    yield classifier("groups", fit=grouped_fit)
    yield classifier("weights", fit=weighted_fit)
    other = LogisticRegression(C=0.1, tol=1e-10, max_iter=2000)
    yield classifier("given logit", parameters={"classifier": other}, extra=lambda estimator, rows: {})
    outputs = ("decision_function", "predict", "eigenvalues_")
    machine = LinearSVC(C=0.01, tol=1e-8, max_iter=100_000, random_state=0)
    pairs = {"n_components": 1, "n_estimators": 2, "class_pairs": "random", **CLASSIFIER_DEFAULTS}
    make = partial(new, "GEMClassifier", classifier=machine, **pairs)
    yield Case("GEMClassifier-given machines", make, wine, outputs)


def classifier_cases() -> Iterator[Case]:
    yield classifier("plain")
    yield classifier("digits", digits, {"n_components": 1})
    yield classifier("two classes", cancer)
    yield classifier("text labels", named_wine)
    yield classifier("csr", words)
    yield classifier("wide", wide)
    yield classifier("wide csr", wide_words)
    yield classifier("float32", as_float32(wine), {"classifier_tol": 3e-3}, **SINGLE_LOGIT)
    yield classifier("many classes", many_classes, {"n_components": 1}, **SINGLE_TRIAL)
    yield classifier("covariance", parameters={"noise": "covariance", "constant": True})
    yield classifier("splines", parameters={"feature_map": "spline"})
    yield classifier("diagonal ridge", parameters={"ridge_shape": "diagonal", "ridge": 0.1})
    yield from last_stage_cases()
    yield from ensemble_cases()


# ---------------------------------------------------------------- search


GRID = {"ridges": (0.1, 1.0), "min_eigenvalues": (0.0, 0.5), "n_components_grid": (1, 2), "alphas": (1e-3, 1e-2)}


def scores(estimator, rows: Rows) -> dict:
    """The choice and all scores, as losses and in the order in which they were stored."""
    results = estimator.cv_results_
    losses = (1.0 if estimator.scoring == "accuracy" else 0.0) - results["mean_test_score"]
    order = np.lexsort([results[f"param_{name}"] for name in reversed(GRID_ORDER)])
    chosen = {f"{name}_": estimator.best_params_[name] for name in GRID_ORDER}
    return {**chosen, "scores": losses[order], "best_score_": losses[estimator.best_index_]}


def search(name: str, rows: Source = overlapping, parameters: dict | None = None, **how) -> Case:
    make = partial(new, "GEMClassifierCV", **GRID, **SEARCH_DEFAULTS, **(parameters or {}))
    return Case(f"GEMClassifierCV-{name}", make, rows, CLASSIFIED, extra=scores, **how)


def search_cases() -> Iterator[Case]:
    yield search("plain")
    yield search("folds", parameters={"cv": 3})
    yield search("log loss", parameters={"scoring": "neg_log_loss", "cv": 2})
    yield search("groups", fit=grouped_fit, parameters={"cv": 3})
    yield search("weights", fit=weighted_fit)
    yield search("splitter", parameters={"cv": StratifiedKFold(2), "label_smoothings": (0.0,)})
    yield search("ensemble", parameters={"n_estimators": 2, "class_pairs": "random", "n_pairs": 3})
    yield search("csr", words)
    yield search("wide", wide, {"shrinkage": "auto", "scoring": "neg_log_loss"})
    yield search("two classes balanced", cancer, {"class_weight": "balanced", "noise": "covariance"})


# ---------------------------------------------------------------- regressor


def regressor(name: str, rows: Source = curve, parameters: dict | None = None, **how) -> Case:
    make = partial(new, "GEMRegressor", **{"n_components": 2, **REGRESSOR_DEFAULTS, **(parameters or {})})
    return Case(f"GEMRegressor-{name}", make, rows, (*PREDICTED, "eigenvalues_"), **{"extra": predicted, **how})


def predicted(estimator, rows: Rows) -> dict:
    """Predictions of float32 rows were stored in float64."""
    return {"predict": estimator.predict(rows.test).astype(np.float64)}


def regressor_cases() -> Iterator[Case]:
    vector = with_targets(curve, three_targets)
    yield regressor("plain")
    yield regressor("three bins", parameters={"n_slices": 3, "alpha": 1.0})
    yield regressor("vector", vector)
    yield regressor("vector contracted", vector, {"n_contractions": 1, "constant": True, "keep_inputs": False})
    yield regressor("vector weights", vector, fit=weighted_fit)
    yield regressor("weights", fit=weighted_fit)
    yield regressor("csr", as_csr(curve))
    yield regressor("float32", as_float32(curve), {"alpha": 10.0}, **SINGLE_RIDGE)
    yield regressor("wide", with_targets(wide, three_targets), {"alpha": 10.0})
    yield regressor("splines", parameters={"feature_map": "spline", "keep_inputs": False})
    yield regressor("one-vs-rest", parameters={"class_pairs": "one-vs-rest", "noise": "covariance"})
    yield regressor("shrinkage", parameters={"shrinkage": "auto", "max_components": 10})


def gem_cases() -> Iterator[Case]:
    yield from feature_cases()
    yield from pair_cases()
    yield from map_cases()
    yield from classifier_cases()
    yield from search_cases()
    yield from regressor_cases()
