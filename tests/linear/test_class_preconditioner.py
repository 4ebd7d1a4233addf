"""Every class has its own rows beside the Gram matrix of all: the identity, which rows, and the way they shorten."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eigenfeat import rows as row_layer
from eigenfeat.linear import class_preconditioner
from eigenfeat.linear.class_preconditioner import ClassPreconditioner, OwnRows
from eigenfeat.linear.logit import LogitSolver
from eigenfeat.linear.objective import LogitObjective
from eigenfeat.linear.passes import Passes
from eigenfeat.linear.preconditioners import GramPreconditioner, PreconditionerRequest
from eigenfeat.rows import as_rows

N_CLASSES = 12


def make_objective(alpha=1e-4, smoothing=0.2, constant=True, n=90, d=30):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, N_CLASSES - 1, n)  # the last class has no row
    weights = rng.uniform(0.5, 2, n)
    passes = Passes(as_rows(rng.normal(size=(n, d))), constant)
    return LogitObjective(passes, labels, weights / weights.sum(), N_CLASSES, alpha, smoothing)


def request_at(objective, coefficients):
    return PreconditionerRequest(objective.at(coefficients), 10_000, 0, objective.column_scale)


def with_constant(objective):
    X = objective.passes.block(slice(None))
    return np.hstack([X, np.ones((len(X), 1))]) if objective.passes.constant else X


def by_brute_force(objective, request, gradient, alpha):
    """Every class by itself, from its matrix."""
    X = with_constant(objective)
    shared = (X.T * objective.mean_curvature(request.point)) @ X + alpha * np.eye(X.shape[1])
    t = 1 - objective.smoothing + objective.smoothing / N_CLASSES
    solved = []
    for c, column in enumerate(gradient.T):
        own = objective.labels == c
        matrix = shared + t * (1 - t) * (X[own].T * objective.weights[own]) @ X[own]
        solved.append(np.linalg.solve(matrix, column))
    return np.transpose(solved)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("block_rows", [1, 20, 512])
def test_it_inverts_what_all_rows_curve_and_what_those_of_a_class_do(constant, block_rows, monkeypatch):
    monkeypatch.setattr(class_preconditioner, "BLOCK_ROWS", block_rows)
    objective = make_objective(constant=constant)
    rng = np.random.default_rng(1)
    request = request_at(objective, rng.normal(size=objective.shape))
    built = ClassPreconditioner.build(objective, request)
    first, second = rng.normal(size=(2, *objective.shape))
    expected = by_brute_force(objective, request, first, objective.alpha)
    np.testing.assert_allclose(built.solve(first), expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(built.solve(np.hstack([second, first]))[:, N_CLASSES:], expected, rtol=1e-6, atol=1e-6)
    other = built.with_alpha(0.3)
    expected = by_brute_force(objective, request, first, 0.3)
    np.testing.assert_allclose(other.solve(first), expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())


def test_where_rows_are_fitted_it_is_the_hessian_of_a_class_but_for_a_scale():
    """Every row has its label for a probability and the other classes share the rest."""
    objective, c = make_objective(), 3
    t, rest = 1 - 0.2 + 0.2 / N_CLASSES, 0.2 / N_CLASSES
    X, own = with_constant(objective), objective.labels == c
    hessian = (X.T * (objective.weights * np.where(own, t * (1 - t), rest * (1 - rest)))) @ X
    hessian += objective.alpha * np.eye(X.shape[1])
    probabilities = np.full((len(X), N_CLASSES), rest)
    probabilities[np.arange(len(X)), objective.labels] = t
    at_zero = request_at(objective, np.zeros(objective.shape))
    request = replace(at_zero, point=replace(at_zero.point, probabilities=probabilities))

    def condition(kind):
        solve, gradients = kind.build(objective, request).solve, np.zeros((X.shape[1], *objective.shape))
        gradients[:, :, c] = np.eye(X.shape[1])
        inverse = np.column_stack([solve(gradient)[:, c] for gradient in gradients])
        values = np.linalg.eigvals(inverse @ hessian).real
        return values.max() / values.min()

    assert condition(ClassPreconditioner) < 2 < 5 < condition(GramPreconditioner)


def test_of_a_large_class_the_heaviest_rows_are_its_own(monkeypatch):
    monkeypatch.setattr(class_preconditioner, "MOST_OWN_ROWS", 4)
    objective = make_objective()
    own = OwnRows.of(objective)
    counts = np.bincount(objective.labels, minlength=N_CLASSES)
    np.testing.assert_array_equal(np.diff(own.starts), np.minimum(counts, 4))
    assert own.passes.index is not None
    for c in range(N_CLASSES - 1):
        taken = own.passes.index[own.starts[c] : own.starts[c + 1]]
        heaviest = np.sort(objective.weights[objective.labels == c])[::-1][:4]
        np.testing.assert_array_equal(objective.weights[taken], heaviest)


def test_labels_as_they_are_have_no_own_rows():
    objective = make_objective(smoothing=0.0)
    request = request_at(objective, np.random.default_rng(0).normal(size=objective.shape))
    assert OwnRows.of(objective).passes.n_rows == 0
    gradient = request.point.gradient
    plain = GramPreconditioner.build(objective, request).solve(gradient)
    np.testing.assert_array_equal(ClassPreconditioner.build(objective, request).solve(gradient), plain)


def crowded_rows(n_classes=60, n=4, d=120, dtype=np.float32):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(n_classes), n)
    X = rng.normal(size=(n_classes, d))[labels] + rng.normal(size=(len(labels), d))
    return as_rows(X.astype(dtype), labels), n_classes


def test_many_classes_take_a_fraction_of_the_passes():
    """Ends at the minimum that the Gram matrix alone finds, and far sooner."""
    rows, k = crowded_rows()
    free = LogitSolver(rows, k, smoothing=0.2)
    assert free.solver == "classes"
    for alpha in (1e-3, 1e-4):
        found = free.fit(alpha, tol=1e-3)
        gram = LogitSolver(rows, k, smoothing=0.2, solver="gram").fit(alpha, tol=1e-3)
        best = LogitSolver(rows, k, smoothing=0.2, solver="gram").fit(alpha, tol=1e-6, max_iter=1000).objective
        assert found.converged and found.n_passes < 0.5 * gram.n_passes
        assert found.objective == pytest.approx(best, rel=1e-3)


def test_threads_do_not_change_it():
    rows, k = crowded_rows(dtype=np.float64)
    one, two = (LogitSolver(rows, k, smoothing=0.2, n_jobs=n_jobs).fit(1e-3) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.coef, two.coef)


def test_rows_that_are_read_a_block_at_a_time_have_no_own_rows():
    batch = (np.random.default_rng(0).normal(size=(60, 20)), np.arange(60) % 30)
    with pytest.raises(ValueError, match="it needs rows in memory"):
        LogitSolver(row_layer.open(lambda: [batch]), 30, smoothing=0.2, solver="classes")
