"""Centred data rows that are never centred in memory where X is sparse, and centred kernel rows beside them.

Throughout, A stands for the n × d matrix ``diag(s) (X - 1 meanᵀ)`` with s the square roots of the sample weights (the
LS paper's Xᵀ): ``AᵀA`` is the total scatter, and integer weights equal repeated rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import sparse
from scipy.linalg import get_blas_funcs

# Of a sparse product, a row with more than this share of nonzeros costs less in a dense one (measured on word
# counts: a dense product runs some 100 times as many multiplications a second).
DENSE_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Centred:
    """What stands for A: a matrix, the roots of the weights in it, and the mean that was or is to be taken off."""

    matrix: np.ndarray | sparse.csr_array
    root: np.ndarray
    mean: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d), in a feature space (n, n)."""
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype:
        return self.matrix.dtype

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.matrix, np.ndarray)


@dataclass(frozen=True, eq=False)
class CentredRows(Centred):
    """``A = matrix - root meanᵀ`` for sparse X; a dense ``matrix`` holds A itself.

    Parameters
    ----------
    matrix : (n, d) array or CSR array
        Rows times the square roots of their weights.
    root : (n,) array
        Those square roots; zero for rows that stand about no mean (differences of neighbours).
    mean : (d,) array
        Weighted mean of the rows.
    """

    def times(self, vectors: np.ndarray) -> np.ndarray:
        """``A @ vectors``."""
        product = self.matrix @ vectors
        return less_outer(product, self.root, self.mean @ vectors) if self.is_sparse else product

    def transpose_times(self, block: np.ndarray) -> np.ndarray:
        """``Aᵀ @ block``."""
        product = self.matrix.T @ block
        return less_outer(product, self.mean, self.root @ block) if self.is_sparse else product

    def combine(self, block: np.ndarray, vectors: np.ndarray | float = 0.0) -> np.ndarray:
        """``Aᵀ block + vectors``: the two parts a direction or its image can be made of."""
        return self.transpose_times(block) + vectors

    def gram(self, shift: float = 0.0) -> np.ndarray:
        """``AᵀA + shift·I``, d × d."""
        if isinstance(self.matrix, np.ndarray):
            gram = self.matrix.T @ self.matrix
        else:
            gram = less_outer(_inner_products(self.matrix), (self.root @ self.root) * self.mean, self.mean)
        gram[np.diag_indices_from(gram)] += gram.dtype.type(shift)
        return gram

    def dual_gram(self) -> np.ndarray:
        """``AAᵀ``, n × n."""
        if isinstance(self.matrix, np.ndarray):
            return self.matrix @ self.matrix.T
        gram = _inner_products(self.matrix.T.tocsr())
        along_mean = self.matrix @ self.mean - 0.5 * (self.mean @ self.mean) * self.root
        return less_outer(less_outer(gram, along_mean, self.root), self.root, along_mean)

    def column_squares(self, shift: float = 0.0) -> np.ndarray:
        """The diagonal of ``AᵀA + shift·I``."""
        if isinstance(self.matrix, np.ndarray):
            return np.einsum("ij,ij->j", self.matrix, self.matrix) + shift
        squares = self.matrix.power(2).sum(axis=0)
        return np.maximum(squares - (self.root @ self.root) * self.mean**2, 0) + shift

    def mean_diagonal(self) -> float:
        return float(self.column_squares().sum(dtype=np.float64)) / self.shape[1]

    def inner(self, vectors: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """``VᵀV`` of directions V whose scores are AV."""
        return vectors.T @ vectors


@dataclass(frozen=True, eq=False)
class CentredKernel(Centred):
    """Rows of a kernel's feature space: known by ``AAᵀ`` alone; a direction ``Aᵀc`` is written as c.

    Parameters
    ----------
    matrix : (n, n) array
        The kernel matrix, centred and weighted on both sides.
    root : (n,) array
        Square roots of the sample weights.
    mean : (n,) array
        Inner products of the rows, uncentred, with their weighted mean.
    """

    matrix: np.ndarray

    def times(self, coefficients: np.ndarray) -> np.ndarray:
        return self.matrix @ coefficients

    def transpose_times(self, block: np.ndarray) -> np.ndarray:
        return block

    def combine(self, block: np.ndarray, vectors: np.ndarray | float = 0.0) -> np.ndarray:
        """``Aᵀ block + vectors`` as values at the training rows, where norms can be taken."""
        return self.matrix @ (block + vectors)

    def gram(self, shift: float = 0.0) -> np.ndarray:
        """``AᵀA + shift·I`` between directions that are written as coefficients, ``K² + shift·K``."""
        return self.matrix @ self.matrix + self.matrix.dtype.type(shift) * self.matrix

    def dual_gram(self) -> np.ndarray:
        return self.matrix.copy()

    def column_squares(self, shift: float = 0.0) -> np.ndarray:
        """The diagonal of `gram`."""
        return np.einsum("ij,ij->j", self.matrix, self.matrix) + shift * self.matrix.diagonal()

    def mean_diagonal(self) -> float:
        """Per row: a feature space has no number of columns to divide by."""
        return float(np.trace(self.matrix)) / len(self.matrix)

    def inner(self, vectors: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return vectors.T @ scores


def centre(X: np.ndarray | sparse.csr_array, sample_weight: np.ndarray | None = None) -> CentredRows:
    """Rows about their weighted mean; sparse rows stay sparse."""
    root = _roots(X.shape[0], sample_weight, X.dtype)
    weights = root.astype(np.float64) ** 2
    mean = (np.asarray(X.T @ weights).ravel() / weights.sum()).astype(X.dtype)
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        return CentredRows(X if sample_weight is None else sparse.diags_array(root) @ X, root, mean)
    centred = X - mean
    return CentredRows(centred if sample_weight is None else root[:, None] * centred, root, mean)


def centre_kernel(kernel: np.ndarray, sample_weight: np.ndarray | None = None) -> CentredKernel:
    """A kernel matrix about the weighted mean of its feature vectors."""
    root = _roots(len(kernel), sample_weight, kernel.dtype)
    shares = root**2 / (root @ root)
    along_mean = kernel @ shares
    centred = kernel - along_mean[:, None] - along_mean + shares @ along_mean
    return CentredKernel(root[:, None] * centred * root, root, along_mean)


def append_differences(rows: CentredRows, differences: np.ndarray | sparse.csr_array) -> CentredRows:
    """The same rows with uncentred ones below them, such as weighted differences between neighbours."""
    stack = sparse.vstack if rows.is_sparse else np.vstack
    root = np.concatenate([rows.root, np.zeros(differences.shape[0], dtype=rows.dtype)])
    matrix = stack([rows.matrix, differences])
    return CentredRows(sparse.csr_array(matrix) if rows.is_sparse else matrix, root, rows.mean)


def _roots(n_rows: int, sample_weight: np.ndarray | None, dtype: np.dtype) -> np.ndarray:
    return np.ones(n_rows, dtype=dtype) if sample_weight is None else np.sqrt(sample_weight).astype(dtype)


def less_outer(matrix: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``matrix - left rightᵀ`` in the place of a C-ordered matrix: a second one of its size may not fit."""
    ger = get_blas_funcs("ger", (matrix,))
    return ger(-1.0, right, left, a=matrix.T, overwrite_a=True).T


def _inner_products(rows: sparse.csr_array) -> np.ndarray:
    """``rowsᵀ rows`` as a dense array.

    A sparse product costs the sum of (nonzeros of a row)²: few crowded rows are nearly all of it, and those are cheap
    as a dense product.
    """
    counts = np.diff(rows.indptr)
    crowded = counts > DENSE_SHARE * rows.shape[1]
    gram = np.zeros((rows.shape[1], rows.shape[1]), dtype=rows.dtype)
    _add_outer_products(rows.indptr, rows.indices, rows.data, np.flatnonzero(~crowded & (counts > 0)), gram)
    _mirror(gram)
    index = np.flatnonzero(crowded)
    step = max(1, 50_000_000 // rows.shape[1])
    for start in range(0, len(index), step):
        block = rows[index[start : start + step]].toarray()
        gram += block.T @ block
    return gram


@njit(cache=True)
def _add_outer_products(indptr, indices, data, chosen, gram):
    """Add ``x xᵀ`` of the chosen rows to the lower or upper entry of every pair of columns."""
    for row in chosen:
        for a in range(indptr[row], indptr[row + 1]):
            i, value = indices[a], data[a]
            for b in range(indptr[row], a + 1):
                gram[i, indices[b]] += value * data[b]


@njit(cache=True)
def _mirror(gram):
    """From one entry for every pair, wherever it stands, to a symmetric matrix."""
    for i in range(gram.shape[0]):
        for j in range(i):
            total = gram[i, j] + gram[j, i]
            gram[i, j] = total
            gram[j, i] = total
