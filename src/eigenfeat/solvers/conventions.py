"""The numerical decisions that every solver shares, one owner each: order, sign, scale, rank, residual."""

from __future__ import annotations

import numpy as np

from eigenfeat.solvers.directions import DualVectors
from eigenfeat.solvers.request import Request

#: A reference orients a direction when its projection is at least this share of the largest one.
STANDS_OUT = 0.5
#: Eigenvalues this far below zero, relative to the largest, are no rounding: the matrix is indefinite.
INDEFINITE = 1e-5


def select(values: np.ndarray, request: Request) -> np.ndarray:
    """Indices of the wanted eigenvalues in order: from the wanted end of the spectrum, ties as they came."""
    order = np.argsort(-values if request.largest else values, kind="stable")
    order = order[: request.count(len(values))]
    if request.min_eigenvalue is not None:
        order = order[values[order] >= request.min_eigenvalue]
    return order


def signs(projections: np.ndarray) -> np.ndarray:
    """One sign a column: that of the first entry which is at least half of the column's largest."""
    if projections.size == 0:
        return np.ones(projections.shape[1], dtype=projections.dtype)
    size = np.abs(projections)
    first = np.argmax(size >= STANDS_OUT * size.max(axis=0), axis=0)
    chosen = projections[first, np.arange(projections.shape[1])]
    return np.where(chosen < 0, -1, 1).astype(projections.dtype)


def orient(vectors: np.ndarray, references: np.ndarray | None) -> np.ndarray:
    """Signs that do not depend on the basis of the input.

    With ``p = references @ vectors``, a direction's sign makes the projection of the first reference that
    stands out (at least half of the largest ``|p|``) positive. Where no reference says anything, or there is
    none, the entry of largest magnitude is made positive: deterministic, though not free of the basis.

    Parameters
    ----------
    vectors : (d, r) array
        Not modified.
    references : (q, d) array or None

    Returns
    -------
    (d, r) array
    """
    return vectors * orientation(vectors, None if references is None else references @ vectors, references)


def orientation(
    vectors: np.ndarray | DualVectors, projections: np.ndarray | None, references: np.ndarray | None
) -> np.ndarray:
    """The signs `orient` applies; ``projections`` are the references' own, however they were computed."""
    if projections is None or references is None or len(references) == 0:
        return _largest_entry_sign(vectors)
    sign = signs(projections)
    dense = vectors if isinstance(vectors, np.ndarray) else None
    # A projection is negligible against the length it could have: rounding must not choose a sign.
    reach = np.abs(projections).max(axis=0)
    if dense is not None:
        bound = np.linalg.norm(references, axis=1).max() * np.linalg.norm(dense, axis=0)
        silent = reach <= 100 * np.finfo(projections.dtype).eps * bound
    else:
        silent = reach == 0
    if silent.any():
        sign = np.where(silent, _largest_entry_sign(vectors), sign)
    return sign


def _largest_entry_sign(vectors: np.ndarray | DualVectors) -> np.ndarray:
    dense = vectors.toarray() if isinstance(vectors, DualVectors) else vectors
    chosen = dense[np.argmax(np.abs(dense), axis=0), np.arange(dense.shape[1])]
    return np.where(chosen < 0, -1, 1).astype(dense.dtype)


def rank_cutoff(eigenvalues: np.ndarray, dtype: np.dtype) -> float:
    """Eigenvalues of a positive semi-definite matrix up to this size are rounding.

    Relative to the largest: d·eps; and no less than twice what rounding has already shown itself to be by
    making an eigenvalue negative.
    """
    largest = float(eigenvalues.max(initial=0.0))
    relative = len(eigenvalues) * float(np.finfo(dtype).eps) * largest
    return max(relative, -2.0 * float(eigenvalues.min(initial=0.0)))


def relative_residuals(
    signal_products: np.ndarray, noise_products: np.ndarray, values: np.ndarray, mean_quotient: float
) -> np.ndarray:
    """``‖Sv - λNv‖ / (‖Sv‖ + |λ|‖Nv‖)`` for every column, given SV, NV and tr S / tr N.

    At an eigenvalue of zero that ratio is rounding over rounding: below eps^⅓ of the mean quotient, λ counts
    as that much in the denominator.
    """
    gap = np.linalg.norm(signal_products - noise_products * values, axis=0)
    floor = np.cbrt(np.finfo(values.dtype).eps) * mean_quotient
    size = np.linalg.norm(signal_products, axis=0)
    size = size + np.maximum(np.abs(values), floor) * np.linalg.norm(noise_products, axis=0)
    return np.divide(gap, size, out=np.zeros_like(gap), where=size > 0)
