"""The order of the rows changes no fit by more than rounding: sorted by class or shuffled, in memory and streamed.

Whatever a fit draws or leaves out, it draws and leaves out by the keys of rows (`eigenfeat.rows.keys`), or from rows in
the order of their keys. What the user gives by position keeps it: numbers of centres, splitters, lists of splits.
"""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.datasets import load_iris, load_wine
from sklearn.utils import get_tags

import eigenfeat
import eigenfeat.rows
from eigenfeat import (
    DenoisingAutoencoder,
    GaussianMixtureScore,
    GEMClassifier,
    GEMClassifierCV,
    GEMFeatures,
    GEMRegressor,
    KernelFisherClassifier,
    KernelFisherClassifierCV,
    KernelRayleighFeatures,
    LeastSquaresCCA,
    LeastSquaresLDA,
    LeastSquaresLDACV,
    MultinomialLogit,
    ScoreTensorClassifier,
)

ESTIMATORS = {
    name: cls
    for name, cls in inspect.getmembers(eigenfeat, inspect.isclass)
    if issubclass(cls, BaseEstimator) and not inspect.isabstract(cls)
}
VERBS = ("transform", "predict_proba", "decision_function", "predict", "score_samples")

ROUNDING = 1e-7
"""Of the largest result, where equations are solved once; what is iterated is asked to end here."""

#: Iterations that end early by default are asked to go on.
TIGHT = {
    "GEMClassifier": {"classifier_tol": 1e-12, "max_iter": 1000},
    "GEMClassifierCV": {"classifier_tol": 1e-12, "max_iter": 1000},
    "MultinomialLogit": {"tol": 1e-12, "max_iter": 1000},
    "ScoreTensorClassifier": {"tol": 1e-12},
}
#: What is looser than `ROUNDING`, and why.
LOOSE = {
    "GEMClassifier": (1e-5, "its temperature is that of trials, whose logits stop early"),
    "DenoisingAutoencoder": (1e-3, "trained in float32; weights of mean one are sums over the rows"),
    "KernelFisherClassifierCV": (1e-5, "the penalty it chooses is so small that rounding shows"),
    "ScoreTensorClassifier": (1e-5, "the optimum of a power method, to its tolerance"),
    "ScoreTensorFeatures": (1e-5, "the optimum of a power method, to its tolerance"),
}
SGD = "stochastic gradients go from block to block as these are read: where rows are streamed, their order is the data"


# ------------------------------------------------------------------ data


def sorted_and_shuffled(y, seed=0):
    """Two orders of the rows: by label, and none."""
    labels = np.asarray(y if np.ndim(y) == 1 else np.asarray(y)[:, 0])
    return np.argsort(labels, kind="stable"), np.random.default_rng(seed).permutation(len(labels))


def small(cls):
    """A table of some hundred rows for any estimator, with a few of them for `results`."""
    if get_tags(cls()).input_tags.three_d_array:
        rng = np.random.default_rng(0)
        y = np.arange(90) % 3
        X = rng.normal(size=(90, 4, 30)) * (1 + (np.arange(4) == y[:, None]))[:, :, None]
        return X, y
    if cls.__name__ == "TableEncoder":
        X, y = load_iris(return_X_y=True, as_frame=True)
        return X.assign(size=pd.cut(X.iloc[:, 0], 3, labels=["small", "middle", "large"]).astype(str)), y
    X, y = load_wine(return_X_y=True) if not is_regressor(cls()) else load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, X[:, 0] + 0.1 * y if is_regressor(cls()) else y


def clouds(n, d=4, k=3, seed=0, cells=False):
    """Classes that overlap, of different spreads; of cells many rows are equal."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = rng.normal(size=(k, d))[y] + rng.uniform(0.5, 2, size=(k, d))[y] * rng.normal(size=(n, d))
    return (np.clip(np.round(X), -1, 1) if cells else X), y


def taken(rows, order):
    return rows.iloc[order] if hasattr(rows, "iloc") else rows[order]


def in_batches(X, y, size):
    """A stream of blocks."""

    def pieces():
        for start in range(0, len(X), size):
            yield X[start : start + size], y[start : start + size]

    return eigenfeat.rows.open(pieces)


# ------------------------------------------------------------------ the law


def fitted(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data)


def results(model, X):
    """Everything numeric an estimator says of rows, by verb."""
    found = {verb: getattr(model, verb)(X) for verb in VERBS if hasattr(model, verb)}
    arrays = {verb: v.toarray() if sparse.issparse(v) else np.asarray(v) for verb, v in found.items()}
    assert arrays
    return arrays


def assert_alike(models, X, tolerance):
    one, other = (results(model, X) for model in models)
    for verb, value in one.items():
        if verb == "predict" and is_classifier(models[0]):
            np.testing.assert_array_equal(value, other[verb], err_msg=verb)
            continue
        value, again = value.astype(float), other[verb].astype(float)
        np.testing.assert_allclose(again, value, rtol=0, atol=tolerance * np.abs(value).max(), err_msg=verb)


def tolerance_of(name):
    return LOOSE[name][0] if name in LOOSE else ROUNDING


def assert_order_does_not_matter(make, X, y, tolerance, streamed=False, test=None):
    models = []
    for order, size in zip(sorted_and_shuffled(y), (171, 90) if len(X) < 1000 else (1710, 900)):
        data = taken(X, order), taken(y, order)
        if streamed:
            with eigenfeat.runtime("1kB"):
                models.append(fitted(make(), in_batches(*data, size), None))
        else:
            models.append(fitted(make(), *data))
    assert_alike(models, X[::7] if test is None else test, tolerance)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_in_memory(name):
    X, y = small(ESTIMATORS[name])
    make = lambda: ESTIMATORS[name](**TIGHT.get(name, {}))  # noqa: E731
    assert_order_does_not_matter(make, X, y, tolerance_of(name), test=X.iloc[::7] if hasattr(X, "iloc") else None)


def takes_streams(name):
    """Whether an estimator is fitted to rows that are read a block at a time."""
    X, y = small(ESTIMATORS[name])
    if not isinstance(X, np.ndarray) or X.ndim > 2:
        return False
    try:
        with eigenfeat.runtime("1kB"):
            fitted(ESTIMATORS[name](), in_batches(X, y, 100), None)
    except (ValueError, TypeError):
        return False
    return True


STREAMED = {
    *("ColumnScaler", "FisherLDA", "GEMClassifier", "GEMClassifierCV", "GEMFeatures", "GEMRegressor"),
    *("KernelFisherClassifier", "LeastSquaresCCA", "LeastSquaresLDA", "LeastSquaresOPLS", "LeastSquaresFeatures"),
    *("MultinomialLogit", "OrientedPCA", "RayleighFeatures", "SlicedInverseRegression", "VanishingComponents"),
}


def test_those_that_stream_are_known():
    assert {name for name in ESTIMATORS if takes_streams(name)} == STREAMED | {"DenoisingAutoencoder"}, SGD


@pytest.mark.parametrize("name", sorted(STREAMED))
def test_streamed(name):
    X, y = small(ESTIMATORS[name])
    make = lambda: ESTIMATORS[name](**TIGHT.get(name, {}))  # noqa: E731
    assert_order_does_not_matter(make, X, y, tolerance_of(name), streamed=True)


# ------------------------------------------------------------------ fits that draw or leave out rows

GEM = {"columns": None, "base_map": None, "ridge": 0.3, "n_components": 2, "min_eigenvalue": 0.0, "alpha": 1e-3}
TIGHT_GEM = {**GEM, "classifier_tol": 1e-10, "max_iter": 1000, "label_smoothing": 0.0}
SMOOTH = {"label_smoothing": 0.2, "tol": 1e-10, "alpha": 1e-3}
KERNEL = {"columns": None, "gamma": 0.1, "tol": 1e-10, "max_iter": 1000}

#: What is drawn: how to make the estimator, rows, and the tolerance with its reason.
DRAWS = {
    "knots of splines": (lambda: GEMFeatures(2, feature_map="spline", columns=None), clouds(40_000, 3, 2), 1e-6),
    "sub-classes": (lambda: GEMClassifier(subclasses=3, **TIGHT_GEM), clouds(15_000), 1e-5),
    "sub-classes of cells": (lambda: GEMClassifier(subclasses=2, **TIGHT_GEM), clouds(3000, cells=True), 1e-5),
    "rows to search on": (lambda: GEMClassifier(classifier_tol=1e-8), clouds(8000), 1e-3),
    "copies of cells to search on": (lambda: GEMClassifier(classifier_tol=1e-8), clouds(6000, cells=True), 1e-3),
    "two layers": (lambda: GEMClassifier(n_layers=2, feature_map="spline", **TIGHT_GEM), clouds(25_000), 1e-5),
    "members": (lambda: GEMClassifier(n_estimators=2, **TIGHT_GEM), clouds(3000, k=5), 1e-5),
    "a part held out": (lambda: GEMClassifierCV(cv=0.2, columns=None, classifier_tol=1e-8), clouds(900), 1e-4),
    "folds": (lambda: GEMClassifierCV(cv=3, columns=None, classifier_tol=1e-8), clouds(600), 1e-4),
    "bins of a target": (lambda: GEMRegressor(alpha=1.0), (clouds(3000)[0], clouds(3000)[0][:, 0]), 1e-6),
    "folds of a temperature": (lambda: MultinomialLogit(**SMOOTH), clouds(900), 1e-5),
    "a part for a temperature": (lambda: MultinomialLogit(**SMOOTH), clouds(9000), 1e-5),
    "rows to start from": (lambda: MultinomialLogit(1e-3, tol=1e-12), clouds(45_000), 1e-6),
    "rows of cells to start from": (lambda: MultinomialLogit(1e-3, tol=1e-12), clouds(45_000, 3, cells=True), 1e-6),
    "centres": (lambda: KernelFisherClassifier(n_centers=40, **KERNEL), clouds(600), 1e-6),
    "centres of k-means": (lambda: KernelFisherClassifier(centers="kmeans", n_centers=9, **KERNEL), clouds(600), 1e-6),
    "candidates": (lambda: KernelFisherClassifier(solver="greedy", max_terms=20, **KERNEL), clouds(300), 1e-6),
    "terms": (lambda: KernelFisherClassifier(penalty="sparse", alpha="loo", **KERNEL), clouds(150), 1e-4),
    "a kernel screened": (lambda: KernelFisherClassifier(alpha="loo", **KERNEL), clouds(2500), 1e-5),
    "folds of a kernel": (lambda: KernelFisherClassifierCV(cv=3, columns=None), clouds(300), 1e-4),
    "rows held out of a margin": (
        lambda: KernelFisherClassifier(loss="logistic", alpha="loo", n_centers=40, **KERNEL),
        clouds(2500, k=2),
        1e-4,
    ),
    "a kernel's eigenproblem": (
        lambda: KernelRayleighFeatures(n_components=2, n_centers=30, columns=None),
        clouds(300),
        1e-5,
    ),
    "folds of a lasso": (lambda: LeastSquaresLDACV(penalty="lasso", tol=1e-12), clouds(300, 10), 1e-6),
    "five folds of a lasso": (lambda: LeastSquaresLDA(penalty="lasso", alpha="loo", tol=1e-12), clouds(300, 10), 1e-6),
    "rows left out one by one": (lambda: LeastSquaresCCA(alpha="loo"), clouds(6000, 10), 1e-6),
    "centres of a mixture": (lambda: GaussianMixtureScore(4), clouds(600), 1e-6),
    "factors": (lambda: GaussianMixtureScore(covariance_type="factor", n_factors=2), clouds(600, 8), 1e-6),
    "rows of an auto-encoder": (lambda: DenoisingAutoencoder(max_iter=5), clouds(900), 1e-3),
    "parts of score tensors": (lambda: ScoreTensorClassifier(order=2), clouds(600), 1e-4),
}


@pytest.mark.parametrize("name", DRAWS)
def test_what_is_drawn(name):
    make, (X, y), tolerance = DRAWS[name]
    assert_order_does_not_matter(make, X, y, tolerance)


STREAMED_DRAWS = (
    *("knots of splines", "sub-classes", "sub-classes of cells", "rows to search on", "copies of cells to search on"),
    *("two layers", "folds", "bins of a target", "folds of a temperature", "a part for a temperature"),
    *("rows to start from", "centres", "centres of k-means"),
)


@pytest.mark.parametrize("name", STREAMED_DRAWS)
def test_what_is_drawn_of_a_stream(name):
    make, (X, y), tolerance = DRAWS[name]
    assert_order_does_not_matter(make, X, y, tolerance, streamed=True)
