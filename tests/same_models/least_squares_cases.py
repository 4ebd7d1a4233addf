"""The least-squares family: five models, each with its solvers and penalties, and with its penalty chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from recording import Case, cases_of, fit
from row_inputs import Given
from same_data import (
    Data,
    as_kernel,
    curve,
    labels,
    sparse_labels,
    three_targets,
    wide,
    wide_words,
    wine,
    with_targets,
    words,
)

SINGLE = {"given": "float32", "tolerance": 1e-5, "reason": "sums of float32 rows round at 6e-8; solving amplifies that"}

TRANSFORMED = ("transform", "eigenvalues_")
MODELS = {
    "LeastSquaresLDA": None,
    "LeastSquaresCCA": three_targets,
    "LeastSquaresOPLS": three_targets,
    "HypergraphFeatures": labels,
    "LeastSquaresFeatures": three_targets,
}
"""What each model is given for y; None leaves the classes."""
OUTPUTS = {"LeastSquaresCCA": (*TRANSFORMED, "predict"), "LeastSquaresOPLS": (*TRANSFORMED, "predict")}

SPARSE = ("lasso", "elasticnet", "group")
RBF = {"kernel": "rbf", "gamma": 0.05}
GRAPH = {"smoothness": 2.0, "n_neighbors": 4}


def data_for(model: str, source: Callable[[], Data]) -> Callable[[], Data]:
    targets = MODELS[model]
    return source if targets is None else with_targets(source, targets)


def fit_with_unlabelled(estimator, given: Given):
    """The held-out rows serve as rows without labels."""
    return fit(estimator, given, X_unlabelled=given.test)


def along_alphas(estimator, given: Given) -> dict:
    path = estimator.path(given.X, given.y, sample_weight=given.weights, alphas=[0.3, 3.0, 1.0])
    return {"path_components": path.components, "path_eigenvalues": path.eigenvalues}


def model_cases(model: str) -> Iterator[Case]:
    on_wine, on_wide, on_words = (data_for(model, source) for source in (wine, wide, words))
    outputs = OUTPUTS.get(model, TRANSFORMED)
    case = cases_of(model, on_wine, outputs, penalty=None, alpha=1.0, tol=1e-12, max_iter=20_000)
    yield case("plain", n_components=1)
    yield case("weights", weighted=True, ridge=0.2)
    yield case("sparse", on_words)
    yield case("float32", **SINGLE | {"tol": 1e-6})
    for solver in ("eigen", "primal", "block_cg"):
        yield case(f"ridge {solver}", penalty="ridge", alpha=2.0, solver=solver)
    yield case("ridge dual", on_wide, penalty="ridge", alpha=2.0, ridge=0.1, solver="dual")
    yield case("wide sparse", data_for(model, wide_words), penalty="ridge", solver="block_cg")
    for penalty in SPARSE:
        yield case(penalty, weighted=True, penalty=penalty, alpha=0.5, ridge=0.1, extra=along_alphas)
    yield case("sparse lasso", on_words, penalty="lasso")
    yield case("kernel", ridge=0.1, weighted=True, **RBF)
    yield case("kernel dual", penalty="ridge", alpha=0.5, solver="dual", **RBF)
    yield case("unlabelled", fit=fit_with_unlabelled, penalty="ridge", **GRAPH)
    yield case("alpha left out", penalty="ridge", alpha="loo")
    yield case("new batches", given="new batches", penalty="ridge")
    if model != "HypergraphFeatures":  # whose incidences are no moments
        for given in ("batches", "parquet"):
            yield case(given, given=given, weighted=True, penalty="ridge", alpha=2.0)
        attributes = ("eigenvalues_", "components_", "offsets_")
        yield case("dask", given="dask", weighted=True, penalty="ridge", alpha=2.0, outputs=attributes)


def search_cases(model: str) -> Iterator[Case]:
    outputs = (*TRANSFORMED, "alpha_", "alphas_", "cv_errors_")
    case = cases_of(f"{model}CV", data_for(model, wine), outputs, tol=1e-12, max_iter=20_000, alphas=[0.1, 1.0, 10.0])
    yield case("weights", weighted=True)
    yield case("folds", cv=3)
    yield case("sparse folds", data_for(model, words), cv=3, solver="block_cg")
    yield case("kernel", **RBF)
    yield case("lasso", penalty="lasso", cv=3, alphas=[0.2, 1.0, 5.0])


def back_again(estimator, given: Given) -> dict:
    """CCA's projections of targets and reconstruction of rows."""
    scores, y_scores = estimator.transform(given.X, given.y)
    return {"y_scores": y_scores, "inverse_transform": estimator.inverse_transform(scores)}


def single_cases() -> Iterator[Case]:
    plain = {"penalty": None, "alpha": 1.0, "tol": 1e-12}
    discriminant = cases_of("LeastSquaresLDA", wine, TRANSFORMED, **plain)
    yield discriminant("kernel precomputed", as_kernel(wine, 0.05), kernel="precomputed", ridge=0.1)
    hypergraph = cases_of("HypergraphFeatures", with_targets(wine, labels), TRANSFORMED, **plain)
    yield hypergraph("classes", wine, ridge=0.1)
    for graph in ("clique", "zhou"):
        yield hypergraph(graph, weighted=True, graph=graph)
    for model in ("LeastSquaresCCA", "LeastSquaresOPLS"):
        case = cases_of(model, curve, OUTPUTS[model], **plain)
        yield case("one target", ridge=0.1)
        yield case("multilabel", with_targets(wine, labels), ridge=0.1)
        yield case("sparse multilabel", sparse_labels, given="csr")
    cca = cases_of("LeastSquaresCCA", with_targets(wine, three_targets), OUTPUTS["LeastSquaresCCA"], **plain)
    attributes = ("y_components_", "x_loadings_", "canonical_correlations_")
    yield cca("back again", extra=back_again, outputs=attributes)


def least_squares_cases() -> Iterator[Case]:
    for model in MODELS:
        yield from model_cases(model)
        yield from search_cases(model)
    yield from single_cases()
