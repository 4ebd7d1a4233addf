"""The basis of single columns and of pairs of them."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from eigenfeat.features.column_basis import (
    FEWEST_KNOTS,
    FEWEST_VALUES,
    MOST_KNOTS,
    PRODUCT_COLUMNS,
    column_basis,
    curved_columns,
    most_columns,
    n_products,
    product_knots,
)
from eigenfeat.features.hat_products import HatProductMap
from eigenfeat.rows import RowSample


def sample(rows, weights=None):
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    return RowSample(rows, weights, rows.min(axis=0), rows.max(axis=0))


@pytest.fixture
def table():
    """Two curved columns around one of two values."""
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(size=300), rng.integers(0, 2, 300), rng.exponential(size=300)])


def test_inputs_come_first_with_a_mean_square_of_one(table):
    made = column_basis(sample(table), 6, False).apply(table)
    ratio = made[:, :3] / np.where(table == 0, 1, table)
    np.testing.assert_allclose(ratio[table != 0], ratio[0, 0])
    assert np.mean(made[:, :3] ** 2) == pytest.approx(1)


def test_splines_are_those_of_de_boor_on_weighted_quantiles(table):
    """Against scipy's B-splines; columns of few values have none."""
    assert curved_columns(sample(table)) == [0, 2]
    basis = column_basis(sample(table), 6, False)
    n_functions = basis.feature_map.n_columns(1)
    inner = basis.feature_map.knots[:, 3:-3]
    x = table[:, 2]
    assert inner[1, 0] == x.min() and inner[1, -1] == x.max()
    np.testing.assert_allclose(inner[1, 1:-1], np.quantile(x, [0.2, 0.4, 0.6, 0.8], method="inverted_cdf"))
    padded = np.concatenate([[inner[1, 0]] * 3, inner[1], [inner[1, -1]] * 3])
    expected = BSpline.design_matrix(x, padded, 3).toarray()
    functions = basis.apply(table)[:, 3:].reshape(len(x), n_functions, 2)[:, :, 1]
    np.testing.assert_allclose(functions, expected, atol=1e-12)


def test_a_weight_is_a_repetition(table):
    weights = np.random.default_rng(1).integers(1, 4, len(table))
    weighted = column_basis(sample(table, weights), 5, True)
    repeated = column_basis(sample(np.repeat(table, weights, axis=0)), 5, True)
    np.testing.assert_allclose(weighted.apply(table), repeated.apply(table), atol=1e-12)


def test_a_value_that_most_rows_are_at_takes_one_knot():
    """Counts: with quantiles of all rows, four of six knots would be at zero and the curve a step."""
    rng = np.random.default_rng(0)
    counts = np.where(rng.random(1000) < 0.8, 0.0, rng.exponential(size=1000))[:, None]
    knots = column_basis(sample(counts), 6, False).feature_map.knots[0, 3:-3]
    others = counts[counts > 0]
    assert (knots[0], knots[-1]) == (0, others.max())
    # Zero has a tenth of the weight, and every fifth of it a knot.
    expected = np.quantile(others, (np.array([0.2, 0.4, 0.6, 0.8]) - 0.1) / 0.9, method="inverted_cdf")
    np.testing.assert_allclose(knots[1:-1], expected)
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=(500, 1))
        x[:300] = 0.1
        assert 0.1 in column_basis(sample(x), 6, False).feature_map.knots[0, 4:-4]


def test_products_are_of_the_curved_columns_only(table):
    basis = column_basis(sample(table), 6, True)
    assert isinstance(basis.feature_map, HatProductMap) and basis.feature_map.n_knots == MOST_KNOTS
    splines = column_basis(sample(table), 6, False)
    with_products, without = basis.apply(table), splines.apply(table)
    np.testing.assert_array_equal(with_products[:, : without.shape[1]], without)
    assert with_products.shape[1] == without.shape[1] + MOST_KNOTS**2
    flipped = table.copy()
    flipped[:, 1] = 1 - flipped[:, 1]
    np.testing.assert_array_equal(basis.apply(flipped)[:, 3:], with_products[:, 3:])


def test_the_number_of_knots_keeps_products_within_bounds():
    for d in range(2, most_columns() + 1):
        n_pairs = d * (d - 1) // 2
        n_knots = product_knots(d)
        assert FEWEST_KNOTS <= n_knots <= MOST_KNOTS and n_pairs * n_knots**2 <= PRODUCT_COLUMNS
        assert n_knots == MOST_KNOTS or n_pairs * (n_knots + 1) ** 2 > PRODUCT_COLUMNS
    assert product_knots(most_columns() + 1) is None


def test_more_columns_than_products_are_made_for_are_refused():
    rows = np.random.default_rng(0).normal(size=(50, most_columns() + 1))
    with pytest.raises(ValueError, match=f"at most {most_columns()} columns"):
        column_basis(sample(rows), 6, True)
    assert column_basis(sample(rows), 6, False).apply(rows).shape[1] > rows.shape[1]


def test_columns_of_few_values_are_left_as_they_are():
    rows = np.column_stack([np.arange(100) % (FEWEST_VALUES - 1), np.zeros(100)]).astype(float)
    made = column_basis(sample(rows), 6, False).apply(rows)
    assert made.shape == (100, 2) and (made[:, 1] == 0).all()


def test_float32_rows_stay_float32(table):
    single = table.astype(np.float32)
    basis = column_basis(sample(single), 6, True)
    made = basis.apply(single)
    assert made.dtype == np.float32 and basis.feature_map.knots.dtype == np.float32
    np.testing.assert_allclose(made, column_basis(sample(table), 6, True).apply(table), atol=2e-5)


@pytest.mark.parametrize("n_columns", [1, 2, 5, 16, 17, 100])
def test_products_are_as_many_as_they_are_said_to_be(n_columns):
    rows = np.random.default_rng(0).normal(size=(30, n_columns))
    if product_knots(n_columns) is None or n_columns == 1:
        assert n_products(n_columns) == 0
    else:
        more = (
            column_basis(sample(rows), 6, True).apply(rows).shape[1]
            - column_basis(sample(rows), 6, False).apply(rows).shape[1]
        )
        assert n_products(n_columns) == more
