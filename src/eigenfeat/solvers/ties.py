"""The one owner of ties: one basis of each space of directions that share an eigenvalue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.linalg import eigh, qr

from eigenfeat.solvers.directions import Directions

#: Eigenvalues closer than this, relative to the largest, belong to one space.
TIE = 1e-9


def rotate_ties(values: np.ndarray, rotation_of: Callable[[slice], np.ndarray], tie: float = TIE) -> np.ndarray | None:
    """A rotation that is ``rotation_of(group)`` within every group of tied eigenvalues; None where there are no ties.

    Parameters
    ----------
    values : (r,) array
        In order.
    rotation_of : callable
        From a group of at least two positions to an orthogonal matrix of its size.
    tie : float
        Difference, relative to the largest magnitude, up to which neighbours are tied.
    """
    edges = np.flatnonzero(
        np.concatenate([[True], np.abs(np.diff(values)) > tie * np.abs(values).max(initial=0.0), [True]])
    )
    groups = [slice(start, stop) for start, stop in pairwise(edges.tolist()) if stop - start > 1]
    if not groups:
        return None
    rotation = np.eye(len(values))
    for group in groups:
        rotation[group, group] = rotation_of(group)
    return rotation


def settle_ties(directions: Directions, references: np.ndarray | None) -> Directions:
    """Rotate directions of equal eigenvalue among each other until the references fix them.

    A repeated eigenvalue leaves a rotation free, and an eigensolver's choice of it is rounding. In the space of
    such directions the first of them is turned towards the reference with the largest projection there, the
    next towards the largest of what is left, and so on: a pivoted QR factorisation. Like the sign rule, this
    does not depend on the basis of the input.
    """
    if references is None:
        return directions
    seen: list[np.ndarray] = []

    def towards_references(group: slice) -> np.ndarray:
        if not seen:
            seen.append(directions.vectors.projected(references))
        Q, R, _ = qr(seen[0][:, group].T, pivoting=True)
        signs = np.ones(len(Q))
        diagonal = np.diagonal(R)
        signs[: len(diagonal)] = np.where(diagonal < 0, -1.0, 1.0)
        return Q * signs

    rotation = rotate_ties(directions.values, towards_references)
    if rotation is None:
        return directions
    return replace(directions, vectors=directions.vectors.combined(rotation.astype(directions.vectors.dtype)))


def shortest_first(values: np.ndarray, inner: np.ndarray, tie: float) -> np.ndarray | None:
    """The rotation that sorts directions of equal eigenvalue by length, shortest first; None without ties.

    Among directions of one signal-to-noise ratio those of smallest ‖w‖ carry the largest variance, and a ridge that
    tends to zero picks the same ones: to first order it takes ``λ shift wᵀw`` from an eigenvalue. ``inner`` is ``WᵀW``.
    """
    return rotate_ties(values, lambda group: eigh(inner[group, group], check_finite=False)[1], tie)
