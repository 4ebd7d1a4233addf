"""Estimators of one quotient: Fisher's discriminant, any Rayleigh quotient, principal directions, sliced regression."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from recording import Case, cases_of, fit, partial_fit
from row_inputs import Given, in_batches
from same_data import Data, cancer, curve, digits, iris, named_wine, wide, wide_words, wine, words
from scipy import sparse

SINGLE = {"given": "float32", "tolerance": 1e-5, "reason": "sums of float32 rows round at 6e-8; solving amplifies that"}
TRANSFORMED = ("transform", "eigenvalues_", "components_")
CLASSIFIED = ("transform", "eigenvalues_", "decision_function", "predict_proba", "predict")
STREAMS = ("batches", "parquet", "dask")


def from_moments(estimator, given: Given) -> dict:
    """What reads the moments again after the fit."""
    projected = estimator.transform(given.test)
    return {"patterns_": estimator.patterns_, "inverse_transform": estimator.inverse_transform(projected)}


def fisher_cases() -> Iterator[Case]:
    fisher = cases_of("FisherLDA", wine, CLASSIFIED)
    yield fisher("wine", extra=from_moments)
    yield fisher("two classes", cancer)
    yield fisher("text labels", named_wine)
    yield fisher("constant columns", digits)
    yield fisher("sparse", words)
    yield fisher("float32", **SINGLE)
    yield fisher("wide", wide, ridge=0.1, extra=from_moments)
    yield fisher("wide sparse", wide_words, ridge=0.5)
    yield fisher("total equal", noise="total", class_weighting="equal", ridge=0.2)
    yield fisher("priors", priors=[0.2, 0.3, 0.5])
    yield fisher("one component", n_components=1)
    for shrinkage in ("auto", "oas", 0.3):
        yield fisher(f"shrinkage {shrinkage}", shrinkage=shrinkage)
        yield fisher(f"wide shrinkage {shrinkage}", wide, shrinkage=shrinkage)
    yield fisher("weights", weighted=True, shrinkage="auto")
    yield fisher("partial fit", fit=partial_fit, ridge=0.1, shrinkage="auto")
    yield fisher("low rank", digits, solver="low_rank", ridge=0.1)
    yield fisher("dual", wide, solver="dual", ridge=0.1)
    for solver in ("krylov", "randomized"):
        yield fisher(solver, digits, solver=solver, ridge=0.1, tol=1e-12)
    for given in STREAMS:
        yield fisher(given, named_wine, given=given, weighted=True, shrinkage="auto", noise="total")
    yield fisher("sparse batches", words, given="batches", ridge=0.1)


def first_covariance(moments) -> np.ndarray:
    """Covariance of the first class, as a user's function of the moments."""
    return moments.covariance(0)


def band(d: int) -> np.ndarray:
    """A positive definite matrix with entries on three diagonals."""
    return 2.0 * np.eye(d) + 0.5 * np.eye(d, k=1) + 0.5 * np.eye(d, k=-1)


def rayleigh_cases() -> Iterator[Case]:
    rayleigh = cases_of("RayleighFeatures", wine, TRANSFORMED, n_components=2)
    for signal, noise in (
        ("between", "within"),
        ("between", "total"),
        ("total", "within"),
        ("total", "identity"),
        ("within", "identity"),
        ("second_moment", "within"),
    ):
        yield rayleigh(f"{signal} over {noise}", signal=signal, noise=noise)
    yield rayleigh("matrix", signal="total", noise=band(13))
    yield rayleigh("smallest", signal="total", noise=sparse.csr_matrix(band(13)), which="smallest")
    yield rayleigh("function", signal=first_covariance, noise="within")
    sums = {"signal": ["between", (0.3, "total")], "noise": [(0.5, "within"), (0.1, band(13)), (2.0, "identity")]}
    yield rayleigh("sums", **sums)
    yield rayleigh("about the origin", signal="second_moment", noise="within", centred=False)
    yield rayleigh("shrinkage", signal="total", noise="within", shrinkage=0.4)
    yield rayleigh("weights", weighted=True, ridge=0.3)
    yield rayleigh("partial fit", signal="total", fit=partial_fit)
    yield rayleigh("wide", wide, noise="total", ridge=0.2)
    yield rayleigh("wide sparse", wide_words, ridge=0.5)
    for given in STREAMS:
        yield rayleigh(given, given=given, weighted=True, **sums)


def fit_with_noise(estimator, given: Given):
    """Differences of rows of one class are the noise."""
    order = np.argsort(given.y, kind="stable")
    return fit(estimator, given, noise=given.X[order[1:]] - given.X[order[:-1]])


def fit_with_noise_in_batches(estimator, given: Given):
    return fit(estimator, given, noise=in_batches(wine().X[:60] - wine().X[60:]))


def related() -> Data:
    """Iris with two columns that follow exactly from others."""
    data = iris()
    X, test = (np.column_stack([A, A[:, 0] + A[:, 1], A[:, 2] - 2 * A[:, 3]]) for A in (data.X, data.test))
    return Data(X, data.y, test)


def principal_cases() -> Iterator[Case]:
    oriented = cases_of("OrientedPCA", wine, TRANSFORMED, n_components=3)
    yield oriented("plain", extra=from_moments)
    yield oriented("about the origin", iris, centred=False)
    yield oriented("noise rows", fit=fit_with_noise, ridge=0.2)
    yield oriented("noise rows shrinkage", fit=fit_with_noise, shrinkage=0.3)
    yield oriented("noise matrix", noise=sparse.csr_matrix(band(13)))
    yield oriented("sparse noise rows", words, ridge=0.1, fit=fit_with_noise)
    yield oriented("wide noise rows", wide, ridge=0.5, fit=fit_with_noise)
    yield oriented("float32", **SINGLE)
    yield oriented("partial fit", fit=partial_fit)
    yield oriented("batches", given="batches", ridge=0.1, fit=fit_with_noise_in_batches)
    yield oriented("parquet", given="parquet", weighted=True)
    yield oriented("dask", given="dask")
    vanishing = cases_of("VanishingComponents", iris, TRANSFORMED)
    yield vanishing("two", n_components=2)
    yield vanishing("small", wine, max_eigenvalue=0.4, weighted=True)
    yield vanishing("exact", related, n_components=3, centred=True, outputs=("transform", "eigenvalues_"))
    yield vanishing("sparse", words, n_components=3)
    yield vanishing("partial fit", wine, n_components=3, fit=partial_fit)
    yield vanishing("parquet", wine, n_components=3, given="parquet", weighted=True)


def sliced_cases() -> Iterator[Case]:
    sliced = cases_of("SlicedInverseRegression", curve, (*TRANSFORMED, "slice_edges_"), n_components=2, n_slices=5)
    yield sliced("plain", extra=from_moments)
    yield sliced("by value", wine)
    yield sliced("shrinkage", shrinkage="oas")
    yield sliced("weights", weighted=True, ridge=0.3)
    yield sliced("csr", given="csr")
    yield sliced("wide", wide, ridge=0.2)
    yield sliced("float32", **SINGLE)
    for given in STREAMS:
        yield sliced(given, given=given, weighted=True)


def quotient_cases() -> Iterator[Case]:
    yield from fisher_cases()
    yield from rayleigh_cases()
    yield from principal_cases()
    yield from sliced_cases()
