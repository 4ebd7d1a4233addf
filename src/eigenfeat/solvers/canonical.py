"""What an eigensolver leaves open, decided once for all solvers: order, rank, signs, and the basis of ties.

Signs: an eigenvector's sign is free. The rules here, most fitting first: *references*, points that should project to
the positive side, move with the data under a change of basis, so that embeddings and not only subspaces are invariant.
The *skewness* of the projections does too, and needs no reference, but rows (`eigenfeat.features.orientation` asks them
where class means say nothing). The *largest entry* is deterministic, though not free of the basis: it decides where
there are moments only, or rows that can be read but once.

Ties: a repeated eigenvalue leaves a rotation of its eigenspace free. References fix that, too.

Arrays may carry leading axes: a stack of m problems has (m, r) eigenvalues and (m, d, r) directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh, qr

from eigenfeat.solvers.contract import Request

if TYPE_CHECKING:
    from eigenfeat.solvers.directions import Directions

#: Eigenvalues this far below zero, relative to the largest, are no rounding: the matrix is indefinite.
INDEFINITE = 1e-5

#: Multiples of eps by which an eigenvalue of LAPACK may be off in the smallest matrices.
ROUNDED_EPS = 32


def leading(values: np.ndarray, vectors: np.ndarray, request: Request) -> tuple[np.ndarray, np.ndarray]:
    """Reorder LAPACK's ascending order to the requested end of the spectrum first, no more than requested."""
    count = request.count(values.shape[-1])
    if request.largest:
        values, vectors = values[..., ::-1], vectors[..., ::-1]
    return values[..., :count], vectors[..., :count]


def passes_threshold(values: np.ndarray, request: Request) -> np.ndarray:
    """Mask of the eigenvalues that exist (a missing one is not a number) and reach ``min_eigenvalue``."""
    return ~np.isnan(values) if request.min_eigenvalue is None else values >= request.min_eigenvalue


def rank_cutoff(eigenvalues: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Eigenvalues of a positive semi-definite matrix up to this size are rounding.

    Relative to the largest: d·eps, but some tens of eps in few columns too, for LAPACK finds a zero no better than
    that; and no less than twice what rounding has already shown itself to be by making an eigenvalue negative.
    """
    d = max(eigenvalues.shape[-1], ROUNDED_EPS)
    relative = d * float(np.finfo(dtype).eps) * eigenvalues.max(axis=-1, initial=0.0)
    return np.maximum(relative, -2.0 * eigenvalues.min(axis=-1, initial=0.0))


def singular_cutoff(singular_values: np.ndarray, shape: tuple[int, int]) -> float:
    """Singular values of a matrix of this shape up to this size are rounding: max(n, d)·eps of the largest."""
    return max(shape) * float(np.finfo(singular_values.dtype).eps) * float(singular_values.max(initial=0.0))


def relative_residuals(SV: np.ndarray, NV: np.ndarray, values: np.ndarray, scale: np.ndarray | float) -> np.ndarray:
    """``‖Sv - λNv‖ / (‖Sv‖ + |λ|‖Nv‖)`` for every column, given the products.

    At an eigenvalue of zero that ratio is rounding over rounding: below eps^⅓ of the ``scale`` of a problem's
    spectrum, λ counts as that much in the denominator.
    """
    gap = np.linalg.norm(SV - NV * values[..., None, :], axis=-2)
    floor = np.cbrt(np.finfo(values.dtype).eps) * np.asarray(scale)[..., None]
    size = np.linalg.norm(SV, axis=-2) + np.maximum(np.abs(values), floor) * np.linalg.norm(NV, axis=-2)
    return np.divide(gap, size, out=np.zeros_like(gap), where=size > 0)


# ---------------------------------------------------------------------- signs

#: A reference orients a direction when its projection is at least this fraction of the largest one.
STANDS_OUT = 0.5


def orient(vectors: np.ndarray, references: np.ndarray | None) -> np.ndarray:
    """Signs that do not depend on the basis of the input.

    With ``p = references @ vectors``, a direction's sign makes the projection of the first reference that stands out
    (at least half of the largest ``|p|``) positive. Where no reference says anything, or there is none, the entry of
    largest magnitude is made positive.

    Parameters
    ----------
    vectors : (d, r) array
        Not modified.
    references : (q, d) array or None

    Returns
    -------
    (d, r) array

    Examples
    --------
    >>> import numpy as np
    >>> orient(np.array([[0.6], [-0.8]]), references=np.array([[0.0, 2.0]]))
    array([[-0.6],
           [ 0.8]])
    """
    return vectors * orientation(vectors[None], [references])[0]


def orientation(vectors: np.ndarray, references: Sequence[np.ndarray | None]) -> np.ndarray:
    """The (m, r) signs that `orient` applies, for a stack of (m, d, r) directions."""
    counts = {0 if r is None else len(r) for r in references}
    if len(counts) > 1:
        return np.concatenate([orientation(v[None], [r]) for v, r in zip(vectors, references)])
    if counts == {0}:
        return largest_entry_signs(vectors)
    R = np.stack(references)  # type: ignore[arg-type]
    reach = np.linalg.norm(R, axis=2).max(axis=1)[:, None] * np.linalg.norm(vectors, axis=1)
    signs = reference_signs(R @ vectors, reach)
    if not signs.all():
        signs = np.where(signs == 0, largest_entry_signs(vectors), signs)
    return signs.astype(vectors.dtype, copy=False)


def reference_signs(projections: np.ndarray, reach: np.ndarray | float = 0.0) -> np.ndarray:
    """Signs from (..., q, r) projections of q references; zero where all are rounding next to their ``reach``."""
    size = np.abs(projections)
    largest = size.max(axis=-2)
    first = np.argmax(size >= STANDS_OUT * largest[..., None, :], axis=-2)
    chosen = np.take_along_axis(projections, first[..., None, :], axis=-2)[..., 0, :]
    rounding = 100 * np.finfo(projections.dtype).eps * np.asarray(reach)
    return np.where(largest <= rounding, 0.0, np.where(chosen < 0, -1.0, 1.0))


def largest_entry_signs(vectors: np.ndarray) -> np.ndarray:
    """(..., r) signs that make the entry of largest magnitude of every column positive."""
    largest = np.argmax(np.abs(vectors), axis=-2)[..., None, :]
    chosen = np.take_along_axis(vectors, largest, axis=-2)[..., 0, :]
    return np.where(chosen < 0, -1, 1).astype(vectors.dtype)


def skewness_signs(projections: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(r,) signs that put the long tail of every column of centred (n, r) projections on the positive side."""
    return np.where(weights @ projections**3 < 0, -1, 1).astype(projections.dtype)


# ---------------------------------------------------------------------- ties

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


def canonicalize_ties(directions: Directions, references: np.ndarray | None) -> Directions:
    """Rotate directions of equal eigenvalue to the one basis that the references fix.

    A repeated eigenvalue leaves a rotation free, and an eigensolver's choice of it is rounding. In the space of
    such directions the first of them is turned towards the reference with the largest projection there, the
    next towards the largest of what is left, and so on: a pivoted QR factorisation. Like the sign rule, this
    does not depend on the basis of the input.
    """
    if references is None:
        return directions

    def towards_references(group: slice) -> np.ndarray:
        Q, R, _ = qr(directions.vectors.columns(group).projected(references).T, pivoting=True)
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
