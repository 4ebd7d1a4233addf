"""Data rows kept as they are, and the inner products between them: the raw material of factored moments."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse


class RowStore:
    """Rows of X, dense or CSR, with Gram matrices computed once and never larger than asked for.

    Parameters
    ----------
    rows : (n, d) array or CSR matrix, floating
        CacheDecision by reference.
    """

    # A full Gram matrix above this many bytes is not cached: blocks are computed as they are asked for.
    cache_bytes = 1_200_000_000
    # A column with more than this share of nonzeros costs less in a dense product than in a sparse one.
    dense_column_share = 0.02

    def __init__(self, rows: np.ndarray | sparse.csr_matrix | sparse.csr_array) -> None:
        self.rows: Any = rows
        self._gram: np.ndarray | None = None
        self._lock = Lock()

    @property
    def n_rows(self) -> int:
        return self.rows.shape[0]

    @property
    def n_columns(self) -> int:
        return self.rows.shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.rows.dtype

    def scaled_columns(self, scale: np.ndarray) -> RowStore:
        """A store of ``X diag(scale)``, whose Gram matrix is computed only where it is asked for."""
        scale = np.asarray(scale, dtype=self.dtype)
        scaled = RowStore(self.rows @ sparse.diags(scale) if sparse.issparse(self.rows) else self.rows * scale)
        scaled.cache_bytes = 0
        return scaled

    def times(self, index: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """``X[index] @ vectors``."""
        return self.rows[index] @ vectors

    def transpose_times(self, index: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """``X[index]ᵀ @ coefficients``."""
        return self.rows[index].T @ coefficients

    def weighted_squares(self, index: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """``Σ weights · x²`` for every column."""
        chosen = self.rows[index]
        if sparse.issparse(chosen):
            return np.asarray(chosen.multiply(chosen).T @ weights).ravel()
        return np.einsum("ij,ij,i->j", chosen, chosen, weights)

    def squared_norms(self, index: np.ndarray) -> np.ndarray:
        """``‖x‖²`` for the rows ``index``."""
        chosen = self.rows[index]
        if sparse.issparse(chosen):
            return np.asarray(chosen.multiply(chosen).sum(axis=1), dtype=np.float64).ravel()
        return np.einsum("ij,ij->i", chosen, chosen)

    def gram(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """``X[left] @ X[right]ᵀ`` as a dense array."""
        with self._lock:  # solvers ask from several threads: one computes, the others wait for it
            if self._gram is None and self.n_rows**2 * self.dtype.itemsize <= self.cache_bytes:
                self._gram = self._full_gram()
        if self._gram is not None:
            return self._gram[left[:, None], right]
        product = self.rows[left] @ self.rows[right].T
        return product.toarray() if sparse.issparse(product) else product

    def __getstate__(self) -> dict:
        return {"rows": self.rows}

    def __setstate__(self, state: dict) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _full_gram(self) -> np.ndarray:
        if not sparse.issparse(self.rows):
            return self.rows @ self.rows.T
        # A sparse product costs Σ (nonzeros of a column)²: a few frequent columns are nearly all of it, and
        # those are cheap as a dense product. Split there.
        X = self.rows.tocsc()
        counts = np.diff(X.indptr)
        frequent = counts > self.dense_column_share * self.n_rows
        common = X[:, frequent].toarray()
        gram = common @ common.T
        del common
        rare = X[:, ~frequent].tocsr()
        rare_transpose = rare.T.tocsr()
        step = max(1, 4_000_000 // max(1, self.n_rows))
        for start in range(0, self.n_rows, step):
            gram[start : start + step] += (rare[start : start + step] @ rare_transpose).toarray()
        return gram
