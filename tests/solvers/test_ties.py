"""The one owner of ties: a repeated eigenvalue leaves a rotation free, and the references fix it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenfeat.moments import GramCache
from eigenfeat.solvers import DenseVectors, Directions, DualVectors, canonicalize_ties
from eigenfeat.solvers.canonical import TIE, rotate_ties, shortest_first


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
    store, coefficients = GramCache(rng.standard_normal((d, d))), rng.standard_normal((d, r))
    free = np.eye(r)
    free[1 : tied + 1, 1 : tied + 1] = rotation(tied, rng)

    def vectors(C):
        return DualVectors(store, np.arange(d), C) if dual else DenseVectors(store.rows.T @ C)

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
