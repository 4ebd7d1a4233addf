"""The losses' duals: best intercepts against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenfeat.kernel.losses import scalar_loss
from eigenfeat.kernel.problem import LOSSES, KernelProblem, loss_value
from eigenfeat.stages.kernels import Kernel, KernelRows


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 12), ties=st.booleans())
def test_no_shift_does_better_than_the_intercept(loss, seed, n, ties):
    rng = np.random.default_rng(seed)
    residuals = rng.normal(size=(n, 1)) * 2
    if ties:
        residuals = np.round(residuals)
    weights = rng.uniform(0.1, 3.0, size=n)
    problem = KernelProblem(KernelRows(Kernel(), np.zeros((n, 1))), residuals, weights, 1.0, loss)
    shift = scalar_loss(problem).intercept(residuals, weights)
    found = loss_value(problem, residuals - shift)[0]
    others = np.linspace(residuals.min() - 1, residuals.max() + 1, 2001)
    best = loss_value(problem, residuals - others).min()
    assert found <= best + 1e-10 * (1 + best)
