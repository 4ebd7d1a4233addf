"""GEM: features, classifier, its search over hyper-parameters, and regressor; and the multinomial logit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from recording import Case, cases_of, fit, fit_in_groups
from row_inputs import Given
from same_data import (
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
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

SINGLE = {"given": "float32", "tolerance": 1e-5, "reason": "sums of float32 rows round at 6e-8; solving amplifies that"}
SINGLE_LOGIT = {
    "given": "float32",
    "tolerance": 1e-4,
    "reason": "the gradient of float32 rows is zero up to rounding",
}
SINGLE_RIDGE = {"given": "float32", "tolerance": 1e-3, "reason": "float32 features that nearly depend on each other"}
STREAMS = ("batches", "parquet", "dask")

TRANSFORMED = ("transform", "eigenvalues_")
CLASSIFIED = ("predict_proba", "decision_function", "predict")
LAYER = {"columns": None, "ridge": 0.5, "feature_map": "soft-cubic", "keep_inputs": True}
CLASSIFIER = {
    **LAYER,
    "n_components": 2,
    "base_map": None,
    "alpha": 0.01,
    "label_smoothing": 0.0,
    "classifier_tol": 1e-10,
}
SMOOTHED = {"label_smoothing": 0.1}
"""With smoothed labels a temperature is found on left-out rows; which these are, a few cases of their own depend on."""


def waves(projections: np.ndarray) -> np.ndarray:
    """A user's feature map."""
    return np.hstack([np.sin(projections), np.cos(projections)])


# ---------------------------------------------------------------- features

PAIRS = (
    ("all", None),
    ("hypercube", 6),
    ("random", 5),
    ("stratified", 7),
    ("one-vs-rest", None),
    ("contractions", 3),
    ("per-class", None),
)
MAPS = (
    "cubic",
    "soft-cubic",
    "rectified",
    "rectified-positive",
    "sqrt",
    "square",
    "absolute",
    "spline",
    "identity",
)


def feature_cases() -> Iterator[Case]:
    features = cases_of("GEMFeatures", digits, TRANSFORMED, **LAYER | {"n_components": 2, "keep_inputs": False})
    for strategy, n_pairs in PAIRS:
        yield features(f"pairs {strategy} {n_pairs}", class_pairs=strategy, n_pairs=n_pairs)
    yield features("pairs listed", named_wine, class_pairs=[("barolo", "barbera"), ("barbera", "grignolino")])
    yield features("many classes", many_classes, n_pairs=20)
    for name in MAPS:
        yield features(f"map {name}", wine, feature_map=name)
    yield features("map function", wine, feature_map=waves)
    yield features("two classes", cancer, n_components=None)
    yield features("columns", wine, columns="auto")
    yield features("csr", given="csr")
    yield features("float32", **SINGLE)
    yield features("wide", wide)
    yield features("wide sparse", wide_words, noise="covariance")
    yield features("wide float32", wide, **SINGLE)
    yield features("diagonal ridge", wine, ridge=0.3, ridge_shape="diagonal")
    yield features("min_eigenvalue", min_eigenvalue=2.0, ridge=0.05)
    yield features("max_components", max_components=15)
    yield features("constant", constant=True, keep_inputs=True)
    yield features("weights", weighted=True, noise="covariance")
    yield features("wide weights", wide, weighted=True)
    yield features("subclasses", wine, subclasses=2)
    yield features("invariances", wine, invariances=[shifted])
    for shrinkage in ("auto", 0.3):
        yield features(f"shrinkage {shrinkage}", wine, shrinkage=shrinkage)
    for solver in ("krylov", "randomized"):
        yield features(solver, solver=solver, n_components=1, tol=1e-12)
    for given in STREAMS:
        yield features(given, named_wine, given=given, weighted=True, keep_inputs=True, constant=True)
    yield features("sparse batches", words, given="batches", weighted=True)
    yield features("spline batches", wine, given="batches", feature_map="spline")


def shifted(rows: np.ndarray) -> np.ndarray:
    """A small move of every row, under which features should not change."""
    return rows + 0.1 * np.linspace(-1, 1, rows.shape[1])


# ---------------------------------------------------------------- classifier


def fit_beside_unlabelled(estimator, given: Given):
    return fit(estimator, given, unlabelled=given.test)


def fit_with_subclasses(estimator, given: Given):
    return fit(estimator, given, subclass_labels=np.where(given.X[:, 0] > 0, "high", "low"))


def classifier_cases() -> Iterator[Case]:
    classifier = cases_of("GEMClassifier", wine, (*CLASSIFIED, "eigenvalues_"), **CLASSIFIER)
    yield classifier("plain", extra=lambda model, given: {"transform": model.transform(given.test)})
    yield classifier("two classes", cancer, class_weight="balanced")
    yield classifier("text labels", named_wine, class_weight={"barolo": 2.0})
    yield classifier("sparse", words)
    yield classifier("wide", wide)
    yield classifier("wide sparse", wide_words)
    yield classifier("float32", classifier_tol=1e-4, **SINGLE_LOGIT)
    yield classifier("many classes", many_classes, n_components=1)
    yield classifier("covariance", noise="covariance", constant=True, shrinkage="auto")
    yield classifier("splines", feature_map="spline", base_map="splines")
    yield classifier("axes", base_map="axes")
    yield classifier("base map", base_map=Nystroem(n_components=20, gamma=0.05, random_state=0))
    yield classifier("columns", columns="auto")
    yield classifier("diagonal ridge", ridge_shape="diagonal", ridge=0.1)
    yield classifier("weights", weighted=True)
    yield classifier("unlabelled", columns="auto", fit=fit_beside_unlabelled)
    yield classifier("subclasses", subclasses=2)
    yield classifier("subclass labels", fit=fit_with_subclasses)
    yield classifier("invariances", invariances=[shifted])
    ensemble = {"n_estimators": 3, "class_pairs": "random", "n_pairs": 3}
    yield classifier("ensemble", digits, n_components=1, **ensemble)
    yield classifier("two layers", n_layers=2)
    lists = {"feature_map": ["rectified", "spline"], "max_components": [9, 6], "min_eigenvalue": [0.1, 0.2]}
    yield classifier("two layers of their own", n_layers=2, **lists)
    other = LogisticRegression(C=0.1, tol=1e-10, max_iter=2000)
    yield classifier("given logit", classifier=other)
    machine = LinearSVC(C=0.01, tol=1e-8, max_iter=100_000, random_state=0)
    yield classifier("given machine", classifier=machine, outputs=("decision_function", "predict"))
    yield classifier("smoothed", weighted=True, **SMOOTHED)
    yield classifier("smoothed groups", overlapping, fit=fit_in_groups, **SMOOTHED)
    for given in STREAMS:
        yield classifier(given, named_wine, given=given, weighted=True)
        yield classifier(f"smoothed {given}", named_wine, given=given, **SMOOTHED)
        yield classifier(f"two layers {given}", named_wine, given=given, n_layers=2, class_weight="balanced")
    yield classifier("ensemble batches", overlapping, given="batches", **ensemble)
    yield classifier("ensemble dask", overlapping, given="dask", **ensemble)
    splines = {"feature_map": "spline", "base_map": "splines"}
    yield classifier("splines batches", overlapping, given="batches", **splines)
    yield classifier("splines dask", overlapping, given="dask", **splines)
    yield classifier("columns parquet", named_wine, given="parquet", columns="auto")
    yield classifier("new batches", named_wine, given="new batches")


def scores(model, given: Given) -> dict:
    chosen = {name: model.best_params_[name] for name in ("ridge", "min_eigenvalue", "n_components", "alpha")}
    return {**chosen, "best_score_": model.best_score_, "scores": model.cv_results_["mean_test_score"]}


def search_cases() -> Iterator[Case]:
    grid = {"ridges": (0.1, 1.0), "min_eigenvalues": (0.0, 0.5), "n_components_grid": (1, 2), "alphas": (1e-3, 1e-2)}
    settings = {"columns": None, "base_map": None, "classifier_tol": 1e-10, "label_smoothings": (0.0,)}
    folds = StratifiedKFold(3)
    search = cases_of("GEMClassifierCV", overlapping, CLASSIFIED, extra=scores, cv=folds, **grid, **settings)
    yield search("plain")
    yield search("log loss", scoring="neg_log_loss")
    yield search("part", cv=0.2, weighted=True)
    yield search("groups", fit=fit_in_groups, cv=3)
    yield search("smoothed", label_smoothings=(0.0, 0.2), ridges=(0.3,))
    yield search("layers", n_layers_grid=(1, 2), subclasses_grid=(1, 2), ridges=(0.3,), min_eigenvalues=(0.0,))
    yield search("sparse", words, feature_maps=("soft-cubic", "rectified"), n_components_grid=(2,))
    yield search("two classes", cancer, class_weight="balanced", noise="covariance")
    small = {"ridges": (0.3,), "min_eigenvalues": (0.0,)}
    yield search("batches", given="batches", **small)
    yield search("dask", given="dask", **small)


# ---------------------------------------------------------------- regressor


def regressor_cases() -> Iterator[Case]:
    outputs = ("predict", "coef_", "intercept_", "eigenvalues_", "alpha_")
    regressor = cases_of("GEMRegressor", curve, outputs, **LAYER, n_components=2, n_slices=4)
    targets = with_targets(curve, three_targets)
    yield regressor("plain")
    yield regressor("alpha", alpha=1.0, columns="auto")
    yield regressor("several targets", targets)
    yield regressor("several targets contracted", targets, n_contractions=1, constant=True, keep_inputs=False)
    yield regressor("several targets weights", targets, weighted=True)
    yield regressor("csr", given="csr", weighted=True, alpha=1.0)
    yield regressor("float32", alpha=10.0, **SINGLE_RIDGE)
    yield regressor("wide", with_targets(wide, three_targets), alpha=10.0)
    yield regressor("splines", feature_map="spline", keep_inputs=False)
    yield regressor("one-vs-rest", class_pairs="one-vs-rest", noise="covariance")
    for given in STREAMS:
        yield regressor(given, given=given, weighted=True, alpha=1.0)
    yield regressor("several targets batches", targets, given="batches", alpha=1.0)
    yield regressor("several targets parquet", targets, given="parquet")


# ---------------------------------------------------------------- logit


def refit(estimator, given: Given):
    """The second fit starts where the first ended."""
    return fit(fit(estimator, given).set_params(alpha=3e-2), given)


def along_alphas(model, given: Given) -> dict:
    path = model.alpha_path(given.X, given.y, [1e-3, 1e-1, 1e-2], given.weights)
    return {"alpha_path": np.stack([member.predict_proba(given.test) for member in path])}


def logit_cases() -> Iterator[Case]:
    outputs = ("decision_function", "predict_proba", "predict", "coef_", "intercept_", "temperature_", "objective_")
    loose = {"tolerance": 1e-7, "reason": "the descent ends at a relative gap of 1e-12, and rounding decides where"}
    logit = cases_of("MultinomialLogit", wine, outputs, alpha=1e-2, tol=1e-12, **loose)
    yield logit("plain", extra=along_alphas)
    yield logit("two classes", cancer, extra=along_alphas)
    yield logit("text labels", named_wine, class_weight={"barolo": 3.0, "barbera": 0.5})
    yield logit("sparse", words)
    yield logit("wide", wide)
    yield logit("wide sparse", wide_words)
    yield logit("float32", tol=1e-4, **SINGLE_LOGIT)
    yield logit("weights", weighted=True, class_weight="balanced")
    yield logit("no intercept", fit_intercept=False)
    yield logit("smoothed", digits, **SMOOTHED)
    yield logit("smoothed groups", fit=fit_in_groups, **SMOOTHED)
    for solver in ("gram", "diagonal", "classes", "sample"):
        yield logit(solver, digits, solver=solver)
    yield logit("small batches", batch_size=32)
    yield logit("warm start", warm_start=True, fit=refit)
    yield logit("few steps", digits, max_iter=3)
    for given in STREAMS:
        yield logit(given, named_wine, given=given, weighted=True)
    yield logit("smoothed batches", named_wine, given="batches", **SMOOTHED)
    yield logit("sparse batches", words, given="batches", class_weight="balanced")


def gem_cases() -> Iterator[Case]:
    yield from feature_cases()
    yield from classifier_cases()
    yield from search_cases()
    yield from regressor_cases()
    yield from logit_cases()
