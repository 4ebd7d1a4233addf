"""A Gram matrix and its factor in one array, against numpy's solutions."""

import numpy as np
import pytest

from eigenfeat.linear import damped_gram
from eigenfeat.linear.damped_gram import DampedGram


def gram(d=30, rank=12, dtype=np.float64):
    S = np.random.default_rng(0).normal(size=(d, rank))
    return np.asfortranarray(S @ S.T, dtype=dtype)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_damping_solves_for_the_same_matrix(lower, dtype, monkeypatch):
    """Factorisations overwrite each other, never what they are made of; one triangle is all that is read."""
    monkeypatch.setattr(damped_gram, "BLOCK", 7)  # four whole blocks and a part of one
    G = gram(dtype=dtype)
    given = np.tril(G) if lower else np.triu(G)
    made = DampedGram.of(np.asfortranarray(given), lower)
    right = np.random.default_rng(1).normal(size=(30, 3))
    for damping in (0.1, 3.0, 0.1):
        made = made.damped(damping)
        expected = np.linalg.solve(G.astype(float) + damping * np.eye(30), right)
        np.testing.assert_allclose(made.solve(right), expected, atol=1e4 * np.finfo(dtype).eps * np.abs(expected).max())
        half, products = made.half_solve(right), right.T @ expected
        np.testing.assert_allclose(half.T @ half, products, atol=1e4 * np.finfo(dtype).eps * np.abs(products).max())


def test_the_factor_stands_in_the_array_of_the_matrix():
    G = gram()
    made = DampedGram.of(G).damped(1.0)
    assert made.triangles is G or np.shares_memory(made.triangles, G)


@pytest.mark.parametrize("G", [np.zeros((4, 4), order="F"), gram(rank=2, dtype=np.float32)])
def test_what_rounding_leaves_indefinite_is_bent_until_it_is_not(G):
    solved = DampedGram.of(G.copy(order="F")).damped(0.0).solve(np.ones((len(G), 1)))
    assert np.isfinite(solved).all()
