"""The one owner of signs. An eigenvector's sign is free; every rule that fixes one is here.

Most fitting first: *references*, points that should project to the positive side, move with the data under a change of
basis, so that embeddings and not only subspaces are invariant; the *skewness* of the projections does too, and needs no
reference, but rows (`eigenfeat.features.orientation` asks them where class means say nothing); the *largest entry* is
deterministic, though not free of the basis: it decides where there are moments only, or rows that can be read but once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: A reference orients a direction when its projection is at least this share of the largest one.
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
    place = np.argmax(np.abs(vectors), axis=-2)[..., None, :]
    chosen = np.take_along_axis(vectors, place, axis=-2)[..., 0, :]
    return np.where(chosen < 0, -1, 1).astype(vectors.dtype)


def skewness_signs(projections: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(r,) signs that put the long tail of every column of centred (n, r) projections on the positive side."""
    return np.where(weights @ projections**3 < 0, -1, 1).astype(projections.dtype)
