"""Centred data rows that are never centred in memory where X is sparse, and centred kernel rows beside them.

Throughout, A stands for the n × d matrix ``diag(s) (X - 1 meanᵀ)`` with s the square roots of the sample weights (the
LS paper's Xᵀ): ``AᵀA`` is the total scatter, and integer weights equal repeated rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import get_blas_funcs

from eigenfeat._runtime.jit import jit

# Of a sparse product, a row with more than this share of nonzeros costs less in a dense one (measured on word
# counts: a dense product runs some 100 times as many multiplications a second).
DENSE_SHARE = 0.1
# Of rows that are made dense, or float64, to be multiplied: 160 MB at a time.
BLOCK_ENTRIES = 20_000_000


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
        Those square roots, in float64; zero for rows that stand about no mean (differences of neighbours).
    mean : (d,) array
        Weighted mean of the rows, in float64.
    """

    def times(self, vectors: np.ndarray) -> np.ndarray:
        """``A @ vectors``, in the type of the rows."""
        product = self.matrix @ vectors.astype(self.dtype, copy=False)
        return less_outer(product, self.root, self.mean @ vectors) if self.is_sparse else product

    def transpose_times(self, block: np.ndarray) -> np.ndarray:
        """``Aᵀ @ block``, in the type of the rows."""
        product = self.matrix.T @ block.astype(self.dtype, copy=False)
        return less_outer(product, self.mean, self.root @ block) if self.is_sparse else product

    def take(self, index: slice | np.ndarray) -> CentredRows:
        """Some of the rows."""
        return CentredRows(self.matrix[index], self.root[index], self.mean)

    def dense(self) -> np.ndarray:
        """A itself, an array of its own in float64."""
        if isinstance(self.matrix, np.ndarray):
            A = self.matrix.astype(np.float64)
            return (
                A if self.dtype == np.float64 else less_outer(A, self.root, (self.root @ A) / (self.root @ self.root))
            )
        return less_outer(self.matrix.toarray().astype(np.float64, copy=False), self.root, self.mean)

    def combine(self, block: np.ndarray, vectors: np.ndarray | float = 0.0) -> np.ndarray:
        """``Aᵀ block + vectors``: the two parts a direction or its image can be made of."""
        return self.transpose_times(block) + vectors

    def gram(self, shift: float = 0.0) -> np.ndarray:
        """``AᵀA + shift·I``, d × d, in float64: squares of float32 numbers need more digits than float32 has."""
        if isinstance(self.matrix, np.ndarray):
            gram = _dense_products(self.matrix)
        else:
            gram = less_outer(_inner_products(self.matrix), (self.root @ self.root) * self.mean, self.mean)
        gram[np.diag_indices_from(gram)] += shift
        return gram

    def dual_gram(self) -> np.ndarray:
        """``AAᵀ``, n × n, in float64."""
        if isinstance(self.matrix, np.ndarray):
            return _dense_products(self.matrix.T)
        gram = _inner_products(self.matrix.T.tocsr())
        along_mean = self.matrix @ self.mean - 0.5 * (self.mean @ self.mean) * self.root
        return less_outer(less_outer(gram, along_mean, self.root), self.root, along_mean)

    def column_squares(self, shift: float = 0.0) -> np.ndarray:
        """The diagonal of ``AᵀA + shift·I``."""
        if isinstance(self.matrix, np.ndarray):
            return np.einsum("ij,ij->j", self.matrix, self.matrix) + shift
        squares = self.matrix.power(2).sum(axis=0, dtype=np.float64)
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
    mean : (m,) array
        Inner products of the points that make up the rows, uncentred, with the rows' weighted mean.
    more : (n - m', m) array, optional
        Rows without targets below the first m', each a combination of the m points; of these the first m' are the rows
        themselves.
    """

    matrix: np.ndarray
    more: np.ndarray | None = None

    def point_coefficients(self, coefficients: np.ndarray) -> np.ndarray:
        """(m, k) coefficients of the points, uncentred and unweighted, from those of the rows."""
        of_points = np.zeros((len(self.mean), coefficients.shape[1]))
        n_rows = len(self.root) - (0 if self.more is None else len(self.more))
        root = self.root[:n_rows]
        of_points[:n_rows] = root[:, None] * coefficients[:n_rows]
        of_points[:n_rows] -= np.outer(root**2 / (root @ root), of_points[:n_rows].sum(axis=0))
        if self.more is not None:
            of_points += self.more.T @ coefficients[n_rows:]
        return of_points

    def times(self, coefficients: np.ndarray) -> np.ndarray:
        return self.matrix @ coefficients.astype(self.dtype, copy=False)

    def transpose_times(self, block: np.ndarray) -> np.ndarray:
        return block

    def combine(self, block: np.ndarray, vectors: np.ndarray | float = 0.0) -> np.ndarray:
        """``Aᵀ block + vectors`` as values at the training rows, where norms can be taken."""
        return self.matrix @ (block + vectors)

    def gram(self, shift: float = 0.0) -> np.ndarray:
        """``AᵀA + shift·I`` between directions that are written as coefficients, ``K² + shift·K``."""
        return self.matrix @ self.matrix + self.matrix.dtype.type(shift) * self.matrix

    def dual_gram(self) -> np.ndarray:
        return self.matrix.astype(np.float64)

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
    return centre_at(X, root, np.asarray(X.T @ root**2).ravel() / (root @ root), weighted=sample_weight is not None)


def centre_at(
    X: np.ndarray | sparse.csr_array, root: np.ndarray, mean: np.ndarray, weighted: bool = True
) -> CentredRows:
    """Rows about a mean that is known, times the roots of their weights."""
    scale = root.astype(X.dtype)
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        return CentredRows(sparse.csr_array(sparse.diags_array(scale) @ X) if weighted else X, root, mean)
    centred = X - mean.astype(X.dtype)
    if weighted:
        centred *= scale[:, None]
    return CentredRows(centred, root, mean)


def centre_kernel(kernel: np.ndarray, sample_weight: np.ndarray | None = None) -> CentredKernel:
    """A kernel matrix about the weighted mean of its feature vectors."""
    root = _roots(len(kernel), sample_weight, kernel.dtype)
    shares = root**2 / (root @ root)
    along_mean = kernel @ shares
    centred = kernel - along_mean[:, None] - along_mean + shares @ along_mean
    return CentredKernel((root[:, None] * centred * root).astype(kernel.dtype, copy=False), root, along_mean)


def centre_kernel_with(
    kernel: np.ndarray, more: np.ndarray, sample_weight: np.ndarray | None, n_rows: int
) -> CentredKernel:
    """The kernel between the first ``n_rows`` points, centred and weighted, and further rows ``more @ points``."""
    root = _roots(n_rows, sample_weight, kernel.dtype)
    shares = root**2 / (root @ root)
    # Left products with the rows as combinations of points, then right ones.
    first = root[:, None] * (kernel[:n_rows] - shares @ kernel[:n_rows])
    half = np.vstack([first, more @ kernel])
    labelled = half[:, :n_rows]
    matrix = np.hstack([(labelled - (labelled @ shares)[:, None]) * root, half @ more.T])
    matrix = ((matrix + matrix.T) / 2).astype(kernel.dtype, copy=False)
    return CentredKernel(matrix, np.concatenate([root, np.zeros(len(more))]), kernel[:, :n_rows] @ shares, more)


def append_differences(rows: CentredRows, differences: np.ndarray | sparse.csr_array) -> CentredRows:
    """The same rows with uncentred ones below them, such as weighted differences between neighbours."""
    stack = sparse.vstack if rows.is_sparse else np.vstack
    root = np.concatenate([rows.root, np.zeros(differences.shape[0])])
    matrix = stack([rows.matrix, differences])
    return CentredRows(sparse.csr_array(matrix) if rows.is_sparse else matrix, root, rows.mean)


def cross_products(rows: CentredRows, others: CentredRows) -> np.ndarray:
    """``AᵀB`` of two matrices over the same rows and weights, in float64."""
    product = rows.matrix.T @ others.matrix
    product = np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64)
    if rows.is_sparse and others.is_sparse:  # else one of them is centred, and the other need not be
        product = less_outer(np.ascontiguousarray(product), (rows.root @ rows.root) * rows.mean, others.mean)
    return product


def _roots(n_rows: int, sample_weight: np.ndarray | None, dtype: np.dtype) -> np.ndarray:
    """Square roots of the weights in float64, as far as rows of the given type are multiplied by them."""
    return np.ones(n_rows) if sample_weight is None else np.sqrt(sample_weight).astype(dtype).astype(np.float64)


def less_outer(matrix: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``matrix - left rightᵀ`` in the place of a C-ordered matrix: a second one of its size may not fit."""
    ger = get_blas_funcs("ger", (matrix,))
    return ger(-1.0, right, left, a=matrix.T, overwrite_a=True).T


def _dense_products(rows: np.ndarray) -> np.ndarray:
    """``rowsᵀ rows`` in float64, of float32 rows a block at a time."""
    if rows.dtype == np.float64:
        return rows.T @ rows
    gram = np.zeros((rows.shape[1], rows.shape[1]))
    step = max(1, BLOCK_ENTRIES // rows.shape[1])
    for start in range(0, len(rows), step):
        block = rows[start : start + step].astype(np.float64)
        gram += block.T @ block
    return gram


def _inner_products(rows: sparse.csr_array) -> np.ndarray:
    """``rowsᵀ rows`` as a dense array.

    A sparse product costs the sum of (nonzeros of a row)²: few crowded rows are nearly all of it, and those are cheap
    as a dense product.
    """
    counts = np.diff(rows.indptr)
    crowded = counts > DENSE_SHARE * rows.shape[1]
    gram = np.zeros((rows.shape[1], rows.shape[1]))
    _add_outer_products(rows.indptr, rows.indices, rows.data, np.flatnonzero(~crowded & (counts > 0)), gram)
    _mirror(gram)
    index = np.flatnonzero(crowded)
    step = max(1, BLOCK_ENTRIES // rows.shape[1])
    for start in range(0, len(index), step):
        block = rows[index[start : start + step]].toarray().astype(np.float64, copy=False)
        gram += block.T @ block
    return gram


@jit()
def _add_outer_products(indptr, indices, data, chosen, gram):
    """Add ``x xᵀ`` of the chosen rows to the lower or upper entry of every pair of columns."""
    for row in chosen:
        for a in range(indptr[row], indptr[row + 1]):
            i, value = indices[a], np.float64(data[a])
            for b in range(indptr[row], a + 1):
                gram[i, indices[b]] += value * data[b]


@jit()
def _mirror(gram):
    """From one entry for every pair, wherever it stands, to a symmetric matrix."""
    for i in range(gram.shape[0]):
        for j in range(i):
            total = gram[i, j] + gram[j, i]
            gram[i, j] = total
            gram[j, i] = total
