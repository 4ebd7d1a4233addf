"""Normal equations, singular ones included."""

import numpy as np
import pytest

from eigenfeat.least_squares.direct import NoiseRoot, leading_left


def test_singular_systems_are_solved_by_the_pseudo_inverse():
    rng = np.random.default_rng(9)
    F, B = rng.normal(size=(20, 6)), rng.normal(size=(20, 3))
    N = F @ F.T
    np.testing.assert_allclose(NoiseRoot.of(N.copy()).solve(B), np.linalg.pinv(N, rcond=1e-10) @ B, atol=1e-8)


@pytest.mark.parametrize("rank", [6, 20])
def test_a_root_of_the_noise_whitens_it(rank):
    rng = np.random.default_rng(10)
    F = rng.normal(size=(20, rank))
    N = F @ F.T
    root = NoiseRoot.of(N.copy())
    W = root.unwhiten(np.eye(rank))
    np.testing.assert_allclose(W.T @ N @ W, np.eye(rank), atol=1e-8)
    np.testing.assert_allclose(root.whiten(N @ W), np.eye(rank), atol=1e-8)


@pytest.mark.parametrize("shape", [(12, 30), (30, 12)])
@pytest.mark.parametrize("values", [np.linspace(3, 1, 12), np.geomspace(1, 1e-5, 12), np.repeat([3.0, 2.0, 1.0], 4)])
def test_leading_directions_come_with_those_tied_to_the_last(shape, values):
    rng = np.random.default_rng(11)
    U, V = (np.linalg.qr(rng.normal(size=(size, 12)))[0] for size in shape)
    Z = leading_left((U * values) @ V.T, 6, 1e-8)
    expected = 8 if values[5] == values[6] else 6
    assert Z.shape[1] == expected
    projection = Z @ np.linalg.pinv(Z)
    np.testing.assert_allclose(projection, U[:, :expected] @ U[:, :expected].T, atol=1e-8)
