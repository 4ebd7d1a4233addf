"""The factor H of every model's ``S = HHᵀ``, and its reduction to orthonormal targets."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, svd

from eigenfeat.least_squares.rows import CentredKernel, CentredRows, append_differences, centre_at, cross_products
from eigenfeat.solvers.canonical import singular_cutoff

# Up to this many columns the SVD of H costs little beside the rest.
MANY_COLUMNS = 100
# Eigenvalues of HᵀH, relative to the largest, that count towards its rank for certain, and that do not: rounding in
# the sum over rows is 1e-15 or so, and between the two only the SVD of H itself can tell.
CLEAR, VANISHING = 1e-7, 1e-12


@dataclass(frozen=True, eq=False)
class TargetSpace:
    """Centred, weighted H as ``T diag(singular_values) loadingsᵀ`` without its null space: what moments know of it.

    Attributes
    ----------
    singular_values : (r,) array
    loadings : (s, r) array
    mean : (s,) array
        Weighted mean of H's rows.
    scale : (r,) array
        Σ in ``S = T Σ² Tᵀ``: the singular values, or ones where S is to be a projection.
    """

    singular_values: np.ndarray
    loadings: np.ndarray | sparse.csr_array
    mean: np.ndarray
    scale: np.ndarray

    @property
    def rank(self) -> int:
        return len(self.scale)

    @property
    def reading(self) -> np.ndarray | sparse.csr_array:
        """(s, r) R with ``(H - mean) R = T`` on the training rows."""
        return _columns_times(self.loadings, 1 / self.singular_values)

    @property
    def writing(self) -> np.ndarray | sparse.csr_array:
        """(s, r) B with ``H - mean = T Bᵀ``."""
        return _columns_times(self.loadings, self.singular_values)


@dataclass(frozen=True, eq=False)
class Targets(TargetSpace):
    """The same of rows that are there: products with ``F = T Σ``, for which ``S = F Fᵀ``."""

    @property
    @abstractmethod
    def orthonormal(self) -> np.ndarray:
        """(n, r) T = Q U_R of the LS paper (eq. 14, transposed): orthonormal, and orthogonal to the weights' roots."""

    @property
    def factor(self) -> np.ndarray:
        """T Σ: an n × r matrix with ``S = factor factorᵀ``."""
        return self.orthonormal * self.scale.astype(self.orthonormal.dtype)

    @property
    def largest_column(self) -> float:
        """The largest norm of a centred column of H."""
        return float(np.linalg.norm(self.writing, axis=1).max(initial=0.0))

    def times(self, block: np.ndarray) -> np.ndarray:
        """``F @ block``."""
        return self.factor @ block

    def transpose_times(self, block: np.ndarray) -> np.ndarray:
        """``Fᵀ @ block``."""
        return self.factor.T @ block

    def rows_of(self, index: np.ndarray) -> np.ndarray:
        """Some rows of F."""
        return self.orthonormal[index] * self.scale

    def along(self, scores: np.ndarray) -> np.ndarray:
        """``Tᵀ @ scores``."""
        return self.orthonormal.T @ scores

    def against(self, rows: CentredRows | CentredKernel) -> np.ndarray:
        """``AᵀF``, as `CentredRows.combine` gives it."""
        return rows.combine(self.factor)

    @abstractmethod
    def padded(self, n_rows: int) -> Targets:
        """The same with zero targets for rows appended below."""


@dataclass(frozen=True, eq=False)
class ExplicitTargets(Targets):
    """T is there."""

    matrix: np.ndarray

    @property
    def orthonormal(self) -> np.ndarray:
        return self.matrix

    def padded(self, n_rows: int) -> ExplicitTargets:
        below = np.zeros((n_rows, self.rank), dtype=self.matrix.dtype)
        return replace(self, matrix=np.vstack([self.matrix, below]))


@dataclass(frozen=True, eq=False)
class ImplicitTargets(Targets):
    """T is a product of many columns, few entries of which may be nonzero: made only for who asks.

    Where S is HHᵀ, T is H itself, unreduced and not orthonormal: no equation of `Targets` but that needs it to be.

    Attributes
    ----------
    columns : CentredRows
        H, centred and weighted.
    dtype : dtype
        Of products.
    """

    columns: CentredRows
    dtype: np.dtype

    @cached_property
    def orthonormal(self) -> np.ndarray:
        return self.columns.times(_dense(self.reading)).astype(self.dtype, copy=False)

    @property
    def largest_column(self) -> float:
        return float(np.sqrt(self.columns.column_squares().max(initial=0.0)))

    def rows_of(self, index: np.ndarray) -> np.ndarray:
        return self.columns.take(index).times(_dense(self.reading)) * self.scale

    def times(self, block: np.ndarray) -> np.ndarray:
        scale = (self.scale / self.singular_values)[:, None]
        return self.columns.times(self.loadings @ (scale * block)).astype(self.dtype, copy=False)

    def transpose_times(self, block: np.ndarray) -> np.ndarray:
        return (self.scale[:, None] * self.along(block)).astype(self.dtype, copy=False)

    def along(self, scores: np.ndarray) -> np.ndarray:
        along = self.loadings.T @ self.columns.transpose_times(scores)
        return (along / self.singular_values[:, None]).astype(self.dtype, copy=False)

    def against(self, rows: CentredRows | CentredKernel) -> np.ndarray:
        if isinstance(rows, CentredKernel):
            return rows.combine(self.factor)
        cross = cross_products(rows, self.columns) @ self.loadings
        return (cross * (self.scale / self.singular_values)).astype(self.dtype, copy=False)

    def padded(self, n_rows: int) -> ImplicitTargets:
        below = sparse.csr_array((n_rows, self.columns.shape[1]), dtype=self.columns.dtype)
        more = below if self.columns.is_sparse else below.toarray()
        return replace(self, columns=append_differences(self.columns, more))


def reduce(
    H: np.ndarray | sparse.csr_array,
    root: np.ndarray,
    *,
    project: bool = False,
    dtype: np.dtype | None = None,
) -> Targets:
    """Orthonormal targets of H: the first three steps of the LS paper's Algorithm 1.

    H = QR and R = U_R Σ_R Vᵀ make the thin SVD of H, which LAPACK computes by these very steps. The paper pivots to
    find the rank of H; here it is read off the singular values. Of many columns the n × r matrix T is not made: where
    S is a projection, HᵀH is decomposed instead, as long as it leaves no doubt about the rank.

    Parameters
    ----------
    H : (n, s) array or sparse
    root : (n,) array
        Square roots of the sample weights.
    project : bool
        Whether S is the projection on the columns of H, ``H (HᵀH)† Hᵀ``, instead of ``HHᵀ``.
    dtype : dtype, optional
        Of the orthonormal targets; float64 by default.
    """
    root = root.astype(np.float64)
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    if H.shape[1] > MANY_COLUMNS:
        implicit = _implicit(H.astype(np.float64), root, project, dtype)
        if implicit is not None:
            return implicit
    B = np.asarray(H if isinstance(H, np.ndarray) else H.toarray(), dtype=np.float64)
    mean = (root**2 @ B) / (root @ root)
    # A constant column is empty once centred; what rounding leaves of it must not count towards the rank.
    weighed = B[root > 0]
    spread = np.abs(weighed - mean).max(axis=0) > 1e-13 * np.abs(weighed).max(axis=0)
    B = (B - mean) * spread * root[:, None]
    T, singular_values, Vt = svd(B, full_matrices=False, overwrite_a=True, check_finite=False)
    r = int(np.count_nonzero(singular_values > singular_cutoff(singular_values, B.shape)))
    T, singular_values, V = T[:, :r], singular_values[:r], Vt[:r].T
    scale = np.ones(r) if project else singular_values
    return ExplicitTargets(singular_values, V, mean, scale, T.astype(dtype, copy=False))


def _implicit(
    H: np.ndarray | sparse.csr_array, root: np.ndarray, project: bool, dtype: np.dtype
) -> ImplicitTargets | None:
    """Targets by products with H; None where HᵀH does not tell its rank."""
    mean = np.asarray(H.T @ root**2).ravel() / (root @ root)
    columns = centre_at(H, root, mean)
    sizes = columns.column_squares()
    varied = np.flatnonzero(sizes > VANISHING * (sizes + (root @ root) * mean**2))  # more than rounding of a constant
    if not project:
        unit = sparse.csr_array(sparse.eye_array(H.shape[1], format="csc")[:, varied])
        return ImplicitTargets(np.ones(len(varied)), unit, mean, np.ones(len(varied)), columns, dtype)
    squares, Q = eigh(columns.gram()[np.ix_(varied, varied)], overwrite_a=True, check_finite=False)
    size = squares.max(initial=0.0)
    kept = squares > CLEAR * size
    if np.any(np.abs(squares[~kept]) > VANISHING * size):
        return None
    values = np.sqrt(squares[kept][::-1])
    loadings = np.zeros((H.shape[1], len(values)))
    loadings[varied] = Q[:, kept][:, ::-1]
    return ImplicitTargets(values, loadings, mean, np.ones(len(values)), columns, dtype)


def _columns_times(matrix: np.ndarray | sparse.csr_array, scale: np.ndarray) -> np.ndarray | sparse.csr_array:
    return matrix * scale if isinstance(matrix, np.ndarray) else sparse.csr_array(matrix @ sparse.diags_array(scale))


def _dense(matrix: np.ndarray | sparse.csr_array) -> np.ndarray:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def class_indicator(codes: np.ndarray, n_classes: int) -> sparse.csr_array:
    """(n, k) matrix with a one for the class of each row. Its projection is the S of LDA."""
    n = len(codes)
    return sparse.csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, n_classes))


def hypergraph_factor(
    J: np.ndarray | sparse.csr_array, graph: str, sample_weight: np.ndarray | None = None
) -> sparse.csr_array:
    """H with ``HHᵀ = I - L`` for the hypergraph whose hyperedges are the labels (Sun et al. 2008; Agarwal et al. 2006).

    With J the n × k incidence matrix, δ(e) the (weighted) number of rows of label e and unit edge weights, every
    graph scales rows and columns of J:

    - "star": a node for every label, joined to its rows with weight 1/δ(e); d(v) = Σ_e J_ve / δ(e), H = D_v^-½ J
      D_e^-1;
    - "clique": rows joined once for every label they share, a row with itself too, without which S would be
      indefinite; d(v) = Σ_e J_ve δ(e), H = D_v^-½ J;
    - "zhou": the normalised hypergraph of Zhou et al.; d(v) = Σ_e J_ve, H = D_v^-½ J D_e^-½.

    Rows without labels and labels without rows are isolated: their part of H is zero.
    """
    J = sparse.csr_array(J, dtype=np.float64)
    size = J.T @ (np.ones(J.shape[0]) if sample_weight is None else sample_weight)
    edge_power, degree_power = {"star": (-1.0, -1.0), "clique": (0.0, 1.0), "zhou": (-0.5, 0.0)}[graph]
    degree = J @ _power(size, degree_power)
    return sparse.csr_array(sparse.diags_array(_power(degree, -0.5)) @ J @ sparse.diags_array(_power(size, edge_power)))


def _power(values: np.ndarray, exponent: float) -> np.ndarray:
    """Powers in which zero stays zero."""
    return np.where(values > 0, np.where(values > 0, values, 1.0) ** exponent, 0.0)
