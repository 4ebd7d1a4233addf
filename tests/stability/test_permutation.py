"""Label permutation: level under the null, power, and independence of n_jobs."""

import numpy as np
import pytest
from joblib import parallel_config
from scipy.linalg import eigh

from eigenfeat import FisherLDA
from eigenfeat.stability import permutation_test


def pair_spectrum(X, y):
    """Class 1 over class 0 with a ridge of one tenth of the mean diagonal."""
    S, N = (X[y == c].T @ X[y == c] / np.sum(y == c) for c in (1, 0))
    return eigh(S, N + 0.1 * np.trace(N) / len(N) * np.eye(len(N)), eigvals_only=True)[::-1]


def two_classes(rng, spike=1.0):
    X, y = rng.standard_normal((120, 8)), np.repeat([0, 1], 60)
    X[y == 1, 0] *= np.sqrt(spike)
    return X, y


def test_null_labels_are_rarely_called():
    rng = np.random.default_rng(0)
    called = [
        permutation_test(pair_spectrum, *two_classes(rng), n_permutations=19, random_state=i).n_distinguishable > 0
        for i in range(60)
    ]
    assert np.mean(called) <= 0.05 + 3 * np.sqrt(0.05 / 60)


def test_a_planted_spike_is_found():
    rng = np.random.default_rng(1)
    results = [permutation_test(pair_spectrum, *two_classes(rng, spike=10), random_state=i) for i in range(5)]
    assert all(r.mask[0] for r in results)
    assert np.median([r.n_distinguishable for r in results]) == 1
    assert "label permutation" in str(results[0])


def test_same_result_whatever_n_jobs():
    X, y = two_classes(np.random.default_rng(2), spike=2)
    with parallel_config(backend="threading"):
        one, two = (permutation_test(pair_spectrum, X, y, random_state=3, n_jobs=j) for j in (1, 2))
    np.testing.assert_array_equal(one.p_values, two.p_values)


def test_bad_requests_are_explained():
    X, y = two_classes(np.random.default_rng(4))
    with pytest.raises(ValueError, match="use at least 99"):
        permutation_test(pair_spectrum, X, y, n_permutations=20, level=0.01)
    with pytest.raises(ValueError, match="y must be given"):
        permutation_test(pair_spectrum, X, None)


def test_eigenvalues_of_a_model_that_is_there_are_judged_as_they_are():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1], 30)
    own = permutation_test(FisherLDA(), X, y, n_permutations=19)
    given = permutation_test(FisherLDA(), X, y, n_permutations=19, observed=np.array([1e9, 0.0]))
    assert given.interval == own.interval
    np.testing.assert_allclose(given.p_values, [1 / 20, 1.0])
