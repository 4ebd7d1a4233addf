"""Kernel functions, and the kernel matrix of a set of rows, formed only where it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import pairwise_kernels

from eigenfeat._runtime.threads import thread_pool, usable_threads

#: Conditionally positive definite: valid for weights that sum to zero, and anchored where others are asked for.
CONDITIONAL = ("distance", "multiquadric")
RADIAL = ("rbf", "inverse_multiquadric", *CONDITIONAL)
DOT_PRODUCT = ("linear", "poly", "sigmoid")
OF_SCIKIT_LEARN = ("laplacian", "cosine", "chi2", "additive_chi2")
KERNELS = (*RADIAL, *DOT_PRODUCT, *OF_SCIKIT_LEARN, "precomputed")


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters bound.

    ``rbf``: exp(-gamma ‖x - z‖²), the thesis' exp(-‖x - z‖²/c) with gamma = 1/c;
    ``inverse_multiquadric``: (coef0 + gamma ‖x - z‖²)^(-1/2); ``poly``: (gamma xᵀz + coef0)^degree;
    ``sigmoid``: tanh(gamma xᵀz + coef0); ``linear``: xᵀz; ``distance``: -√gamma ‖x - z‖; ``multiquadric``:
    -(coef0 + gamma ‖x - z‖²)^(1/2); any other name or callable ``(A, B) -> (len(A), len(B))`` goes to scikit-learn's
    ``pairwise_kernels``.

    With an ``anchor`` a it is ``k(x, z) - k(x, a) - k(a, z) + k(a, a)``, which is positive definite if and only if k is
    conditionally so: ``Σᵢⱼ cᵢcⱼ k(xᵢ, xⱼ) ≥ 0`` wherever Σc = 0 (Schölkopf, "The kernel trick for distances", 2001).
    For such c sums over the two kernels are equal up to a constant, so that the anchor is nothing to choose.
    """

    name: str | Callable[..., np.ndarray] = "rbf"
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 1.0
    anchor: tuple[float, ...] | None = None

    @property
    def is_radial(self) -> bool:
        return self.name in RADIAL

    @property
    def has_width(self) -> bool:
        """Whether gamma matters."""
        return self.name in (*RADIAL, "poly", "sigmoid", "laplacian", "chi2") and self.name != "distance"

    @property
    def is_known_definite(self) -> bool:
        """Whether every kernel matrix of this function is positive semi-definite."""
        if self.name == "poly":
            return self.coef0 >= 0 and float(self.degree).is_integer()
        if self.name in CONDITIONAL:
            return self.anchor is not None
        return self.name in (*RADIAL, "linear", "laplacian", "cosine", "chi2")

    @property
    def distance_scale(self) -> float:
        """What a radial kernel multiplies squared distances by: factors of a product are cheaper to scale than it."""
        return -self.gamma if self.name == "rbf" else self.gamma

    def of_products(self, products: np.ndarray) -> np.ndarray:
        """The kernel, in place, from scaled squared distances (radial kernels) or from inner products."""
        gamma, coef0 = (products.dtype.type(value) for value in (self.gamma, self.coef0))
        if self.name == "rbf":
            # Far below rounding, and above the subnormal numbers, with which products take ten times as long.
            np.maximum(products, products.dtype.type(0.7 * np.log(np.finfo(products.dtype).tiny)), out=products)
            return np.exp(products, out=products)
        if self.name == "inverse_multiquadric":
            np.maximum(products, 0, out=products)
            products += coef0
            np.sqrt(products, out=products)
            return np.reciprocal(products, out=products)
        if self.name in CONDITIONAL:
            np.maximum(products, 0, out=products)
            if self.name == "multiquadric":
                products += coef0
            np.sqrt(products, out=products)
            return np.negative(products, out=products)
        if self.name == "linear":
            return products
        products *= gamma
        products += coef0
        if self.name == "sigmoid":
            return np.tanh(products, out=products)
        return np.power(products, self.degree, out=products)

    def __call__(self, A: np.ndarray | sparse.csr_matrix, B: np.ndarray | sparse.csr_matrix) -> np.ndarray:
        """The kernel between the rows of A and of B, as a dense array."""
        return KernelRows(self, B).to_rows(A)


class KernelRows:
    """The kernel between the rows of X, without ever holding more than what is asked for.

    Wherever a method takes ``centers``, a one-dimensional integer array means those rows of X and a
    two-dimensional one means points of their own.

    Parameters
    ----------
    kernel : Kernel
    rows : (n, d) array or CSR matrix, floating; the (n, n) kernel matrix itself when ``precomputed``
    precomputed : bool
    """

    # Kernel blocks of about this many entries stay in the cache while a function is applied to them.
    block_entries = 2_000_000

    def __init__(self, kernel: Kernel, rows: np.ndarray | sparse.csr_matrix, precomputed: bool = False) -> None:
        self.kernel = kernel
        self.rows = rows
        self.precomputed = precomputed

    def __len__(self) -> int:
        return self.rows.shape[0]

    @property
    def dtype(self) -> np.dtype:
        return self.rows.dtype

    def matrix(self) -> np.ndarray:
        """The full n × n kernel matrix, as a new array."""
        if self.precomputed:
            return np.array(self.rows)
        return self.columns(np.arange(len(self)))

    def columns(self, centers: np.ndarray) -> np.ndarray:
        """``k(rows, centers)``, an (n, len(centers)) array."""
        if self.precomputed:
            return self.rows[:, centers]
        right = self._prepared(self.points(centers))
        if right.shape[0] < 16:
            return self._between(slice(None), right)
        out = np.empty((len(self), right.shape[0]), dtype=self.dtype)
        for part in self.row_blocks(right.shape[0]):
            out[part] = self._between(part, right)
        return out

    def block(self, rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """``k(rows[rows], centers)``."""
        if self.precomputed:
            return self.rows[np.ix_(rows, centers)]
        return self._between(rows, self._prepared(self.points(centers)))

    def between(self, centers: np.ndarray) -> np.ndarray:
        """``k(centers, centers)``, exactly symmetric."""
        if self.precomputed:
            return self.rows[np.ix_(centers, centers)]
        points = self.points(centers)
        K = KernelRows(self.kernel, points).columns(points)
        # Mirrored stripe by stripe: a second matrix of this size may not fit.
        for start in range(0, len(K), 1024):
            part = slice(start, start + 1024)
            K[part, part] = (K[part, part] + K[part, part].T) / 2
            K[part, start + 1024 :] = K[start + 1024 :, part].T
        return K

    def to_rows(self, points: np.ndarray | sparse.csr_matrix) -> np.ndarray:
        """``k(points, rows)``, a (len(points), n) array."""
        return np.ascontiguousarray(self.columns(points).T)

    def expand(self, points: np.ndarray | sparse.csr_matrix, coefficients: np.ndarray) -> np.ndarray:
        """``k(points, rows) @ coefficients`` without holding the kernel matrix."""
        if not len(self):
            return np.zeros((points.shape[0], coefficients.shape[1]), dtype=coefficients.dtype)
        other = KernelRows(self.kernel, points)
        out = np.empty((len(other), coefficients.shape[1]), dtype=coefficients.dtype)
        for part in other.row_blocks(len(self)):
            if self.kernel.anchor is not None:
                block = other._between(part, other._prepared(self.rows))
            elif self._has_factors:  # the rows are prepared once for all points to come
                block = self.kernel.of_products(self._prepared(points[part]) @ self._left.T)
            else:
                block = other._between(part, self.rows)
            out[part] = block @ coefficients
        return out

    def diagonal(self) -> np.ndarray:
        """``k(x, x)`` for every row: O(n d)."""
        if self.precomputed:
            return np.array(np.diagonal(self.rows))
        if self.kernel.anchor is not None:
            plain = KernelRows(replace(self.kernel, anchor=None), self.rows)
            to_anchor = plain.columns(self._anchor)[:, 0]
            return plain.diagonal() - 2 * to_anchor + KernelRows(plain.kernel, self._anchor).diagonal()[0]
        if self.kernel.is_radial:
            return self.kernel.of_products(np.zeros(len(self), dtype=self.dtype))
        if self.kernel.name in DOT_PRODUCT:
            return self.kernel.of_products(squared_norms(self.rows))
        if self.kernel.name in ("laplacian", "cosine", "chi2"):
            return np.ones(len(self), dtype=self.dtype)
        singles = (self._between(slice(i, i + 1), self.rows[i : i + 1]) for i in range(len(self)))
        return np.array([single[0, 0] for single in singles], dtype=self.dtype)

    def row_blocks(self, n_columns: int) -> Iterator[slice]:
        """Slices of rows whose kernel with ``n_columns`` others fits the cache."""
        step = max(16, self.block_entries // max(1, n_columns))
        return (slice(start, min(start + step, len(self))) for start in range(0, len(self), step))

    def over_blocks(self, centers: np.ndarray, function: Callable[[slice, np.ndarray], Any]) -> Iterator[Any]:
        """``function(part, k(rows[part], centers))`` block after block, in order, by as many threads as BLAS has.

        Each thread makes its own blocks with a BLAS of one thread, so that the elementwise part of the kernel runs
        in parallel too; only the blocks at work exist at any time.
        """
        if self.precomputed:
            yield from (function(part, self.rows[part][:, centers]) for part in self.row_blocks(len(centers)))
            return
        right = self._prepared(self.points(centers))
        if self._has_factors:
            self._left  # noqa: B018  (made once, before the threads start)
        with thread_pool(usable_threads()) as pool:
            yield from pool.map(
                lambda part: function(part, self._between(part, right)), list(self.row_blocks(right.shape[0]))
            )

    def points(self, centers: np.ndarray) -> np.ndarray:
        """The rows that ``centers`` stands for."""
        return centers if centers.ndim == 2 else self.rows[centers]

    def distinct(self) -> np.ndarray:
        """Numbers of the first of equal rows, ascending; of all rows of a sparse matrix."""
        if sparse.issparse(self.rows):
            return np.arange(len(self))
        return np.sort(np.unique(self.rows, axis=0, return_index=True)[1])

    def is_indefinite(self, max_rows: int = 1500) -> bool:
        """Whether the kernel matrix of at most ``max_rows`` evenly spaced rows has a clearly negative eigenvalue."""
        if self.kernel.is_known_definite and not self.precomputed:
            return False
        chosen = np.unique(np.linspace(0, len(self) - 1, max_rows).astype(int))
        K = self.block(chosen, chosen).astype(np.float64)
        tolerance = 1e-6 if self.dtype == np.float64 else 1e-4
        try:
            cholesky(K + tolerance * np.abs(K).sum(axis=1).max() * np.eye(len(K)), overwrite_a=True)
        except LinAlgError:
            return True
        return False

    def __getstate__(self) -> dict:
        return {"kernel": self.kernel, "rows": self.rows, "precomputed": self.precomputed}

    @property
    def _has_factors(self) -> bool:
        """Whether the kernel is an elementwise function of one dense matrix product."""
        factored = self.kernel.name in (*RADIAL, *DOT_PRODUCT) and self.kernel.name != "distance"
        return factored and not sparse.issparse(self.rows)

    @cached_property
    def _offset(self) -> np.ndarray:
        """Radial kernels do not change when all points move; far from the origin distances lose digits."""
        return self.rows.mean(axis=0, dtype=np.float64).astype(self.dtype)

    @cached_property
    def _left(self) -> np.ndarray:
        """Rows ``[x, ‖x‖², 1]``: one product with the prepared points gives scaled squared distances."""
        if not self.kernel.is_radial:
            return self.rows
        X = self.rows - self._offset
        return np.column_stack([X, squared_norms(X), np.ones(len(X), dtype=self.dtype)])

    def _prepared(self, points: np.ndarray | sparse.csr_matrix) -> np.ndarray | sparse.csr_matrix:
        """What ``_between`` takes for these points: rows ``[-2z, 1, ‖z‖²] · scale`` for a radial kernel."""
        if not self._has_factors or not self.kernel.is_radial:
            return points
        Z = points.astype(self.dtype, copy=False) - self._offset
        right = np.column_stack([-2 * Z, np.ones(len(Z), dtype=self.dtype), squared_norms(Z)])
        right *= right.dtype.type(self.kernel.distance_scale)
        return right

    @cached_property
    def _anchor(self) -> np.ndarray | sparse.csr_matrix:
        """(1, d), as the rows are."""
        anchor = np.array([self.kernel.anchor], dtype=self.dtype)
        return sparse.csr_matrix(anchor) if sparse.issparse(self.rows) else anchor

    @cached_property
    def _to_anchor(self) -> np.ndarray:
        """(n, 1) plain kernel between the rows and the anchor."""
        return self._plain(slice(None), self._prepared(self._anchor))

    def _between(self, part: slice | np.ndarray, right: np.ndarray | sparse.csr_matrix) -> np.ndarray:
        """``k(rows[part], points)`` from the prepared points."""
        block = self._plain(part, right)
        if self.kernel.anchor is None:
            return block
        block -= self._to_anchor[part]
        alone = KernelRows(replace(self.kernel, anchor=None), self._anchor)
        if self._has_factors:
            alone._offset = self._offset  # the points were prepared about it
        block -= alone._plain(slice(None), right)
        block += alone.diagonal()[0]
        return block

    def _plain(self, part: slice | np.ndarray, right: np.ndarray | sparse.csr_matrix) -> np.ndarray:
        """The same without the anchor."""
        kernel = self.kernel
        if self._has_factors:
            return kernel.of_products(self._left[part] @ right.T)
        rows = self.rows[part]
        if kernel.name == "distance" and not sparse.issparse(rows):
            # From differences: a root of squares that were subtracted has half the digits.
            return (-np.sqrt(kernel.gamma) * cdist(rows, right)).astype(self.dtype, copy=False)
        if kernel.name in (*RADIAL, *DOT_PRODUCT):
            products = (rows @ right.T).toarray()
            if kernel.is_radial:
                products *= -2
                products += squared_norms(rows)[:, None]
                products += squared_norms(right)
                np.maximum(products, 0, out=products)
                products *= products.dtype.type(kernel.distance_scale)
            return kernel.of_products(products)
        parameters = {"gamma": kernel.gamma} if kernel.name in ("laplacian", "chi2") else {}
        return np.asarray(pairwise_kernels(rows, right, metric=kernel.name, **parameters), dtype=self.dtype)


def squared_norms(rows: np.ndarray | sparse.csr_matrix) -> np.ndarray:
    """``‖x‖²`` of every row."""
    if isinstance(rows, np.ndarray):
        return np.einsum("ij,ij->i", rows, rows)
    return np.asarray(rows.multiply(rows).sum(axis=1), dtype=rows.dtype).ravel()


def default_gamma(rows: np.ndarray | sparse.csr_matrix, weights: np.ndarray) -> float:
    """``1 / (n_features · variance of the entries)``: scikit-learn's "scale", with row weights."""
    share = weights / weights.sum()
    if sparse.issparse(rows):
        mean = float(share @ np.asarray(rows.mean(axis=1)).ravel())
        variance = float(share @ squared_norms(rows)) / rows.shape[1] - mean**2
    else:
        mean = float(share @ rows.mean(axis=1, dtype=np.float64))
        variance = float(share @ np.square(rows - mean).mean(axis=1, dtype=np.float64))
    return 1.0 / (rows.shape[1] * variance) if variance > 0 else 1.0
