"""The geometry of unlabelled rows: a graph Laplacian as rows of differences."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.neighbors import kneighbors_graph


def neighbour_differences(X: np.ndarray | sparse.csr_array, n_neighbors: int) -> np.ndarray | sparse.csr_array:
    """One row ``x_i - x_j`` for every pair of rows of which one is among the other's nearest neighbours.

    With D these rows, ``DᵀD = Xᵀ L X`` for the Laplacian L of the symmetric neighbour graph (Belkin et al. 2006), so
    that a penalty on it is a regression on targets of zero.
    """
    nearest = kneighbors_graph(X, n_neighbors, mode="connectivity")
    edges = sparse.coo_array(sparse.triu(nearest.maximum(nearest.T), k=1))
    each = np.arange(edges.nnz)
    incidence = sparse.csr_array(
        (
            np.repeat(np.array([1, -1], dtype=X.dtype), edges.nnz),
            (np.tile(each, 2), np.concatenate([edges.row, edges.col])),
        ),
        shape=(edges.nnz, X.shape[0]),
    )
    return incidence @ X
