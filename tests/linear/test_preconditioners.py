"""Preconditioners invert what they say they invert."""

from __future__ import annotations

import weakref
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from eigenfeat.linear.newton import newton_steps
from eigenfeat.linear.objective import LogitObjective
from eigenfeat.linear.passes import Passes
from eigenfeat.linear.preconditioners import DiagonalPreconditioner, GramPreconditioner, PreconditionerRequest
from eigenfeat.linear.quasi_newton import no_pairs, quasi_newton_steps
from eigenfeat.linear.steps import line_search
from eigenfeat.rows import as_rows


def make_objective(n=900, d=600, alpha=0.5, constant=True):
    rng = np.random.default_rng(0)
    passes = Passes(as_rows(rng.normal(size=(n, d))), constant)
    return LogitObjective(passes, rng.integers(0, 4, n), np.full(n, 1 / n), 4, alpha)


def request(objective, point=None, n_rows=10_000):
    return PreconditionerRequest(point, n_rows, 0, objective.column_scale)


@pytest.mark.parametrize("constant", [True, False])
def test_at_zero_the_gram_preconditioner_is_the_inverse_hessian(constant):
    objective = make_objective(constant=constant)
    zero = objective.at(np.zeros(objective.shape))
    exact = GramPreconditioner.build(objective, request(objective, zero))
    step = exact.solve(zero.gradient)
    penalised = objective.curvature(zero) @ step
    if constant:  # whose penalty is in the preconditioner only
        penalised[-1] += objective.alpha * step[-1]
    np.testing.assert_allclose(penalised, zero.gradient, atol=1e-12)


@pytest.mark.parametrize("steps", [quasi_newton_steps, newton_steps])
def test_one_is_freed_before_the_next_is_built(steps):
    objective, last = make_objective(200, 20), []

    def anew(point, passes_since_last):
        assert all(before() is None for before in last)
        built = GramPreconditioner.build(objective, request(objective, point))
        last.append(weakref.ref(built))
        return built

    for _ in islice(steps(objective, objective.at(np.zeros(objective.shape)), anew, no_pairs((21, 4))), 3):
        pass
    assert len(last) == 3


def test_another_alpha_is_another_factorisation_of_the_same_matrix():
    objective = make_objective()
    zero = objective.at(np.zeros(objective.shape))
    asked = request(objective, zero)
    for alpha in (3.0, 1e-3):
        direct = replace(objective, alpha=alpha)
        expected = GramPreconditioner.build(direct, asked).solve(zero.gradient)
        again = GramPreconditioner.build(objective, asked).with_alpha(alpha)
        np.testing.assert_allclose(again.solve(zero.gradient), expected, rtol=1e-9, atol=1e-12)
        diagonal = DiagonalPreconditioner.build(objective, asked).with_alpha(alpha)
        expected = DiagonalPreconditioner.build(direct, asked).solve(zero.gradient)
        np.testing.assert_allclose(diagonal.solve(zero.gradient), expected)


def test_a_singular_gram_matrix_is_bent_until_it_factors():
    rng = np.random.default_rng(0)
    passes = Passes(as_rows(np.repeat(rng.normal(size=(20, 30)), 2, axis=1).astype(np.float32)))
    objective = LogitObjective(passes, rng.integers(0, 2, 20), np.full(20, 1 / 20), 2, alpha=0.0)
    zero = objective.at(np.zeros(objective.shape))
    built = GramPreconditioner.build(objective, request(objective, zero))
    step = built.solve(zero.gradient)
    assert np.isfinite(step).all() and np.vdot(step, zero.gradient) > 0


def test_a_column_the_sample_misses_does_not_stop_the_fit():
    """One row in 4000 has a huge value in a column of its own; a Gram matrix of 200 rows knows nothing of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    y = (X[:, 0] + 0.3 * rng.normal(size=4000) > 0).astype(int)
    X[:, 3] = 0
    X[17, 3] = 1e4
    passes = Passes(as_rows(X))
    objective = LogitObjective(passes, y, np.full(4000, 1 / 4000), 2, 1e-6)
    start = objective.at(np.zeros(objective.shape))
    built = GramPreconditioner.build(objective, request(objective, start, 200))
    assert built.gram.diagonal[3] >= 0.999 * objective.curved_squares(start)[3]
    reached, step = line_search(
        objective, start, -built.solve(start.gradient), -float(np.vdot(start.gradient, built.solve(start.gradient)))
    )
    assert step > 0.1
    assert reached.value < 0.6 * start.value


def test_rows_of_zeros_have_a_preconditioner():
    passes = Passes(as_rows(np.zeros((5, 3))), constant=False)
    objective = LogitObjective(passes, np.arange(5) % 2, np.full(5, 1 / 5), 2, alpha=0.0)
    built = GramPreconditioner.build(objective, request(objective))
    assert np.isfinite(built.solve(np.ones((3, 2)))).all()


@pytest.mark.parametrize("n_rows", [300, 10_000])
def test_zero_coefficients_need_no_pass_to_tell_curvature(n_rows):
    objective = make_objective()
    zero = objective.at(np.zeros(objective.shape))
    told = GramPreconditioner.build(objective, request(objective, None, n_rows))
    seen = GramPreconditioner.build(objective, request(objective, zero, n_rows))
    np.testing.assert_allclose(told.solve(zero.gradient), seen.solve(zero.gradient), rtol=1e-8, atol=1e-12)


def test_a_column_that_a_sample_lacks_curves_as_in_all_rows():
    """Without that a step along it has no end: the sample says there is nothing but the penalty."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    X[:, 4] = 0
    X[7, 4] = 100.0
    weights, labels = np.full(2000, 1 / 2000), rng.integers(0, 3, 2000)
    objective = LogitObjective(Passes(as_rows(X)), labels, weights, 3, alpha=1e-6)
    sample = objective.drawn(0.1, seed=0)
    assert not np.any(sample.passes.block(slice(None))[:, 4])
    C = 0.1 * rng.normal(size=objective.shape)
    curvature = objective.total_curvature(objective.at(C))
    asked = PreconditionerRequest(sample.at(C), 50, 0, objective.column_scale, curvature)
    built = GramPreconditioner.build(sample, asked)
    assert built.gram.diagonal[4] == pytest.approx(curvature * np.mean(X[:, 4] ** 2))
    seen = sample.curved_squares(asked.point)[:4]
    assert np.all(built.gram.diagonal[:4] >= seen * (1 - 1e-9))
