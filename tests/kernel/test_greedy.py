"""One term at a time: all of them reach the minimum, few come close to it."""

import pytest
from written_out import check_minimum, small_problem, two_classes

from eigenfeat.kernel import greedy, linear
from eigenfeat.kernel.problem import KernelRequest


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
@pytest.mark.parametrize("alpha", [0.03, 3.0])
def test_reaches_the_written_out_minimum(penalty, alpha):
    problem = small_problem("squared", penalty, alpha)
    check_minimum(problem, greedy.solve(problem, KernelRequest(tol=0, max_terms=40)))


def test_greedy_stops_early_and_falls_monotonically():
    problem = two_classes("function", 1.0, n=300)
    loose, tight = greedy.solve(problem, KernelRequest(tol=1e-2)), greedy.solve(problem, KernelRequest(tol=1e-4))
    full = linear.solve(problem).objective.sum()
    assert loose.n_iter < tight.n_iter < 300
    assert full <= tight.objective.sum() <= loose.objective.sum()
    assert tight.objective.sum() < 1.02 * full
    assert (tight.coefficients.any(axis=1)).sum() == tight.n_iter
