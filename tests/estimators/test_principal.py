"""Oriented PCA and vanishing components against PCA, LAPACK and relations put into the data."""

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA

from eigenfeat import OrientedPCA, VanishingComponents
from eigenfeat.moments import collect_moments


def test_oriented_pca_without_noise_is_pca():
    X, _ = load_wine(return_X_y=True)
    ours, theirs = OrientedPCA(4).fit(X), PCA(4).fit(X)
    assert subspace_angles(ours.components_.T, theirs.components_.T).max() < 1e-6
    np.testing.assert_allclose(ours.eigenvalues_, theirs.explained_variance_ * (len(X) - 1) / len(X))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)))


def test_noise_rows_and_their_second_moment_are_the_same_noise():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(100, 4)), rng.normal(size=(80, 4)) * [1, 2, 3, 4]
    rows = OrientedPCA(2, ridge=0.1).fit(X, noise=Z)
    matrix = OrientedPCA(2, ridge=0.1, noise=Z.T @ Z / 80).fit(X)
    np.testing.assert_allclose(rows.components_, matrix.components_, atol=1e-9)
    values = eigh(np.cov(X.T, bias=True), Z.T @ Z / 80 + 0.1 * np.trace(Z.T @ Z / 80) / 4 * np.eye(4))[0]
    np.testing.assert_allclose(rows.eigenvalues_, values[::-1][:2])
    with pytest.raises(ValueError, match="4 features, but the noise has 3"):
        OrientedPCA().fit(X, noise=Z[:, :3])
    with pytest.raises(ValueError, match="given twice"):
        OrientedPCA(noise=np.eye(4)).fit(X, noise=Z)


def test_noise_of_an_earlier_fit_is_forgotten():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(80, 4)) * [4, 2, 1, 1], rng.normal(size=(60, 4)) * [4, 0.1, 1, 1]
    model = OrientedPCA(2).fit(X, noise=Z)
    assert model.noise_moments_ is not None
    np.testing.assert_array_equal(model.fit(X).components_, OrientedPCA(2).fit(X).components_)
    moments = model.fit_moments(collect_moments(X), noise=collect_moments(Z))
    np.testing.assert_allclose(moments.components_, OrientedPCA(2).fit(X, noise=Z).components_, rtol=1e-10)


def test_vanishing_components_are_the_relations_of_the_data():
    rng = np.random.default_rng(2)
    latent = rng.normal(size=(200, 3))
    X = latent @ rng.normal(size=(3, 5))
    found = VanishingComponents(max_eigenvalue=1e-10).fit(X)
    assert found.components_.shape == (2, 5)
    np.testing.assert_allclose(found.transform(X), 0, atol=1e-7)
    np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(2), atol=1e-10)
    assert VanishingComponents(n_components=3).fit(X).eigenvalues_[2] == pytest.approx(
        np.linalg.eigvalsh(X.T @ X / 200)[2]
    )
