"""Spectra of null pairs against random-matrix theory, and planted spikes against the test."""

import numpy as np
import pytest
from scipy.linalg import eigh

from eigenfeat.stability import NullPair, distinguishable


def spectrum(rng, d, n1, n2, spike=None):
    X, Z = rng.standard_normal((n1, d)), rng.standard_normal((n2, d))
    if spike is not None:
        X[:, 0] *= np.sqrt(spike)
    return eigh(X.T @ X / n1, Z.T @ Z / n2, eigvals_only=True)


@pytest.mark.parametrize(("d", "n1", "n2"), [(60, 300, 200), (60, 150, 600), (50, 250, 100)])
def test_bulk_fills_the_interval_between_the_edges(d, n1, n2):
    rng = np.random.default_rng(0)
    values = np.concatenate([spectrum(rng, d, n1, n2) for _ in range(5)])
    low, high = NullPair(d, n1, n2).edges
    slack = 4 * d ** (-2 / 3)  # fluctuation of the extreme eigenvalues, relative
    assert high * (1 - slack) <= values.max() <= high * (1 + slack)
    assert low * (1 - slack) <= values.min() <= low * (1 + slack)


@pytest.mark.parametrize(("d", "n1", "n2"), [(5, 40, 60), (30, 100, 80), (30, 20, 90)])
def test_null_pairs_are_called_distinguishable_at_the_stated_rate(d, n1, n2):
    rng = np.random.default_rng(1)
    draws, level = 600, 0.1
    called = np.mean(
        [distinguishable(spectrum(rng, d, n1, n2), d, n1, n2, level=level).n_distinguishable > 0 for _ in range(draws)]
    )
    assert called == pytest.approx(level, abs=4 * np.sqrt(level / draws))


def test_quantiles_are_those_of_the_largest_and_smallest_eigenvalue():
    rng = np.random.default_rng(2)
    d, n1, n2 = 20, 60, 100
    ends = np.array([spectrum(rng, d, n1, n2)[[0, -1]] for _ in range(800)])
    null = NullPair(d, n1, n2)
    assert np.mean(ends[:, 1] > null.upper(0.2)) == pytest.approx(0.2, abs=0.05)
    assert np.mean(ends[:, 0] < null.lower(0.2)) == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("spike", [6.0, 1 / 20])
def test_a_planted_spike_is_found_and_nothing_else(spike):
    rng = np.random.default_rng(3)
    found = [distinguishable(spectrum(rng, 25, 300, 300, spike), 25, 300, 300).n_distinguishable for _ in range(20)]
    assert np.mean(np.array(found) == 1) >= 0.85
    assert min(found) >= 1


def test_swapping_signal_and_noise_inverts_the_interval():
    null, swapped = NullPair(10, 50, 80), NullPair(10, 80, 50)
    assert null.upper(0.05) == pytest.approx(1 / swapped.lower(0.05))
    np.testing.assert_allclose(null.edges, 1 / np.array(swapped.edges)[::-1])
    values = np.array([0.1, 1.0, 5.0])
    np.testing.assert_allclose(null.p_values(values), swapped.p_values(1 / values))


def test_singular_noise_is_refused_with_the_way_out():
    with pytest.raises(ValueError, match="permutation_test"):
        NullPair(50, 100, 50)
