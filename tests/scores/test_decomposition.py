"""Decomposition: planted components come back, and what tensorly finds on the dense tensor is found from products."""

import itertools

import numpy as np
import pytest
import tensorly
from score_models_for_tests import autoencoder, incoherent, mixture, planted, worst_cosine
from tensorly.decomposition import parafac

from eigenfeat.scores.components import Components, unit_columns
from eigenfeat.scores.cross_tensor import DenseTensor, StreamedTensor, centred_labels
from eigenfeat.scores.decomposition import Deflated, Search, decompose, distinct, power_method

SEARCH = Search(n_init=8, max_iter=300, tol=1e-9)


CASES = {
    "orthogonal": lambda rng: np.linalg.qr(rng.normal(size=(10, 10)))[0],
    "not orthogonal": lambda rng: incoherent(rng, 10, 8),
    "more than dimensions": lambda rng: incoherent(rng, 8, 12),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_components_come_back(case, seed):
    W = CASES[case](np.random.default_rng(seed))
    tensor = planted(W, 100_000, seed).condensed()
    found = decompose(tensor, W.shape[1], np.random.default_rng(0), SEARCH).components
    assert found.count == W.shape[1]
    assert worst_cosine(W, found) > 0.95


def test_planted_components_of_a_saturating_link_and_several_labels():
    W = incoherent(np.random.default_rng(2), 8, 10)
    tensor = planted(W, 100_000, 2, n_labels=4, link=lambda t: np.tanh(2 * t)).condensed()
    found = decompose(tensor, 10, np.random.default_rng(0), SEARCH).components
    assert worst_cosine(W, found) > 0.95


@pytest.mark.parametrize("model", [mixture("full", 2, d=6), autoencoder(False, d=6)])
def test_fit_is_as_good_as_tensorlys_on_the_dense_tensor(model):
    """tensorly is free to use three different vectors a component, which can only help it."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 6)), rng.normal(size=(300, 2))
    tensor = StreamedTensor(model, X, centred_labels(Y), 3)
    T = tensor.toarray()
    found = decompose(tensor.condensed(), 6, np.random.default_rng(0), SEARCH).components
    ours = np.einsum("kr,ir,jr,lr->kijl", found.label_factors, *[found.vectors] * 3)
    theirs = tensorly.cp_to_tensor(parafac(T, 6, n_iter_max=500, tol=1e-10, random_state=0))
    assert np.linalg.norm(T - ours) <= 1.01 * np.linalg.norm(T - theirs)


def test_every_start_of_the_power_method_climbs():
    rng = np.random.default_rng(0)
    whole = planted(incoherent(rng, 6, 9), 5000, 0).condensed()
    V = unit_columns(rng.normal(size=(6, 30)))
    tensor = Deflated(whole, Components.none(whole))
    values = [power_method(tensor, V, n, 0.0)[1] for n in (1, 3, 10, 100)]
    assert all((later >= earlier - 1e-12).all() for earlier, later in itertools.pairwise(values))
    tops, _ = power_method(tensor, V, 300, 1e-10)
    along = tensor.along(tops)
    slopes = along.vector_products(unit_columns(along.label_products()))
    np.testing.assert_allclose(unit_columns(slopes), tops, atol=1e-6)


def test_deflation_takes_off_what_was_found():
    W = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0][:, :3]
    tensor = DenseTensor(np.einsum("r,ir,jr,lr->ijl", [3.0, 2.0, 1.0], W, W, W)[None])
    left = Deflated(tensor, Components(W[:, :2], np.array([[3.0, 2.0]]), 3))
    V = np.random.default_rng(1).normal(size=(6, 4))
    np.testing.assert_allclose(left.along(V).label_products(), (W[:, 2] @ V)[None] ** 3, atol=1e-12)


def test_distinct_columns_ignore_sign():
    V = np.eye(4)[:, [0, 1, 0, 2, 1]] * [1, 1, -1, 1, -1]
    assert distinct(V).tolist() == [0, 1, 3]
    assert distinct(V, np.eye(4)[:, [2]]).tolist() == [0, 1]
