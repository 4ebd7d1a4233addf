"""Rows stand for their Gram matrix: the identity, the damping, and the minimum that is reached with them."""

from __future__ import annotations

import numpy as np
import pytest

from eigenfeat.linear import preconditioner_table
from eigenfeat.linear.logit import LogitSolver
from eigenfeat.linear.objective import LogitObjective
from eigenfeat.linear.passes import Passes
from eigenfeat.linear.preconditioners import OPTIMISM, PreconditionerRequest
from eigenfeat.linear.sample_preconditioner import LEAST_OPTIMISM, SamplePreconditioner
from eigenfeat.rows import as_rows


def make_objective(n=400, d=600, alpha=1e-9, constant=True):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * np.geomspace(1, 1e-2, d)
    passes = Passes(as_rows(X.astype(np.float32)), constant)
    return LogitObjective(passes, rng.integers(0, 4, n), np.full(n, 1 / n), 4, alpha)


def built(objective, n_rows=10_000):
    zero = objective.at(np.zeros(objective.shape))
    request = PreconditionerRequest(zero, n_rows, 0, objective.column_scale)
    return SamplePreconditioner.build(objective, request), zero.gradient


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("alpha", [1e-9, 1.0])
def test_it_inverts_the_curvature_of_its_rows_and_the_damping(constant, alpha):
    objective = make_objective(alpha=alpha, constant=constant)
    sample, gradient = built(objective)
    S = sample.rows.rows.astype(np.float64)
    expected = np.linalg.solve(S.T @ S + sample.damping * np.eye(S.shape[1]), gradient)
    np.testing.assert_allclose(sample.solve(gradient), expected, atol=1e-3 * np.abs(expected).max())
    all_rows = objective.passes.gram(objective.mean_curvature(objective.at(np.zeros(objective.shape))))
    np.testing.assert_allclose(np.triu(S.T @ S), np.triu(all_rows), atol=1e-5 * all_rows.max())


def test_half_of_the_sample_counts_unless_the_penalty_leaves_less():
    sample, _ = built(make_objective(), n_rows=100)
    values = np.linalg.eigvalsh(sample.rows.rows.astype(np.float64) @ sample.rows.rows.T)
    assert len(values) == 100
    assert np.mean(values / (values + sample.damping)) == pytest.approx(0.5, abs=0.1)
    strong, _ = built(make_objective(alpha=10.0), n_rows=100)
    assert strong.damping == pytest.approx(10.0)


def test_another_penalty_counts_where_it_is_larger():
    sample, gradient = built(make_objective(), n_rows=100)
    assert sample.with_alpha(sample.damping / 2).gram is sample.gram
    more = sample.with_alpha(3.0)
    S = sample.rows.rows.astype(np.float64)
    expected = np.linalg.solve(S.T @ S + 3 * np.eye(S.shape[1]), gradient)
    np.testing.assert_allclose(more.solve(gradient), expected, atol=1e-4 * np.abs(expected).max())
    back = more.with_alpha(1e-12)  # factored in the same array, twice
    expected = np.linalg.solve(S.T @ S + back.damping * np.eye(S.shape[1]), gradient)
    assert back.damping == sample.least
    np.testing.assert_allclose(back.solve(gradient), expected, atol=1e-3 * np.abs(expected).max())


def test_what_is_left_may_be_more_where_the_damping_stands_for_a_weaker_penalty():
    sample, _ = built(make_objective(), n_rows=100)
    assert sample.optimism == OPTIMISM  # a penalty of next to nothing
    assert sample.with_alpha(sample.damping / 5).optimism == pytest.approx(5)
    assert sample.with_alpha(sample.damping).optimism == LEAST_OPTIMISM


def test_rows_of_zeros_are_solved():
    passes = Passes(as_rows(np.zeros((20, 5), np.float32)), False)
    objective = LogitObjective(passes, np.arange(20) % 2, np.full(20, 1 / 20), 2, alpha=0.1)
    sample, _ = built(objective)
    np.testing.assert_allclose(sample.solve(np.ones((5, 2))), 10.0, rtol=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_minimum_does_not_depend_on_the_preconditioner(smoothing, monkeypatch):
    monkeypatch.setattr(preconditioner_table, "SAMPLE_ROWS", 60)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 200)) * np.geomspace(1, 0.1, 200)
    y = np.argmax(X[:, :3] + rng.normal(size=(300, 3)), axis=1)
    fits = [
        LogitSolver(as_rows(X, y), 3, smoothing=smoothing, solver=solver).fit(1e-3, tol=1e-9)
        for solver in ("gram", "sample")
    ]
    assert fits[1].solver == "sample" and fits[1].converged
    assert fits[1].objective == pytest.approx(fits[0].objective, rel=1e-8)
    np.testing.assert_allclose(fits[1].coef, fits[0].coef, atol=1e-3 * np.abs(fits[0].coef).max())
