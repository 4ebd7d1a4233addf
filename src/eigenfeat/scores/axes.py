"""Principal axes of rows, whitened; the leading ones are the coordinates in which scores are learnt.

The noise of a third-order moment grows like ``d^{3/2} / sqrt(n)``; along directions that hardly vary there is nothing
else. On the leading axes, each of unit variance, a Gaussian score is the row itself. The others are of use to a linear
classifier: what tells classes apart may hardly vary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from eigenfeat.scores.cross_tensor import BLOCK_BYTES
from eigenfeat.solvers.canonical import largest_entry_signs

#: Of the variance, the leading axes have this share, unless there are too many of them.
VARIANCE_SHARE = 0.99
MOST_AXES, ROWS_AN_AXIS = 50, 4
#: Columns up to which the covariance is formed; beyond, only products with it.
FORMED_COLUMNS = 2000
NEGLIGIBLE = 1e-10


@dataclass(frozen=True, eq=False)
class LeadingAxes:
    """``z = diag(1/scales) Vᵀ(x - mean)``: uncorrelated coordinates of unit variance.

    Parameters
    ----------
    mean : (d,) array
    vectors : (d, q) array
        V, orthonormal columns, that of the largest variance first.
    scales : (q,) array
        Standard deviations along them.
    share : float
        Share of the variance that the leading ones have.
    n_leading : int
        How many of them are coordinates of the score.
    """

    mean: np.ndarray
    vectors: np.ndarray
    scales: np.ndarray
    share: float
    n_leading: int

    @property
    def count(self) -> int:
        return len(self.scales)

    def coordinates(self, X: Any) -> np.ndarray:
        """z of every row, (n, q), in float64; sparse rows are not centred one by one."""
        V = self.vectors / self.scales
        if sparse.issparse(X):
            return X.astype(np.float64) @ V - self.mean @ V
        Z = np.empty((len(X), self.count))
        for rows in _blocks(X):
            Z[rows] = (X[rows] - self.mean) @ V
        return Z

    @classmethod
    def identity(cls, n_features: int) -> LeadingAxes:
        """The columns as they are."""
        return cls(np.zeros(n_features), np.eye(n_features), np.ones(n_features), 1.0, n_features)


def leading_axes(X: Any, weight: np.ndarray, n_axes: int | None = None) -> LeadingAxes:
    """Axes of the largest variance: as many as asked for, or all, of which those with ``VARIANCE_SHARE`` of it lead.

    By themselves at most ``MOST_AXES``, and one for every ``ROWS_AN_AXIS`` rows; axes along which nothing varies are
    never among them, but for one where nothing varies at all.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
    weight : (n,) array
    n_axes : int, optional
    """
    n, d = X.shape
    weight = weight / weight.sum()
    mean = np.asarray(weight @ X, dtype=np.float64).ravel()
    most = min(d, n_axes or max(1, min(MOST_AXES, n // ROWS_AN_AXIS)))
    if d <= max(FORMED_COLUMNS, 2 * most):
        covariance = _covariance(X, weight, mean)
        total = float(np.trace(covariance))
        values, V = linalg.eigh(covariance, subset_by_index=[d - most, d - 1])
    else:
        total = _total_variance(X, weight, mean)
        values, V = _largest(X, weight, mean, min(most, n))
    values, V = np.maximum(values[::-1], 0.0), V[:, ::-1]
    share = np.cumsum(values) / (total or 1.0)
    count = leading = max(1, int((values > NEGLIGIBLE * values[0]).sum()))
    if n_axes is None:
        leading = min(count, int(np.searchsorted(share, VARIANCE_SHARE)) + 1)
    V = V[:, :count] * largest_entry_signs(V[:, :count])
    scales = np.sqrt(values[:count])
    return LeadingAxes(mean, V, np.where(scales > 0, scales, 1.0), float(share[leading - 1]), leading)


def _blocks(X: np.ndarray) -> list[slice]:
    step = max(1, BLOCK_BYTES // (8 * X.shape[1]))
    return [slice(start, start + step) for start in range(0, len(X), step)]


def _covariance(X: Any, weight: np.ndarray, mean: np.ndarray) -> np.ndarray:
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return (X.T @ sparse.diags(weight) @ X).toarray() - np.outer(mean, mean)
    total = np.zeros((X.shape[1], X.shape[1]))
    for rows in _blocks(X):
        centred = X[rows] - mean
        total += (centred * weight[rows, None]).T @ centred
    return total


def _total_variance(X: Any, weight: np.ndarray, mean: np.ndarray) -> float:
    if sparse.issparse(X):
        return float(weight @ np.asarray(X.multiply(X).sum(axis=1)).ravel() - mean @ mean)
    return sum(float(weight[rows] @ ((X[rows] - mean) ** 2).sum(axis=1)) for rows in _blocks(X))


def _largest(X: Any, weight: np.ndarray, mean: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of the covariance, ascending, from its products with vectors."""

    def product(v: np.ndarray) -> np.ndarray:
        v = v.ravel()
        projections = weight * (X @ v - mean @ v)
        return X.T @ projections - mean * projections.sum()

    d = X.shape[1]
    operator = LinearOperator((d, d), matvec=product, dtype=np.float64)
    return eigsh(operator, count, v0=np.ones(d))
