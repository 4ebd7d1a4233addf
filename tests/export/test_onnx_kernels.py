"""Every kernel by name against its own values."""

import numpy as np
import pytest
from onnx_values import value

from eigenfeat.export.onnx_kernels import kernel_values
from eigenfeat.stages.kernels import KERNELS, Kernel


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "precomputed"])
def test_values_are_those_of_the_kernel(name):
    rng = np.random.default_rng(0)
    X, points = (np.abs(rng.normal(size=(n, 4))) for n in (12, 7))
    X[0], points[0, :2] = 0, 0
    kernel = Kernel(name, gamma=0.3, degree=2, coef0=0.5)
    np.testing.assert_allclose(
        value(lambda g, x: kernel_values(g, kernel, x, points), X), kernel(X, points), atol=1e-10
    )
