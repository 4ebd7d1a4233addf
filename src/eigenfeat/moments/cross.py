"""Joint moments of inputs and continuous or multi-label targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.moments.base import batch_of
from eigenfeat.moments.dense import BLOCK_BYTES, DenseMoments
from eigenfeat.rows.accumulators import Accumulator
from eigenfeat.rows.rows import as_rows


class CrossMoments(Accumulator):
    """Centred ``XᵀX``, ``XᵀY`` and ``YᵀY`` (divided by the weight) with their means: update, merge, read.

    The rows ``[x, y]`` are one class of a `DenseMoments`, so that precision, weights, merging and sparse input
    are those of class moments; only a block of joined rows exists at a time.

    Attributes
    ----------
    n_inputs, n_targets : int
        Columns of X and of Y; 0 until rows have been seen.
    targets_are_flat : bool
        True if y came as a vector.

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
        self.n_targets = 0
        self.targets_are_flat = False

    def update(self, X, Y=None, sample_weight=None) -> CrossMoments:
        """Add a batch of rows, or a `Block` of them: X dense or sparse, Y a vector, an array or sparse.

        Raises
        ------
        ValueError
            Without targets, for targets of another length, columns of another number than before, or a vector after a
            matrix.
        """
        X, Y, sample_weight = batch_of(X, Y, sample_weight)
        if Y is None:
            raise ValueError("Cross moments need targets: give y, or a source whose rows bring labels.")
        Y = Y if sparse.issparse(Y) else np.asarray(Y)
        if X.shape[0] != Y.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, Y has {Y.shape[0]}: each row needs its target.")
        self._widen(X.shape[1], 1 if Y.ndim == 1 else Y.shape[1], Y.ndim == 1)
        Y = Y.reshape(-1, 1) if Y.ndim == 1 else Y
        if sparse.issparse(X):
            self._joint.update(sparse.hstack([X, sparse.csr_array(Y)], format="csr"), None, sample_weight)
            return self
        step = max(1, BLOCK_BYTES // max(1, 8 * (self.n_inputs + self.n_targets)))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            weights = None if sample_weight is None else np.asarray(sample_weight)[rows]
            targets = Y[rows].toarray() if sparse.issparse(Y) else Y[rows]
            self._joint.update(np.hstack([X[rows], targets]), None, weights)
        return self

    def merge(self, other: CrossMoments) -> CrossMoments:
        """Add the rows that others have seen."""
        if not isinstance(other, CrossMoments):
            raise TypeError(f"CrossMoments can be merged with CrossMoments, not with {type(other).__name__}.")
        if other.n_inputs:
            self._widen(other.n_inputs, other.n_targets, other.targets_are_flat)
            self._joint.merge(other._joint)
        return self

    def _widen(self, n_inputs: int, n_targets: int, flat: bool) -> None:
        """Take on the shape of the first rows; refuse another one."""
        before, now = (self.n_inputs, self.n_targets, self.targets_are_flat), (n_inputs, n_targets, flat)
        if self.n_inputs and now != before:
            have, got = (
                f"{d} inputs and {'a vector of targets' if is_flat else f'{q} columns of targets'}"
                for d, q, is_flat in (before, now)
            )
            raise ValueError(
                f"These moments have {have}, the new rows {got}: bring all to one shape, targets by y.ravel() or "
                "y.reshape(-1, 1)."
            )
        self.n_inputs, self.n_targets, self.targets_are_flat = n_inputs, n_targets, flat

    @property
    def weight(self) -> float:
        """Their total weight."""
        return float(self._joint.weights[0]) if self.n_inputs else 0.0

    def effective_count(self) -> float:
        """Rows of equal weight that would be as informative: Kish's (Σw)² / Σw²."""
        return self._seen().effective_count()

    @property
    def input_mean(self) -> np.ndarray:
        return self._seen().means[0, : self.n_inputs]

    @property
    def target_mean(self) -> np.ndarray:
        return self._seen().means[0, self.n_inputs :]

    def input_covariance(self) -> np.ndarray:
        return self._covariance()[: self.n_inputs, : self.n_inputs]

    def target_covariance(self) -> np.ndarray:
        return self._covariance()[self.n_inputs :, self.n_inputs :]

    def cross(self) -> np.ndarray:
        """(d, q): ``E[(x - m_x)(y - m_y)ᵀ]``."""
        return self._covariance()[: self.n_inputs, self.n_inputs :]

    def _covariance(self) -> np.ndarray:
        return self._seen().within(0).matrix

    def _seen(self) -> DenseMoments:
        if not self.weight:
            raise ValueError("These moments have seen no row of positive weight: update or merge them with rows first.")
        return self._joint


def collect_cross_moments(rows: Any, y: Any = None, sample_weight: Any = None) -> CrossMoments:
    """Collect the joint moments of rows and their targets in one pass.

    Parameters
    ----------
    rows : array, CSR matrix, memory map or `eigenfeat.rows.Rows`
    y : (n,) or (n, q) array or sparse matrix, optional
    sample_weight : (n,) array, optional
        Targets and weights; where either is given, they take the place of those that a source brings.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.moments import collect_cross_moments
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> collect_cross_moments(X, [1.0, 3.0, 5.0]).cross().round(2)
    array([[1.33]])
    """
    return as_rows(rows, y, sample_weight).reduce(CrossMoments(), "moments")
