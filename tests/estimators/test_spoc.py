"""Source power comodulation against its definition, its peers and the laws it obeys."""

import numpy as np
import pytest
from scipy.linalg import eigh
from signal_data import MIXING, cosines, followed
from sklearn.covariance import ledoit_wolf, oas, shrunk_covariance
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from eigenfeat import SPoC


@pytest.fixture(scope="module")
def trials():
    return followed()


def covariances(X):
    return np.array([np.cov(trial, bias=True) for trial in X])


def test_filters_solve_their_definition(trials):
    X, y = trials
    C, z = covariances(X), (y - y.mean()) / y.std()
    values, vectors = eigh(np.einsum("n,nij->ij", z, C) / len(z), C.mean(0))
    order = np.argsort(-np.abs(values))
    model = SPoC(n_components=None).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, values[order], atol=1e-10)
    np.testing.assert_allclose(cosines(model.components_, vectors.T[order]), 1, rtol=1e-7)


def test_an_eigenvalue_is_the_covariance_of_power_and_target(trials):
    X, y = trials
    power = SPoC(3, log=False).fit(X, y)
    P = power.transform(X)
    np.testing.assert_allclose(P.mean(0), 1, rtol=1e-10)
    np.testing.assert_allclose(np.mean(P * ((y - y.mean()) / y.std())[:, None], axis=0), power.eigenvalues_, rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_pyriemann_finds_the_same_filters(seed):
    spatialfilters = pytest.importorskip("pyriemann.spatialfilters")
    X, y = followed(seed=seed)
    peer = spatialfilters.SPoC(nfilter=6).fit(covariances(X), y)
    model = SPoC(6).fit(X, y)
    np.testing.assert_allclose(cosines(model.components_, peer.filters_), 1, rtol=1e-7)
    np.testing.assert_allclose(cosines(model.patterns_, peer.patterns_), 1, rtol=1e-7)


def test_mne_finds_the_same_filters(trials):
    decoding = pytest.importorskip("mne.decoding")
    X, y = trials
    X = X - X.mean(axis=-1, keepdims=True)
    peer = decoding.SPoC(n_components=1, log=True).fit(X, y)
    np.testing.assert_allclose(cosines(SPoC(1).fit(X, y).components_, peer.filters_[:1]), 1, rtol=1e-6)


def test_the_source_whose_power_follows_the_target_is_found(trials):
    X, y = trials
    model = SPoC(1).fit(X, y)
    assert model.eigenvalues_[0] > 0
    assert cosines(model.patterns_, MIXING[:, 2:3].T)[0] > 0.98
    falling = SPoC(1).fit(X, -y)
    np.testing.assert_allclose(falling.eigenvalues_, -model.eigenvalues_, rtol=1e-9)
    scores = cross_val_score(make_pipeline(SPoC(1, log=False), LinearRegression()), X, y, cv=5)
    assert scores.mean() > 0.9


@pytest.mark.parametrize("settings", [{}, {"normalise": True}, {"ridge": 0.1}, {"shrinkage": 0.2}])
def test_weights_are_repeated_trials(trials, settings):
    X, y = trials
    times = np.random.default_rng(0).integers(0, 3, size=len(y))
    weighted = SPoC(2, **settings).fit(X, y, sample_weight=times)
    repeated = SPoC(2, **settings).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=1e-7, atol=1e-8)


def test_units_of_target_and_mixing_of_channels_change_nothing(trials):
    X, y = trials
    mixing = np.random.default_rng(3).normal(size=(6, 6))
    one, other = SPoC(2).fit(X, y), SPoC(2).fit(mixing @ X, 100 + 7 * y)
    np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(other.transform(mixing @ X), one.transform(X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("shrinkage", "of_rows"), [("auto", ledoit_wolf), ("oas", oas), (0.4, None)])
def test_shrinkage_is_that_of_the_mean_covariance(trials, shrinkage, of_rows):
    X, y = trials[0][:10, :, :20], trials[1][:10]
    C, z = covariances(X), (y - y.mean()) / y.std()
    samples = (X - X.mean(-1, keepdims=True)).transpose(0, 2, 1).reshape(-1, 6)
    noise = shrunk_covariance(C.mean(0), shrinkage) if of_rows is None else of_rows(samples, assume_centered=True)[0]
    values = eigh(np.einsum("n,nij->ij", z, C) / len(z), noise, eigvals_only=True)
    model = SPoC(None, shrinkage=shrinkage).fit(X, y)
    np.testing.assert_allclose(np.sort(model.eigenvalues_), values, rtol=1e-9)


def test_a_filter_bank_has_filters_in_every_band(trials):
    X, y = trials
    model = SPoC(2, bands=[(5, 15), (20, 40)], sampling_rate=100).fit(X, y)
    assert model.transform(X).shape == (len(y), 4)
    np.testing.assert_array_equal(model.bands_, [[5, 15], [5, 15], [20, 40], [20, 40]])


def test_a_target_that_says_nothing_is_refused(trials):
    X, y = trials
    with pytest.raises(ValueError, match="varies"):
        SPoC().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="varies"):
        SPoC().fit(X, y, sample_weight=np.eye(len(y))[0])
    with pytest.raises(ValueError, match="got 2D"):
        SPoC().fit(X[:, 0], y)
