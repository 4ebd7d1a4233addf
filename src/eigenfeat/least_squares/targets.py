"""The factor H of every model's ``S = HHᵀ``, and its reduction to orthonormal targets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import svd

from eigenfeat.solvers.conventions import singular_cutoff


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
    loadings: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    @property
    def rank(self) -> int:
        return len(self.scale)

    @property
    def reading(self) -> np.ndarray:
        """(s, r) R with ``(H - mean) R = T`` on the training rows."""
        return self.loadings / self.singular_values

    @property
    def writing(self) -> np.ndarray:
        """(s, r) B with ``H - mean = T Bᵀ``."""
        return self.loadings * self.singular_values


@dataclass(frozen=True, eq=False)
class Targets(TargetSpace):
    """The same with T itself.

    Attributes
    ----------
    orthonormal : (n, r) array
        T = Q U_R of the LS paper (eq. 14, transposed): orthonormal columns, orthogonal to the weights' roots.
    """

    orthonormal: np.ndarray

    @property
    def factor(self) -> np.ndarray:
        """T Σ: an n × r matrix with ``S = factor factorᵀ``."""
        return self.orthonormal * self.scale.astype(self.orthonormal.dtype)

    def padded(self, n_rows: int) -> Targets:
        """The same with zero targets for rows appended below."""
        below = np.zeros((n_rows, self.rank), dtype=self.orthonormal.dtype)
        return replace(self, orthonormal=np.vstack([self.orthonormal, below]))


def reduce(
    H: np.ndarray | sparse.csr_array,
    root: np.ndarray,
    *,
    project: bool = False,
    dtype: np.dtype | None = None,
) -> Targets:
    """Orthonormal targets of H: the first three steps of the LS paper's Algorithm 1.

    H = QR and R = U_R Σ_R Vᵀ make the thin SVD of H, which LAPACK computes by these very steps. The paper pivots to
    find the rank of H; here it is read off the singular values.

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
    B = np.asarray(H if isinstance(H, np.ndarray) else H.toarray(), dtype=np.float64)
    root = root.astype(np.float64)
    mean = (root**2 @ B) / (root @ root)
    # A constant column is empty once centred; what rounding leaves of it must not count towards the rank.
    weighed = B[root > 0]
    spread = np.abs(weighed - mean).max(axis=0) > 1e-13 * np.abs(weighed).max(axis=0)
    B = (B - mean) * spread * root[:, None]
    T, singular_values, Vt = svd(B, full_matrices=False, overwrite_a=True, check_finite=False)
    r = int(np.count_nonzero(singular_values > singular_cutoff(singular_values, B.shape)))
    T, singular_values, V = T[:, :r], singular_values[:r], Vt[:r].T
    scale = np.ones(r) if project else singular_values
    return Targets(singular_values, V, mean, scale, T.astype(np.float64 if dtype is None else dtype, copy=False))


def class_indicator(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """(n, k) matrix with a one for the class of each row. Its projection is the S of LDA."""
    return np.eye(n_classes)[codes]


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
