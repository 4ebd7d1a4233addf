"""Sparse penalties against scikit-learn's on the same targets, and their limits."""

import numpy as np
import pytest
from ls_problems import factor, inputs, largest_angle, problem
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso, MultiTaskLasso

from eigenfeat import LeastSquaresCCA, LeastSquaresLDA, LeastSquaresOPLS
from eigenfeat.least_squares.coordinate_descent import Descent, Penalty
from eigenfeat.least_squares.penalised import aligned_targets
from eigenfeat.least_squares.rows import centre
from eigenfeat.least_squares.solve import solve


def objective(X, T, W, penalty):
    smooth = 0.5 * np.sum(((X - X.mean(axis=0)) @ W - T) ** 2) + 0.5 * penalty.l2 * np.sum(W**2)
    return smooth + penalty.l1 * (np.linalg.norm(W, axis=1).sum() if penalty.group else np.abs(W).sum())


# The last is wide and dense: columns, not a Gram matrix, yet without implicit centring.
@pytest.mark.parametrize("shape", [(80, 20, False), (80, 20, True), (30, 60, True), (15, 4100, False)])
@pytest.mark.parametrize("kind", ["lasso", "elasticnet", "group"])
def test_minimisers_are_scikit_learns(kind, shape):
    n, d, is_sparse = shape
    rng = np.random.default_rng(0)
    X = inputs(rng, n, d)
    T = rng.normal(size=(n, 3))
    T -= T.mean(axis=0)
    descent = Descent(centre(sparse.csr_array(X) if is_sparse else X), T)
    alpha = 0.2 * descent.largest_alpha(kind == "group")
    precise = {"tol": 1e-10, "max_iter": 50_000}
    if kind == "group":
        penalty = Penalty(alpha, group=True)
        reference = MultiTaskLasso(alpha / n, **precise).fit(X, T).coef_.T
    else:
        ratio = 1.0 if kind == "lasso" else 0.6
        penalty = Penalty(alpha * ratio, alpha * (1 - ratio))
        single = Lasso(alpha / n, **precise) if kind == "lasso" else ElasticNet(alpha / n, l1_ratio=ratio, **precise)
        reference = np.column_stack([single.fit(X, t).coef_ for t in T.T])
    fit = descent.solve(penalty, None, 1e-10, 5000)
    assert fit.gaps.max() <= 1e-10
    assert objective(X, T, fit.vectors, penalty) <= objective(X, T, reference, penalty) + 1e-8
    np.testing.assert_allclose(fit.vectors, reference, atol=1e-5 * np.abs(reference).max())


def test_weights_equal_repeated_rows():
    rng = np.random.default_rng(1)
    X, T, weight = inputs(rng, 30, 50), rng.normal(size=(30, 2)), rng.integers(1, 4, size=30)
    T -= np.average(T, axis=0, weights=weight)
    weighted = Descent(centre(sparse.csr_array(X), weight.astype(float)), np.sqrt(weight)[:, None] * T)
    repeated = Descent(centre(X.repeat(weight, axis=0)), T.repeat(weight, axis=0))
    one, other = (d.solve(Penalty(2.0), None, 1e-12, 5000).vectors for d in (weighted, repeated))
    np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("model", ["lda", "cca", "opls", "star"])
@pytest.mark.parametrize("shape", [(50, 8), (16, 30)])
def test_aligned_targets_regress_to_the_eigenvectors_at_any_rank(model, shape):
    rng = np.random.default_rng(2)
    one = problem(inputs(rng, *shape), *factor(model, rng, shape[0]))
    exact = solve(one)
    targets = aligned_targets(one, exact)
    regression = np.linalg.pinv(one.rows.matrix) @ targets
    np.testing.assert_allclose(np.linalg.norm(targets, axis=0), 1)
    for j in range(len(exact.values)):
        assert largest_angle(regression[:, [j]], exact.vectors[:, [j]]) < 1e-7
    if shape[0] <= shape[1]:  # the paper's case: orthonormal targets spanning T
        np.testing.assert_allclose(targets.T @ targets, np.eye(len(exact.values)), atol=1e-7)


def test_a_vanishing_lasso_is_no_penalty():
    rng = np.random.default_rng(3)
    X, Y = inputs(rng, 60, 10), rng.normal(size=(60, 3))
    plain = LeastSquaresCCA().fit(X, Y)
    sparse_fit = LeastSquaresCCA(penalty="lasso", alpha=1e-9, tol=1e-10, max_iter=20_000).fit(X, Y)
    for one, other in zip(plain.components_, sparse_fit.components_):
        assert largest_angle(one[:, None], other[:, None]) < 1e-4
    np.testing.assert_allclose(sparse_fit.eigenvalues_, plain.eigenvalues_, rtol=1e-6)


def test_group_drops_whole_inputs_and_lasso_single_weights():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 12))
    Y = X[:, :3] @ rng.normal(size=(3, 4)) + 0.1 * rng.normal(size=(200, 4))
    group = LeastSquaresOPLS(2, penalty="group", alpha=2.0).fit(X, Y)
    assert np.array_equal(np.flatnonzero(group.components_.any(axis=0)), [0, 1, 2])
    lasso = LeastSquaresOPLS(2, penalty="lasso", alpha=2.0).fit(X, Y)
    assert np.count_nonzero(lasso.components_) < np.count_nonzero(group.components_)


@pytest.mark.parametrize("penalty", ["ridge", "lasso", "elasticnet", "group"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_path_is_the_fits_it_stands_for(penalty, is_sparse):
    rng = np.random.default_rng(5)
    X, y = inputs(rng, 60, 12), np.arange(60) % 3
    X[:, :2] += y[:, None]
    X = sparse.csr_array(X) if is_sparse else X
    model = LeastSquaresLDA(penalty=penalty, tol=1e-10, max_iter=20_000)
    path = model.path(X, y)
    assert np.all(np.diff(path.alphas) < 0)
    for i in (1, len(path.alphas) // 2, len(path.alphas) - 1):
        alone = LeastSquaresLDA(penalty=penalty, alpha=path.alphas[i], tol=1e-10, max_iter=20_000).fit(X, y)
        scale = np.abs(path.components[i]).max()
        np.testing.assert_allclose(path.components[i], alone.components_, atol=1e-4 * scale)
        np.testing.assert_allclose(path.eigenvalues[i], alone.eigenvalues_, rtol=1e-4)
    if penalty != "ridge":
        assert not path.components[0].any()
        assert np.count_nonzero(path.components[-1]) > np.count_nonzero(path.components[10])


def test_path_by_warm_started_iterations_is_the_path_by_decomposition():
    rng = np.random.default_rng(6)
    X, Y, alphas = inputs(rng, 40, 60), rng.normal(size=(40, 3)), [10.0, 1.0, 0.1]
    by_spectrum = LeastSquaresCCA(penalty="ridge").path(X, Y, alphas)
    by_iteration = LeastSquaresCCA(penalty="ridge", solver="lsqr", tol=1e-12).path(X, Y, alphas)
    np.testing.assert_allclose(by_iteration.components, by_spectrum.components, atol=1e-6)
