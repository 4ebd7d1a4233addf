"""The numerical decisions that every solver shares, one owner each: order, rank, residual.

Signs are fixed in `signs`, ties settled in `ties`.

Arrays may carry leading axes: a stack of m problems has (m, r) eigenvalues and (m, d, r) directions.
"""

from __future__ import annotations

import numpy as np

from eigenfeat.solvers.request import Request

#: Eigenvalues this far below zero, relative to the largest, are no rounding: the matrix is indefinite.
INDEFINITE = 1e-5

#: Multiples of eps by which an eigenvalue of LAPACK may be off in the smallest matrices.
ROUNDED = 32


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

    Relative to the largest: d·eps, but some tens of eps in few columns too, for LAPACK finds a zero no better than
    that; and no less than twice what rounding has already shown itself to be by making an eigenvalue negative.
    """
    d = max(eigenvalues.shape[-1], ROUNDED)
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
