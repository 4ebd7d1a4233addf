"""The singular value decomposition of the rows, and all that is closed-form once it is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd

from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.rows import CentredKernel, CentredRows, less_outer
from eigenfeat.least_squares.second_stage import tie_of
from eigenfeat.least_squares.solution import LeastSquaresRequest, Solution, finish, orient
from eigenfeat.least_squares.targets import Targets
from eigenfeat.solvers.canonical import rank_cutoff, shortest_first, singular_cutoff

# Up to this many columns or rows, the SVD of dense rows is quick enough to be preferred for its accuracy ...
SVD_LIMIT = 600
# ... and sparse rows of so many entries, zeros included, are made dense for it (160 MB).
DENSE_ENTRIES = 20_000_000


@dataclass(frozen=True, eq=False)
class RowSpectrum:
    """``A = U diag(s) Vᵀ`` without its null space, in float64; of U and V only the side that was computed is held.

    Attributes
    ----------
    rows : CentredRows or CentredKernel
    singular_values : (q,) array
    left : (n, q) array or None
    right : (d, q) array or None
    null : (n, n - q) array or None
        Orthonormal columns that complete ``left`` to a basis, where they came with it.
    """

    rows: CentredRows | CentredKernel
    singular_values: np.ndarray
    left: np.ndarray | None
    right: np.ndarray | None
    null: np.ndarray | None = None

    def project(self, targets: Targets) -> np.ndarray:
        """``UᵀF`` of the targets' factor F."""
        if self.left is not None:
            return targets.transpose_times(self.left).T
        assert self.right is not None
        return (self.right.T @ targets.against(self.rows)) / self.singular_values[:, None]

    def project_block(self, block: np.ndarray) -> np.ndarray:
        """``Uᵀ block``."""
        if self.left is not None:
            return self.left.T @ block
        assert self.right is not None
        return (self.right.T @ self.rows.transpose_times(block)) / self.singular_values[:, None]

    def left_rows(self, index: slice | np.ndarray) -> np.ndarray:
        """Some rows of U."""
        if self.left is not None:
            return self.left[index]
        assert self.right is not None and isinstance(self.rows, CentredRows)
        return self.rows.take(index).times(self.right).astype(np.float64, copy=False) / self.singular_values

    def expand(self, block: np.ndarray) -> np.ndarray:
        """``V block``."""
        if self.right is not None:
            return self.right @ block
        assert self.left is not None
        return self.rows.transpose_times(self.left @ (block / self.singular_values[:, None]))


def decompose(rows: CentredRows | CentredKernel, exact: bool = False) -> RowSpectrum:
    """SVD of rows that are dense or few; of other rows the eigendecomposition of the smaller Gram matrix.

    ``exact`` asks for the SVD of dense rows of any size.
    """
    if isinstance(rows, CentredRows) and _suits_svd(rows, exact):
        U, s, Vt = svd(rows.dense(), full_matrices=False, overwrite_a=True, check_finite=False)
        kept = s > singular_cutoff(s, rows.shape)
        null = U[:, ~kept] if U.shape[0] == U.shape[1] else None
        return RowSpectrum(rows, s[kept], U[:, kept], Vt[kept].T, null)
    by_columns = isinstance(rows, CentredRows) and rows.shape[1] < rows.shape[0]
    gram = rows.gram() if by_columns else recentred(rows.dual_gram(), rows.root)
    squares, Q = eigh(gram, overwrite_a=True, check_finite=False)
    # Rows that were computed in float32, as kernels are, have no more digits than that; rows that were given have.
    dtype = rows.dtype if isinstance(rows, CentredKernel) else np.dtype(np.float64)
    kept = squares > rank_cutoff(squares, dtype)
    s, null, Q = np.sqrt(squares[kept][::-1]), Q[:, ~kept], Q[:, kept][:, ::-1]
    return RowSpectrum(rows, s, None, Q) if by_columns else RowSpectrum(rows, s, Q, None, null)


def recentred(gram: np.ndarray, root: np.ndarray) -> np.ndarray:
    """``AAᵀ`` with the weights' roots as a null vector exactly, whatever rounding left of it."""
    direction = root / np.linalg.norm(root)
    along = gram @ direction
    along -= 0.5 * (direction @ along) * direction
    return less_outer(less_outer(gram, along, direction), direction, along)


def _suits_svd(rows: CentredRows, exact: bool) -> bool:
    if exact and not rows.is_sparse:
        return True
    n, d = rows.shape
    return min(n, d) <= SVD_LIMIT and (not rows.is_sparse or n * d <= DENSE_ENTRIES)


def solve_eigen(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> Solution:
    """The eigenproblem by a decomposition of its own."""
    return solve_spectral(quotient, decompose(quotient.rows, exact=True), n_components=request.n_components)


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
        coordinates = spectrum.project(quotient.targets)
    dtype = quotient.rows.dtype
    if quotient.shift == 0:  # then nothing else keeps out directions that are rounding of float32 rows
        rounding = singular_cutoff(s.astype(dtype), quotient.rows.shape)
        coordinates = np.where((s > rounding)[:, None], coordinates, 0)
    noise = np.sqrt(s**2 + quotient.shift)
    Z, root_values, _ = svd((s / noise)[:, None] * coordinates, full_matrices=False, check_finite=False)
    values = root_values**2
    real = values > rank_cutoff(values, dtype)
    values, Z = values[real], Z[:, real] / noise[:, None]
    among_ties = shortest_first(values, Z.T @ Z, tie_of(dtype))
    Z = (Z if among_ties is None else Z @ among_ties)[:, :n_components]
    values = values[:n_components].astype(dtype)
    vectors = spectrum.expand(Z).astype(dtype, copy=False)
    vectors, scores = orient(quotient, vectors, quotient.rows.times(vectors))
    return finish(quotient, vectors, scores, values, "eigen")
