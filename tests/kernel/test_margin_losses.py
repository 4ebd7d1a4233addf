"""Logistic and squared hinge losses over a restricted expansion: against scikit-learn and a general minimiser."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize
from sklearn.linear_model import LogisticRegression

from eigenfeat.kernel import margin_losses
from eigenfeat.kernel.basis import basis_of
from eigenfeat.kernel.margin_losses import MARGIN_LOSSES, held_out_alpha
from eigenfeat.kernel.problem import KernelProblem, KernelRequest
from eigenfeat.kernel.thresholds import one_vs_rest
from eigenfeat.stages.kernels import Kernel, KernelRows

TIGHT = KernelRequest(tol=1e-9, max_iter=60)


def problem_of(k, penalty="function", n=150, alpha=0.3, centers=25):
    rng = np.random.RandomState(0)
    codes = np.arange(n) % k
    X = rng.randn(n, 3) + codes[:, None] * np.array([0.8, -0.4, 0.2])
    kernel = KernelRows(Kernel("rbf", 0.3), X)
    index = None if centers is None else np.arange(0, n, n // centers)
    weights = rng.uniform(0.5, 2, size=n)
    return KernelProblem(kernel, one_vs_rest(codes), weights, alpha, penalty=penalty, centers=index), codes


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
@pytest.mark.parametrize("k", [2, 4])
def test_logistic_is_the_logistic_regression_on_the_features_of_the_expansion(k, penalty):
    problem, codes = problem_of(k, penalty)
    basis = basis_of(problem)
    reference = LogisticRegression(C=1 / problem.alpha, tol=1e-10, max_iter=5000)
    reference.fit(basis.design, codes, sample_weight=problem.weights)
    found = margin_losses.solve(problem, "logistic", TIGHT)
    scores = reference.decision_function(basis.design).reshape(len(codes), -1)
    np.testing.assert_allclose(
        found.outputs - found.outputs.mean(axis=1, keepdims=k > 2) * (k > 2),
        scores - scores.mean(axis=1, keepdims=k > 2) * (k > 2),
        atol=1e-4,
    )
    np.testing.assert_allclose(problem.kernel.matrix() @ found.coefficients + found.intercept, found.outputs, atol=1e-8)


@pytest.mark.parametrize("k", [2, 4])
def test_squared_hinge_is_the_minimum_that_a_general_minimiser_finds(k):
    problem, _ = problem_of(k)
    design, Y, w = basis_of(problem).design, problem.targets, problem.weights[:, None]

    def objective(flat):
        C = flat.reshape(-1, Y.shape[1])
        hinge = np.maximum(1 - Y * (design @ C[:-1] + C[-1]), 0)
        pull = -w * Y * hinge
        gradient = np.vstack([design.T @ pull + problem.alpha * C[:-1], pull.sum(axis=0)])
        return (w * hinge**2).sum() / 2 + problem.alpha * (C[:-1] ** 2).sum() / 2, gradient.ravel()

    start = np.zeros((design.shape[1] + 1) * Y.shape[1])
    best = minimize(
        objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9}
    )
    assert margin_losses.solve(problem, "squared_hinge", TIGHT).objective.sum() == pytest.approx(best.fun, rel=1e-8)


@pytest.mark.parametrize("loss", list(MARGIN_LOSSES))
@pytest.mark.parametrize("m", [1, 3])
def test_slopes_and_curvature_are_derivatives(loss, m):
    rng = np.random.RandomState(1)
    y, row_loss = one_vs_rest(np.array([0, 1, m - 1 if m > 1 else 0])), MARGIN_LOSSES[loss]
    f, change = rng.randn(2, 3, m)

    def value(flat):
        return row_loss.values(flat.reshape(3, m), y).sum()

    assert check_grad(value, lambda flat: row_loss.slopes(flat.reshape(3, m), y).ravel(), f.ravel()) < 1e-6
    ahead, behind = (row_loss.slopes(f + step * change, y) for step in (1e-6, -1e-6))
    np.testing.assert_allclose(row_loss.curvature(f, y)(slice(None), change), (ahead - behind) / 2e-6, atol=1e-6)


@pytest.mark.parametrize("loss", list(MARGIN_LOSSES))
def test_kernel_blocks_that_are_not_kept_give_the_same(loss, monkeypatch):
    problem, _ = problem_of(3)
    request = KernelRequest(tol=1e-6)
    kept = margin_losses.solve(problem, loss, request)
    monkeypatch.setattr(margin_losses, "MAX_ENTRIES", 0)
    monkeypatch.setattr(KernelRows, "block_entries", 2000)
    streamed = margin_losses.solve(problem, loss, request)
    np.testing.assert_allclose(streamed.objective, kept.objective, rtol=1e-5)
    np.testing.assert_allclose(streamed.outputs, kept.outputs, atol=1e-2)


def test_the_full_expansion_and_weights_as_copies():
    problem, _ = problem_of(2, n=60, centers=None)
    counts = np.arange(60) % 3 + 1
    index = np.repeat(np.arange(60), counts)
    rows = KernelRows(problem.kernel.kernel, problem.kernel.rows[index])
    weighted = margin_losses.solve(replace(problem, weights=counts.astype(float)), "logistic", TIGHT)
    repeated = margin_losses.solve(
        replace(problem, kernel=rows, targets=problem.targets[index], weights=np.ones(len(index))), "logistic", TIGHT
    )
    np.testing.assert_allclose(weighted.objective, repeated.objective, rtol=1e-7)


def test_the_alpha_of_held_out_rows_is_between_the_extremes():
    """Labels that mean nothing ask for a strong penalty, clean ones for a weak one."""
    problem, _ = problem_of(2, n=300, centers=60)
    noise = replace(problem, targets=np.random.RandomState(0).choice([-1.0, 1.0], size=(300, 1)))
    clean = replace(problem, targets=np.where(problem.kernel.rows[:, :1] > 0.4, 1.0, -1.0))
    assert held_out_alpha(clean, "logistic", 1.0).alpha < held_out_alpha(noise, "logistic", 1.0).alpha


@pytest.mark.parametrize("centers", [None, 25, 1])
def test_a_kernel_matrix_that_is_given_has_its_alpha_found_too(centers):
    problem, _ = problem_of(2, centers=centers)
    given = replace(problem, kernel=KernelRows(Kernel("linear"), problem.kernel.matrix(), precomputed=True))
    alpha = held_out_alpha(given, "logistic", 1.0).alpha
    assert alpha in margin_losses.HELD_OUT_ALPHAS
    if centers is None:
        assert alpha == held_out_alpha(problem, "logistic", 1.0).alpha


@pytest.mark.parametrize(("loss", "frequency"), [("logistic", 2), ("squared_hinge", 5)])
def test_more_rows_than_are_screened_ask_for_a_weaker_alpha(loss, frequency, monkeypatch):
    """The choice goes on from the screened one with all rows, and its fit is where that of all rows begins."""
    problem, _ = problem_of(2, n=600, centers=60)
    X = problem.kernel.rows
    problem = replace(
        problem,
        kernel=KernelRows(Kernel("rbf", 1.0), X),
        targets=np.where(np.sin(frequency * X[:, :1]) > 0, 1.0, -1.0),
    )
    monkeypatch.setattr(margin_losses, "SCREENED_ROWS", 60)
    chosen = held_out_alpha(problem, loss, 1.0)
    monkeypatch.setattr(margin_losses, "MAX_ENTRIES", 0)  # of the sample alone
    screened = held_out_alpha(problem, loss, 1.0)
    monkeypatch.undo()
    assert chosen.alpha < screened.alpha
    problem = replace(problem, alpha=chosen.alpha)
    request = KernelRequest(tol=1e-8, max_iter=60)
    warm, cold = (margin_losses.solve(problem, loss, request, start) for start in (chosen.start, None))
    assert chosen.start is not None and warm.n_iter <= cold.n_iter
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=1e-6)


@pytest.mark.parametrize("alpha", [1e-2, 1e-4])
@pytest.mark.parametrize("loss", list(MARGIN_LOSSES))
def test_a_loose_tolerance_is_one_of_the_objective(loss, alpha):
    """Steps that stop short promise little, and the last of them once ended fits 47 % above the minimum."""
    problem, _ = problem_of(4, alpha=alpha)
    loose, tight = (margin_losses.solve(problem, loss, KernelRequest(tol=tol, max_iter=60)) for tol in (1e-2, 1e-8))
    assert loose.converged and tight.converged
    assert loose.objective.sum() < 1.01 * tight.objective.sum()


def test_a_limit_of_steps_is_reported():
    problem, _ = problem_of(3)
    with pytest.warns(UserWarning, match="Raise max_iter or alpha"):
        assert not margin_losses.solve(problem, "logistic", KernelRequest(max_iter=1, tol=1e-12)).converged
