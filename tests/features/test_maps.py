"""Laws of the feature maps, their columns and their names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eigenfeat.features.maps import FEATURE_MAPS, PowerMap, ProductMap, SplineMap, as_feature_map

projections_strategy = arrays(
    np.float64, st.tuples(st.integers(2, 6), st.integers(1, 4)), elements=st.floats(-1e6, 1e6, width=32)
)


@settings(max_examples=25, deadline=None)
@given(projections_strategy)
def test_cubic_is_the_papers_map(P):
    expected = [np.maximum(0, delta * P) ** (alpha / 2) for alpha in (1, 2, 3) for delta in (1, -1)]
    np.testing.assert_allclose(as_feature_map("cubic")(P), np.hstack(expected), rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(projections_strategy)
def test_soft_cubic_is_powers_of_the_soft_root(P):
    roots = [np.expm1(0.5 * np.log1p(np.maximum(0, delta * P))) for delta in (1, -1)]
    expected = [root**power for power in (1, 2, 3) for root in roots]
    np.testing.assert_allclose(as_feature_map("soft-cubic")(P), np.hstack(expected), rtol=1e-9, atol=1e-300)


@settings(max_examples=25, deadline=None)
@given(projections_strategy)
def test_single_function_maps(P):
    np.testing.assert_array_equal(as_feature_map("identity")(P), P)
    np.testing.assert_array_equal(as_feature_map("absolute")(P), np.abs(P))
    np.testing.assert_allclose(as_feature_map("square")(P), P**2)
    sides = [np.maximum(0, P), np.maximum(0, -P)]
    np.testing.assert_array_equal(as_feature_map("rectified")(P), np.hstack(sides))
    np.testing.assert_array_equal(as_feature_map("rectified-positive")(P), sides[0])
    np.testing.assert_allclose(as_feature_map("sqrt")(P), np.sqrt(np.hstack(sides)))


@pytest.mark.parametrize("name", [name for name in FEATURE_MAPS if name != "identity"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zero_and_huge_projections_stay_finite_and_keep_their_type(name, dtype):
    huge = np.finfo(dtype).max
    tiny = np.finfo(dtype).smallest_subnormal
    P = np.array([[0.0, -0.0, tiny, -tiny], [huge, -huge, 1.0, -1.0]], dtype=dtype)
    fitted = as_feature_map(name).fit(np.random.default_rng(0).normal(size=(50, 4)).astype(dtype))
    features = fitted(P)
    assert features.dtype == dtype
    assert np.isfinite(features).all()
    if not name.endswith("spline"):
        assert not fitted(np.zeros((1, 4), dtype)).any()


def test_out_is_filled_in_place_even_when_it_is_a_slice_of_a_wider_array():
    P = np.random.default_rng(0).normal(size=(5, 3))
    chosen = PowerMap(powers=(1, 2), soft=True)
    wide = np.full((5, 20), np.nan)
    result = chosen(P, out=wide[:, 4:16])
    np.testing.assert_array_equal(result, chosen(P))
    assert np.isnan(wide[:, :4]).all() and np.isnan(wide[:, 16:]).all()


def test_powers_may_be_any_subset():
    P = np.random.default_rng(1).normal(size=(4, 2))
    cubic = as_feature_map("cubic")(P)
    np.testing.assert_array_equal(PowerMap(powers=(3, 1))(P), np.hstack([cubic[:, :4], cubic[:, 8:]]))


def test_products_follow_the_base_map():
    P = np.random.default_rng(2).normal(size=(6, 3))
    everything = ProductMap(as_feature_map("absolute"))
    np.testing.assert_allclose(
        everything(P),
        np.column_stack([np.abs(P), P[:, 0] * P[:, 1], P[:, 0] * P[:, 2], P[:, 1] * P[:, 2]]),
    )
    chosen = ProductMap(as_feature_map("identity"), pairs=((2, 2),))
    np.testing.assert_allclose(chosen(P), np.column_stack([P, P[:, 2] ** 2]))
    assert everything.feature_names(["a", "b", "c"])[-1] == "b_x_c"


def test_a_function_is_a_map():
    P = np.random.default_rng(3).normal(size=(6, 2))
    chosen = as_feature_map(np.tanh).fit(P)
    np.testing.assert_array_equal(chosen(P), np.tanh(P))
    assert chosen.feature_names(["a", "b"]) == ["tanh0", "tanh1"]
    with pytest.raises(ValueError, match="as many rows"):
        as_feature_map(lambda P: P.sum(axis=0)).fit(P)


@pytest.mark.parametrize("name", list(FEATURE_MAPS))
def test_names_are_unique_and_one_a_column(name):
    chosen = as_feature_map(name)
    names = chosen.feature_names(["p0", "p1", "p2"])
    assert len(set(names)) == len(names) == chosen.n_columns(3)


def test_names_follow_the_columns():
    names = as_feature_map("cubic").feature_names(["a", "b"])
    features = as_feature_map("cubic")(np.array([[0.0, -4.0]]))[0]
    assert {name: value for name, value in zip(names, features) if value} == {
        "b_neg_root1": 2.0,
        "b_neg_root2": 4.0,
        "b_neg_root3": 8.0,
    }


@pytest.mark.parametrize("bad", ["quartic", 3, None])
def test_unknown_map_lists_the_known(bad):
    with pytest.raises(ValueError, match="soft-cubic"):
        as_feature_map(bad)


@pytest.mark.parametrize("powers", [(), (0,), (1.5,)])
def test_bad_powers(powers):
    with pytest.raises(ValueError, match="positive integers"):
        PowerMap(powers=powers)


def test_a_map_says_whether_it_learns_from_values():
    assert SplineMap().learns and ProductMap(SplineMap()).learns
    assert not ProductMap(PowerMap()).learns and not PowerMap().learns
    assert not as_feature_map(lambda P: np.hstack([P, P])).learns
