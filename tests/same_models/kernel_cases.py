"""Kernel Fisher discriminants as classifier, regressor and features, and oriented kernel principal components."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from recording import Case, new, weighted_fit
from same_data import (
    Rows,
    Source,
    as_float32,
    as_kernel,
    cancer,
    curve,
    digits,
    positive,
    short_curve,
    three_targets,
    wine,
    with_targets,
    words,
)

from eigenfeat.kernel import LOSSES

SINGLE = {"tolerance": 1e-4, "reason": "float32 rows: kernel values round at 6e-8, and the solve amplifies that"}

EXPANDED = ("dual_coef_", "intercept_")
CLASSIFIED = ("decision_function", "predict_proba", "predict", "threshold_", *EXPANDED)
LEFT_OUT = ("loo_decision_",)
PREDICTED = ("predict", *EXPANDED, "loo_prediction_")
TRANSFORMED = ("transform", "eigenvalues_", *EXPANDED)

QUADRATIC = ("eigen", "linear", "subset", "greedy", "nystrom", "qp")
SOLVERS = {
    ("squared", "function"): (*QUADRATIC, "smo", "greedy_smo"),
    ("squared", "coefficients"): QUADRATIC,
    ("squared", "sparse"): ("qp",),
    ("huber", "function"): ("smo", "greedy_smo", "qp"),
    ("huber", "coefficients"): ("qp",),
    ("huber", "sparse"): ("qp",),
    ("absolute", "function"): ("smo", "greedy_smo", "qp"),
    ("absolute", "coefficients"): ("qp",),
    ("absolute", "sparse"): ("lp", "column_generation"),
    ("epsilon", "function"): ("smo", "greedy_smo", "qp"),
    ("epsilon", "coefficients"): ("qp",),
    ("epsilon", "sparse"): ("lp", "column_generation"),
}
CELLS = [(loss, penalty, solver) for (loss, penalty), solvers in SOLVERS.items() for solver in solvers]


def kernel_fisher(estimator: str, loss: str = "squared", width: float | None = None, **parameters):
    """A kernel Fisher estimator with a loss, and the width of that loss where it has one."""
    if not estimator.endswith("CV"):
        parameters["loss"] = loss if width is None else LOSSES[loss](width)
    return new(estimator, **{**written_down(estimator), **parameters})


def written_down(estimator: str) -> dict:
    """The problem over the rows as they are given, with the settings that were the defaults."""
    settings: dict = {"columns": None}
    if estimator.endswith("CV"):
        settings["alphas"] = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
    else:
        settings["alpha"] = 1.0
    return settings | ({"probability": "logistic"} if "Classifier" in estimator else {})


def shifted(rows: np.ndarray) -> np.ndarray:
    """A small move of every row, under which outputs should not change."""
    return rows + 0.1 * np.linspace(-1, 1, rows.shape[1])


def stretched(rows: np.ndarray) -> np.ndarray:
    return rows * 1.05


# ---------------------------------------------------------------- loss × penalty × solver


def cell_case(kind: str, rows: Source, outputs: tuple[str, ...], cell: tuple[str, str, str]) -> Case:
    loss, penalty, solver = cell
    parameters: dict = {"penalty": penalty, "solver": solver, "alpha": 0.3, "gamma": 0.05}
    if loss in ("huber", "epsilon"):
        parameters["width"] = 0.3
    if solver in ("subset", "nystrom"):
        parameters["n_centers"] = 20
    if solver == "greedy":
        parameters["max_terms"] = 12
    if solver in ("smo", "nystrom"):
        parameters["tol"] = 1e-12
    if solver == "greedy_smo":  # at its loose default tolerance, rounding decides which rows join
        parameters |= {"tol": 1e-12, "max_terms": 20}
    if kind == "KernelFisherClassifier" and cell == ("epsilon", "coefficients", "qp"):
        parameters["threshold"] = "gaussian"  # the other is zero but for rounding
    make = partial(kernel_fisher, kind, loss, **parameters)
    return Case(f"{kind}-{loss} {penalty} {solver}", make, rows, outputs)


def cell_cases() -> Iterator[Case]:
    for cell in CELLS:
        yield cell_case("KernelFisherClassifier", two_classes, (*CLASSIFIED, *LEFT_OUT), cell)
        if cell[2] != "eigen":  # which is for labels
            yield cell_case("KernelFisherRegressor", short_curve, PREDICTED, cell)


def two_classes() -> Rows:
    rows = cancer()
    return Rows(rows.X[:70], rows.y[:70], rows.test)


# ---------------------------------------------------------------- classifier


def classifier(name: str, rows: Source = wine, parameters: dict | None = None, **how) -> Case:
    make = partial(kernel_fisher, "KernelFisherClassifier", **{"gamma": 0.05, **(parameters or {})})
    return Case(f"KernelFisherClassifier-{name}", make, rows, **{"outputs": (*CLASSIFIED, *LEFT_OUT), **how})


def double_probabilities(estimator, rows: Rows) -> dict[str, np.ndarray]:
    """Probabilities in the type they were stored in: they have that of the rows since."""
    return {"predict_proba": estimator.predict_proba(rows.test).astype(np.float64)}


def overlap(A: np.ndarray, B: np.ndarray) -> float:
    """A user's kernel of two rows."""
    return float(np.exp(-np.abs(A - B).sum() / 8))


def given_kernel_cases() -> Iterator[Case]:
    for kernel, parameters in (
        ("rbf", {}),
        ("inverse_multiquadric", {"coef0": 2.0}),
        ("poly", {"degree": 2}),
        ("linear", {}),
        ("laplacian", {}),
        ("cosine", {}),
        ("sigmoid", {"penalty": "coefficients", "coef0": -0.1}),
    ):
        yield classifier(f"kernel {kernel}", parameters={"kernel": kernel, **parameters})
    yield classifier("kernel chi2", positive, {"kernel": "chi2", "gamma": 0.5})
    yield classifier("kernel additive_chi2", positive, {"kernel": "additive_chi2", "penalty": "coefficients"})
    yield classifier("kernel function", two_classes, {"kernel": overlap})
    yield classifier("kernel precomputed", as_kernel(wine, 0.05), {"kernel": "precomputed"})
    centres = {"kernel": "precomputed", "n_centers": 20}
    yield classifier("kernel precomputed centres", as_kernel(wine, 0.05), centres)
    yield classifier("default width", parameters={"gamma": None})


def threshold_cases() -> Iterator[Case]:
    for threshold in ("margin", "least-squares", "gaussian", 0.1):
        yield classifier(f"threshold {threshold}", cancer, {"threshold": threshold})
        by_densities = {"threshold": threshold, "probability": "gaussian"}
        yield classifier(f"three classes threshold {threshold} gaussian", parameters=by_densities)
    support = {"loss": "epsilon", "width": 0.2, "threshold": "gaussian", "tol": 1e-10}
    yield classifier("threshold gaussian of support vectors", cancer, support)


def several_class_cases() -> Iterator[Case]:
    for penalty in ("function", "coefficients"):
        yield classifier(f"joint {penalty}", parameters={"multi_class": "joint", "penalty": penalty})
    yield classifier("joint centres", parameters={"multi_class": "joint", "n_centers": 25})
    yield classifier("joint weights", parameters={"multi_class": "joint"}, fit=weighted_fit)
    for loss, penalty, solver in (
        ("squared", "function", "nystrom"),
        ("squared", "coefficients", "greedy"),
        ("squared", "sparse", "qp"),
        ("huber", "function", "smo"),
        ("absolute", "sparse", "lp"),
        ("epsilon", "sparse", "column_generation"),
        ("epsilon", "function", "qp"),
    ):
        parameters = {"loss": loss, "penalty": penalty, "solver": solver, "alpha": 0.3}
        parameters |= {"tol": 1e-10} if solver in ("smo", "nystrom") else {}
        parameters |= {"n_centers": 20} if solver == "nystrom" else {}
        yield classifier(f"three classes {loss} {penalty} {solver}", parameters=parameters)


def restricted_cases() -> Iterator[Case]:
    points = np.random.default_rng(11).normal(size=(12, 13))
    for name, parameters in (
        ("random", {"centers": "random", "n_centers": 20}),
        ("kmeans", {"centers": "kmeans", "n_centers": 10}),
        ("row numbers", {"centers": np.arange(0, 100, 7)}),
        ("points", {"centers": points}),
        ("points coefficients", {"centers": points, "penalty": "coefficients"}),
        ("nystrom points", {"centers": points, "solver": "nystrom", "tol": 1e-10}),
        ("nystrom", {"n_centers": 15, "solver": "nystrom", "penalty": "coefficients", "tol": 1e-10}),
        ("eigen", {"n_centers": 15, "solver": "eigen"}),
        ("default number", {"centers": "random"}),
    ):
        yield classifier(f"centres {name}", parameters=parameters)
    for name, expand_over in (("short", "rows"), ("long", "transformed")):
        invariant = {"invariances": [shifted, (0.5, stretched)], "expand_over": expand_over}
        yield classifier(f"invariances {name}", two_classes, invariant)
        yield classifier(f"invariances {name} centres", parameters={**invariant, "n_centers": 15})
    coefficients = {"invariances": [shifted], "penalty": "coefficients", "solver": "eigen"}
    yield classifier("invariances coefficients eigen", two_classes, coefficients)


def classifier_cases() -> Iterator[Case]:
    yield from given_kernel_cases()
    yield from threshold_cases()
    yield from several_class_cases()
    yield from restricted_cases()
    yield classifier("csr", words, {"gamma": None})
    yield classifier("csr support vectors", words, {"gamma": None, "loss": "absolute", "tol": 1e-10})
    of_type = tuple(name for name in (*CLASSIFIED, *LEFT_OUT) if name != "predict_proba")
    yield classifier("float32", as_float32(wine), outputs=of_type, extra=double_probabilities, **SINGLE)
    yield classifier("default tolerance", parameters={"loss": "huber"})
    yield classifier("weights", fit=weighted_fit)
    yield classifier("balanced", cancer, {"class_weight": "balanced"}, fit=weighted_fit)
    yield classifier("class weights", parameters={"class_weight": {0: 1.0, 1: 2.0, 2: 0.5}, "alpha": 0.1})
    absolute = {"loss": "absolute", "alpha": 0.3}
    yield classifier("weights absolute function", two_classes, {**absolute, "tol": 1e-10}, fit=weighted_fit)
    yield classifier("weights absolute sparse", two_classes, {**absolute, "penalty": "sparse"}, fit=weighted_fit)
    huber = {"loss": "huber", "width": 0.4, "penalty": "sparse"}
    yield classifier("weights huber sparse", two_classes, huber, fit=weighted_fit)


# ---------------------------------------------------------------- search


def search(name: str, rows: Source = cancer, parameters: dict | None = None, **how) -> Case:
    grid = {"alphas": [0.01, 0.1, 1.0], "gammas": [0.01, 0.05]}
    make = partial(kernel_fisher, "KernelFisherClassifierCV", **{**grid, **(parameters or {})})
    outputs = (*CLASSIFIED, *LEFT_OUT, "alpha_", "loo_errors_", "gammas_", "gamma_")
    return Case(f"KernelFisherClassifierCV-{name}", make, rows, outputs, **how)


def search_cases() -> Iterator[Case]:
    yield search("plain")
    yield search("default gammas", parameters={"gammas": None})
    yield search("three classes", wine)
    yield search("coefficients", wine, {"penalty": "coefficients", "threshold": "gaussian"})
    yield search("centres", wine, {"n_centers": 20})
    yield search("kmeans", parameters={"centers": "kmeans", "n_centers": 10})
    yield search("weights", fit=weighted_fit, parameters={"class_weight": "balanced"})
    yield search("invariances", two_classes, {"invariances": [shifted]})
    yield search("precomputed", as_kernel(wine, 0.05), {"kernel": "precomputed", "gammas": None})
    yield search("poly gaussian", wine, {"kernel": "poly", "degree": 2, "probability": "gaussian"})
    yield search("csr", words, {"gammas": None})


# ---------------------------------------------------------------- regressor


def regressor(name: str, rows: Source = curve, parameters: dict | None = None, **how) -> Case:
    make = partial(kernel_fisher, "KernelFisherRegressor", **{"gamma": 0.1, "alpha": 0.1, **(parameters or {})})
    return Case(f"KernelFisherRegressor-{name}", make, rows, PREDICTED, **how)


def regressor_cases() -> Iterator[Case]:
    vector = with_targets(curve, three_targets)
    yield regressor("plain")
    yield regressor("default width", parameters={"gamma": None})
    yield regressor("vector", vector)
    yield regressor("vector support vectors", vector, {"loss": "epsilon", "width": 0.2, "tol": 1e-10})
    yield regressor(
        "vector sparse", with_targets(short_curve, three_targets), {"loss": "absolute", "penalty": "sparse"}
    )
    yield regressor("weights", fit=weighted_fit)
    yield regressor("centres", parameters={"n_centers": 20})
    yield regressor("kmeans", parameters={"centers": "kmeans", "n_centers": 12})
    yield regressor("poly", parameters={"kernel": "poly", "degree": 2})
    yield regressor("precomputed", as_kernel(curve, 0.1), {"kernel": "precomputed"})
    yield regressor("invariances", parameters={"invariances": [(2.0, stretched)], "n_centers": 20})
    yield regressor("invariances long", short_curve, {"invariances": [shifted], "expand_over": "transformed"})
    yield regressor("csr", with_targets(words, three_targets))
    yield regressor("float32", as_float32(curve), {"alpha": 1.0}, **SINGLE)


# ---------------------------------------------------------------- features


def features(name: str, rows: Source = wine, parameters: dict | None = None, **how) -> Case:
    make = partial(
        new, "KernelFisherFeatures", **{**written_down("KernelFisherFeatures"), "gamma": 0.05, **(parameters or {})}
    )
    return Case(f"KernelFisherFeatures-{name}", make, rows, TRANSFORMED, **how)


def feature_cases() -> Iterator[Case]:
    yield features("plain")
    yield features("default width", digits, {"gamma": None})
    yield features("one component", parameters={"n_components": 1})
    yield features("coefficients", parameters={"penalty": "coefficients", "alpha": 0.1})
    yield features("centres", parameters={"n_centers": 20})
    yield features("kmeans", parameters={"centers": "kmeans", "n_centers": 10})
    yield features("invariances", parameters={"invariances": [shifted], "n_centers": 20})
    yield features("invariances long", two_classes, {"invariances": [shifted], "expand_over": "transformed"})
    yield features("weights", fit=weighted_fit)
    yield features("poly", parameters={"kernel": "poly", "degree": 2})
    yield features("precomputed", as_kernel(wine, 0.05), {"kernel": "precomputed"})
    yield features("csr", words)
    yield features("float32", as_float32(wine), **SINGLE)


def oriented(name: str, rows: Source = wine, parameters: dict | None = None, **how) -> Case:
    make = partial(new, "OrientedKernelPCA", **{"gamma": 0.05, "alpha": 0.01, **(parameters or {})})
    return Case(f"OrientedKernelPCA-{name}", make, rows, TRANSFORMED, **how)


def fit_beside(noise: np.ndarray, estimator, rows: Rows):
    return estimator.fit(rows.X, noise=noise)


def oriented_cases() -> Iterator[Case]:
    noise = np.random.default_rng(12).normal(size=(30, 13)) * np.linspace(0.2, 2, 13)
    yield oriented("plain")
    yield oriented("default width", parameters={"gamma": None, "n_components": 4})
    yield oriented("all components", curve, {"n_components": None, "kernel": "poly", "degree": 2})
    beside_noise = partial(fit_beside, noise)
    yield oriented("noise", fit=beside_noise)
    yield oriented("weighted noise", parameters={"noise_weight": 0.3, "n_components": 3}, fit=beside_noise)
    yield oriented("coefficients", parameters={"penalty": "coefficients"})
    yield oriented("invariances", parameters={"invariances": [shifted, stretched]})
    yield oriented("invariances long", two_classes, {"invariances": [shifted], "expand_over": "transformed"})
    yield oriented("centres", parameters={"n_centers": 20}, fit=beside_noise)
    yield oriented("kmeans", parameters={"centers": "kmeans", "n_centers": 10})
    yield oriented("weights", fit=weighted_fit)
    yield oriented("precomputed", as_kernel(wine, 0.05), {"kernel": "precomputed"})
    yield oriented("csr", words)
    yield oriented("float32", as_float32(wine), **SINGLE)


def rayleigh_cases() -> Iterator[Case]:
    def rayleigh(name: str, **parameters) -> Case:
        make = partial(new, "KernelRayleighFeatures", **{"gamma": 0.05, "alpha": 0.01, **parameters})
        return Case(f"KernelRayleighFeatures-{name}", make, wine, TRANSFORMED)

    yield rayleigh("plain")
    yield rayleigh("sums", signal=["between", (0.1, "total")], noise=["within", (2.0, shifted)], n_components=3)


def kernel_cases() -> Iterator[Case]:
    yield from cell_cases()
    yield from classifier_cases()
    yield from search_cases()
    yield from regressor_cases()
    yield from feature_cases()
    yield from oriented_cases()
    yield from rayleigh_cases()
