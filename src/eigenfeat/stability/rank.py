"""How many directions a matrix really has."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from eigenfeat.moments.forms import SymmetricForm, as_form

# Up to here a dense solve of one eigenvalue costs less than setting up Lanczos.
_DENSE_LIMIT = 400


def effective_rank(form: SymmetricForm | np.ndarray) -> float:
    """Trace over largest eigenvalue of a positive semi-definite matrix: between 1 and its rank.

    It is the quantity that decides how many rows an estimate of the matrix needs: for sub-Gaussian rows the
    relative error of a sample second moment is of order sqrt(r / n) with r this number and not d
    (Koltchinskii & Lounici 2017), so that ``n`` well above it means moments that can be trusted, whatever
    the number of columns.

    Parameters
    ----------
    form : form or (d, d) array

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.stability import effective_rank, participation_ratio
    >>> spiked = np.diag([10.0] + [1.0] * 20)
    >>> effective_rank(spiked), participation_ratio(spiked), effective_rank(np.eye(21))
    (3.0, 7.5, 21.0)
    """
    form = as_form(form)
    top = largest_eigenvalue(form)
    return form.trace() / top if top > 0 else 0.0


def participation_ratio(form: SymmetricForm | np.ndarray) -> float:
    """``(Σλ)² / Σλ²``: the number of equal eigenvalues that have the same sum and the same sum of squares.

    Of the usual counts it is the one that needs no eigenvalue at all (trace and Frobenius norm suffice), is
    smooth in the matrix, and lies between ``effective_rank`` and the rank. A spectrum that is flat apart
    from one strong direction scores low on ``effective_rank`` and high here; a small value of both means
    few directions."""
    form = as_form(form)
    shift = np.broadcast_to(form.shift, form.shape[0])
    squares = form.squared_norm() + shift @ (2 * form.diagonal() - shift)  # ‖M + D‖² = ‖M‖² + 2 tr MD + ‖D‖²
    return float(form.trace() ** 2 / squares) if squares > 0 else 0.0


def largest_eigenvalue(form: SymmetricForm) -> float:
    """λ_max by products alone, so that factored forms are never written out."""
    d = form.shape[0]
    if d <= _DENSE_LIMIT:
        return float(eigh(form.toarray(), eigvals_only=True, subset_by_index=[d - 1, d - 1])[0])

    def times(vector: np.ndarray) -> np.ndarray:
        return np.asarray(form @ vector.reshape(d, -1), dtype=np.float64)

    operator = LinearOperator((d, d), matvec=times, matmat=times, dtype=np.float64)
    # The start is fixed: the same matrix gives the same number.
    start = np.random.default_rng(0).standard_normal(d)
    return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
