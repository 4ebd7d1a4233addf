"""Few rows stand for all: bounds that leave out no more than they say, samples that keep sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenfeat.linear.by_weight import evenness, heaviest, histogram, light_below
from eigenfeat.rows.keys import uniforms


@given(st.integers(0, 10**6), st.floats(1e-6, 0.5))
def test_what_is_light_is_no_more_than_its_share_and_nearly_as_much(seed, share):
    masses = np.exp(np.random.default_rng(seed).normal(scale=8, size=300))
    masses[::7] = 0
    masses /= masses.sum()
    bound, n_heavy = light_below(histogram(masses), share)
    assert n_heavy == np.count_nonzero(masses >= bound)
    assert masses[masses < bound].sum() <= share * masses.sum() * (1 + 1e-12)
    # The next bin, an eighth of an octave wide, would have been too much.
    assert masses[masses < bound * 1.13].sum() >= share * masses.sum() or bound == 0


def test_none_is_light_where_most_are_heavy():
    masses = np.concatenate([np.full(390, 1.0), np.full(610, 1e-9)])
    assert light_below(histogram(masses), 1e-4, 0.4) == (pytest.approx(1.0, rel=0.13), 390)
    masses[390:420] = 1.0
    assert light_below(histogram(masses), 1e-4, 0.4) == (0.0, 1000)


def test_histograms_of_parts_add_up():
    masses = np.random.default_rng(0).exponential(size=1000)
    np.testing.assert_allclose(histogram(masses), histogram(masses[:300]) + histogram(masses[300:]))
    assert histogram(masses)[0].sum() == pytest.approx(masses.sum())


def test_samples_keep_sums_unbiased_and_heavy_rows():
    masses = np.concatenate([np.full(5, 100.0), np.linspace(0, 1, 2000)])
    totals = []
    for seed in range(200):
        chosen, least = heaviest(masses, uniforms(np.arange(len(masses)), seed), 300)
        assert set(range(5)) <= set(chosen) and len(chosen) == 300
        totals.append(np.maximum(masses[chosen], least).sum())
    assert np.mean(totals) == pytest.approx(masses.sum(), rel=0.01)


def test_few_rows_are_all_taken():
    chosen, least = heaviest(np.array([0.0, 2.0, 1.0]), np.array([0.5, 0.1, 0.9]), 2)
    assert chosen.tolist() == [1, 2] and least == 0


def test_evenness_is_one_of_equals_and_the_share_that_counts_of_others():
    assert evenness(histogram(np.full(50, 0.3))) == pytest.approx(1.0)
    assert evenness(histogram(np.append(np.full(5, 0.3), np.full(45, 1e-9)))) == pytest.approx(0.1, rel=1e-3)
    with_zeros = histogram(np.append(np.full(50, 0.3), np.zeros(20)))
    assert evenness(with_zeros) == pytest.approx(1.0)  # rows without weight do not count
    masses = np.random.default_rng(0).uniform(size=1000)
    expected = masses.sum() ** 2 / (1000 * (masses**2).sum())
    assert evenness(histogram(masses)) == pytest.approx(expected, rel=0.01)
    assert evenness(histogram(np.zeros(3))) == 1.0
