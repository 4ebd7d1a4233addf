"""The least-squares family: five models, each with all solvers and penalties, and with its penalty chosen."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from recording import Case, Fit, new, weighted_fit
from same_data import (
    Rows,
    Source,
    as_csr,
    as_float32,
    as_kernel,
    curve,
    labels,
    three_targets,
    wide,
    wide_words,
    wine,
    with_targets,
    words,
)
from scipy import sparse

SINGLE = {"tolerance": 1e-5, "reason": "float32 rows: sums round at 6e-8, and the solve amplifies that"}

TRANSFORMED = ("transform", "eigenvalues_")
MODELS = {
    "LeastSquaresLDA": None,
    "LeastSquaresCCA": three_targets,
    "LeastSquaresOPLS": three_targets,
    "HypergraphFeatures": labels,
    "LeastSquaresFeatures": three_targets,
}
"""What each model is given for y; None leaves the classes."""

LSQR_NOW = "block_cg"
"""The solver that was called "lsqr" when the outputs were stored."""

PLAIN = {"penalty": None, "alpha": 1.0}
"""The defaults when the outputs were stored."""

POLY = {"kernel": "poly", "gamma": 1 / 13}
"""With the default gamma of that time, one over the number of columns."""

SPARSE = ("lasso", "elasticnet", "group")


def rows_for(model: str, source: Source) -> Source:
    targets = MODELS[model]
    return source if targets is None else with_targets(source, targets)


def outputs_of(model: str) -> tuple[str, ...]:
    """Models of a target predict it; CCA has directions of it too."""
    more = {
        "LeastSquaresCCA": ("predict", "y_components_", "x_loadings_", "canonical_correlations_"),
        "LeastSquaresOPLS": ("predict", "y_loadings_"),
    }
    return (*TRANSFORMED, *more.get(model, ()))


def least_squares(model: str, name: str, rows: Source = wine, parameters: dict | None = None, **how) -> Case:
    parameters = {**PLAIN, "tol": 1e-12, "max_iter": 20_000, **(parameters or {})}
    outputs = tuple(o for o in outputs_of(model) if not ("kernel" in parameters and o == "x_loadings_"))
    make = partial(new, model, **parameters)
    return Case(f"{model}-{name}", make, rows_for(model, rows), outputs, **how)


def fit_with_unlabelled(estimator, rows: Rows):
    """The rows held out serve as rows without labels."""
    return estimator.fit(rows.X, rows.y, X_unlabelled=rows.test)


def along_alphas(estimator, rows: Rows) -> dict:
    path = estimator.path(rows.X, rows.y, sample_weight=rows.weights, alphas=[0.3, 3.0, 1.0])
    return {"path_components": path.components, "path_eigenvalues": path.eigenvalues}


def solver_cases(model: str) -> Iterator[Case]:
    for solver in ("eigen", "primal", "dual", "lsqr"):
        rows, parameters = (wide, {"ridge": 0.1}) if solver == "dual" else (wine, {})
        chosen = {"solver": LSQR_NOW if solver == "lsqr" else solver}
        yield least_squares(model, f"solver {solver}", rows, {**chosen, **parameters})
        yield least_squares(model, f"ridge {solver}", rows, {**chosen, "penalty": "ridge", "alpha": 2.0})
    yield least_squares(model, "csr lsqr", wide_words, {"solver": LSQR_NOW, "penalty": "ridge"})


def penalty_cases(model: str) -> Iterator[Case]:
    yield least_squares(model, "ridge path", parameters={"penalty": "ridge"}, extra=along_alphas)
    for penalty in SPARSE:
        parameters = {"penalty": penalty, "alpha": 0.5}
        yield least_squares(model, penalty, parameters=parameters, extra=along_alphas)
        yield least_squares(model, f"{penalty} weights", parameters={**parameters, "ridge": 0.1}, fit=weighted_fit)
    yield least_squares(model, "csr lasso", words, {"penalty": "lasso", "alpha": 1.0})


def kernel_form_cases(model: str) -> Iterator[Case]:
    rbf = {"kernel": "rbf", "gamma": 0.05}
    yield least_squares(model, "kernel eigen", parameters={**rbf, "solver": "eigen", "ridge": 0.1})
    yield least_squares(model, "kernel dual", parameters={**rbf, "solver": "dual", "penalty": "ridge", "alpha": 0.5})
    yield least_squares(model, "kernel weights", parameters={**rbf, "ridge": 0.1}, fit=weighted_fit)
    yield least_squares(model, "kernel poly", parameters={**POLY, "degree": 2, "ridge": 0.1})


def input_cases(model: str) -> Iterator[Case]:
    yield least_squares(model, "plain")
    yield least_squares(model, "one component", parameters={"n_components": 1})
    yield least_squares(model, "ridge share", parameters={"ridge": 0.2})
    yield least_squares(model, "weights", fit=weighted_fit)
    yield least_squares(model, "csr", words)
    yield least_squares(model, "wide", wide, {"ridge": 0.3})
    yield least_squares(model, "float32", as_float32(wine), {"tol": 1e-6}, **SINGLE)
    graph = {"smoothness": 2.0, "n_neighbors": 4}
    yield least_squares(model, "unlabelled", parameters=graph, fit=fit_with_unlabelled)
    yield least_squares(model, "unlabelled csr", words, {**graph, "solver": LSQR_NOW}, fit=fit_with_unlabelled)
    yield least_squares(model, "unlabelled lasso", parameters={**graph, "penalty": "lasso"}, fit=fit_with_unlabelled)


def back_again(estimator, rows: Rows) -> dict:
    """CCA's projections of targets and reconstruction of rows."""
    scores, y_scores = estimator.transform(rows.X, rows.y)
    return {"y_scores": y_scores, "inverse_transform": estimator.inverse_transform(scores)}


def single_cases() -> Iterator[Case]:
    yield least_squares("LeastSquaresCCA", "back again", extra=back_again)
    for expansion in ("clique", "zhou"):
        yield least_squares("HypergraphFeatures", expansion, parameters={"graph": expansion})
        weighted = {"graph": expansion, "penalty": "ridge"}
        yield least_squares("HypergraphFeatures", f"{expansion} weights", words, weighted, fit=weighted_fit)
    plain = {**PLAIN, "tol": 1e-12, "ridge": 0.1}
    precomputed = partial(new, "LeastSquaresLDA", kernel="precomputed", **plain)
    yield Case("LeastSquaresLDA-kernel precomputed", precomputed, as_kernel(wine, 0.05), TRANSFORMED)
    classes = partial(new, "HypergraphFeatures", **plain)
    yield Case("HypergraphFeatures-classes", classes, wine, TRANSFORMED)
    for model in ("LeastSquaresCCA", "LeastSquaresOPLS"):
        vector = partial(new, model, **PLAIN, tol=1e-12)
        yield Case(f"{model}-one target", vector, curve, (*TRANSFORMED, "predict"))
        yield Case(f"{model}-sparse labels", vector, sparse_labels, (*TRANSFORMED, "predict"))


def sparse_labels() -> Rows:
    """Sparse rows with sparse zeros and ones."""
    return with_targets(as_csr(wine), lambda rows: sparse.csr_matrix(labels(rows)))()


def search(model: str, name: str, parameters: dict, rows: Source = wine, fit: Fit | None = None) -> Case:
    make = partial(new, f"{model}CV", **{"tol": 1e-12, "max_iter": 20_000, **parameters})
    outputs = (*TRANSFORMED, "alpha_", "alphas_", "cv_errors_")
    return Case(f"{model}CV-{name}", make, rows_for(model, rows), outputs, **({"fit": fit} if fit else {}))


def search_cases(model: str) -> Iterator[Case]:
    yield search(model, "plain", {"alphas": [1e-6, 1e-4, 1e-2, 1.0, 10.0, 100.0, 1000.0]})
    yield search(model, "weights", {"alphas": [0.1, 1.0, 10.0]}, fit=weighted_fit)
    yield search(model, "folds", {"cv": 3, "alphas": [0.1, 1.0, 10.0, 100.0]})
    yield search(model, "csr folds", {"cv": 3, "alphas": [0.1, 10.0], "solver": LSQR_NOW}, words)
    yield search(model, "kernel", {"kernel": "rbf", "gamma": 0.05, "alphas": [0.1, 1.0]})
    yield search(model, "kernel folds", {"kernel": "rbf", "gamma": 0.05, "alphas": [0.1, 1.0], "cv": 3})
    yield search(model, "unlabelled", {"alphas": [0.1, 1.0]}, fit=fit_with_unlabelled)
    for penalty in SPARSE:
        yield search(model, penalty, {"penalty": penalty, "alphas": [0.2, 1.0, 5.0], "cv": 3})
    yield search(model, "default lasso", {"penalty": "lasso", "cv": 2, "tol": 1e-10}, curve_or_wine(model))


def curve_or_wine(model: str) -> Source:
    """Classes need wine; six columns are quicker."""
    return wine if MODELS[model] is None else curve


def least_squares_cases() -> Iterator[Case]:
    for model in MODELS:
        yield from input_cases(model)
        yield from solver_cases(model)
        yield from penalty_cases(model)
        yield from kernel_form_cases(model)
        yield from search_cases(model)
    yield from single_cases()
