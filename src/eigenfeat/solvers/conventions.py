"""The numerical decisions that every solver shares, one owner each: order, sign, rank, residual.

Arrays may carry leading axes: a stack of m problems has (m, r) eigenvalues and (m, d, r) directions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenfeat.solvers.request import Request

#: A reference orients a direction when its projection is at least this share of the largest one.
STANDS_OUT = 0.5
#: Eigenvalues this far below zero, relative to the largest, are no rounding: the matrix is indefinite.
INDEFINITE = 1e-5


def leading(values: np.ndarray, vectors: np.ndarray, request: Request) -> tuple[np.ndarray, np.ndarray]:
    """From LAPACK's ascending order to ours: the wanted end of the spectrum first, no more than asked for."""
    count = request.count(values.shape[-1])
    if request.largest:
        values, vectors = values[..., ::-1], vectors[..., ::-1]
    return values[..., :count], vectors[..., :count]


def wanted(values: np.ndarray, request: Request) -> np.ndarray:
    """Which eigenvalues exist (a missing one is not a number) and pass the threshold."""
    return ~np.isnan(values) if request.min_eigenvalue is None else values >= request.min_eigenvalue


def rank_cutoff(eigenvalues: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Eigenvalues of a positive semi-definite matrix up to this size are rounding.

    Relative to the largest: d·eps; and no less than twice what rounding has already shown itself to be by making an
    eigenvalue negative.
    """
    relative = eigenvalues.shape[-1] * float(np.finfo(dtype).eps) * eigenvalues.max(axis=-1, initial=0.0)
    return np.maximum(relative, -2.0 * eigenvalues.min(axis=-1, initial=0.0))


def orient(vectors: np.ndarray, references: np.ndarray | None) -> np.ndarray:
    """Signs that do not depend on the basis of the input.

    With ``p = references @ vectors``, a direction's sign makes the projection of the first reference that stands out
    (at least half of the largest ``|p|``) positive. Where no reference says anything, or there is none, the entry of
    largest magnitude is made positive: deterministic, though not free of the basis.

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
    signs = signs_of(R @ vectors, reach)
    if not signs.all():
        signs = np.where(signs == 0, largest_entry_signs(vectors), signs)
    return signs.astype(vectors.dtype, copy=False)


def signs_of(projections: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Signs from (..., q, r) projections; zero where all are rounding next to what they could ``reach``."""
    size = np.abs(projections)
    largest = size.max(axis=-2)
    first = np.argmax(size >= STANDS_OUT * largest[..., None, :], axis=-2)
    chosen = np.take_along_axis(projections, first[..., None, :], axis=-2)[..., 0, :]
    rounding = 100 * np.finfo(projections.dtype).eps * reach
    return np.where(largest <= rounding, 0.0, np.where(chosen < 0, -1.0, 1.0))


def largest_entry_signs(vectors: np.ndarray) -> np.ndarray:
    place = np.argmax(np.abs(vectors), axis=-2)[..., None, :]
    chosen = np.take_along_axis(vectors, place, axis=-2)[..., 0, :]
    return np.where(chosen < 0, -1, 1).astype(vectors.dtype)


def relative_residuals(SV: np.ndarray, NV: np.ndarray, values: np.ndarray, scale: np.ndarray | float) -> np.ndarray:
    """``‖Sv - λNv‖ / (‖Sv‖ + |λ|‖Nv‖)`` for every column, given the products.

    At an eigenvalue of zero that ratio is rounding over rounding: below eps^⅓ of the ``scale`` of a problem's
    spectrum, λ counts as that much in the denominator.
    """
    gap = np.linalg.norm(SV - NV * values[..., None, :], axis=-2)
    floor = np.cbrt(np.finfo(values.dtype).eps) * np.asarray(scale)[..., None]
    size = np.linalg.norm(SV, axis=-2) + np.maximum(np.abs(values), floor) * np.linalg.norm(NV, axis=-2)
    return np.divide(gap, size, out=np.zeros_like(gap), where=size > 0)
