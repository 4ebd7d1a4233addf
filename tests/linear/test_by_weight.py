"""Few rows stand for all: bounds that leave out no more than they say, samples that keep sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenfeat.linear.by_weight import heaviest, histogram, light_below
from eigenfeat.rows import uniforms


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


def test_histograms_of_parts_add_up():
    masses = np.random.default_rng(0).exponential(size=1000)
    np.testing.assert_allclose(histogram(masses), histogram(masses[:300]) + histogram(masses[300:]))
    assert histogram(masses)[0].sum() == pytest.approx(masses.sum())


def test_samples_keep_sums_unbiased_and_heavy_rows():
    masses = np.concatenate([np.full(5, 100.0), np.linspace(0, 1, 2000)])
    totals = []
    for seed in range(200):
        chosen, least = heaviest(masses, uniforms(seed, 0, len(masses)), 300)
        assert set(range(5)) <= set(chosen) and len(chosen) == 300
        totals.append(np.maximum(masses[chosen], least).sum())
    assert np.mean(totals) == pytest.approx(masses.sum(), rel=0.01)


def test_few_rows_are_all_taken():
    chosen, least = heaviest(np.array([0.0, 2.0, 1.0]), np.array([0.5, 0.1, 0.9]), 2)
    assert chosen.tolist() == [1, 2] and least == 0
