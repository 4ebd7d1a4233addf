"""Kernel Fisher discriminants as classifier, regressor and features, and oriented kernel principal components."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from recording import Case, cases_of, fit
from row_inputs import Given
from same_data import (
    as_kernel,
    cancer,
    curve,
    named_wine,
    overlapping,
    positive,
    short_cancer,
    short_curve,
    three_targets,
    wine,
    with_targets,
    words,
)

from eigenfeat.kernel import EpsilonInsensitive, Huber

SINGLE = {
    "given": "float32",
    "tolerance": 1e-3,
    "reason": "kernel values of float32 rows round at 6e-8; solving amplifies that",
}

EXPANDED = ("dual_coef_", "intercept_")
CLASSIFIED = ("decision_function", "predict_proba", "predict", *EXPANDED, "loo_decision_")
PREDICTED = ("predict", *EXPANDED, "loo_prediction_")
TRANSFORMED = ("transform", "eigenvalues_", *EXPANDED)

CLASSIFIER = {"columns": None, "gamma": 0.05, "alpha": 0.3, "probability": "logistic"}
REGRESSOR = {"columns": None, "gamma": 0.1, "alpha": 0.1}

QUADRATIC = ("eigen", "linear", "subset", "greedy", "nystrom", "qp")
SOLVERS = {
    ("squared", "function"): (*QUADRATIC, "smo", "greedy_smo"),
    ("squared", "coefficients"): QUADRATIC,
    ("squared", "sparse"): ("qp",),
    ("huber", "function"): ("smo", "greedy_smo", "qp"),
    ("huber", "sparse"): ("qp",),
    ("absolute", "function"): ("smo", "qp"),
    ("absolute", "coefficients"): ("qp",),
    ("absolute", "sparse"): ("lp", "column_generation"),
    ("epsilon", "function"): ("smo", "qp"),
    ("epsilon", "sparse"): ("lp", "column_generation"),
}
SOLVER_SETTINGS = {
    "subset": {"n_centers": 20},
    "nystrom": {"n_centers": 20, "tol": 1e-12},
    "greedy": {"max_terms": 12},
    "smo": {"tol": 1e-12},
    "greedy_smo": {"tol": 1e-12, "max_terms": 20},  # at its loose default tolerance, rounding decides which rows join
}
LOSSES = {"huber": Huber(0.3), "epsilon": EpsilonInsensitive(0.3)}


def solver_cases() -> Iterator[Case]:
    """Every loss with every penalty and solver; the regressor, which shares them, with one solver each."""
    classifier = cases_of("KernelFisherClassifier", short_cancer, CLASSIFIED, **CLASSIFIER)
    regressor = cases_of("KernelFisherRegressor", short_curve, PREDICTED, **REGRESSOR)
    for (loss, penalty), solvers in SOLVERS.items():
        for solver in solvers:
            settings = {"loss": LOSSES.get(loss, loss), "penalty": penalty, "solver": solver}
            settings |= SOLVER_SETTINGS.get(solver, {})
            yield classifier(f"{loss} {penalty} {solver}", **settings)
        yield regressor(f"{loss} {penalty} {solver}", **settings)


def shifted(rows: np.ndarray) -> np.ndarray:
    """A small move of every row, under which outputs should not change."""
    return rows + 0.1 * np.linspace(-1, 1, rows.shape[1])


def stretched(rows: np.ndarray) -> np.ndarray:
    return rows * 1.05


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    """A user's kernel of two rows."""
    return float(np.exp(-np.abs(a - b).sum() / 8))


CENTERS = np.random.default_rng(11).normal(size=(12, 13))


def classifier_cases() -> Iterator[Case]:
    classifier = cases_of("KernelFisherClassifier", wine, CLASSIFIED, **CLASSIFIER)
    for kernel, settings in {
        "inverse_multiquadric": {"coef0": 2.0},
        "poly": {"degree": 2},
        "linear": {},
        "laplacian": {},
        "cosine": {},
        "sigmoid": {"penalty": "coefficients", "coef0": -0.1},
    }.items():
        yield classifier(f"kernel {kernel}", kernel=kernel, **settings)
    yield classifier("kernel chi2", positive, kernel="chi2", gamma=0.5)
    yield classifier("kernel function", short_cancer, kernel=overlap)
    yield classifier("kernel precomputed", as_kernel(wine, 0.05), kernel="precomputed")
    yield classifier("default width", gamma=None)
    yield classifier("alpha left out", alpha="loo", columns="auto")
    for threshold in ("margin", "least-squares", "gaussian", 0.1):
        yield classifier(f"threshold {threshold}", cancer, threshold=threshold)
    yield classifier("gaussian probabilities", probability="gaussian", threshold="gaussian")
    yield classifier("multinomial probabilities", named_wine, probability="multinomial")
    for penalty in ("function", "coefficients"):
        yield classifier(f"joint {penalty}", multi_class="joint", penalty=penalty, weighted=True)
    yield classifier("centres", n_centers=20)
    yield classifier("centres kmeans", centers="kmeans", n_centers=10)
    yield classifier("centres by number", centers=np.arange(0, 100, 7))
    yield classifier("centres points", centers=CENTERS, penalty="coefficients")
    yield classifier("centres nystrom", centers=CENTERS, solver="nystrom", tol=1e-10)
    for expand_over in ("rows", "transformed"):
        moves = [shifted, (0.5, stretched)]
        yield classifier(f"invariances {expand_over}", short_cancer, invariances=moves, expand_over=expand_over)
    yield classifier("sparse", words, gamma=None)
    yield classifier("sparse support vectors", words, gamma=None, loss="absolute", tol=1e-10)
    yield classifier("float32", **SINGLE)
    yield classifier("weights", weighted=True, class_weight={0: 1.0, 1: 2.0, 2: 0.5})
    yield classifier("weights absolute", short_cancer, weighted=True, loss="absolute", penalty="sparse")
    points = {"centers": CENTERS, "tol": 1e-10, "outputs": ("decision_function", "predict", *EXPANDED)}
    for given in ("batches", "parquet", "dask"):
        yield classifier(given, named_wine, given=given, weighted=True, **points)
    yield classifier("new batches", given="new batches", class_weight="balanced")


def search_cases() -> Iterator[Case]:
    settings = {"columns": None, "probability": "logistic", "alphas": [0.01, 0.1, 1.0], "gammas": [0.01, 0.05]}
    outputs = (*CLASSIFIED, "alpha_", "gamma_", "loo_errors_")
    search = cases_of("KernelFisherClassifierCV", cancer, outputs, **settings)
    yield search("plain")
    yield search("three classes", wine, penalty="coefficients", threshold="gaussian")
    yield search("centres", wine, n_centers=20)
    yield search("weights", weighted=True, class_weight="balanced")
    yield search("precomputed", as_kernel(wine, 0.05), kernel="precomputed", gammas=None)
    yield search("sparse", words, gammas=None)
    yield search("folds", overlapping, cv=3, outputs=("decision_function", "predict", "alpha_", "gamma_"))


def regressor_cases() -> Iterator[Case]:
    regressor = cases_of("KernelFisherRegressor", curve, PREDICTED, **REGRESSOR)
    targets = with_targets(curve, three_targets)
    yield regressor("alpha left out", alpha="loo", gamma=None, columns="auto")
    yield regressor("several targets", targets)
    yield regressor("several targets support vectors", targets, loss=EpsilonInsensitive(0.2), tol=1e-10)
    yield regressor("weights", weighted=True)
    yield regressor("kmeans", centers="kmeans", n_centers=12)
    yield regressor("precomputed", as_kernel(curve, 0.1), kernel="precomputed")
    yield regressor("invariances", short_curve, invariances=[shifted], expand_over="transformed")
    yield regressor("sparse", with_targets(words, three_targets))
    yield regressor("float32", alpha=1.0, **SINGLE)
    yield regressor("new batches", given="new batches")


NOISE = np.random.default_rng(12).normal(size=(30, 13)) * np.linspace(0.2, 2, 13)


def fit_with_noise(estimator, given: Given):
    return fit(estimator, given, noise=NOISE)


def feature_cases() -> Iterator[Case]:
    features = cases_of("KernelFisherFeatures", wine, TRANSFORMED, columns=None, gamma=0.05, alpha=0.1)
    yield features("plain")
    yield features("alpha left out", alpha="loo", gamma=None, columns="auto")
    yield features("coefficients", penalty="coefficients", n_components=1)
    yield features("centres", n_centers=20)
    yield features("invariances", invariances=[shifted], n_centers=20)
    yield features("weights", weighted=True, kernel="poly", degree=2)
    yield features("precomputed", as_kernel(wine, 0.05), kernel="precomputed")
    yield features("sparse", words)
    yield features("float32", **SINGLE)
    yield features("new batches", given="new batches")
    oriented = cases_of("OrientedKernelPCA", wine, TRANSFORMED, gamma=0.05, alpha=0.01)
    yield oriented("plain")
    yield oriented("noise", noise_weight=0.3, n_components=3, fit=fit_with_noise)
    yield oriented("coefficients", penalty="coefficients")
    yield oriented("invariances", invariances=[shifted, stretched])
    yield oriented("kmeans", centers="kmeans", n_centers=10, weighted=True)
    yield oriented("csr", given="csr")
    yield oriented("float32", **SINGLE)
    rayleigh = cases_of("KernelRayleighFeatures", wine, TRANSFORMED, columns=None, gamma=0.05, alpha=0.01)
    yield rayleigh("plain")
    yield rayleigh("sums", signal=["between", (0.1, "total")], noise=["within", (2.0, shifted)], n_components=3)
    yield rayleigh("csr", given="csr", n_components=2)
    yield rayleigh("float32", n_components=2, **SINGLE)


def kernel_cases() -> Iterator[Case]:
    yield from solver_cases()
    yield from classifier_cases()
    yield from search_cases()
    yield from regressor_cases()
    yield from feature_cases()
