"""Newton's method: every power against the written-out program, and against the solvers that know parabolas."""

from dataclasses import replace

import numpy as np
import pytest
from written_out import check_minimum, optimum, small_problem

from eigenfeat.kernel import Huber, PiecewisePolynomial, Polynomial, linear, newton, qp
from eigenfeat.kernel.problem import DEFAULTS
from eigenfeat.kernel.table import SOLVERS

LOSSES = [
    Polynomial(1.2), Polynomial(1.5), Polynomial(3.0), Polynomial(4.0),
    PiecewisePolynomial(1.5, 0.3), PiecewisePolynomial(3.0, 0.5), PiecewisePolynomial(2.0, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("alpha", [1e-2, 1.0])
@pytest.mark.parametrize("penalty", ["function", "coefficients"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_reaches_the_optimum_of_the_written_out_program(loss, penalty, alpha):
    problem = small_problem(loss, penalty, alpha)
    assert check_minimum(problem, newton.solve(problem)).converged


@pytest.mark.parametrize("loss", [Polynomial(1.5), PiecewisePolynomial(3.0, 0.5)], ids=repr)
def test_centres_and_invariances(loss):
    moves = ((0.5, lambda rows: rows + 0.2),)
    problem = replace(small_problem(loss, "function", 0.3), centers=np.arange(0, 40, 3), invariances=moves)
    np.testing.assert_allclose(newton.solve(problem).objective, optimum(problem), rtol=1e-6)


def test_squares_are_the_linear_system_and_a_piecewise_square_is_hubers():
    squared = small_problem("squared", "function", 0.3)
    np.testing.assert_allclose(newton.solve(squared).outputs, linear.solve(squared).outputs, atol=1e-7)
    np.testing.assert_allclose(newton.solve(replace(squared, loss=Polynomial(2.0))).outputs,
                               linear.solve(squared).outputs, atol=1e-7)  # fmt: skip
    huber = small_problem(Huber(0.3), "coefficients", 0.3)
    piecewise = replace(huber, loss=PiecewisePolynomial(2.0, 0.3))
    np.testing.assert_allclose(newton.solve(piecewise).objective, qp.solve(huber).objective, rtol=1e-7)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_and_curvatures_are_derivatives(loss):
    x = np.concatenate([np.linspace(-2, -0.05, 40), np.linspace(0.05, 2, 40)]) + 0.0123
    step = 1e-6
    slopes = (loss.values(x + step) - loss.values(x - step)) / (2 * step)
    np.testing.assert_allclose(loss.slopes(x), slopes, rtol=1e-4, atol=1e-6)
    bent = (loss.slopes(x + step) - loss.slopes(x - step)) / (2 * step)
    np.testing.assert_allclose(loss.curvatures(x), bent, rtol=1e-3, atol=1e-4)


def test_table_2_1():
    """The polynomial and the piecewise polynomial loss as the thesis writes them."""
    x = np.linspace(-2, 2, 41)
    np.testing.assert_allclose(Polynomial(3.0).values(x), np.abs(x) ** 3 / 3, atol=1e-15)
    sigma, p = 0.5, 3.0
    inside = np.abs(x) ** p / (p * sigma ** (p - 1))
    expected = np.where(np.abs(x) <= sigma, inside, np.abs(x) - sigma * (p - 1) / p)
    np.testing.assert_allclose(PiecewisePolynomial(p, sigma).values(x), expected, atol=1e-15)


def test_the_others_refuse_other_powers():
    problem = small_problem(Polynomial(3.0), "function", 1.0)
    assert SOLVERS.able(problem, DEFAULTS) == ["newton"]
    with pytest.raises(ValueError, match=r"'qp' .*a loss of parabolas and lines.*newton"):
        SOLVERS.choose("qp", problem, DEFAULTS)
