"""The basis of single columns and of pairs of them."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from eigenfeat.features.column_basis import (
    BASIS_COLUMNS,
    FEWEST_BENT,
    FEWEST_KNOTS,
    FEWEST_OF_CHOSEN,
    MOST_CODES,
    MOST_KNOTS,
    all_pairs,
    are_codes,
    bin_edges,
    column_basis,
    crossed_columns,
    curved_columns,
    leave_room,
    most_knots,
    n_products,
    n_values,
    required_pairs,
    strongest,
    summaries_of,
)
from eigenfeat.features.column_summary import FEWEST_VALUES
from eigenfeat.features.hat_products import HatProductMap
from eigenfeat.rows.sampling import RowSample


def sample(rows, weights=None):
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    return RowSample(rows, weights, rows.min(axis=0), rows.max(axis=0))


@pytest.fixture
def table():
    """Two curved columns around one of two values."""
    rng = np.random.default_rng(0)
    return np.column_stack([rng.normal(size=300), rng.integers(0, 2, 300), rng.exponential(size=300)])


def test_inputs_come_first_with_a_mean_square_of_one(table):
    made = column_basis(sample(table), 6).apply(table)
    ratio = made[:, :3] / np.where(table == 0, 1, table)
    np.testing.assert_allclose(ratio[table != 0], ratio[0, 0])
    assert np.mean(made[:, :3] ** 2) == pytest.approx(1)


def test_splines_are_those_of_de_boor_on_weighted_quantiles(table):
    """Against scipy's B-splines; columns of few values have none."""
    assert curved_columns(n_values(sample(table))) == [0, 2]
    basis = column_basis(sample(table), 6)
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
    weighted = column_basis(sample(table, weights), 5, [(0, 2)])
    repeated = column_basis(sample(np.repeat(table, weights, axis=0)), 5, [(0, 2)])
    np.testing.assert_allclose(weighted.apply(table), repeated.apply(table), atol=1e-12)


def test_a_value_that_most_rows_are_at_takes_one_knot():
    """Counts: with quantiles of all rows, four of six knots would be at zero and the curve a step."""
    rng = np.random.default_rng(0)
    counts = np.where(rng.random(1000) < 0.8, 0.0, rng.exponential(size=1000))[:, None]
    knots = column_basis(sample(counts), 6).feature_map.knots[0, 3:-3]
    others = counts[counts > 0]
    assert (knots[0], knots[-1]) == (0, others.max())
    # Zero has a tenth of the weight, and every fifth of it a knot.
    expected = np.quantile(others, (np.array([0.2, 0.4, 0.6, 0.8]) - 0.1) / 0.9, method="inverted_cdf")
    np.testing.assert_allclose(knots[1:-1], expected)
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=(500, 1))
        x[:300] = 0.1
        assert 0.1 in column_basis(sample(x), 6).feature_map.knots[0, 4:-4]


def test_all_pairs_are_of_the_curved_columns_only(table):
    pairs = all_pairs(n_values(sample(table)), 6)
    assert pairs == [(0, 2)]
    basis = column_basis(sample(table), 6, pairs)
    assert isinstance(basis.feature_map, HatProductMap) and basis.feature_map.n_knots == MOST_KNOTS
    assert crossed_columns(basis) == pairs and crossed_columns(column_basis(sample(table), 6)) == []
    with_products, without = basis.apply(table), column_basis(sample(table), 6).apply(table)
    np.testing.assert_array_equal(with_products[:, : without.shape[1]], without)
    assert with_products.shape[1] == without.shape[1] + MOST_KNOTS**2
    flipped = table.copy()
    flipped[:, 1] = 1 - flipped[:, 1]
    np.testing.assert_array_equal(basis.apply(flipped)[:, 3:], with_products[:, 3:])


@pytest.mark.parametrize("d", range(1, 12))
def test_the_number_of_knots_keeps_all_columns_within_bounds(d):
    values = np.full(d, 1000)
    pairs = required_pairs(values, 6)
    assert len(pairs) == d * (d - 1) // 2
    count, room = most_knots(pairs, values, 6), BASIS_COLUMNS - 8 * d
    assert FEWEST_KNOTS <= count <= MOST_KNOTS and n_products(pairs, values, count) <= room
    assert count == MOST_KNOTS or n_products(pairs, values, count + 1) > room
    if pairs:
        rows = np.random.default_rng(0).normal(size=(50, d))
        basis = column_basis(sample(rows), 6, pairs)
        assert basis.apply(rows).shape[1] == 9 * d + n_products(pairs, values, count)


def test_products_of_too_many_columns_are_refused_and_codes_left_out_before():
    numbers = np.full(11, 1000)
    with pytest.raises(ValueError, match="Products of all pairs of 12 columns of 5 values or more make, with splines"):
        required_pairs(np.append(numbers, 1000), 6)
    assert all_pairs(np.append(numbers, 1000), 6) is None
    assert all_pairs(np.append(numbers, [3, 2]), 6) == all_pairs(numbers, 6)
    assert (9, 10) in all_pairs(np.append(numbers[1:], 3), 6)
    assert curved_columns(np.array([2, FEWEST_BENT, 1000])) == [1, 2] and FEWEST_BENT < FEWEST_VALUES


def test_columns_of_two_values_are_left_as_they_are():
    rows = np.column_stack([np.arange(100) % (FEWEST_BENT - 1), np.zeros(100)]).astype(float)
    made = column_basis(sample(rows), 6).apply(rows)
    assert made.shape == (100, 2) and (made[:, 1] == 0).all()


@pytest.mark.parametrize("count", range(FEWEST_BENT, MOST_CODES + 1))
def test_splines_tell_few_values_all_apart(count):
    """Any function of codes is one of their splines, however often each is there."""
    shares = np.random.default_rng(count).dirichlet(np.ones(count))
    codes = np.random.default_rng(0).choice(count, 2000, p=0.9 * shares + 0.1 / count).astype(float)[:, None]
    functions = column_basis(sample(codes), 6).apply(np.arange(count, dtype=float)[:, None])[:, 1:]
    assert np.linalg.matrix_rank(functions, tol=1e-6) == count
    np.testing.assert_allclose(functions.sum(axis=1), 1)


def test_tables_of_codes_are_told_from_amounts_and_indicators():
    assert are_codes(np.array([3, 4, 8, 2])) and not are_codes(np.array([3, 4, 9, 2])) and not are_codes(np.full(9, 2))


# ------------------------------------------------------------------ chosen pairs


def test_chosen_pairs_have_surfaces_and_others_none(table):
    """Of an indicator with a column, what does not depend on the place of the indicator among the columns."""
    basis = column_basis(sample(table), 6, [(1, 2)])
    splines = column_basis(sample(table), 6).apply(table)
    made = basis.apply(table)
    np.testing.assert_array_equal(made[:, : splines.shape[1]], splines)
    surface = made[:, splines.shape[1] :].reshape(len(table), 2, MOST_KNOTS)
    np.testing.assert_allclose(surface.sum(axis=2), 2 * np.column_stack([1 - table[:, 1], table[:, 1]]), atol=1e-12)
    knots = basis.feature_map.knots[basis.feature_map.pairs[0][basis.feature_map.pairs[0] == 1][0]]
    expected = np.quantile(table[:, 2], np.linspace(0, 1, MOST_KNOTS), method="inverted_cdf")
    np.testing.assert_allclose(knots, expected)
    order = [2, 0, 1]
    moved = column_basis(sample(table[:, order]), 6, [(2, 0)]).apply(table[:, order])
    np.testing.assert_allclose(np.sort(moved, axis=1), np.sort(made, axis=1), atol=1e-12)


def test_the_strongest_pairs_stay_within_bounds():
    pairs = [(i, j) for i in range(20) for j in range(i + 1, 20)]
    values, room = np.full(20, 50), BASIS_COLUMNS - 8 * 20
    for n_pairs in (1, 5, 12, 30, 190):
        kept = strongest(pairs[:n_pairs], values, 6)
        assert kept == pairs[: len(kept)] and n_products(kept, values, most_knots(kept, values, 6)) <= room
        assert len(kept) == n_pairs or n_products(pairs[: len(kept) + 1], values, FEWEST_OF_CHOSEN) > room
    assert strongest(pairs, np.full(20, 2), 6) == pairs[: BASIS_COLUMNS // 4]
    assert leave_room(values, 6) and not leave_room(np.full(74, 50), 6)


def test_bins_are_of_equal_weight_and_a_value_that_many_rows_are_at_is_one():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=3000), np.where(rng.random(3000) < 0.8, 0, rng.exponential(size=3000))])
    even, heavy = (bin_edges(column, 3) for column in summaries_of(sample(x)))
    np.testing.assert_allclose(even, np.quantile(x[:, 0], [1 / 3, 2 / 3], method="inverted_cdf"))
    others = x[x[:, 1] > 0, 1]
    assert heavy[0] == 0 and 0.3 < np.mean(others > heavy[1]) < 0.6
    codes = rng.integers(0, 3, size=(300, 1)).astype(float)
    assert bin_edges(summaries_of(sample(codes))[0], 3).tolist() == [0, 1]
    assert len(bin_edges(summaries_of(sample(np.ones((5, 1))))[0], 3)) == 0


def test_float32_rows_stay_float32(table):
    single = table.astype(np.float32)
    basis = column_basis(sample(single), 6, [(0, 2)])
    made = basis.apply(single)
    assert made.dtype == np.float32 and basis.feature_map.knots.dtype == np.float32
    np.testing.assert_allclose(made, column_basis(sample(table), 6, [(0, 2)]).apply(table), atol=2e-5)
