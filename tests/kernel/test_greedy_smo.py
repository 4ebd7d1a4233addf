"""Greedy SMO: sparse expansions that solve their restricted problem and approach the full one."""

import numpy as np
import pytest
from written_out import small_problem

from eigenfeat.kernel import LOSSES, greedy_smo, qp
from eigenfeat.kernel.problem import KernelRequest
from eigenfeat.stages.kernels import Kernel


@pytest.mark.parametrize("loss", LOSSES)
def test_approaches_the_full_expansion_with_a_fraction_of_its_rows(loss):
    problem = small_problem(loss, "function", 1.0, n=150, kernel=Kernel("rbf", 0.05))
    full = qp.solve(problem).objective
    solution = greedy_smo.solve(problem, KernelRequest(tol=1e-5, max_terms=40, random_state=0))
    assert (solution.coefficients != 0).any(axis=1).sum() <= 40
    assert (solution.objective >= full * (1 - 1e-7)).all()
    # what 110 rows that are left out still have to give: a matter of the kernel's width, not of a tolerance
    np.testing.assert_allclose(solution.objective, full, rtol=1e-4)


def test_its_restricted_problem_is_solved():
    problem = small_problem("squared", "function", 0.5, n=120)
    solution = greedy_smo.solve(problem, KernelRequest(tol=1e-7, max_terms=15, random_state=0))
    basis = np.flatnonzero(solution.coefficients.any(axis=1))
    K = problem.kernel.matrix()
    design = np.column_stack([K[:, basis], np.ones(120)])
    normal = design.T @ (problem.weights[:, None] * design)
    normal[:-1, :-1] += 0.5 * K[np.ix_(basis, basis)]
    exact = np.linalg.solve(normal, design.T @ (problem.weights[:, None] * problem.targets))
    penalty = 0.5 * np.einsum("it,ij,jt->t", exact[:-1], K[np.ix_(basis, basis)], exact[:-1]) / 2
    best = problem.weights @ (problem.targets - design @ exact) ** 2 / 2 + penalty
    np.testing.assert_allclose(solution.objective, best, rtol=1e-6)


def test_it_stops_where_more_terms_no_longer_help():
    problem = small_problem("squared", "function", 10.0, n=200, kernel=Kernel("rbf", 0.01))
    solution = greedy_smo.solve(problem, KernelRequest(tol=1e-3, max_terms=150, random_state=0))
    assert solution.converged
    assert (solution.coefficients != 0).any(axis=1).sum() < 100


def test_the_greedy_choice_beats_random_rows():
    problem = small_problem("squared", "function", 0.1, n=200)
    requests = [KernelRequest(max_terms=20, random_state=seed) for seed in range(3)]
    greedy = [greedy_smo.solve(problem, request).objective.sum() for request in requests]
    five_at_random = {"n_candidates": 5, "n_added": 5}
    at_random = [greedy_smo.solve(problem, request, **five_at_random).objective.sum() for request in requests]
    assert np.mean(greedy) < np.mean(at_random)
