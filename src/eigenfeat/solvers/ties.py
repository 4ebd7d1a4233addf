"""One basis of each space of directions that share an eigenvalue."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.linalg import qr

from eigenfeat.solvers.directions import Directions, DualVectors

#: Eigenvalues closer than this, relative to the largest, belong to one space.
TIE = 1e-9


def settle_ties(directions: Directions, references: np.ndarray | None) -> Directions:
    """Rotate directions of equal eigenvalue among each other until the references fix them.

    A repeated eigenvalue leaves a rotation free, and an eigensolver's choice of it is rounding. In the space of
    such directions the first of them is turned towards the reference with the largest projection there, the
    next towards the largest of what is left, and so on: a pivoted QR factorisation. Like the sign rule, this
    does not depend on the basis of the input.
    """
    if references is None:
        return directions
    values, vectors = directions.values, directions.vectors
    scale = TIE * np.abs(values).max(initial=0.0)
    edges = np.flatnonzero(np.concatenate([[True], np.abs(np.diff(values)) > scale, [True]]))
    rotation = None
    for start, stop in pairwise(edges.tolist()):
        if stop - start < 2:
            continue
        if rotation is None:
            rotation, seen = np.eye(len(values)), _seen(references, vectors)
        Q, R, _ = qr(seen[:, start:stop].T, pivoting=True)
        signs = np.ones(stop - start)
        diagonal = np.diagonal(R)
        signs[: len(diagonal)] = np.where(diagonal < 0, -1.0, 1.0)
        rotation[start:stop, start:stop] = Q * signs
    if rotation is None:
        return directions
    rotation = rotation.astype(vectors.dtype)
    if isinstance(vectors, DualVectors):
        return replace(directions, vectors=replace(vectors, coefficients=vectors.coefficients @ rotation))
    return replace(directions, vectors=vectors @ rotation)


def _seen(references: np.ndarray, vectors: np.ndarray | DualVectors) -> np.ndarray:
    if isinstance(vectors, DualVectors):
        return np.asarray(vectors.store.times(vectors.index, references.T)).T @ vectors.coefficients
    return references @ vectors
