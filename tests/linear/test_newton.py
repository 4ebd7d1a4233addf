"""Newton steps: what pairs of past steps add to a preconditioner, and what that saves."""

from collections import deque

import numpy as np
import pytest

from eigenfeat.linear.newton import newton_steps
from eigenfeat.linear.objective import LogitObjective
from eigenfeat.linear.passes import Passes
from eigenfeat.linear.preconditioners import DiagonalPreconditioner, PreconditionerRequest
from eigenfeat.linear.quasi_newton import Corrected, no_pairs, two_loop
from eigenfeat.rows import as_rows


@pytest.fixture
def objective():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30)) @ np.diag(np.logspace(0, -2, 30)) @ rng.normal(size=(30, 30))
    labels = np.argmax(X[:, :3] + rng.normal(size=(400, 3)), axis=1)
    return LogitObjective(Passes(as_rows(X), True), labels, np.full(400, 1 / 400), 3, 1e-4)


@pytest.fixture
def diagonal(objective):
    return DiagonalPreconditioner.build(objective, PreconditionerRequest(None, 400, 0, objective.column_scale))


def pairs_of(objective, n_pairs=4):
    """Steps at random, and what the Hessian at zero makes of them."""
    rng, pairs = np.random.default_rng(1), no_pairs(objective.shape)
    curvature = objective.curvature(objective.at(np.zeros(objective.shape)))
    for _ in range(n_pairs):
        step = rng.normal(size=objective.shape)
        step -= step.mean(axis=1, keepdims=True)
        pairs.append((step, curvature @ step))
    return pairs


def test_corrected_by_pairs_it_knows_the_last_step_and_stays_symmetric_and_positive(objective, diagonal):
    pairs = pairs_of(objective)
    corrected = Corrected(diagonal, pairs)
    step, change = pairs[-1]
    np.testing.assert_allclose(corrected.solve(change), step, atol=1e-9)
    identity = np.eye(step.size).reshape(step.size, *step.shape)
    matrix = np.array([corrected.solve(column).ravel() for column in identity])
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-9 * np.abs(matrix).max())
    assert np.linalg.eigvalsh(matrix)[0] > 0
    gradient = np.random.default_rng(2).normal(size=step.shape)
    np.testing.assert_allclose(corrected.solve(gradient), two_loop(gradient, pairs, diagonal), rtol=1e-9)


def test_without_pairs_it_is_the_preconditioner_itself(objective, diagonal):
    gradient = np.random.default_rng(2).normal(size=objective.shape)
    np.testing.assert_array_equal(Corrected(diagonal, deque()).solve(gradient), diagonal.solve(gradient))


def test_pairs_of_one_step_save_products_of_the_next(objective, diagonal):
    """The same minimum, from fewer products."""
    products, values = [], []
    for pairs in (deque(maxlen=0), no_pairs(objective.shape)):
        taken, point = 0, objective.at(np.zeros(objective.shape))
        for step in newton_steps(objective, point, lambda *_: diagonal, pairs):
            taken += step.n_products
            if step.gap < 1e-9 * step.point.value:
                break
        products.append(taken)
        values.append(step.point.value)
    assert values[1] == pytest.approx(values[0], rel=1e-8)
    assert products[1] < 0.75 * products[0]
