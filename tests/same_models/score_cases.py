"""Score models, and features from cross-moments of labels with score tensors."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from recording import Case, new, weighted_fit
from same_data import Rows, Source, as_float32, cubic_labels, iris, three_targets, uniform, wine, with_targets

SINGLE = {"tolerance": 1e-5, "reason": "float32 rows: sums round at 6e-8, and the decomposition amplifies that"}
TRAINED = {"tolerance": 1e-4, "reason": "trained in float32 by stochastic gradients, each step of which rounds"}
OF_TRAINED = {"tolerance": 1e-4, "reason": "its score model is trained in float32 by stochastic gradients"}


# ---------------------------------------------------------------- score models


def mixture(name: str, rows: Source = iris, parameters: dict | None = None, **how) -> Case:
    make = partial(new, "GaussianMixtureScore", **(parameters or {}))
    outputs = ("score1", "score_samples", "weights_", "means_")
    return Case(f"GaussianMixtureScore-{name}", make, rows, outputs, **how)


def mixture_cases() -> Iterator[Case]:
    yield mixture("plain")
    yield mixture("weights", fit=weighted_fit)
    yield mixture("ridge", wine, {"ridge": 0.1})
    yield mixture("diag", wine, {"covariance_type": "diag"})
    yield mixture("factor", wine, {"covariance_type": "factor", "n_factors": 3})
    for kind in ("full", "tied", "diag"):
        parameters = {"n_mixture": 3, "covariance_type": kind, "ridge": 0.05}
        yield mixture(f"mixture {kind}", parameters=parameters)
    yield mixture("float32", as_float32(iris), **SINGLE)
    yield mixture("few steps", parameters={"n_mixture": 2, "max_iter": 3})


def autoencoder(name: str, rows: Source = uniform, parameters: dict | None = None, **how) -> Case:
    small = {"n_hidden": 6, "max_iter": 6, "batch_size": 32, "corruption_level": 0.2}
    make = partial(new, "DenoisingAutoencoder", **{**small, **(parameters or {})})
    outputs = ("transform", "reconstruct", "score1", "corruption_variance_", "loss_curve_")
    return Case(f"DenoisingAutoencoder-{name}", make, rows, outputs, **TRAINED, **how)


def train_in_parts(estimator, rows: Rows):
    for start in (0, 70, 140):
        estimator.partial_fit(rows.X[start : start + 70])
    return estimator


def autoencoder_cases() -> Iterator[Case]:
    yield autoencoder("plain")
    yield autoencoder("standardised", wine, {"n_hidden": 10})
    yield autoencoder("sigmoid", parameters={"output": "sigmoid"})
    yield autoencoder("masking", parameters={"corruption": "masking", "corruption_level": 0.3})
    yield autoencoder("sigmoid masking", parameters={"output": "sigmoid", "corruption": "masking"})
    yield autoencoder("sgd", parameters={"solver": "sgd"})
    yield autoencoder("fixed gain", parameters={"gain": 1.0})
    yield autoencoder("no early stopping", parameters={"early_stopping": False})
    yield autoencoder("parts", fit=train_in_parts)
    yield autoencoder("impatient", parameters={"n_iter_no_change": 1, "tol": 0.05, "max_iter": 30})


# ---------------------------------------------------------------- score tensors


OUTPUTS = ("transform", "components_", "weights_", "label_factors_", "relative_error_")


def tensors(name: str, rows: Source = cubic_labels, parameters: dict | None = None, **how) -> Case:
    plain = {"order": 3, "n_components": 2, "columns": "none", "n_axes": "all", "max_iter": 100, "tol": 1e-6}
    make = partial(tensor_features, **{**plain, **(parameters or {})})
    return Case(f"ScoreTensorFeatures-{name}", make, rows, OUTPUTS, **how)


def tensor_features(score: tuple[str, dict] | None = None, **parameters):
    """Score tensor features with a score model that is named and made anew."""
    model = None if score is None else new(score[0], **score[1])
    return new("ScoreTensorFeatures", score_model=model, **parameters)


SCORES: dict[str, tuple[str, dict] | None] = {
    "gaussian": None,
    "mixture": ("GaussianMixtureScore", {"n_mixture": 2, "ridge": 0.05}),
    "tied mixture": ("GaussianMixtureScore", {"n_mixture": 2, "covariance_type": "tied", "ridge": 0.05}),
    "diagonal": ("GaussianMixtureScore", {"covariance_type": "diag"}),
    "factors": ("GaussianMixtureScore", {"covariance_type": "factor", "n_factors": 2}),
}
TRAINED_SCORE = ("DenoisingAutoencoder", {"n_hidden": 6, "max_iter": 4, "corruption_level": 0.2})


def order_cases() -> Iterator[Case]:
    for order in (1, 2, 3):
        n_components = 1 if order == 1 else 2  # two explain all of the first order, with no error but rounding
        for name, score in SCORES.items():
            yield tensors(
                f"order {order} {name}", parameters={"order": order, "score": score, "n_components": n_components}
            )
        of_trained = {"order": order, "score": TRAINED_SCORE, "n_components": 1}
        yield tensors(f"order {order} autoencoder", parameters=of_trained, **OF_TRAINED)
        identity = {"order": order, "noise": "identity", "n_components": n_components}
        yield tensors(f"order {order} identity", parameters=identity)
        real = with_targets(cubic_labels, three_targets)
        yield tensors(f"order {order} real targets", real, {"order": order, "n_components": 1})
        weighted = {"order": order, "n_components": n_components}
        yield tensors(f"order {order} weights", parameters=weighted, fit=weighted_fit)


def fit_with_prefit_score(estimator, rows: Rows):
    """The score model has learnt from other rows."""
    other = np.random.default_rng(13).normal(size=(300, 4))
    model = new("GaussianMixtureScore", ridge=0.01).fit(other)
    return estimator.set_params(score_model=model, prefit=True).fit(rows.X, rows.y)


def fit_with_score_function(estimator, rows: Rows):
    function = new("GaussianMixtureScore", ridge=0.02).fit(rows.X).score_function_
    return estimator.set_params(score_model=function).fit(rows.X, rows.y)


def tensor_cases() -> Iterator[Case]:
    yield from order_cases()
    yield tensors("order 4", parameters={"order": 4, "n_components": 1})
    yield tensors("als", parameters={"solver": "als", "n_components": 1})
    yield tensors("power", parameters={"solver": "power", "n_restarts": 10, "n_init": 2})
    yield tensors("default components", parameters={"n_components": None, "order": 2})
    yield tensors("prefit", parameters={"order": 2}, fit=fit_with_prefit_score)
    yield tensors("score function", parameters={"order": 2}, fit=fit_with_score_function)
    yield tensors("float32", as_float32(cubic_labels), {"order": 2}, **SINGLE)
    for name in ("identity", "spline", "soft-cubic"):
        yield tensors(f"map {name}", parameters={"order": 2, "feature_map": name})


def score_cases() -> Iterator[Case]:
    yield from mixture_cases()
    yield from autoencoder_cases()
    yield from tensor_cases()
