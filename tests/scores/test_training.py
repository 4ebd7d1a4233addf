"""The pieces of training: what corruption does, and how a gradient becomes a step."""

import numpy as np
import pytest

from eigenfeat.scores.training import OPTIMIZERS, Corruption


def test_corruption_has_the_variance_it_claims():
    rng = np.random.default_rng(0)
    X = rng.normal(2.0, 1.0, size=(20_000, 5)).astype(np.float32)
    for corruption in (Corruption("gaussian", 0.7), Corruption("masking", 0.3)):
        change = np.mean((corruption(X, rng) - X) ** 2, dtype=np.float64)
        claimed = corruption.variance(float(np.mean(X**2, dtype=np.float64)))
        assert change == pytest.approx(claimed, rel=0.02)  # 100,000 entries: five standard errors


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_go_down_at_the_rate_asked_for(name):
    """The first step of Adam is the rate in every coordinate; plain descent takes it times the gradient."""
    gradient = np.array([2.0, -0.5], dtype=np.float32)
    parameters = {"w": np.zeros(2, dtype=np.float32)}
    OPTIMIZERS[name](0.01).step(parameters, {"w": gradient})
    expected = -0.01 * (np.sign(gradient) if name == "adam" else gradient)
    np.testing.assert_allclose(parameters["w"], expected, rtol=1e-5)
