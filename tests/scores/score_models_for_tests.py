"""Small score models, finite differences of whatever they claim, and tensors with planted components."""

import numpy as np

from eigenfeat.scores.autoencoder import TiedAutoencoder
from eigenfeat.scores.cross_tensor import StreamedTensor, centred_labels
from eigenfeat.scores.gaussian import (
    DensePrecision,
    DiagonalPrecision,
    FactorPrecision,
    GaussianMixtureDensity,
)
from eigenfeat.scores.tensors import ScoreTensors


def spd(rng, d):
    A = rng.normal(size=(d, d + 2))
    return A @ A.T / d + 0.3 * np.eye(d)


def mixture(kind, n_mixture=3, d=4, seed=0):
    rng = np.random.default_rng(seed)
    tied = DensePrecision(spd(rng, d))
    make = {
        "full": lambda: DensePrecision(spd(rng, d)),
        "diag": lambda: DiagonalPrecision(rng.uniform(0.5, 2.0, d)),
        "tied": lambda: tied,
        "factor": lambda: FactorPrecision(rng.normal(size=(2, d)), rng.uniform(0.5, 1.0, d)),
    }[kind]
    weights = rng.dirichlet(np.full(n_mixture, 3.0))
    precisions = tuple(make() for _ in range(n_mixture))
    return GaussianMixtureDensity(weights, rng.normal(size=(n_mixture, d)), precisions)


def standard_gaussian(d):
    return GaussianMixtureDensity(np.ones(1), np.zeros((1, d)), (DiagonalPrecision(np.ones(d)),))


def autoencoder(sigmoid_output, d=5, h=3, gain=0.7, corruption_variance=0.3, seed=0):
    rng = np.random.default_rng(seed)
    arrays = rng.normal(size=(d, h)), rng.normal(size=h), rng.normal(size=d)
    return TiedAutoencoder(*arrays, gain, corruption_variance, sigmoid_output)


def dense(tensors: ScoreTensors, d, order):
    """S_m at every row, (n, d, ..., d), through ``form`` on basis vectors."""
    index = np.indices((d,) * order).reshape(order, -1)
    form = tensors.form(*(np.eye(d)[:, i] for i in index))
    return form.reshape(-1, *(d,) * order)


def gradient(function, x, step=1e-5):
    """Central differences of an array-valued function of a point; the derivative index comes last."""
    columns = [(function(x + e) - function(x - e)) / (2 * step) for e in step * np.eye(len(x))]
    return np.stack(columns, axis=-1)


def incoherent(rng, d, r, most=0.6):
    """Unit columns, no two of which have a larger cosine."""
    columns = []
    while len(columns) < r:
        w = rng.normal(size=d)
        w /= np.linalg.norm(w)
        if all(abs(w @ other) <= most for other in columns):
            columns.append(w)
    return np.array(columns).T


def planted(W, n, seed, n_labels=1, link=lambda t: t**3 / 6):
    """y = Σ_r a_r g(w_r·x) under a standard Gaussian, and the tensor that should show the w_r."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(W)))
    A = rng.uniform(1, 2, size=(n_labels, W.shape[1])) * rng.choice([-1, 1], size=(n_labels, W.shape[1]))
    return StreamedTensor(standard_gaussian(len(W)), X, centred_labels(link(X @ W) @ A.T), 3)


def worst_cosine(W, found):
    return np.abs(W.T @ found.vectors).max(axis=1).min()
