"""The preconditioner of rows with curvatures of their own: exact with all rows, near with some."""

import numpy as np
import pytest

from eigenfeat.kernel import sampled_preconditioner
from eigenfeat.kernel.problem import KernelProblem
from eigenfeat.kernel.sampled_preconditioner import SampledPreconditioner, SampledRows
from eigenfeat.stages.kernels import Kernel, KernelRows


def posed(n, q, penalty, alpha=0.05):
    draw = np.random.RandomState(0)
    X = draw.randn(n, 3)
    problem = KernelProblem(
        KernelRows(Kernel("rbf", 0.5), X), X[:, :1], np.ones(n), alpha, penalty=penalty, centers=np.arange(q)
    )
    return problem, np.exp(2 * draw.randn(n))


def conditioned(problem, curvatures):
    """``BᵀHB`` with the Hessian written out, the intercept eliminated."""
    K, w = problem.columns(), curvatures
    centred = K - w @ K / w.sum()
    P = problem.kernel.between(problem.centers) if problem.penalty == "function" else np.eye(K.shape[1])
    H = centred.T @ (w[:, None] * centred) + problem.alpha * P
    made = SampledPreconditioner(SampledRows(problem), problem.alpha, curvatures)
    return made.apply_transpose(H @ made.apply(np.eye(K.shape[1])))


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_all_rows_give_the_hessian_itself(penalty):
    problem, curvatures = posed(100, 25, penalty)
    np.testing.assert_allclose(conditioned(problem, curvatures), np.eye(25), atol=1e-5)


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_some_rows_a_centre_come_near_and_more_come_nearer(penalty, monkeypatch):
    problem, curvatures = posed(4000, 40, penalty)
    found = []
    for rows in (1, 5, 20):
        monkeypatch.setattr(sampled_preconditioner, "ROWS_A_CENTER", rows)
        found.append(np.linalg.cond(conditioned(problem, curvatures)))
    assert found[0] > found[1] > found[2]
    assert found[2] < 60  # between 20 and 64 of twelve samples


def test_products_with_the_penalty():
    problem, _ = posed(100, 25, "function")
    block = np.random.RandomState(1).randn(25, 2)
    K = problem.kernel.between(problem.centers)
    np.testing.assert_allclose(SampledRows(problem).penalty_times(block), K @ block, atol=1e-8)
    plain = SampledRows(posed(100, 25, "coefficients")[0])
    np.testing.assert_array_equal(plain.penalty_times(block), block)
