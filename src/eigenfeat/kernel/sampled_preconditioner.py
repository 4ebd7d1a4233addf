"""A preconditioner for Hessians ``K̃ᵀDK̃ + alpha·P`` with a curvature D of every row: from some of the rows.

The centres stand for the rows in `eigenfeat.kernel.nystrom`. They are as many as there are coefficients, and so tell
nothing of the directions of least curvature, where a small alpha leaves the work; a few times as many rows do, and know
which of them still matter. In the coordinates θ = Tα, K_qq = TᵀT (θ = α for ½‖α‖²), with Φ the rows of the sample,
``A = chol(c ΦᵀDΦ + alpha·I)``, centred by D, where c makes up for the rows that are not in the sample.

References
----------
U. Marteau-Ferey, F. Bach and A. Rudi, "Globally convergent Newton methods for ill-conditioned generalized
self-concordant losses", NeurIPS 2019.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from eigenfeat.kernel.nystrom import Preconditioner, upper_factor
from eigenfeat.kernel.problem import KernelProblem
from eigenfeat.kernel.subset import MAX_ENTRIES

#: Rows of the sample for every centre, and what of them is kept in memory at most.
ROWS_A_CENTER = 5
#: Least curvature of a row, as a share of the mean.
LEAST_CURVATURE = 1e-3


class SampledRows:
    """What does not change with alpha and the curvature: T, and the rows of a sample in its coordinates."""

    def __init__(self, problem: KernelProblem) -> None:
        centers = problem.expanded_over
        count = min(problem.n_rows, ROWS_A_CENTER * len(centers), max(len(centers), MAX_ENTRIES // len(centers)))
        self.index = np.sort(problem.order[np.random.RandomState(0).permutation(problem.n_rows)[:count]])
        rows = problem.kernel.block(self.index, centers)
        self.T: np.ndarray | None = None
        if problem.penalty == "function":
            self.T = upper_factor(problem.kernel.between(centers).T)
            rows = solve_triangular(self.T, rows.T, trans=1, check_finite=False, overwrite_b=True).T
        self.rows = rows

    def penalty_times(self, block: np.ndarray) -> np.ndarray:
        """``P @ block``."""
        return block if self.T is None else self.T.T @ (self.T @ block.astype(self.T.dtype, copy=False))


class SampledPreconditioner(Preconditioner):
    """``B`` with ``BᵀHB ≈ I`` for one alpha and the curvatures of all rows, weights included."""

    def __init__(self, sample: SampledRows, alpha: float, curvatures: np.ndarray) -> None:
        self.alpha, self.T = alpha, sample.T
        total = float(curvatures.sum(dtype=np.float64))
        d = np.maximum(curvatures[sample.index], LEAST_CURVATURE * total / len(curvatures)).astype(sample.rows.dtype)
        share = total / float(d.sum(dtype=np.float64))
        weighted = sample.rows * np.sqrt(share * d)[:, None]
        inner = weighted.T @ weighted
        edge = sample.rows.T @ d
        inner -= np.outer(edge, edge * inner.dtype.type(share / d.sum(dtype=np.float64)))
        inner[np.diag_indices(len(inner))] += inner.dtype.type(alpha)
        self.A = upper_factor(np.asfortranarray(inner))
