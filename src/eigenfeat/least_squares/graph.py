"""The geometry of unlabelled rows: a graph Laplacian as rows of differences."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.neighbors import kneighbors_graph

from eigenfeat.solvers.canonical import rank_cutoff


def neighbour_pairs(X: np.ndarray | sparse.csr_array, n_neighbors: int) -> sparse.csr_array:
    """(pairs, n) matrix with 1 and -1 for every pair of rows of which one is among the other's nearest neighbours.

    With E this matrix, ``EᵀE`` is the Laplacian of the symmetric neighbour graph (Belkin et al. 2006), and EX has a row
    ``x_i - x_j`` for every pair: a penalty on ``XᵀEᵀEX`` is a regression on targets of zero.
    """
    nearest = kneighbors_graph(X, n_neighbors, mode="connectivity")
    edges = sparse.coo_array(sparse.triu(nearest.maximum(nearest.T), k=1))
    each = np.arange(edges.nnz)
    return sparse.csr_array(
        (
            np.repeat(np.array([1, -1], dtype=X.dtype), edges.nnz),
            (np.tile(each, 2), np.concatenate([edges.row, edges.col])),
        ),
        shape=(edges.nnz, X.shape[0]),
    )


def laplacian_root(pairs: sparse.csr_array) -> np.ndarray:
    """R with ``RᵀR = EᵀE`` and fewer rows than there are points, where there are more pairs than that."""
    values, Q = eigh((pairs.T @ pairs).toarray().astype(np.float64), check_finite=False)
    kept = values > rank_cutoff(values, values.dtype)
    return np.sqrt(values[kept])[:, None] * Q[:, kept].T
