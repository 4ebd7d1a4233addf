"""Small problems of every model and rank, and the brute-force eigenproblem they are held against."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from eigenfeat.least_squares.quotient import pose
from eigenfeat.least_squares.rows import centre
from eigenfeat.least_squares.targets import hypergraph_factor, reduce

MODELS = ("lda", "cca", "opls", "star", "clique", "zhou", "any")


def inputs(rng, n, d, rank=None):
    """(n, d) rows, many entries zero; of the given rank where one is given."""
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6) + 0.3
    if rank is not None:
        X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
    return X


def labels(rng, n, k=5):
    """Multi-label targets with a duplicated label, an empty one, and rows without labels."""
    Y = (rng.random((n, k)) < 0.4).astype(float)
    Y[:, 1] = Y[:, 0]
    Y[:, 2] = 0
    Y[:2] = 0
    return Y


def factor(model, rng, n):
    """H of a model, and whether S is the projection on it."""
    if model == "lda":
        return np.eye(4)[rng.permutation(np.arange(n) % 4)], True
    if model == "any":
        return rng.normal(size=(n, 3)), False
    Y = labels(rng, n)
    if model in ("cca", "opls"):
        return Y, model == "cca"
    return hypergraph_factor(Y, model).toarray(), False


def problem(X, H, project, shift=0.0, weight=None, is_sparse=False):
    rows = centre(sparse.csr_array(X) if is_sparse else X, weight)
    return pose(rows, reduce(H, rows.root, project=project), label="small").shifted(shift)


def brute_force(X, H, project, shift=0.0, weight=None):
    """Nonzero eigenvalues and eigenvectors of the d × d problem, restricted to the range of X where it is singular.

    S is formed from H as it is given, so nothing of the reduction to targets is trusted.
    """
    weight = np.ones(len(X)) if weight is None else weight
    root = np.sqrt(weight)[:, None]
    A = root * (X - np.average(X, axis=0, weights=weight))
    B = root * (H - np.average(H, axis=0, weights=weight))
    S = B @ np.linalg.pinv(B.T @ B, rcond=1e-10, hermitian=True) @ B.T if project else B @ B.T
    signal, noise = A.T @ S @ A, A.T @ A + shift * np.eye(X.shape[1])
    spread, Q = np.linalg.eigh(noise)
    basis = Q[:, spread > 1e-10 * spread.max()]
    values, V = linalg.eigh(basis.T @ signal @ basis, basis.T @ noise @ basis)
    order = np.argsort(values)[::-1]
    order = order[values[order] > 1e-9 * values.max()]
    return values[order], basis @ V[:, order]


def largest_angle(V, W):
    """Sine of the largest principal angle between two column spaces, 1 where their dimensions differ."""
    if V.shape[1] != W.shape[1]:
        return 1.0
    V, W = linalg.orth(V), linalg.orth(W)
    return float(np.linalg.norm(V - W @ (W.T @ V), 2))
