"""Tangent covariances and image transformations."""

import numpy as np
import pytest

from eigenfeat.kernel.basis import basis_of
from eigenfeat.kernel.invariances import Rotation, Thickening, Translation, tangent_covariance
from eigenfeat.kernel.problem import KernelProblem
from eigenfeat.stages.kernels import Kernel, KernelRows

RNG = np.random.RandomState(0)
X = RNG.randn(80, 2)


def shift(rows):
    return rows + np.array([0.0, 0.2])


def rotate(rows):
    c, s = np.cos(0.1), np.sin(0.1)
    return rows @ np.array([[c, s], [-s, c]])


def test_tangent_covariance_is_the_squared_change_of_outputs():
    kernel, weights = KernelRows(Kernel("rbf", 0.5), X), RNG.rand(80)
    T = tangent_covariance(kernel, np.arange(80), weights, [(2.0, shift), (1.0, rotate)])
    alpha = RNG.randn(80)
    f = kernel.matrix() @ alpha
    moved = [kernel.to_rows(t(X)) @ alpha for t in (shift, rotate)]
    expected = 2 * weights @ (f - moved[0]) ** 2 + weights @ (f - moved[1]) ** 2
    assert alpha @ T @ alpha == pytest.approx(expected)


def test_tangent_covariance_of_single_precision_rows_is_positive_semi_definite():
    """Also in coordinates divided by the small eigenvalues of a wide kernel."""
    kernel = KernelRows(Kernel("rbf", 0.02), X.astype(np.float32))
    basis = basis_of(KernelProblem(kernel, np.ones((80, 1)), np.ones(80), 1.0, centers=np.arange(80)))
    T = tangent_covariance(kernel, np.arange(80), np.ones(80), [(1.0, shift)])
    values = np.linalg.eigvalsh(basis.congruent(T))
    assert values[0] > -1e-9 * values[-1]


def test_image_transformations():
    image = np.zeros((1, 7, 7))
    image[0, 3, 2:5] = 1.0
    row = image.reshape(1, -1)
    down = Translation((7, 7), down=1)(row).reshape(7, 7)
    np.testing.assert_allclose(down[4, 2:5], 1)
    np.testing.assert_allclose(Translation((7, 7), right=-1)(row).reshape(7, 7)[3, 1:4], 1)
    turned = Rotation((7, 7), 90)(row).reshape(7, 7)
    np.testing.assert_allclose(turned[2:5, 3], 1, atol=1e-9)
    assert Thickening((7, 7), 0.5)(row).sum() > row.sum()
    assert row.sum() == 3
