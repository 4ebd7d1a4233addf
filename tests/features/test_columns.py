"""Treatments as a stage and a table: what they promise of every column, and references."""

import numpy as np
import pytest
from scipy import stats
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from eigenfeat.features.columns import FEWEST_ROWS, SAMPLE_ROWS, asked_treatments, sample_size, treat_columns
from eigenfeat.rows import ArrayRows
from eigenfeat.rows.sampling import sampled

rng = np.random.default_rng(0)
X = rng.normal([0, 5, -100], [1, 0.1, 30], size=(250, 3))


def treat(X, columns="auto", weights=None):
    names = [f"x{j}" for j in range(X.shape[1])]
    return treat_columns(sampled(ArrayRows(X, None, weights), 10_000), columns, names)


def treated(X, columns="auto", weights=None):
    return treat(X, columns, weights)[0].apply(X)


def test_standardised_columns_are_scikit_learns():
    np.testing.assert_allclose(treated(X, "standardise"), StandardScaler().fit_transform(X), atol=1e-12)


def test_normal_scores_are_near_scikit_learns_in_the_interior():
    Z = rng.lognormal(size=(5000, 1))
    theirs = QuantileTransformer(n_quantiles=5000, output_distribution="normal").fit_transform(Z)
    interior = np.abs(theirs) < 2.5
    assert np.abs(treated(Z, "quantile-normal") - theirs)[interior].max() < 0.03
    assert stats.kstest(treated(Z, "quantile-normal")[:, 0], "norm").pvalue > 0.9


@pytest.mark.parametrize("bend", [np.exp, np.cbrt, lambda x: 3 * x - 1, lambda x: -np.exp(-x)])
def test_monotone_functions_leave_normal_scores_as_they_are(bend):
    Z = X[:, :1]
    np.testing.assert_allclose(treated(bend(Z), "quantile-normal"), treated(Z, "quantile-normal"), atol=1e-12)


def test_normal_scores_ascend_and_stay_in_the_range_they_had():
    stage, _ = treat(X, "quantile-normal")
    line = np.repeat(np.linspace(-500, 500, 4001)[:, None], 3, axis=1)
    found = stage.apply(line)
    assert (np.diff(found, axis=0) >= 0).all()
    assert np.abs(found).max() == np.abs(stage.apply(X)).max()


def test_a_common_factor_gives_mean_square_one_and_follows_units():
    found = treated(X, "common")
    assert np.mean(found.var(axis=0)) == pytest.approx(1)
    assert len(set(treat(X, "common")[0].factor)) == 1
    np.testing.assert_allclose(treated(X * 50 + 7, "common"), found, atol=1e-9)


def test_shift_and_scale_of_single_columns_do_not_matter_where_they_are_standardised():
    np.testing.assert_allclose(treated(X * [1e-3, 7, 1e6] + [1, 2, 1e5]), treated(X), atol=1e-8)


def test_two_values_become_zero_and_one():
    Z = np.where(rng.random((40, 2)) < 0.4, [1.0, 9.0], [0.0, -3.0])
    np.testing.assert_allclose(treated(Z), np.column_stack([Z[:, 0], (Z[:, 1] > 0)]))


@pytest.mark.parametrize("columns", ["auto", "standardise", "common", "quantile-normal", "indicator"])
def test_a_second_treatment_changes_nothing(columns):
    once = treated(X, columns)
    np.testing.assert_allclose(treated(once, columns), once, atol=1e-9)


def test_extremes_and_tiny_columns_give_finite_numbers():
    Z = np.column_stack([rng.normal(size=30) * scale for scale in (1e300, 1e-300, 5e-324, 1.0)])
    assert np.isfinite(treated(Z)).all()


def test_a_table_can_be_read():
    _, table = treat(np.column_stack([X, np.ones(250), rng.lognormal(size=250) ** 2]))
    assert len(table) == 5 and table.counts() == {"standardise": 3, "drop": 1, "quantile-normal": 1}
    assert table["x3"].treatment == table[3].treatment == "drop" and table[3].reason == "one value in all rows"
    assert table[4].n_quantiles == 250 and [line.name for line in table] == ["x0", "x1", "x2", "x3", "x4"]
    assert "x4" in str(table) and "quantile-normal" in str(table) and table._repr_html_().count("<tr>") == 6
    assert list(table.as_dict()) == ["name", "treatment", "shift", "factor", "n_quantiles", "reason"]
    with pytest.raises(KeyError, match="x9"):
        table["x9"]


def test_columns_treated_alike_are_one_line():
    _, table = treat((rng.random((200, 40)) < 0.5) * rng.integers(1, 9, size=(200, 40)).astype(float))
    assert str(table).count("\n") == 1 and "x0 to x39" in str(table)


def test_what_is_asked_for_by_name_number_or_sequence():
    names = ["age", "height", "x"]
    assert asked_treatments({"age": "none", 2: "drop"}, names) == ["none", "auto", "drop"]
    assert asked_treatments(("none", "auto", "drop"), names) == ["none", "auto", "drop"]
    for wrong, message in (({"weight": "none"}, "weight"), ({3: "none"}, "below 3"), (["none"], "1 treatments for 3"),
                           ({"age": "normal"}, "quantile-normal")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            asked_treatments(wrong, names)


def test_samples_are_smaller_where_rows_are_wide():
    assert sample_size(10) == SAMPLE_ROWS and sample_size(10**6) == FEWEST_ROWS
