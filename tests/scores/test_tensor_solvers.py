"""The table of solvers: which order each takes, and what is said to the others."""

import numpy as np
import pytest
from score_models_for_tests import standard_gaussian

from eigenfeat.moments.forms import DenseForm
from eigenfeat.scores.cross_tensor import StreamedTensor, centred_labels
from eigenfeat.scores.tensor_solvers import TENSOR_SOLVERS, TensorProblem, TensorRequest

ABLE = {1: ["svd"], 2: ["eigen"], 3: ["power", "als"], 4: ["power", "als"]}


def problem_of(order):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    tensor = StreamedTensor(standard_gaussian(3), X, centred_labels((X @ rng.normal(size=(3, 2))) ** order), order)
    return TensorProblem(tensor, DenseForm(np.diag([1.0, 2.0, 4.0])))


@pytest.mark.parametrize("order", ABLE)
def test_every_order_has_its_solvers_and_auto_takes_the_first(order):
    problem, request = problem_of(order), TensorRequest(1, np.random.default_rng(0))
    assert TENSOR_SOLVERS.able(problem, request) == ABLE[order]
    assert TENSOR_SOLVERS.choose("auto", problem, request).name == ABLE[order][0]
    for name in ABLE[order]:
        assert TENSOR_SOLVERS.choose(name, problem, request).solve(problem, request).components.count == 1


@pytest.mark.parametrize(("name", "order"), [("power", 1), ("als", 2), ("svd", 3), ("eigen", 1)])
def test_a_solver_of_another_order_is_refused_with_those_that_can(name, order):
    problem, request = problem_of(order), TensorRequest(1, np.random.default_rng(0))
    with pytest.raises(ValueError, match=rf"cross-moment of order {order}: it needs order.*can: {ABLE[order][0]}"):
        TENSOR_SOLVERS.choose(name, problem, request)


def test_the_basis_makes_the_noise_the_identity():
    problem = problem_of(3)
    np.testing.assert_allclose(problem.basis.T @ (problem.noise @ problem.basis), np.eye(3), atol=1e-12)
