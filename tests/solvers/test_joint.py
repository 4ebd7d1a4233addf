"""Joint diagonalisation against the eigenvectors of a pair, a known mixing, a peer and the laws it obeys."""

import numpy as np
import pytest
from scipy.linalg import eigh

from eigenfeat.solvers.joint import jointly_diagonal


def related(k=4, d=6, seed=0, noise=0.0):
    """Matrices with a common diagonalising basis, but for some noise; and the mixing."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(d, d))
    matrices = np.array([mixing * rng.uniform(0.2, 3, size=d) @ mixing.T for _ in range(k)])
    errors = rng.normal(size=(k, d, 4 * d))
    return matrices + noise * errors @ errors.transpose(0, 2, 1), mixing


def criterion(matrices, V):
    turned = V.T @ matrices @ V
    return np.mean(np.log(np.diagonal(turned, axis1=1, axis2=2)).sum(axis=1) - np.linalg.slogdet(turned)[1])


def test_two_matrices_have_their_generalized_eigenvectors():
    matrices, _ = related(k=2, noise=0.1)
    found = jointly_diagonal(matrices)
    values, vectors = eigh(matrices[0], matrices.mean(axis=0))
    order = np.argsort(found.powers[0])
    np.testing.assert_allclose(found.powers[0, order], values, rtol=1e-10)
    cosines = np.abs(np.sum(found.vectors[:, order] * vectors, axis=0))
    cosines /= np.linalg.norm(found.vectors[:, order], axis=0) * np.linalg.norm(vectors, axis=0)
    np.testing.assert_allclose(cosines, 1, rtol=1e-10)
    assert found.converged and found.residuals.max() < 1e-7


def test_a_common_mixing_is_undone():
    matrices, mixing = related()
    found = jointly_diagonal(matrices)
    unmixed = np.abs(found.vectors.T @ mixing)
    unmixed /= unmixed.max(axis=1, keepdims=True)
    np.testing.assert_allclose(np.sort(unmixed, axis=1)[:, :-1], 0, atol=1e-6)
    assert sorted(unmixed.argmax(axis=1)) == list(range(6))


@pytest.mark.parametrize("seed", range(3))
def test_no_nearby_basis_is_better_and_no_peer(seed):
    matrices, _ = related(seed=seed, noise=0.3)
    found = jointly_diagonal(matrices)
    best = criterion(matrices, found.vectors)
    assert found.converged and best > 0.01
    rng = np.random.default_rng(seed)
    for _ in range(20):
        nearby = found.vectors @ (np.eye(6) + 1e-3 * rng.normal(size=(6, 6)))
        assert criterion(matrices, nearby) > best
    ajd = pytest.importorskip("pyriemann.utils.ajd")
    peer = ajd.ajd_pham(matrices, eps=1e-12, n_iter_max=500)[0]
    assert criterion(matrices, np.asarray(peer).T) == pytest.approx(best, rel=1e-8)


def test_scale_and_basis_do_not_matter_and_powers_have_mean_one():
    matrices, _ = related(noise=0.3)
    before = matrices.copy()
    found = jointly_diagonal(matrices)
    np.testing.assert_array_equal(matrices, before)
    np.testing.assert_allclose(found.powers.mean(axis=0), 1, rtol=1e-12)
    powers = np.einsum("ir,kij,jr->kr", found.vectors, matrices, found.vectors)
    np.testing.assert_allclose(found.powers, powers, rtol=1e-9)
    change = np.random.default_rng(5).normal(size=(6, 6))
    moved = jointly_diagonal(change @ matrices @ change.T * 1e6)
    order, moved_order = np.argsort(found.powers[0]), np.argsort(moved.powers[0])
    np.testing.assert_allclose(moved.powers[:, moved_order], found.powers[:, order], rtol=1e-6)
    np.testing.assert_allclose(moved.residuals[moved_order], found.residuals[order], rtol=1e-6)


def test_singular_matrices_are_diagonal_on_their_range():
    matrices, _ = related(noise=0.3)
    wide = np.zeros((4, 8, 8))
    wide[:, :6, :6] = matrices
    found = jointly_diagonal(wide)
    assert found.restricted and found.vectors.shape == (8, 6)
    np.testing.assert_allclose(found.vectors[6:], 0, atol=1e-10)
    np.testing.assert_allclose(np.sort(found.powers[0]), np.sort(jointly_diagonal(matrices).powers[0]), rtol=1e-6)
