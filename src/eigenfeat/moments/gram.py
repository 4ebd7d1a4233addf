"""Rows with the inner products between them: the raw material of factored moments."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse


class GramCache:
    """Rows of X, dense or CSR, whose Gram matrix is computed once.

    Parameters
    ----------
    X : (n, d) array or CSR matrix, floating
        Kept by reference.
    """

    # A full Gram matrix above this many bytes is not cached: blocks are computed as they are asked for.
    cache_bytes = 1_200_000_000
    # A column with more than this fraction of nonzeros costs less in a dense product than in a sparse one.
    dense_column_fraction = 0.02

    def __init__(self, X: np.ndarray | sparse.csr_matrix | sparse.csr_array) -> None:
        self.X: Any = X
        self.n_rows, self.n_columns = X.shape
        self.dtype: np.dtype = X.dtype
        self._gram: np.ndarray | None = None
        self._lock = Lock()

    def with_scaled_columns(self, scale: np.ndarray) -> GramCache:
        """Rows ``X diag(scale)``, whose Gram matrix is not cached."""
        scale = np.asarray(scale, dtype=self.dtype)
        scaled = GramCache(self.X @ sparse.diags(scale) if sparse.issparse(self.X) else self.X * scale)
        scaled.cache_bytes = 0
        return scaled

    def times(self, index: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """``X[index] @ vectors``."""
        return self.X[index] @ vectors

    def transpose_times(self, index: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """``X[index]ᵀ @ coefficients``."""
        return self.X[index].T @ coefficients

    def weighted_squares(self, index: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """``Σ weights · x²`` for every column."""
        rows = self.X[index]
        if sparse.issparse(rows):
            return np.asarray(rows.multiply(rows).T @ weights).ravel()
        return np.einsum("ij,ij,i->j", rows, rows, weights)

    def squared_norms(self, index: np.ndarray) -> np.ndarray:
        """``‖x‖²`` for the rows ``index``."""
        rows = self.X[index]
        if sparse.issparse(rows):
            return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
        return np.einsum("ij,ij->i", rows, rows)

    def gram(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """``X[left] @ X[right]ᵀ`` as a dense array."""
        with self._lock:  # solvers ask from several threads: one computes, the others wait for it
            if self._gram is None and self.n_rows**2 * self.dtype.itemsize <= self.cache_bytes:
                self._gram = self._full_gram()
        if self._gram is not None:
            return self._gram[left[:, None], right]
        product = self.X[left] @ self.X[right].T
        return product.toarray() if sparse.issparse(product) else product

    def __getstate__(self) -> dict:
        return {"X": self.X}

    def __setstate__(self, state: dict) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _full_gram(self) -> np.ndarray:
        if not sparse.issparse(self.X):
            return self.X @ self.X.T
        # A sparse product costs Σ (nonzeros of a column)²: a few frequent columns are nearly all of it, and
        # those are cheap as a dense product. Split there.
        X = self.X.tocsc()
        counts = np.diff(X.indptr)
        frequent = counts > self.dense_column_fraction * self.n_rows
        common = X[:, frequent].toarray()
        gram = common @ common.T
        del common
        rare = X[:, ~frequent].tocsr()
        rare_transpose = rare.T.tocsr()
        step = max(1, 4_000_000 // max(1, self.n_rows))
        for start in range(0, self.n_rows, step):
            gram[start : start + step] += (rare[start : start + step] @ rare_transpose).toarray()
        return gram
