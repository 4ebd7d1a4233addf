"""Sparse regressions by coordinate descent: the lasso, the elastic net and the group lasso for many targets at once.

Objective, with sums: ``½‖AW - T‖² + ½ l2 ‖W‖² + l1 Ω(W)``, Ω the sum of magnitudes of entries, or of norms of rows.
scikit-learn's solvers take one target at a time (lasso) or dense inputs only (group); here a sweep serves all targets,
and sparse columns are centred implicitly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from eigenfeat._runtime.jit import jit
from eigenfeat.least_squares.rows import CentredRows

# A sweep over a Gram matrix costs d² r, over columns nnz r: up to this size, the matrix is worth its memory.
GRAM_COLUMNS = 4_000
# Sweeps over the nonzero rows of W between two checks of the duality gap.
SWEEPS_A_CHECK = 100


@dataclass(frozen=True)
class Penalty:
    """``½ l2 ‖W‖² + l1 Ω(W)``; ``group`` makes Ω the sum of the norms of W's rows."""

    l1: float
    l2: float = 0.0
    group: bool = False

    def size(self, gradient: np.ndarray) -> np.ndarray:
        """(r,) dual norms of Ω: l1 at or above them leaves a target (with ``group``, every target) without a weight."""
        if not self.group:
            return np.abs(gradient).max(axis=0, initial=0.0)
        largest = np.linalg.norm(gradient, axis=1).max(initial=0.0)
        return np.full(gradient.shape[1], largest)

    def value(self, W: np.ndarray) -> np.ndarray:
        """(r,) values of Ω; of the groups, each target's share."""
        if not self.group:
            return np.abs(W).sum(axis=0)
        norms = np.linalg.norm(W, axis=1, keepdims=True)
        return np.divide(W**2, norms, out=np.zeros_like(W), where=norms > 0).sum(axis=0)


@dataclass(frozen=True, eq=False)
class PenalisedFit:
    """Minimisers W, their duality gaps relative to ½‖T‖² of each target, and the sweeps they took."""

    vectors: np.ndarray
    gaps: np.ndarray
    n_iter: int


class Descent:
    """A regression problem prepared for many penalties: Gram matrix or columns are laid out once.

    Parameters
    ----------
    rows : CentredRows
        A.
    targets : (n, r) array
        T.
    """

    def __init__(self, rows: CentredRows, targets: np.ndarray) -> None:
        self.rows = rows
        self.targets = np.ascontiguousarray(targets)
        self.correlations = np.ascontiguousarray(rows.transpose_times(targets))
        self.squares = rows.column_squares()
        n, d = rows.shape
        self.by_gram = d <= GRAM_COLUMNS and (d <= n or not rows.is_sparse)
        if self.by_gram:
            self.gram = rows.gram()
        else:
            self.columns = sparse.csc_array(rows.matrix)
            self.mean = rows.mean if rows.is_sparse else np.zeros_like(rows.mean)

    def largest_alpha(self, group: bool) -> float:
        """The smallest l1 at which nothing is left."""
        return float(Penalty(1.0, group=group).size(self.correlations).max(initial=0.0))

    def solve(self, penalty: Penalty, start: np.ndarray | None, tol: float, max_iter: int) -> PenalisedFit:
        """Minimise from ``start`` (zero by default) to a duality gap of ``tol · ½‖T‖²`` for every target."""
        W = np.zeros_like(self.correlations) if start is None else start.astype(self.rows.dtype, copy=True)
        state = self._residual(W)
        total = np.einsum("ij,ij->j", self.targets, self.targets)
        stop_change = 1e-2 * float(np.sqrt(total.max(initial=0.0)))
        sweeps, gaps = 0, np.full(W.shape[1], np.inf)
        while sweeps < max_iter:
            limit = min(SWEEPS_A_CHECK, max_iter - sweeps)
            sweeps += self._sweep(W, state, penalty, limit, stop_change)
            gaps = self._gaps(W, state, penalty, total)
            if np.all(gaps <= tol):
                break
            stop_change *= 0.2
        return PenalisedFit(W, gaps, sweeps)

    def _residual(self, W: np.ndarray) -> np.ndarray:
        """What a sweep updates: the gradient ``Aᵀ(T - AW)``, or the residual T - MW of the uncentred columns M."""
        if self.by_gram:
            return self.correlations - self.gram @ W if W.any() else self.correlations.copy()
        return self.targets - self.columns @ W if W.any() else self.targets.copy()

    def _sweep(self, W: np.ndarray, state: np.ndarray, penalty: Penalty, limit: int, stop_change: float) -> int:
        options = (penalty.l1, penalty.l2, penalty.group, limit, stop_change)
        if self.by_gram:
            return _sweep_gram(self.gram, self.squares, W, state, *options)
        M = self.columns
        return _sweep_columns(M.indptr, M.indices, M.data, self.mean, self.rows.root, self.squares, W, state, *options)

    def _gradient(self, state: np.ndarray) -> np.ndarray:
        return state if self.by_gram else self.rows.transpose_times(state)

    def _gaps(self, W: np.ndarray, state: np.ndarray, penalty: Penalty, total: np.ndarray) -> np.ndarray:
        """Duality gaps, each target's share of them, relative to ½‖T‖².

        With the ridge as rows √l2·I below A, R̃ the residual of the larger problem and c its largest feasible multiple,
        the gap is ``½‖R̃‖² + l1 Ω(W) - c⟨T, R⟩ + ½c²‖R̃‖²``.
        """
        gradient = self._gradient(state)
        fitted = np.einsum("ij,ij->j", W, self.correlations)
        residual = total - fitted - np.einsum("ij,ij->j", W, gradient) + penalty.l2 * np.einsum("ij,ij->j", W, W)
        size = penalty.size(gradient - penalty.l2 * W)
        c = np.minimum(1.0, np.divide(penalty.l1, size, out=np.ones_like(size), where=size > 0))
        gaps = 0.5 * residual * (1 + c**2) + penalty.l1 * penalty.value(W) - c * (total - fitted)
        if penalty.group:  # it binds the targets together: only the sum of their shares is a gap
            gaps, total = np.full_like(gaps, gaps.sum()), np.full_like(total, total.sum())
        return np.divide(gaps, 0.5 * total, out=np.zeros_like(gaps), where=total > 0)


@jit()
def _move(w, z, l1, scale, group):
    """Set w to the minimiser of ``½ scale ‖w‖² - zᵀw + l1 Ω(w)`` and z to its change; the change's squared norm."""
    factor = 1.0
    if group:
        norm = 0.0
        for t in range(len(z)):
            norm += z[t] * z[t]
        norm = np.sqrt(norm)
        factor = 1.0 - l1 / norm if norm > l1 else 0.0
    change = 0.0
    for t in range(len(z)):
        shrunk = factor * z[t] if group else np.sign(z[t]) * max(abs(z[t]) - l1, 0.0)
        z[t] = shrunk / scale - w[t]
        w[t] += z[t]
        change += z[t] * z[t]
    return change


@jit()
def _visited(squares, W, full):
    """Rows of W that a sweep moves: all whose column varies, or of those the ones that are not zero."""
    index = np.empty(len(squares), dtype=np.int64)
    count = 0
    for j in range(len(squares)):
        if squares[j] != 0.0 and (full or W[j].any()):
            index[count] = j
            count += 1
    return index[:count]


@jit()
def _sweep_gram(gram, squares, W, gradient, l1, l2, group, limit, stop_change):
    """Sweeps over all rows of W, then over its nonzero rows until they settle, and again; how many there were."""
    d, r = W.shape
    z = np.empty(r, dtype=W.dtype)
    full = True
    for sweep in range(limit):
        largest = 0.0
        for j in _visited(squares, W, full):
            for t in range(r):
                z[t] = gradient[j, t] + squares[j] * W[j, t]
            change = _move(W[j], z, l1, squares[j] + l2, group)
            if change > 0.0:
                largest = max(largest, np.sqrt(change * squares[j]))
                for i in range(d):
                    g = gram[j, i]
                    for t in range(r):
                        gradient[i, t] -= g * z[t]
        if largest <= stop_change and full:
            return sweep + 1
        full = largest <= stop_change
    return limit


@jit()
def _sweep_columns(indptr, indices, data, mean, root, squares, W, residual, l1, l2, group, limit, stop_change):
    """The same from columns. ``residual`` is T - MW: a centred column needs only ``rootᵀ residual`` beside it."""
    r = W.shape[1]
    z = np.empty(r, dtype=W.dtype)
    level = np.zeros(r, dtype=W.dtype)
    weight = 0.0
    for i in range(len(root)):
        weight += root[i] * root[i]
        for t in range(r):
            level[t] += root[i] * residual[i, t]
    full = True
    for sweep in range(limit):
        largest = 0.0
        for j in _visited(squares, W, full):
            for t in range(r):
                z[t] = squares[j] * W[j, t] - mean[j] * level[t]
            for k in range(indptr[j], indptr[j + 1]):
                row, value = indices[k], data[k]
                for t in range(r):
                    z[t] += value * residual[row, t]
            change = _move(W[j], z, l1, squares[j] + l2, group)
            if change > 0.0:
                largest = max(largest, np.sqrt(change * squares[j]))
                for k in range(indptr[j], indptr[j + 1]):
                    row, value = indices[k], data[k]
                    for t in range(r):
                        residual[row, t] -= value * z[t]
                for t in range(r):
                    level[t] -= weight * mean[j] * z[t]
        if largest <= stop_change and full:
            return sweep + 1
        full = largest <= stop_change
    return limit
