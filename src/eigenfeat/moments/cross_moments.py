"""Joint moments of inputs and continuous or multi-label targets."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from eigenfeat.moments.dense_moments import BLOCK_BYTES, DenseMoments


class CrossMoments:
    """Centred ``XᵀX``, ``XᵀY`` and ``YᵀY`` (divided by the weight) with their means: update, merge, read.

    The rows ``[x, y]`` are one class of a `DenseMoments`, so that precision, weights, merging and sparse input
    are those of class moments; only a block of joined rows exists at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.moments import CrossMoments
    >>> X = np.array([[0.0], [1.0], [2.0]]); Y = 2 * X + 1
    >>> moments = CrossMoments().update(X, Y)
    >>> float(moments.cross()[0, 0] / moments.input_covariance()[0, 0])
    2.0
    """

    def __init__(self) -> None:
        self._joint = DenseMoments(np.zeros(1, dtype=np.int64))
        self.n_inputs = 0

    def update(self, X, Y, sample_weight=None) -> CrossMoments:
        self.n_inputs = X.shape[1]
        if sparse.issparse(X):
            self._joint.update(sparse.hstack([X, sparse.csr_array(Y)], format="csr"), None, sample_weight)
            return self
        step = max(1, BLOCK_BYTES // max(1, 8 * (X.shape[1] + Y.shape[1])))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            weights = None if sample_weight is None else sample_weight[rows]
            self._joint.update(np.hstack([X[rows], Y[rows]]), None, weights)
        return self

    def merge(self, other: CrossMoments) -> CrossMoments:
        self._joint.merge(other._joint)
        self.n_inputs = other.n_inputs
        return self

    @property
    def weight(self) -> float:
        return float(self._joint.weights[0])

    @property
    def input_mean(self) -> np.ndarray:
        return self._joint.means[0, : self.n_inputs]

    @property
    def target_mean(self) -> np.ndarray:
        return self._joint.means[0, self.n_inputs :]

    def input_covariance(self) -> np.ndarray:
        return self._covariance()[: self.n_inputs, : self.n_inputs]

    def target_covariance(self) -> np.ndarray:
        return self._covariance()[self.n_inputs :, self.n_inputs :]

    def cross(self) -> np.ndarray:
        """(d, q): ``E[(x - m_x)(y - m_y)ᵀ]``."""
        return self._covariance()[: self.n_inputs, self.n_inputs :]

    def _covariance(self) -> np.ndarray:
        return self._joint.within(0).matrix
