"""The one owner of signs: which rule decides, and that the basis of the input does not."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eigenfeat.solvers import orient
from eigenfeat.solvers.canonical import (
    STANDS_OUT,
    largest_entry_signs,
    orientation,
    reference_signs,
    skewness_signs,
)


def test_signs_follow_the_first_reference_that_stands_out():
    V = np.array([[1.0, 1.0, 0.0], [0.0, -2.0, -3.0], [0.0, 0.0, 1.0]])
    references = np.array([[-1.0, 0.0, 0.0], [-5.0, 1.0, 0.0]])
    # p = [[-1, -1, 0], [-5, -7, -3]]: the first reference is below half of the second everywhere
    np.testing.assert_array_equal(orient(V, references), -V)
    np.testing.assert_array_equal(orient(V, np.zeros((1, 3))), orient(V, None))
    np.testing.assert_array_equal(np.sign(orient(V, None)[[0, 1, 1], [0, 1, 2]]), [1, 1, 1])


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**16), d=st.integers(1, 8), q=st.integers(1, 4))
def test_the_basis_of_the_input_does_not_change_a_sign(seed, d, q):
    """References move by T, directions by T⁻ᵀ: the projections, and so the signs, stay."""
    rng = np.random.default_rng(seed)
    V, R = rng.standard_normal((d, d)), rng.standard_normal((q, d))
    Q, P = (np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(2))
    T = (Q * rng.uniform(0.5, 2, size=d)) @ P
    sizes = np.sort(np.abs(R @ V), axis=0) / np.abs(R @ V).max(axis=0)
    assume(np.all(np.abs(sizes - STANDS_OUT) > 1e-9))
    before = orientation(V[None], [R])
    after = orientation((np.linalg.inv(T).T @ V)[None], [R @ T.T])
    np.testing.assert_array_equal(before, after)
    # Whatever sign a direction comes with, it leaves with the same.
    flips = rng.choice([-1.0, 1.0], size=d)
    np.testing.assert_array_equal(orient(V * flips, R), orient(V, R))


def test_a_reference_of_half_the_largest_projection_stands_out_and_a_smaller_one_does_not():
    projections = np.array([[-1.0, -1.0], [2.0, 2.1]])
    np.testing.assert_array_equal(reference_signs(projections), [-1, 1])


def test_projections_that_are_rounding_say_nothing():
    projections = np.array([[-1e-15, 0.0, -1.0]])
    np.testing.assert_array_equal(reference_signs(projections, reach=1.0), [0, 0, -1])
    V = np.array([[1e-16, 3.0], [-2.0, 0.0]])  # the reference sees the second direction only
    np.testing.assert_array_equal(orient(V, np.array([[-1.0, 0.0]])), -V)


def test_a_stack_is_oriented_as_its_members_are():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((4, 5, 3))
    for references in (
        [rng.standard_normal((2, 5)) for _ in range(4)],
        [None, rng.standard_normal((1, 5)), None, None],
    ):
        expected = np.concatenate([orientation(v[None], [r]) for v, r in zip(V, references)])
        np.testing.assert_array_equal(orientation(V, references), expected)


def test_the_input_is_not_modified_and_the_type_stays():
    V = np.random.default_rng(0).standard_normal((4, 2)).astype(np.float32)
    before = V.copy()
    assert orient(V, np.ones((1, 4), np.float32)).dtype == np.float32
    np.testing.assert_array_equal(V, before)


@pytest.mark.parametrize("shape", [(6, 3), (2, 6, 3)])
def test_the_largest_entry_becomes_positive(shape):
    V = np.random.default_rng(1).standard_normal(shape)
    turned = V * largest_entry_signs(V)[..., None, :]
    peak = np.take_along_axis(turned, np.abs(V).argmax(axis=-2)[..., None, :], axis=-2)
    assert np.all(peak > 0)


def test_the_long_tail_is_on_the_positive_side():
    rng = np.random.default_rng(2)
    Z = rng.exponential(size=(500, 3)) * [1, -1, 2]
    Z -= Z.mean(axis=0)
    np.testing.assert_array_equal(skewness_signs(Z, np.ones(500)), [1, -1, 1])
    # Rows of weight zero have no say.
    weights = np.concatenate([np.ones(500), np.zeros(1)])
    np.testing.assert_array_equal(skewness_signs(np.vstack([Z, [-1e6, 1e6, -1e6]]), weights), [1, -1, 1])
