"""The targets that penalised directions regress on."""

import numpy as np
import pytest
from ls_problems import factor, inputs, largest_angle, problem

from eigenfeat.least_squares.penalised import aligned_targets
from eigenfeat.least_squares.solve import solve


@pytest.mark.parametrize("model", ["lda", "cca", "opls", "star"])
@pytest.mark.parametrize("shape", [(50, 8), (16, 30)])
def test_aligned_targets_regress_to_the_eigenvectors_at_any_rank(model, shape):
    rng = np.random.default_rng(2)
    one = problem(inputs(rng, *shape), *factor(model, rng, shape[0]))
    exact = solve(one)
    targets = aligned_targets(one, exact)
    regression = np.linalg.pinv(one.rows.matrix) @ targets
    np.testing.assert_allclose(np.linalg.norm(targets, axis=0), 1)
    for j in range(len(exact.values)):
        assert largest_angle(regression[:, [j]], exact.vectors[:, [j]]) < 1e-7
    if shape[0] <= shape[1]:  # the paper's case: orthonormal targets spanning T
        np.testing.assert_allclose(targets.T @ targets, np.eye(len(exact.values)), atol=1e-7)
