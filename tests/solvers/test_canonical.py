"""What an eigensolver leaves open is decided once: order, rank, signs and the basis of ties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eigenfeat.moments import GramCache
from eigenfeat.solvers import DenseVectors, Directions, DualVectors, Request, canonicalize_ties, orient
from eigenfeat.solvers.canonical import (
    STANDS_OUT,
    TIE,
    largest_entry_signs,
    leading,
    orientation,
    passes_threshold,
    rank_cutoff,
    reference_signs,
    relative_residuals,
    rotate_ties,
    shortest_first,
    skewness_signs,
)


def request(**changes):
    usual = Request(n_components=2, which="largest", min_eigenvalue=None, tol=1e-6, dtype=np.dtype(float), seed=0)
    return replace(usual, **changes)


def test_the_requested_end_comes_first():
    values, vectors = np.array([1.0, 2.0, 3.0]), np.arange(9.0).reshape(3, 3)
    top, V = leading(values, vectors, request())
    np.testing.assert_array_equal(top, [3, 2])
    np.testing.assert_array_equal(V, vectors[:, [2, 1]])
    bottom, _ = leading(values, vectors, request(which="smallest", n_components=None))
    np.testing.assert_array_equal(bottom, [1, 2, 3])
    assert request(n_components=9).count(3) == 3


def test_a_threshold_drops_what_is_below_it_and_what_is_not_there():
    values = np.array([3.0, 1.0, np.nan])
    np.testing.assert_array_equal(passes_threshold(values, request()), [True, True, False])
    np.testing.assert_array_equal(passes_threshold(values, request(min_eigenvalue=1.0)), [True, True, False])
    np.testing.assert_array_equal(passes_threshold(values, request(min_eigenvalue=1.1)), [True, False, False])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_rank_of_a_product_of_rows_is_the_number_of_rows(dtype, scale):
    X = (np.random.default_rng(0).standard_normal((7, 40)) * scale**0.5).astype(dtype)
    values = np.linalg.eigvalsh(X.T @ X)
    assert np.sum(values > rank_cutoff(values, np.dtype(dtype))) == 7


def test_residuals_are_zero_at_eigenvectors_and_one_far_from_them():
    S, N = np.diag([4.0, 1.0]), np.eye(2)
    exact = relative_residuals(S, N, np.array([4.0, 1.0]), 4.0)
    np.testing.assert_array_equal(exact, [0, 0])
    v = np.array([[1.0], [1.0]]) / np.sqrt(2)
    wrong = relative_residuals(S @ v, N @ v, np.array([2.5]), 4.0)
    expected = np.linalg.norm(S @ v - 2.5 * v) / (np.linalg.norm(S @ v) + 2.5)
    np.testing.assert_allclose(wrong, expected)


def test_the_residual_of_an_eigenvalue_of_zero_is_not_rounding_over_rounding():
    v = np.array([[0.0], [1.0]])
    S = np.diag([1.0, 1e-17])
    assert relative_residuals(S @ v, v, np.array([0.0]), 1.0)[0] < 1e-10
    assert relative_residuals(np.zeros((2, 1)), np.zeros((2, 1)), np.zeros(1), 0.0)[0] == 0


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


def directions(vectors, values):
    values = np.asarray(values, dtype=float)
    return Directions(vectors, values, np.zeros_like(values), True, "dense", vectors.shape[0])


def rotation(k, rng):
    return np.linalg.qr(rng.standard_normal((k, k)))[0]


def test_no_ties_no_rotation():
    assert rotate_ties(np.array([3.0, 2.0, 1.0]), lambda group: pytest.fail("nothing is tied")) is None
    assert rotate_ties(np.zeros(0), lambda group: pytest.fail("nothing is there")) is None


def test_only_tied_neighbours_are_rotated():
    values = np.array([5.0, 5.0 - 1e-12, 3.0, 1.0, 1.0, 1.0])
    groups = []

    def flip(group):
        groups.append((group.start, group.stop))
        return np.eye(group.stop - group.start)[::-1]

    found = rotate_ties(values, flip)
    assert groups == [(0, 2), (3, 6)]
    np.testing.assert_array_equal(np.arange(6) @ found, [1, 0, 2, 5, 4, 3])
    assert rotate_ties(np.array([1.0, 1.0 - 10 * TIE]), flip) is None


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**16), tied=st.integers(2, 4), dual=st.booleans())
def test_whatever_basis_a_solver_chose_the_result_is_one(seed, tied, dual):
    rng = np.random.default_rng(seed)
    values = np.concatenate([[9.0], np.full(tied, 4.0), [1.0]])
    r, d = len(values), 7
    references = rng.standard_normal((5, d))
    rows, coefficients = GramCache(rng.standard_normal((d, d))), rng.standard_normal((d, r))
    free = np.eye(r)
    free[1 : tied + 1, 1 : tied + 1] = rotation(tied, rng)

    def vectors(C):
        return DualVectors(rows, np.arange(d), C) if dual else DenseVectors(rows.X.T @ C)

    one = canonicalize_ties(directions(vectors(coefficients), values), references)
    other = canonicalize_ties(directions(vectors(coefficients @ free), values), references)
    np.testing.assert_allclose(one.toarray(), other.toarray(), atol=1e-8)
    np.testing.assert_array_equal(one.toarray()[:, [0, -1]], vectors(coefficients).toarray()[:, [0, -1]])
    assert type(one.vectors) is type(vectors(coefficients))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_the_space_and_its_inner_products_stay(seed):
    rng = np.random.default_rng(seed)
    V = rotation(6, rng)[:, :4]
    settled = canonicalize_ties(
        directions(DenseVectors(V), [2.0, 1.0, 1.0, 1.0]), rng.standard_normal((3, 6))
    ).toarray()
    np.testing.assert_allclose(settled.T @ settled, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(settled @ settled.T, V @ V.T, atol=1e-12)


def test_the_first_is_turned_towards_the_reference_with_the_largest_projection():
    references = np.array([[0.1, 0.2, 5.0], [3.0, 4.0, 0.0], [1.0, 0.0, 0.0]])
    settled = canonicalize_ties(directions(DenseVectors(np.eye(3)[:, :2]), [1.0, 1.0]), references).toarray()
    np.testing.assert_allclose(settled[:, 0], [0.6, 0.8, 0.0], atol=1e-12)
    assert references[2] @ settled[:, 1] > 0


def test_without_references_nothing_is_rotated():
    found = directions(DenseVectors(np.eye(3)), [1.0, 1.0, 1.0])
    assert canonicalize_ties(found, None) is found


def test_of_equal_ratios_the_shortest_directions_come_first():
    rng = np.random.default_rng(0)
    lengths = np.array([3.0, 1.0, 2.0, 1.0])
    W = np.diag(lengths)
    W[:, :3] = W[:, :3] @ rotation(3, rng)
    turned = W @ shortest_first(np.array([5.0, 5.0, 5.0, 1.0]), W.T @ W, TIE)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=0), [1, 2, 3, 1], atol=1e-10)
    assert shortest_first(np.array([3.0, 2.0]), np.eye(2), TIE) is None
