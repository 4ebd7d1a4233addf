"""Any signal over any noise: names, matrices, functions, sums; common spatial patterns as one of them."""

import numpy as np
import pytest
from pyriemann.spatialfilters import CSP
from scipy.linalg import eigh, subspace_angles
from sklearn.datasets import load_wine

from eigenfeat import FisherLDA, RayleighFeatures


def test_common_spatial_patterns_are_one_vs_all():
    rng = np.random.default_rng(1)
    mixing = rng.normal(size=(6, 6))
    trials = np.stack([(mixing * (1 + 0.5 * (t % 2) * np.eye(6)[0])) @ rng.normal(size=(6, 400)) for t in range(40)])
    trials -= trials.mean(axis=2, keepdims=True)
    y = np.arange(40) % 2
    covariances = np.stack([t @ t.T / 400 for t in trials])
    csp = CSP(nfilter=6, metric="euclid", log=False).fit(covariances, y)
    samples, labels = trials.transpose(0, 2, 1).reshape(-1, 6), np.repeat(y, 400)
    ours = RayleighFeatures(
        signal=lambda m: m.second_moment(1), noise="second_moment", centred=False, labels=True, n_components=1
    ).fit(samples, labels)
    best = csp.filters_[np.argmax([abs(f @ covariances[y == 1].mean(0) @ f) for f in csp.filters_])]
    assert subspace_angles(ours.components_.T, best[:, None]).max() < 1e-5


def test_rayleigh_takes_names_matrices_functions_and_sums():
    X, y = load_wine(return_X_y=True)
    named = RayleighFeatures(n_components=2).fit(X, y)
    np.testing.assert_allclose(named.eigenvalues_, FisherLDA().fit(X, y).eigenvalues_)
    S, N = named.moments_.between().toarray(), named.moments_.within().toarray()
    given = RayleighFeatures(signal=S, noise=N, n_components=2).fit(X)
    np.testing.assert_allclose(given.eigenvalues_, named.eigenvalues_, rtol=1e-6)
    mixed = RayleighFeatures(signal=lambda m: m.between(), noise=["within", (0.5, np.eye(13))], n_components=2)
    values = eigh(S, N + 0.5 * np.eye(13))[0][::-1][:2]
    np.testing.assert_allclose(mixed.fit(X, y).eigenvalues_, values, rtol=1e-6)
    with pytest.raises(ValueError, match="13 × 13 matrix"):
        RayleighFeatures(signal=np.eye(4)).fit(X, y)
    with pytest.raises(ValueError, match="symmetric"):
        RayleighFeatures(noise=np.triu(np.ones((13, 13)))).fit(X, y)
