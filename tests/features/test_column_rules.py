"""The rules of columns="auto", each on columns made for it, and on real tables."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from eigenfeat.features.column_rules import decide
from eigenfeat.features.column_summary import ColumnSummary

rng = np.random.default_rng(0)


def decisions(X, asked=None):
    X = np.asarray(X, dtype=np.float64)
    columns = [ColumnSummary.of(x, np.ones(len(x)), x.min(), x.max()) for x in X.T]
    return decide(columns, asked or ["auto"] * X.shape[1])


def treatments(X, asked=None):
    return [decision.treatment for decision in decisions(X, asked)]


def pixels(n_rows=300, n_columns=30, floor=0.0):
    """Half of the entries at the floor, the last columns nearly always."""
    share = np.where(np.arange(n_columns) < n_columns - 3, 0.5, 0.02)
    return floor + rng.integers(1, 255, size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < share)


@pytest.mark.parametrize("load", [load_wine, load_iris])
def test_columns_of_different_units_are_standardised(load):
    assert set(treatments(load().data)) == {"standardise"}


def test_pixels_share_a_factor_and_keep_their_floor():
    for found in (decisions(pixels()), decisions(pixels(floor=-100.0)), decisions(255 - pixels(floor=255))):
        assert {d.treatment for d in found} == {"common"}
    assert {d.centre for d in decisions(pixels(floor=-100.0))} == {-100.0}
    found = treatments(load_digits().data)
    assert set(found) == {"common", "drop"} and found.count("drop") == 3


def test_counts_share_a_factor_unless_single_rows_would_be_most_of_a_moment():
    """Poisson counts do; frequencies of words, which reach farther than an exponential law, are made normal."""
    present = rng.random((400, 20)) < 0.4
    assert set(treatments(rng.poisson(1.5, size=(400, 20)))) == {"common"}
    for words in (present * rng.lognormal(0, 1.2, size=(400, 20)), present * rng.negative_binomial(1, 0.05, (400, 20))):
        assert set(treatments(words)) == set(treatments(50 * words)) == {"quantile-normal"}


def test_one_column_that_reaches_far_does_not_decide_for_many_of_few_levels():
    levels = rng.integers(0, 5, size=(400, 30))
    far = (rng.random(400) < 0.4) * rng.lognormal(0, 1.2, size=400)
    assert treatments(np.column_stack([levels, far]))[:30] == treatments(levels) == ["common"] * 30


def test_columns_beside_pixels_are_treated_for_themselves():
    table = np.column_stack([pixels(), rng.normal(1e5, 10, 300), np.arange(300) % 2 == 0, np.ones(300)])
    assert treatments(table)[-3:] == ["standardise", "indicator", "drop"]


def test_what_is_standardised_already_has_one_factor_wherever_it_stands():
    for offset in (0, 10, 100):
        found = decisions(StandardScaler().fit_transform(load_wine().data) + offset)
        assert {(d.treatment, d.centre) for d in found} == {("common", None)}


def test_many_indicators_do_not_make_a_unit_of_measurements():
    indicators = rng.random((400, 60)) < 0.1
    table = np.column_stack([indicators, rng.normal(size=(400, 4)) * [1, 1e3, 1e-3, 10]])
    assert treatments(table) == ["indicator"] * 60 + ["standardise"] * 4


def test_long_tails_are_made_normal_and_others_are_not():
    mostly_zero = np.where(rng.random(2000) < 0.8, 0, rng.random(2000))
    long = [rng.lognormal(size=2000), rng.standard_cauchy(2000), mostly_zero]
    table = np.column_stack([*long, rng.normal(size=2000), rng.uniform(size=2000)])
    assert treatments(table) == ["quantile-normal"] * 3 + ["standardise"] * 2
    assert "quantile-normal" in treatments(load_breast_cancer().data)


def test_what_is_asked_for_is_done_but_for_constants():
    asked = ["quantile-normal", "none", "common", "common", "drop", "standardise"]
    table = np.column_stack([rng.normal(size=(50, 5)), np.ones(50)])
    assert treatments(table, asked) == [*asked[:5], "drop"]
    assert {d.reason for d in decisions(table, asked)[:5]} == {"asked for"}


def test_a_common_factor_that_is_asked_for_keeps_the_common_value():
    found = decisions(pixels(n_columns=4, floor=7.0), ["common"] * 4)
    assert {d.centre for d in found} == {7.0}


@pytest.mark.parametrize("offset", [1.0, -300.0])
@pytest.mark.parametrize("factor", [1e-3, 1e4, -2.0])
def test_decisions_do_not_depend_on_a_common_unit(factor, offset):
    for X in (pixels(), load_wine().data, load_breast_cancer().data, rng.normal(size=(100, 12))):
        X = np.round(X, 3)
        assert treatments(np.round(X * factor + offset, 9)) == treatments(X)
