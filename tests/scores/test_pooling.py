"""Components of several orders, measured against shuffled labels."""

from dataclasses import replace

import numpy as np

from eigenfeat.scores.cross_tensor import StreamedTensor, centred_labels
from eigenfeat.scores.decomposition import Search, decompose
from eigenfeat.scores.gaussian import DiagonalPrecision, GaussianMixtureDensity
from eigenfeat.scores.pooling import OrderFit, largest_eigenvalue, noise_level, pooled, strengths
from eigenfeat.scores.quality import fit_quality

DENSITY = GaussianMixtureDensity(np.ones(1), np.zeros((1, 4)), (DiagonalPrecision(np.ones(4)),))


def tensor(y, X, order):
    return StreamedTensor(DENSITY, X, centred_labels(y), order)


def test_noise_falls_with_the_root_of_the_rows():
    rng = np.random.default_rng(0)
    levels = []
    for n in (1000, 16_000):
        X, Y = rng.normal(size=(n, 4)), rng.normal(size=(n, 2))
        levels.append([noise_level(tensor(Y, X, order), rng) for order in (1, 2, 3)])
    np.testing.assert_allclose(levels[0], 4 * np.array(levels[1]), rtol=0.5)


def test_the_level_of_second_order_is_an_eigenvalue():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(500, 4)), rng.normal(size=(500, 2))
    T = tensor(Y, X, 2)
    values = [np.abs(np.linalg.eigvalsh((X * y[:, None]).T @ X - y.sum() * np.eye(4))).max() for y in T.labels.T]
    np.testing.assert_allclose(largest_eigenvalue(T), max(values), rtol=1e-10)


def test_components_above_the_noise_come_first_then_the_axes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 4))
    T = tensor((X[:, :1] ** 3 - 3 * X[:, :1]), X, 3)
    condensed, level = T.condensed(), noise_level(T, rng)
    found = decompose(condensed, 3, rng, Search(floor=level)).components
    fit = OrderFit(found, strengths(condensed, found, level), found.vectors, fit_quality(condensed, found, rng))
    assert fit.strengths[0] > 5
    assert found.weights[0] > 10 * found.weights[1:].max(initial=0)
    alone, fewer = (pooled([fit], 4, count) for count in (None, 3))
    n_real = int((alone.strengths > 1).sum())
    assert set(alone.orders[:n_real]) == {3}
    assert set(alone.orders[n_real:]) == {0}
    assert alone.count - n_real in (3, 4)  # the axis that the component is nearly equal to may be left out
    np.testing.assert_array_equal(fewer.directions, alone.directions[:, :3])


def test_labels_of_other_rows_are_another_tensor():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2500, 4)), rng.normal(size=(2500, 2))
    T = tensor(Y, X, 3)
    other = rng.normal(size=(2500, 2))
    V = rng.normal(size=(4, 3))
    got = T.prepared().with_labels(other).label_products(V, V, V)
    np.testing.assert_allclose(got, replace(T, labels=other).label_products(V, V, V))
