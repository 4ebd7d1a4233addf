"""Several matrices made diagonal together: what the eigenvectors of a pair are to two, for three and more.

Two positive definite matrices have a basis in which both are diagonal, their generalized eigenvectors. More have one
only if they fit together; Pham's basis is the best compromise, and finds the sources of a mixing whose power changes
from matrix to matrix.

References
----------
Pham (2001), *Joint approximate diagonalization of positive definite Hermitian matrices*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from eigenfeat._runtime.jit import jit
from eigenfeat.moments.forms import DenseForm
from eigenfeat.solvers.canonical import orient
from eigenfeat.solvers.noise import factor_noise

#: A sweep that lowers the criterion by less than this, relative to the number of columns, is the last.
TOLERANCE = 1e-12

MAX_SWEEPS = 200


@dataclass(frozen=True, eq=False)
class JointDirections:
    """A basis in which matrices are as diagonal as they can be together.

    Attributes
    ----------
    vectors : (d, r) array
        With ``vᵀPv = 1``, P the mean of the matrices; r is the rank of P.
    powers : (k, r) array
        ``vᵀC_k v``, of mean one over the matrices.
    residuals : (r,) array
        The root mean square, over matrices and other directions u, of ``vᵀC_k u / sqrt(vᵀC_k v · uᵀC_k u)``: zero where
        the matrices are diagonal.
    converged : bool
    restricted : bool
        True if P was singular: directions are those of its range.
    """

    vectors: np.ndarray
    powers: np.ndarray
    residuals: np.ndarray
    converged: bool
    restricted: bool


def jointly_diagonal(matrices: np.ndarray) -> JointDirections:
    """The basis that minimises ``Σ_k log det diag(VᵀC_kV) - log det VᵀC_kV``, zero where all are diagonal.

    Parameters
    ----------
    matrices : (k, d, d) array
        Positive definite on the range of their mean. Not modified.

    Examples
    --------
    >>> import numpy as np
    >>> mixing = np.array([[1.0, 0.5], [0.0, 1.0]])
    >>> powers = np.array([[1.0, 3.0], [2.0, 1.0], [3.0, 1.0]])
    >>> found = jointly_diagonal(np.array([mixing @ np.diag(p) @ mixing.T for p in powers]))
    >>> bool(found.residuals.max() < 1e-8)
    True
    >>> np.sort(found.powers.argmax(axis=0))
    array([0, 2])
    """
    matrices = np.asarray(matrices, dtype=np.float64)
    noise = factor_noise(DenseForm(matrices.mean(axis=0)), matrices.dtype, "all classes")
    whitened = np.array([noise.congruence(matrix) for matrix in matrices])
    # From the eigenvectors of the matrix farthest from the mean, which do not depend on the basis of the input.
    farthest = np.argmax(np.linalg.norm(whitened - np.eye(noise.rank), axis=(1, 2)))
    basis = np.ascontiguousarray(eigh(whitened[farthest])[1].T)  # rows are directions
    whitened = basis @ whitened @ basis.T
    converged = any(_sweep(whitened, basis) < TOLERANCE * noise.rank for _ in range(MAX_SWEEPS))
    powers = np.diagonal(whitened, axis1=1, axis2=2)
    pooled = powers.mean(axis=0)
    vectors = orient(noise.unwhiten(basis.T) / np.sqrt(pooled), None)
    return JointDirections(vectors, powers / pooled, _correlations(whitened), converged, noise.restricted)


def _correlations(matrices: np.ndarray) -> np.ndarray:
    """Root mean square of the correlations of each column with the others; of one column alone, zero."""
    scale = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
    correlations = matrices / (scale[:, :, None] * scale[:, None, :])
    d = matrices.shape[1]
    correlations[:, np.arange(d), np.arange(d)] = 0
    return np.sqrt((correlations**2).sum(axis=2).mean(axis=0) / max(d - 1, 1))


@jit()
def _sweep(matrices, basis):  # pragma: no cover - compiled
    """Every pair of rows of the basis once, in place; how much the quadratic model of the criterion says it fell.

    With ``b_i ← b_i - t_ij b_j`` and ``b_j ← b_j - t_ji b_i`` the criterion is, to second order and per matrix,
    ``w_ij h_ij² + w_ji h_ji² + 2 h_ij h_ji - 2 g_ij h_ij - 2 g_ji h_ji``: w are mean ratios of the diagonal, g mean
    entries off it over the diagonal. ``t = 2h / (1 + sqrt(1 - 4 h_ij h_ji))`` never lets it rise (Pham 2001).
    """
    k, d = matrices.shape[0], matrices.shape[1]
    fallen = 0.0
    for i in range(d):
        for j in range(i):
            w_ij = w_ji = g_ij = g_ji = 0.0
            for m in range(k):
                C = matrices[m]
                w_ij += C[j, j] / C[i, i] / k
                w_ji += C[i, i] / C[j, j] / k
                g_ij += C[i, j] / C[i, i] / k
                g_ji += C[i, j] / C[j, j] / k
            det = w_ij * w_ji - 1.0
            if det > 1e-12:
                h_ij, h_ji = (w_ji * g_ij - g_ji) / det, (w_ij * g_ji - g_ij) / det
            else:  # the two have the same power in every matrix: half of the way is taken by each
                h_ij, h_ji = g_ij / (2 * w_ij), g_ji / (2 * w_ji)
            fallen += g_ij * h_ij + g_ji * h_ji
            step = 2.0 / (1.0 + np.sqrt(max(1.0 - 4.0 * h_ij * h_ji, 0.0)))
            t_ij, t_ji = step * h_ij, step * h_ji
            for m in range(k):
                _turn(matrices[m], i, j, t_ij, t_ji)
                _turn(matrices[m].T, i, j, t_ij, t_ji)
            _turn(basis, i, j, t_ij, t_ji)
    return fallen


@jit()
def _turn(rows, i, j, t_ij, t_ji):  # pragma: no cover - compiled
    """``row_i - t_ij row_j`` and ``row_j - t_ji row_i``, in place."""
    for c in range(rows.shape[1]):
        first, second = rows[i, c], rows[j, c]
        rows[i, c] = first - t_ij * second
        rows[j, c] = second - t_ji * first
