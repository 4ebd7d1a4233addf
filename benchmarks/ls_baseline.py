"""The LS paper's own baseline, written plainly, and how directions are compared with the exact ones."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, orth, solve_triangular, svd
from scipy.sparse.linalg import LinearOperator, eigsh


def factor_noise(X, alpha: float) -> np.ndarray:
    """Lower Cholesky factor of the d × d matrix ``XᵀX + alpha·I``, X centred."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    noise = (X.T @ X).toarray() if sparse.issparse(X) else X.T @ X
    noise -= X.shape[0] * np.outer(mean, mean)
    noise[np.diag_indices_from(noise)] += alpha
    return cholesky(noise, lower=True, overwrite_a=True, check_finite=False)


def cross_scatter(X, H: np.ndarray) -> np.ndarray:
    """``XᵀH``, X centred."""
    H = H - H.mean(axis=0)
    return np.asarray(X.T @ H)


def generalized_lanczos(X, H: np.ndarray, alpha: float, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """Section 5 of the paper: factor ``XᵀX + alpha·I = LLᵀ``, then Lanczos on ``L⁻¹ XᵀH HᵀX L⁻ᵀ``.

    Returns the directions and L, from which `exact` takes the reference without another factorisation.
    """
    L = factor_noise(X, alpha)
    F = cross_scatter(X, H)

    def product(v: np.ndarray) -> np.ndarray:
        v = solve_triangular(L, v, lower=True, trans=1, check_finite=False)
        return solve_triangular(L, F @ (F.T @ v), lower=True, check_finite=False)

    operator = LinearOperator(L.shape, matvec=product, dtype=np.float64)
    values, V = eigsh(operator, k=n_components, which="LA")
    return solve_triangular(L, V[:, np.argsort(values)[::-1]], lower=True, trans=1, check_finite=False), L


def exact(X, H: np.ndarray, L: np.ndarray, n_components: int) -> np.ndarray:
    """Directions by the singular vectors of ``L⁻¹XᵀH``: no iteration, no tolerance."""
    whitened = solve_triangular(L, cross_scatter(X, H), lower=True, check_finite=False)
    U = svd(whitened, full_matrices=False, check_finite=False)[0][:, :n_components]
    return solve_triangular(L, U, lower=True, trans=1, check_finite=False)


def largest_angle(V: np.ndarray, W: np.ndarray) -> float:
    """Sine of the largest principal angle between two column spaces."""
    V, W = orth(V), orth(W)
    return float(np.linalg.norm(V - W @ (W.T @ V), 2))


def whitened_labels(Y: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the centred labels: the H of CCA and LDA."""
    return orth(Y - Y.mean(axis=0))


def most_frequent(X: sparse.csr_matrix, n_columns: int) -> np.ndarray:
    """Columns with most nonzeros, in their order."""
    counts = np.bincount(X.indices, minlength=X.shape[1])
    return np.sort(np.argsort(-counts, kind="stable")[:n_columns])
