"""Estimators of one quotient: Fisher's discriminant, any Rayleigh quotient, principal directions, sliced regression."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from recording import Case, fit_in_batches, new, weighted_fit
from same_data import (
    Rows,
    as_csr,
    as_float32,
    cancer,
    curve,
    digits,
    iris,
    named_wine,
    wide,
    wide_words,
    wine,
    words,
)
from scipy import sparse

SINGLE = {"tolerance": 1e-5, "reason": "float32 rows: sums round at 6e-8, and the eigenproblem amplifies that"}
TRANSFORMED = ("transform", "eigenvalues_")
CLASSIFIED = (*TRANSFORMED, "decision_function", "predict_proba", "predict")


def patterns(estimator, rows: Rows) -> dict:
    """What reads the moments again after the fit."""
    projected = estimator.transform(rows.test)
    return {"patterns_": estimator.patterns_, "inverse_transform": estimator.inverse_transform(projected)}


def fisher(name: str, rows=wine, parameters: dict | None = None, **how) -> Case:
    return Case(f"FisherLDA-{name}", partial(new, "FisherLDA", **(parameters or {})), rows, CLASSIFIED, **how)


def fisher_cases() -> Iterator[Case]:
    yield fisher("iris", iris)
    yield fisher("wine", extra=patterns)
    yield fisher("two classes", cancer)
    yield fisher("text labels", named_wine)
    yield fisher("constant columns", digits)
    yield fisher("csr", words)
    yield fisher("float32", as_float32(wine), **SINGLE)
    yield fisher("wide", wide, {"ridge": 0.1}, extra=patterns)
    yield fisher("wide csr", wide_words, {"ridge": 0.5})
    yield fisher("total", parameters={"noise": "total"})
    yield fisher("equal", parameters={"class_weighting": "equal"})
    yield fisher("total equal ridge", parameters={"noise": "total", "class_weighting": "equal", "ridge": 0.2})
    yield fisher("priors", parameters={"priors": [0.2, 0.3, 0.5]})
    yield fisher("one component", parameters={"n_components": 1})
    yield fisher("ridge", parameters={"ridge": 0.5})
    for shrinkage in ("auto", "oas", 0.3):
        yield fisher(f"shrinkage {shrinkage}", parameters={"shrinkage": shrinkage})
        yield fisher(f"wide shrinkage {shrinkage}", wide, {"shrinkage": shrinkage})
    yield fisher("weights", parameters={"shrinkage": "auto"}, fit=weighted_fit)
    yield fisher("batches", parameters={"ridge": 0.1, "shrinkage": "auto"}, fit=fit_in_batches)
    for solver in ("dense", "low_rank"):
        yield fisher(f"solver {solver}", digits, {"solver": solver, "ridge": 0.1})
    yield fisher("solver dual", wide, {"solver": "dual", "ridge": 0.1})
    for solver in ("krylov", "randomized"):
        yield fisher(f"solver {solver}", digits, {"solver": solver, "ridge": 0.1, "tol": 1e-12})


def scatter_of_first(moments) -> np.ndarray:
    """Covariance of the first class, as a user's function of the moments."""
    return moments.covariance(0)


def band(d: int) -> np.ndarray:
    """A positive definite matrix with entries on three diagonals."""
    return 2.0 * np.eye(d) + 0.5 * np.eye(d, k=1) + 0.5 * np.eye(d, k=-1)


def rayleigh(name: str, signal, noise, rows=wine, fit=None, **parameters) -> Case:
    parameters = {"n_components": 2, **parameters}
    make = partial(new, "RayleighFeatures", signal=signal, noise=noise, **parameters)
    return Case(f"RayleighFeatures-{name}", make, rows, TRANSFORMED, **({"fit": fit} if fit else {}))


def distinct(signal: str, noise: str) -> dict:
    """Which directions have eigenvalues of their own, where matrices differ by one of small rank."""
    if {signal, noise} == {"total", "second_moment"}:  # by the mean: rank one
        return {"n_components": 1, "which": "largest" if noise == "total" else "smallest"}
    if signal == "within" and noise in ("total", "second_moment"):  # by the class means: rank two
        return {"which": "smallest"}
    return {}


def rayleigh_cases() -> Iterator[Case]:
    names = ("between", "within", "total", "second_moment", "identity")
    for signal in names:
        for noise in names[1:]:  # "between" is singular below
            if signal != noise:
                yield rayleigh(f"{signal} over {noise}", signal, noise, **distinct(signal, noise))
    yield rayleigh("ridged between", "total", "between", ridge=0.1)
    yield rayleigh("matrix", "total", band(13))
    yield rayleigh("sparse matrix", "total", sparse.csr_matrix(band(13)))
    yield rayleigh("given signal", band(13), "within")
    yield rayleigh("function", scatter_of_first, "within")
    yield rayleigh("function of classes", scatter_of_first, "identity", labels=True)
    yield rayleigh("sums", ["between", (0.3, "total")], [(0.5, "within"), (0.1, band(13)), (2.0, "identity")])
    yield rayleigh("smallest", "total", band(13), which="smallest")
    yield rayleigh("about the origin", "second_moment", "within", centred=False)
    yield rayleigh("ridge", "between", "within", ridge=0.3)
    yield rayleigh("shrinkage", "total", "within", shrinkage=0.4)
    yield rayleigh("weights", "between", "within", fit=weighted_fit)
    yield rayleigh("batches", "total", "within", fit=fit_in_batches)
    yield rayleigh("wide", "between", "total", wide, ridge=0.2)
    yield rayleigh("wide csr", "between", "within", wide_words, ridge=0.5)
    yield rayleigh("csr", "between", "within", words)


def fit_with_noise(estimator, rows: Rows):
    """Differences of rows of one class are the noise."""
    order = np.argsort(rows.y, kind="stable")
    noise = rows.X[order[1:]] - rows.X[order[:-1]]
    return estimator.fit(rows.X, noise=noise)


def oriented(name: str, rows=wine, parameters: dict | None = None, **how) -> Case:
    make = partial(new, "OrientedPCA", **{"n_components": 3, **(parameters or {})})
    return Case(f"OrientedPCA-{name}", make, rows, TRANSFORMED, **how)


def oriented_cases() -> Iterator[Case]:
    yield oriented("plain", extra=patterns)
    yield oriented("all", parameters={"n_components": None})
    yield oriented("about the origin", iris, {"centred": False})
    yield oriented("noise rows", fit=fit_with_noise)
    yield oriented("noise rows ridge", parameters={"ridge": 0.2}, fit=fit_with_noise)
    yield oriented("noise rows shrinkage", parameters={"shrinkage": 0.3}, fit=fit_with_noise)
    yield oriented("noise matrix", parameters={"noise": band(13)})
    yield oriented("sparse noise matrix", parameters={"noise": sparse.csr_matrix(band(13)), "ridge": 0.1})
    yield oriented("csr", words)
    yield oriented("csr noise rows", words, {"ridge": 0.1}, fit=fit_with_noise)
    yield oriented("wide", wide)
    yield oriented("wide noise rows", wide, {"ridge": 0.5}, fit=fit_with_noise)
    yield oriented("float32", as_float32(wine), **SINGLE)
    yield oriented("weights", fit=weighted_fit)
    yield oriented("batches", fit=fit_in_batches)
    for solver in ("krylov", "randomized"):
        yield oriented(f"solver {solver}", digits, {"solver": solver, "tol": 1e-12})


def related() -> Rows:
    """Iris with two columns that follow exactly from others."""
    rows = iris()
    X, test = (np.column_stack([A, A[:, 0] + A[:, 1], A[:, 2] - 2 * A[:, 3]]) for A in (rows.X, rows.test))
    return Rows(X, rows.y, test)


def vanishing_cases() -> Iterator[Case]:
    for name, rows, parameters, how in (
        ("plain", iris, {}, {}),
        ("two", iris, {"n_components": 2}, {}),
        ("centred", iris, {"centred": True}, {}),
        ("small", wine, {"max_eigenvalue": 0.4}, {"fit": weighted_fit}),
        ("exact", related, {"n_components": 3, "centred": True}, {}),
        ("csr", words, {"n_components": 3}, {}),
        ("batches", wine, {"n_components": 3}, {"fit": fit_in_batches}),
    ):
        make = partial(new, "VanishingComponents", **parameters)
        yield Case(f"VanishingComponents-{name}", make, rows, TRANSFORMED, **how)


def sliced_cases() -> Iterator[Case]:
    for name, rows, parameters, how in (
        ("plain", curve, {}, {"extra": patterns}),
        ("four slices", curve, {"n_slices": 4}, {}),
        ("one component", curve, {"n_components": 1}, {}),
        ("by value", wine, {}, {}),
        ("ridge", curve, {"ridge": 0.3}, {}),
        ("shrinkage oas", curve, {"shrinkage": "oas"}, {}),
        ("shrinkage", curve, {"shrinkage": 0.3}, {}),
        ("weights", curve, {"n_slices": 5}, {"fit": weighted_fit}),
        ("csr", as_csr(curve), {"n_slices": 5}, {}),
        ("wide", wide, {"ridge": 0.2, "n_components": 2}, {}),
        ("float32", as_float32(curve), {"n_slices": 5, "n_components": 2}, SINGLE),
    ):
        make = partial(new, "SlicedInverseRegression", **parameters)
        outputs = (*TRANSFORMED, "slice_edges_")
        yield Case(f"SlicedInverseRegression-{name}", make, rows, outputs, **how)


def quotient_cases() -> Iterator[Case]:
    yield from fisher_cases()
    yield from rayleigh_cases()
    yield from oriented_cases()
    yield from vanishing_cases()
    yield from sliced_cases()
