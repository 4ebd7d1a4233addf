"""The singular value decomposition of the rows, and all that is closed-form once it is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd

from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.rows import CentredKernel, CentredRows
from eigenfeat.least_squares.second_stage import tie_of
from eigenfeat.least_squares.solution import LeastSquaresRequest, Solution, finish, orient
from eigenfeat.solvers.conventions import rank_cutoff, singular_cutoff
from eigenfeat.solvers.ties import shortest_first


@dataclass(frozen=True, eq=False)
class RowSpectrum:
    """``A = U diag(s) Vᵀ`` without its null space; of U and V only the side that was computed is held.

    Attributes
    ----------
    rows : CentredRows or CentredKernel
    singular_values : (q,) array
    left : (n, q) array or None
    right : (d, q) array or None
    """

    rows: CentredRows | CentredKernel
    singular_values: np.ndarray
    left: np.ndarray | None
    right: np.ndarray | None

    def project(self, block: np.ndarray) -> np.ndarray:
        """``Uᵀ block``."""
        if self.left is not None:
            return self.left.T @ block
        assert self.right is not None
        return (self.right.T @ self.rows.transpose_times(block)) / self.singular_values[:, None]

    def expand(self, block: np.ndarray) -> np.ndarray:
        """``V block``."""
        if self.right is not None:
            return self.right @ block
        assert self.left is not None
        return self.rows.transpose_times(self.left @ (block / self.singular_values[:, None]))


def decompose(rows: CentredRows | CentredKernel) -> RowSpectrum:
    """SVD of dense rows; of sparse and kernel rows the eigendecomposition of the smaller Gram matrix."""
    n, d = rows.shape
    if isinstance(rows, CentredRows) and not rows.is_sparse:
        U, s, Vt = svd(rows.matrix, full_matrices=False, check_finite=False)
        kept = s > singular_cutoff(s, (n, d))
        return RowSpectrum(rows, s[kept], U[:, kept], Vt[kept].T)
    by_columns = isinstance(rows, CentredRows) and d < n
    gram = rows.gram() if isinstance(rows, CentredRows) and by_columns else rows.dual_gram()
    squares, Q = eigh(gram, overwrite_a=True, check_finite=False)
    kept = squares > rank_cutoff(squares, rows.dtype)
    s, Q = np.sqrt(squares[kept][::-1]), Q[:, kept][:, ::-1]
    return RowSpectrum(rows, s, None, Q) if by_columns else RowSpectrum(rows, s, Q, None)


def solve_eigen(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> Solution:
    """The eigenproblem by a decomposition of its own."""
    return solve_spectral(quotient, decompose(quotient.rows), n_components=request.n_components)


def solve_spectral(
    quotient: LeastSquaresQuotient,
    spectrum: RowSpectrum,
    coordinates: np.ndarray | None = None,
    n_components: int | None = None,
) -> Solution:
    """The generalized eigenproblem itself, in the range of Aᵀ where the noise is diagonal.

    With ``F = diag(s / √(s² + shift)) UᵀH = Z diag(√λ) Pᵀ``, the eigenvectors are ``V diag(1 / √(s² + shift)) Z``.

    Parameters
    ----------
    coordinates : (q, r) array, optional
        ``UᵀH``, where it is known already.
    n_components : int, optional
        Directions to return; all by default.
    """
    s = spectrum.singular_values
    if coordinates is None:
        coordinates = spectrum.project(quotient.targets.factor)
    noise = np.sqrt(s**2 + s.dtype.type(quotient.shift))
    Z, root_values, _ = svd((s / noise)[:, None] * coordinates, full_matrices=False, check_finite=False)
    values = root_values**2
    real = values > rank_cutoff(values, s.dtype)
    values, Z = values[real], Z[:, real] / noise[:, None]
    among_ties = shortest_first(values, Z.T @ Z, tie_of(s.dtype))
    Z = (Z if among_ties is None else Z @ among_ties.astype(s.dtype))[:, :n_components]
    values = values[:n_components]
    vectors = spectrum.expand(Z)
    vectors, scores = orient(quotient, vectors, quotient.rows.times(vectors))
    return finish(quotient, vectors, scores, values, "eigen")


def generalized_cross_validation(
    quotient: LeastSquaresQuotient, spectrum: RowSpectrum, alphas: np.ndarray
) -> np.ndarray:
    """``n ‖(I - P) H‖² / (n - tr P)²`` for each alpha, P the map from targets to fitted values (mean included).

    One decomposition serves every alpha (Golub, Heath & Wahba 1979). n is the sum of the sample weights, so that
    integer weights equal repeated rows.
    """
    H = quotient.targets.factor
    coordinates = np.asarray(spectrum.project(H), dtype=np.float64)
    power = np.sum(coordinates**2, axis=1)
    outside = max(float(np.sum(H.astype(np.float64) ** 2)) - float(power.sum()), 0.0)
    squares = spectrum.singular_values.astype(np.float64) ** 2
    n = float(quotient.rows.root @ quotient.rows.root)
    scores = []
    for alpha in alphas:
        left_over = (quotient.shift + alpha) / (squares + quotient.shift + alpha)
        freedom = n - 1 - np.sum(1 - left_over)
        loss = outside + np.sum(left_over**2 * power)
        scores.append(n * loss / max(freedom, np.finfo(np.float64).eps) ** 2)
    return np.array(scores)
