"""Normal equations summed over blocks are those of all rows."""

import numpy as np
import pytest

import eigenfeat.rows
from eigenfeat.kernel import nystrom, streamed_nystrom
from eigenfeat.kernel.problem import KernelProblem, KernelRequest
from eigenfeat.kernel.thresholds import one_vs_rest
from eigenfeat.rows import ClassCounts
from eigenfeat.stages.kernels import Kernel, KernelRows

rng = np.random.default_rng(1)
X = rng.normal(size=(400, 3))
W = rng.exponential(size=400)


def posed(n_classes, penalty="function"):
    codes = np.digitize(X[:, 0] ** 2 + 0.3 * X[:, 1], [0.5, 1.5][: n_classes - 1])
    kernel = KernelRows(Kernel("rbf", 0.5), X)
    return codes, KernelProblem(kernel, one_vs_rest(codes), W, 0.1, penalty=penalty, centers=X[::10])


def source(codes):
    return eigenfeat.rows.open(lambda: iter([(X, codes, W)]), batch_size=70)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_equations(n_classes):
    codes, problem = posed(n_classes)
    rows = source(codes)
    found = streamed_nystrom.StreamedEquations(rows, rows.reduce(ClassCounts()), problem)
    expected = nystrom._NormalEquations(problem)
    block = rng.normal(size=found.right_hand_side.shape)
    np.testing.assert_allclose(found.mean_y, expected.mean_y, rtol=1e-10)
    np.testing.assert_allclose(found.right_hand_side, expected.right_hand_side, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.times(block), expected.times(block), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_solutions_and_their_objective(penalty):
    codes, problem = posed(3, penalty)
    request, rows = KernelRequest(tol=1e-9, max_iter=200), source(codes)
    found = streamed_nystrom.solve(rows, rows.reduce(ClassCounts()), problem, request)
    expected = nystrom.solve(problem, request)
    np.testing.assert_allclose(found.objective, expected.objective, rtol=1e-8)
    outputs = KernelRows(problem.kernel.kernel, X).columns(problem.centers) @ found.coefficients + found.intercept
    np.testing.assert_allclose(outputs, expected.outputs, atol=1e-6)
