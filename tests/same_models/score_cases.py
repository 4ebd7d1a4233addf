"""FEAST: score models, features and a classifier from cross-moments of labels with score tensors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from recording import Case, cases_of, fit, new
from row_inputs import Given
from same_data import cubic_labels, iris, three_targets, uniform, wine, with_targets

SINGLE = {"given": "float32", "tolerance": 1e-5, "reason": "sums of float32 rows round at 6e-8; solving amplifies that"}
TRAINED = {"tolerance": 1e-4, "reason": "trained in float32 by stochastic gradients, each step of which rounds"}


def mixture_cases() -> Iterator[Case]:
    mixture = cases_of("GaussianMixtureScore", iris, ("score1", "score_samples", "weights_", "means_"), ridge=0.05)
    yield mixture("plain", weighted=True)
    yield mixture("diag", wine, covariance_type="diag")
    yield mixture("factor", wine, covariance_type="factor", n_factors=3)
    for kind in ("full", "tied"):
        yield mixture(f"mixture {kind}", n_mixture=3, covariance_type=kind)
    yield mixture("float32", **SINGLE)
    yield mixture("few steps", n_mixture=2, max_iter=3)


def train_in_parts(estimator, given: Given):
    for start in (0, 70, 140):
        estimator.partial_fit(given.X[start : start + 70])
    return estimator


def autoencoder_cases() -> Iterator[Case]:
    small = {"n_hidden": 6, "max_iter": 6, "batch_size": 32, "corruption_level": 0.2}
    outputs = ("transform", "reconstruct", "score1", "corruption_variance_", "loss_curve_")
    autoencoder = cases_of("DenoisingAutoencoder", uniform, outputs, **small, **TRAINED)
    yield autoencoder("standardised", wine, n_hidden=10)
    yield autoencoder("sigmoid", output="sigmoid", weighted=True)
    yield autoencoder("masking", corruption="masking", corruption_level=0.3)
    yield autoencoder("sgd", solver="sgd", gain=1.0, early_stopping=False)
    yield autoencoder("parts", fit=train_in_parts)
    yield autoencoder("impatient", n_iter_no_change=1, tol=0.05, max_iter=30)
    yield autoencoder("float32", given="float32")
    streamed = {"early_stopping": False, "outputs": ("transform", "corruption_variance_", "loss_curve_")}
    yield autoencoder("batches", wine, given="batches", **streamed)
    yield autoencoder("parquet", wine, given="parquet", weighted=True, **streamed)


SCORES = {
    "gaussian": lambda: None,
    "mixture": lambda: new("GaussianMixtureScore", n_mixture=2, ridge=0.05),
    "diagonal": lambda: new("GaussianMixtureScore", covariance_type="diag"),
    "factors": lambda: new("GaussianMixtureScore", covariance_type="factor", n_factors=2),
}


def fit_with_prefit_score(estimator, given: Given):
    """The score model has learnt from other rows."""
    model = new("GaussianMixtureScore", ridge=0.01).fit(np.random.default_rng(13).normal(size=(300, 4)))
    return fit(estimator.set_params(score_model=model, prefit=True), given)


def fit_beside_unlabelled(estimator, given: Given):
    return fit(estimator, given, unlabelled=given.test)


def tensor_cases() -> Iterator[Case]:
    outputs = ("transform", "components_", "weights_", "label_factors_", "relative_error_")
    settings = {"columns": "none", "n_axes": "all", "max_iter": 100, "tol": 1e-6, "n_components": 2}
    tensors = cases_of("ScoreTensorFeatures", cubic_labels, outputs, **settings)
    for order in (1, 2, 3):
        few = {"order": order, "n_components": 1 if order == 1 else 2}  # two leave no error of order 1 but rounding
        for name, score in SCORES.items():
            yield tensors(f"order {order} {name}", score_model=score(), **few)
        yield tensors(f"order {order} weights", weighted=True, noise="identity", **few)
        real = with_targets(cubic_labels, three_targets)
        yield tensors(f"order {order} real targets", real, order=order, n_components=1)
    trained = new("DenoisingAutoencoder", n_hidden=6, max_iter=4, corruption_level=0.2)
    yield tensors("autoencoder", order=2, n_components=1, score_model=trained, **TRAINED)
    yield tensors("order 4", order=4, n_components=1)
    yield tensors("several orders", order=(1, 2), columns="auto", n_axes=3)
    yield tensors("als", order=3, solver="als", n_components=1)
    yield tensors("power", order=3, solver="power", n_restarts=10, n_init=2)
    yield tensors("prefit", order=2, fit=fit_with_prefit_score)
    yield tensors("unlabelled", order=2, fit=fit_beside_unlabelled)
    yield tensors("float32", order=2, **SINGLE)
    yield tensors("new batches", order=2, given="new batches")
    for name in ("identity", "spline", "soft-cubic"):
        yield tensors(f"map {name}", order=2, feature_map=name)


def classifier_cases() -> Iterator[Case]:
    settings = {"order": 2, "n_components": 2, "columns": "none", "n_axes": "all", "alpha": 0.01, "tol": 1e-9}
    outputs = ("decision_function", "predict_proba", "predict", "alpha_")
    classifier = cases_of("ScoreTensorClassifier", cubic_labels, outputs, feature_map="rectified", **settings)
    yield classifier("plain")
    yield classifier("alpha", alpha=None, feature_map="auto")
    yield classifier("weights", weighted=True, class_weight="balanced")
    yield classifier("unlabelled", fit=fit_beside_unlabelled, columns="auto", n_axes=3)
    yield classifier("new batches", given="new batches")
    scores = ("decision_function", "predict")  # the temperature of probabilities is found on features in float32
    yield classifier("float32", outputs=scores, **SINGLE | {"tol": 1e-4, "tolerance": 1e-4})


def score_cases() -> Iterator[Case]:
    yield from mixture_cases()
    yield from autoencoder_cases()
    yield from tensor_cases()
    yield from classifier_cases()
