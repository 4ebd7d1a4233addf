"""Kernels that are positive definite only for weights that sum to zero, under the penalty on the function."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import KernelCenterer

from eigenfeat import KernelFisherClassifier, KernelFisherFeatures, KernelFisherRegressor
from eigenfeat.kernel import Absolute, Huber
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem
from eigenfeat.kernel.table import SOLVERS
from eigenfeat.stages.kernels import CONDITIONAL, Kernel, KernelRows

RNG = np.random.RandomState(0)
X = RNG.randn(60, 3)
LABELS = (X[:, 0] * X[:, 1] + 0.3 * RNG.randn(60) > 0).astype(int)
TARGET = np.sin(2 * X[:, 0]) + 0.1 * RNG.randn(60)
PLAIN = {
    "distance": lambda A, B: -np.sqrt(0.7) * euclidean_distances(A, B),
    "multiquadric": lambda A, B: -np.sqrt(0.5 + 0.7 * euclidean_distances(A, B) ** 2),
}


def kernel(name, anchor=None):
    return Kernel(name, gamma=0.7, coef0=0.5, anchor=None if anchor is None else tuple(anchor))


@pytest.mark.parametrize("name", CONDITIONAL)
def test_values_and_anchors_are_as_written(name):
    plain = PLAIN[name]
    np.testing.assert_allclose(kernel(name)(X, X[:7]), plain(X, X[:7]), atol=1e-6)
    a = np.array([[0.3, -1.0, 0.2]])
    rows = KernelRows(kernel(name, a[0]), X)
    expected = plain(X, X) - plain(X, a) - plain(a, X) + plain(a, a)
    np.testing.assert_allclose(rows.matrix(), expected, atol=1e-6)
    np.testing.assert_allclose(rows.diagonal(), np.diag(expected), atol=1e-6)
    np.testing.assert_allclose(rows.columns(np.arange(20)), expected[:, :20], atol=1e-6)
    np.testing.assert_allclose(rows.block(np.arange(5), X[:9]), expected[:5, :9], atol=1e-6)
    coefficients = RNG.randn(60, 2)
    np.testing.assert_allclose(rows.expand(X[:11], coefficients), expected[:11] @ coefficients, atol=1e-5)
    moved = list(rows.over_blocks(np.arange(20), lambda part, block: block))
    np.testing.assert_allclose(np.vstack(moved), expected[:, :20], atol=1e-6)
    of_sparse = KernelRows(kernel(name, a[0]), sparse.csr_matrix(X))
    np.testing.assert_allclose(of_sparse.matrix(), expected, atol=1e-6)


@pytest.mark.parametrize("name", CONDITIONAL)
def test_about_any_point_they_are_positive_definite(name):
    assert np.linalg.eigvalsh(kernel(name)(X, X)).min() < -1
    for anchor in (X[3], X.mean(axis=0), np.full(3, 5.0)):
        values = np.linalg.eigvalsh(KernelRows(kernel(name, anchor), X).between(np.arange(60)))
        assert values.min() > -1e-6 * values.max()


def sum_zero_optimum(K, y, loss, alpha):
    """The problem over weights that sum to zero, with the plain kernel, by a general solver."""
    eigenvalues, vectors = np.linalg.eigh(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0))
    c, b = cp.Variable(len(y)), cp.Variable()
    residuals = y - K @ c - b
    written = {
        "squared": cp.sum_squares(residuals) / 2,
        "absolute": cp.norm1(residuals),
        "huber": cp.sum(cp.huber(residuals, 0.3)) / 0.6,
    }[loss]
    # Of weights that sum to zero centring changes nothing.
    program = cp.Problem(cp.Minimize(written + alpha * cp.sum_squares(root.T @ c) / 2), [cp.sum(c) == 0])
    program.solve(solver="CLARABEL")
    return program.value, K @ c.value + b.value


@pytest.mark.parametrize("name", CONDITIONAL)
@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
def test_fits_are_those_of_weights_that_sum_to_zero(name, loss):
    value = {"absolute": Absolute(), "huber": Huber(0.3)}.get(loss, loss)
    model = KernelFisherRegressor(
        name, 0.7, 0.2, value, columns=None, coef0=0.5, tol=None if loss == "squared" else 1e-9
    )
    model.fit(X, TARGET)
    best, outputs = sum_zero_optimum(PLAIN[name](X, X), TARGET, loss, 0.2)
    assert model.objective_[0] == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(model.predict(X), outputs, atol=2e-3)
    assert abs(model.dual_coef_.sum()) < 1e-5 * np.abs(model.dual_coef_).sum()


@pytest.mark.parametrize("name", CONDITIONAL)
def test_the_anchor_is_nothing_to_choose(name):
    problems = [
        KernelProblem(KernelRows(kernel(name, a), X), TARGET[:, None], np.ones(60), 0.3)
        for a in (X.mean(axis=0), X[5], np.full(3, 2.0))
    ]
    for solver in ("linear", "qp", "smo"):
        solutions = [SOLVERS.choose(solver, p, DEFAULTS).solve(p, replace(DEFAULTS, tol=1e-10)) for p in problems]
        for other in solutions[1:]:
            np.testing.assert_allclose(other.outputs, solutions[0].outputs, atol=1e-5)
            np.testing.assert_allclose(other.coefficients, solutions[0].coefficients, atol=1e-4)
            if other.loo_outputs is not None:
                np.testing.assert_allclose(other.loo_outputs, solutions[0].loo_outputs, atol=1e-5)


def test_a_function_of_ones_own_and_a_matrix_of_ones_own():
    named = KernelFisherClassifier("distance", 0.7, 0.1, columns=None).fit(X, LABELS)
    own = KernelFisherClassifier(lambda a, b: -np.sqrt(0.7) * np.linalg.norm(a - b), alpha=0.1).fit(X, LABELS)
    np.testing.assert_allclose(own.decision_function(X), named.decision_function(X), atol=1e-5)
    K = PLAIN["distance"](X, X)
    with pytest.raises(ValueError, match="KernelCenterer"):
        KernelFisherClassifier("precomputed", alpha=0.1).fit(K, LABELS)
    centred = KernelFisherClassifier("precomputed", alpha=0.1).fit(KernelCenterer().fit_transform(K), LABELS)
    np.testing.assert_allclose(centred.loo_decision_, named.loo_decision_, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"n_centers": 20}, {"penalty": "coefficients"}, {"penalty": "sparse"}])
def test_they_serve_everywhere(options):
    model = KernelFisherClassifier("distance", **options).fit(X, LABELS)
    assert model.score(X, LABELS) >= 0.75
    counts = np.abs(X)
    chi2 = KernelFisherClassifier("additive_chi2", n_centers=options.get("n_centers"), alpha=0.1).fit(counts, LABELS)
    assert np.isfinite(chi2.decision_function(counts)).all()
    assert KernelFisherFeatures(1, "multiquadric").fit_transform(X, LABELS).shape == (60, 1)


def test_an_indefinite_kernel_that_no_anchor_helps_is_refused():
    with pytest.raises(ValueError, match="not positive semi-definite"):
        KernelFisherClassifier(lambda a, b: np.linalg.norm(a - b), alpha=0.1).fit(X, LABELS)
