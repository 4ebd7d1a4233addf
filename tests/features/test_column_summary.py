"""The distribution of a column against numpy and scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eigenfeat.features.column_summary import ColumnSummary

rng = np.random.default_rng(0)


def summary(column, weights=None):
    column = np.asarray(column, dtype=np.float64)
    return ColumnSummary.of(column, np.ones(len(column)) if weights is None else weights, column.min(), column.max())


COLUMNS = st.lists(st.integers(-3, 3), min_size=2, max_size=30)


@given(COLUMNS, st.data())
def test_weights_are_repetitions(column, data):
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(column), max_size=len(column))))
    one, other = summary(column, weights.astype(float)), summary(np.repeat(column, weights))
    for name in ("mean", "spread", "mode", "tail"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-12)
    np.testing.assert_allclose(one.normal_scores(100), other.normal_scores(100), atol=1e-9)


@given(COLUMNS, st.floats(0.01, 0.99))
def test_moments_and_quantiles_are_those_of_numpy(column, share):
    found = summary(column)
    assert found.mean == pytest.approx(np.mean(column), abs=1e-12)
    assert found.spread == pytest.approx(np.std(column), abs=1e-12)
    assert found.quantile(share) == np.quantile(column, share, method="inverted_cdf")


def test_tails_are_told_in_units_of_a_normal():
    shares = (np.arange(20_000) + 0.5) / 20_000
    tails = {name: summary(getattr(stats, name).ppf(shares)).tail for name in ("norm", "uniform", "logistic", "expon")}
    assert tails["norm"] == pytest.approx(1, rel=1e-3)
    assert tails["uniform"] < 0.6 and 1.15 < tails["logistic"] < 1.3 and tails["expon"] > 2
    assert np.isinf(summary([0] * 30 + [1, 2]).tail)


@given(COLUMNS, st.integers(-3, 3), st.floats(0.1, 0.9))
def test_what_is_off_a_value_and_what_is_capped_are_distributions(column, point, share):
    found, elsewhere = summary(column), np.array(column)[np.array(column) != point]
    if len(elsewhere):
        off = found.off(point)
        assert off.mean == pytest.approx(elsewhere.mean()) and off.size_about(0) == pytest.approx(
            np.sqrt(np.mean(elsewhere**2.0))
        )
        distance = np.abs(elsewhere - point)
        outer = np.quantile(distance, 0.99, method="inverted_cdf")
        assert found.reach(point) == pytest.approx(outer / distance.mean())
    capped = found.capped(share)
    assert capped.shares.sum() == pytest.approx(1) and capped.shares.max() <= max(share, 1 / len(capped.shares)) + 1e-9
    most = np.where(np.isin(found.values, [found.low, found.high]), share / 2, share)
    light = capped.shares < most - 1e-9
    if light.any() and (capped.shares <= most + 1e-9).all():
        ratios = capped.shares[light] / found.shares[light]
        np.testing.assert_allclose(ratios, ratios[0])


def test_laws_reach_as_far_as_they_do():
    shares = (np.arange(20_000) + 0.5) / 20_000
    assert summary(stats.expon.ppf(shares)).reach(0.0) == pytest.approx(np.log(100), rel=1e-2)
    assert summary(stats.uniform.ppf(shares)).reach(0.0) == pytest.approx(1.98, rel=1e-3)


def test_normal_scores_are_those_of_middle_ranks():
    column = rng.integers(0, 9, size=200)
    values, scores = summary(column).normal_scores(256)
    expected = stats.norm.ppf((stats.rankdata(column) - 0.5) / 200)
    np.testing.assert_allclose(np.interp(column, values, scores), expected, atol=1e-12)


def test_many_values_are_thinned_to_scores_that_are_even():
    column = rng.lognormal(size=5000)
    found = summary(column)
    values, scores = found.normal_scores(64)
    assert 50 < len(values) <= 64 and values[0] == column.min() and values[-1] == column.max()
    all_values, all_scores = found.normal_scores(5000)
    assert np.abs(np.interp(all_values, values, scores) - all_scores).max() < 2 * (scores[-1] - scores[0]) / 63


def test_numbers_whose_squares_overflow_have_a_spread():
    assert summary([1e200, 3e200]).spread == pytest.approx(1e200)
    assert summary([1e200, 3e200]).off(1e200).size_about(1e200) == pytest.approx(2e200)


def test_rounding_is_no_second_value():
    assert summary([0.1 + 0.2, 0.3]).is_constant
    assert not summary([1e9, 1e9 + 1]).is_constant


def test_a_value_outside_of_the_sample_counts():
    column = np.zeros(10)
    assert ColumnSummary.of(column, np.ones(10), 0.0, 1.0).has_two_values
    assert not ColumnSummary.of(column, np.ones(10), -1.0, 1.0).has_two_values
