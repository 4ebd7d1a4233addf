"""Products of hat functions: the basis of piecewise bilinear functions on a grid."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.interpolate import RegularGridInterpolator

from eigenfeat.features.hat_products import WEIGHT, HatProductMap
from eigenfeat.features.maps import FEATURE_MAPS

IDENTITY = FEATURE_MAPS["identity"]
KNOTS = np.array([[-1.0, 0.0, 0.5, 2.0], [0.0, 1.0, 4.0, 5.0], [-3.0, -2.0, -1.0, 3.0]])
SURFACES = HatProductMap(IDENTITY, 4, KNOTS)


def products(feature_map, rows):
    """(n, pairs, knots, knots) of a map, without the columns of its base."""
    n, m = rows.shape
    made = feature_map(rows)[:, feature_map.base.n_columns(m) :]
    return made.reshape(n, m * (m - 1) // 2, feature_map.n_knots, feature_map.n_knots)


@settings(deadline=None)  # the first call compiles
@given(arrays(np.float64, (5, 3), elements=st.floats(-10, 10)))
def test_products_of_a_pair_are_a_partition_of_the_weight(rows):
    made = products(SURFACES, rows)
    assert (made >= 0).all()
    np.testing.assert_allclose(made.sum(axis=(2, 3)), WEIGHT, rtol=1e-12)


def test_products_interpolate_values_on_the_grid_bilinearly():
    """Any function on the grid is continued as scipy does; beyond the outer knots the nearest value holds."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(-4, 6, size=(200, 3))
    inside = np.clip(rows, KNOTS[:, 0], KNOTS[:, -1])
    made = products(SURFACES, rows)
    for pair, (i, j) in enumerate(combinations(range(3), 2)):
        values = rng.normal(size=(4, 4))
        expected = RegularGridInterpolator((KNOTS[i], KNOTS[j]), values)(inside[:, [i, j]])
        np.testing.assert_allclose(np.sum(made[:, pair] * values, axis=(1, 2)) / WEIGHT, expected, atol=1e-12)


def test_a_product_is_the_weight_at_its_own_corner_and_nothing_at_others():
    a, b = (grid.ravel() for grid in np.meshgrid(KNOTS[0], KNOTS[1], indexing="ij"))
    made = products(HatProductMap(IDENTITY, 4, KNOTS[:2]), np.column_stack([a, b]))
    np.testing.assert_allclose(made.reshape(16, 16), WEIGHT * np.eye(16), atol=1e-15)


def test_knots_that_coincide_make_no_jump_elsewhere():
    """A column half of whose values are equal has equal quantiles."""
    knots = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 2.0, 2.0]])
    rows = np.array([[0.0, 2.0], [0.25, 1.5], [1.0, 2.0], [-1.0, 9.0]])
    made = products(HatProductMap(IDENTITY, 4, knots), rows)
    np.testing.assert_allclose(made.sum(axis=(2, 3)), WEIGHT)
    places = np.einsum("npab,a,b->npab", made, knots[0], np.ones(4)).sum(axis=(1, 2, 3)) / WEIGHT
    np.testing.assert_allclose(places, np.clip(rows[:, 0], 0, 1))


def test_float32_rows_make_float32_products_of_the_same_value():
    rows = np.random.default_rng(1).uniform(-2, 3, size=(50, 3))
    single = SURFACES(rows.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, SURFACES(rows), atol=2e-6)


def test_the_base_stands_first_and_names_follow_the_columns():
    cubic = HatProductMap(FEATURE_MAPS["cubic"], 4, KNOTS)
    rows = np.random.default_rng(2).normal(size=(7, 3))
    made, names = cubic(rows), cubic.feature_names(["a", "b", "c"])
    assert len(names) == len(set(names)) == made.shape[1] == cubic.n_columns(3) == 18 + 3 * 16
    np.testing.assert_array_equal(made[:, :18], FEATURE_MAPS["cubic"](rows))
    corner = names.index("b_x_c_hat1_2")
    at_corner = cubic(np.array([[0.3, KNOTS[1, 1], KNOTS[2, 2]]]))
    assert at_corner[0, corner] == pytest.approx(WEIGHT)


def test_knots_are_quantiles_of_the_projections_it_is_fitted_to():
    rows = np.random.default_rng(3).normal(size=(500, 2))
    fitted = HatProductMap(IDENTITY, 5).fit(rows)
    np.testing.assert_allclose(fitted.knots, np.quantile(rows, [0, 0.25, 0.5, 0.75, 1], axis=0).T)
    with pytest.raises(ValueError, match="no knots yet"):
        HatProductMap(IDENTITY, 5)(rows)


def test_one_projection_has_no_pair():
    single = HatProductMap(IDENTITY, 3, np.array([[0.0, 1.0, 2.0]]))
    np.testing.assert_array_equal(single(np.array([[0.5]])), [[0.5]])


def test_few_hats_and_chosen_pairs_are_columns_of_all_hats_of_all_pairs():
    """A projection of two values has two hats; the base is given the first projections only."""
    rng = np.random.default_rng(4)
    rows = np.column_stack([rng.uniform(-2, 3, 40), rng.uniform(-4, 4, 40), rng.integers(0, 2, 40)])
    few = np.array([KNOTS[0], KNOTS[2], [0.0, 1.0, 1.0, 1.0]])
    some = HatProductMap(IDENTITY, 4, few, np.array([4, 4, 2]), np.array([[2, 0], [0, 1]]), 2)
    made = some(rows)
    assert made.shape == (40, some.n_columns(3)) == (40, 2 + 8 + 16)
    names = some.feature_names(["a", "b", "c"])
    assert names[:3] == ["a", "b", "c_x_a_hat0_0"] and len(set(names)) == made.shape[1]
    np.testing.assert_array_equal(made[:, :2], rows[:, :2])
    hats = products(HatProductMap(IDENTITY, 4, few[:2]), rows[:, :2])[:, 0]
    np.testing.assert_allclose(made[:, 10:].reshape(40, 4, 4), hats)
    of_first, switch = hats.sum(axis=2), np.column_stack([1 - rows[:, 2], rows[:, 2]])
    np.testing.assert_allclose(made[:, 2:10].reshape(40, 2, 4), switch[:, :, None] * of_first[:, None, :], atol=1e-12)


def test_no_pairs_leave_the_base():
    none = HatProductMap(IDENTITY, 4, KNOTS, pairs=np.empty((0, 2), dtype=np.intp))
    np.testing.assert_array_equal(none(KNOTS.T.copy()), KNOTS.T)
