"""The losses: their values against textbooks, best intercepts against brute force, and losses that have no name."""

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_out import optimum, small_problem, written_loss

from eigenfeat.kernel import (
    LOSSES,
    Absolute,
    EpsilonInsensitive,
    Huber,
    Loss,
    PiecewisePolynomial,
    Polynomial,
    Squared,
    qp,
    smo,
)
from eigenfeat.kernel.losses import as_loss, named
from eigenfeat.kernel.problem import KernelRequest


@dataclass(frozen=True)
class EpsilonHuber(Loss):
    """Nothing up to ε, then a parabola, then a line: two numbers of their own, and no solver was told."""

    sigma: float = 0.4
    epsilon: float = 0.2

    @property
    def curvature(self) -> float:
        return self.sigma

    @property
    def tube(self) -> float:
        return self.epsilon


@dataclass(frozen=True)
class SquaredTube(Loss):
    """½max(0, |ξ| - ε)²: curvature and tube without a bound."""

    epsilon: float = 0.2

    @property
    def curvature(self) -> float:
        return 1.0

    @property
    def tube(self) -> float:
        return self.epsilon

    @property
    def bound(self) -> float:
        return np.inf


@dataclass(frozen=True)
class SteepHuber(Loss):
    """Huber's with slope 3 far off: the bound is not one."""

    @property
    def curvature(self) -> float:
        return 0.5

    @property
    def bound(self) -> float:
        return 3.0


def written_new_loss(loss, residuals):
    match loss:
        case EpsilonHuber(sigma, epsilon):
            return cp.huber(cp.pos(cp.abs(residuals) - epsilon), sigma) / (2 * sigma)
        case SquaredTube(epsilon):
            return cp.square(cp.pos(cp.abs(residuals) - epsilon)) / 2
        case SteepHuber():
            return cp.huber(residuals, 1.5)  # ξ² up to 1.5, with slope 3 beyond
    return written_loss(loss, residuals)


NEW = [EpsilonHuber(), SquaredTube(), SteepHuber()]
ALL = [*(kind() for kind in LOSSES.values()), Huber(1.7), EpsilonInsensitive(0.0), *NEW]


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_values_are_those_of_the_textbook(loss):
    residuals = np.linspace(-3, 3, 61)
    if isinstance(loss, PiecewisePolynomial):  # written out as a minimum: tests/kernel/test_newton.py has its values
        return
    expected = written_new_loss(loss, cp.Constant(residuals)).value
    np.testing.assert_allclose(loss.values(residuals), expected, atol=1e-12)
    assert loss.values(residuals.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_slopes_are_the_derivatives_of_the_values(loss):
    residuals = np.linspace(-2.973, 2.981, 200)  # at no kink
    differences = (loss.values(residuals + 1e-6) - loss.values(residuals - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.slopes(residuals), differences, atol=1e-9)  # rounding over a step of 1e-6


@pytest.mark.parametrize("loss", ALL, ids=repr)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 12), ties=st.booleans())
def test_no_shift_does_better_than_the_intercept(loss, seed, n, ties):
    rng = np.random.default_rng(seed)
    residuals = rng.normal(size=(n, 1)) * 2
    if ties:
        residuals = np.round(residuals)
    weights = rng.uniform(0.1, 3.0, size=n)
    found = weights @ loss.values(residuals - loss.intercept(residuals, weights))[:, 0]
    others = np.linspace(residuals.min() - 1, residuals.max() + 1, 2001)
    best = (weights @ loss.values(residuals - others)).min()
    assert found <= best + 1e-10 * (1 + best)


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
@pytest.mark.parametrize("loss", NEW, ids=repr)
def test_a_new_loss_is_solved_without_a_solver_knowing_it(loss, penalty):
    problem = small_problem(loss, penalty, 0.3)
    best = optimum(problem, written_new_loss)
    solutions = [qp.solve(problem)]
    if penalty == "function":
        solutions.append(smo.solve(problem, KernelRequest(tol=1e-8)))
    for solution in solutions:
        assert solution.converged
        np.testing.assert_allclose(solution.objective, best, rtol=1e-6)


def test_a_new_loss_without_kinks_has_a_sparse_penalty_too():
    problem = small_problem(SteepHuber(), "sparse", 0.3)
    np.testing.assert_allclose(qp.solve(problem).objective, optimum(problem, written_new_loss), rtol=1e-6)


def test_a_name_is_a_loss_with_its_default_numbers():
    assert [as_loss(name) for name in LOSSES] == [
        Squared(),
        Absolute(),
        Huber(0.5),
        EpsilonInsensitive(0.1),
        Polynomial(1.5),
        PiecewisePolynomial(3.0, 0.5),
    ]
    assert as_loss(Huber(0.3)) == Huber(0.3) != Huber(0.5)
    assert [named(loss) for loss in (Huber(), Huber(0.3), EpsilonHuber())] == [
        "'huber'",
        "Huber(sigma=0.3)",
        "EpsilonHuber(sigma=0.4, epsilon=0.2)",
    ]


def test_what_solvers_ask_follows_from_the_numbers():
    asked = ("is_quadratic", "is_half_square", "is_piecewise_linear", "is_smooth")
    answers = {named(loss): [getattr(loss, name) for name in asked] for loss in (*map(as_loss, LOSSES), *NEW)}
    assert answers == {
        "'squared'": [True, True, False, True],
        "'absolute'": [False, False, True, False],
        "'huber'": [False, False, False, True],
        "'epsilon'": [False, False, True, False],
        "'polynomial'": [False, False, False, True],
        "'piecewise'": [False, False, False, True],
        "EpsilonHuber(sigma=0.4, epsilon=0.2)": [False, False, False, False],
        "SquaredTube(epsilon=0.2)": [False, False, False, False],
        "SteepHuber()": [False, False, False, True],
    }
