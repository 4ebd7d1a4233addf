"""The normal equations of a restricted expansion over rows that are read a block at a time: a pass a product."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eigenfeat.kernel.nystrom import Preconditioner, conjugate_gradients, warn_unless
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.rows.accumulators import Accumulator, ClassCounts
from eigenfeat.rows.block import Block
from eigenfeat.rows.rows import Rows
from eigenfeat.stages.kernels import Kernel, KernelRows


def solve(
    source: Rows, totals: ClassCounts, problem: KernelProblem, request: KernelRequest = DEFAULTS
) -> KernelSolution:
    """The solution over all rows of a source.

    Parameters
    ----------
    source : Rows
        Rows with codes of their classes and weights.
    totals : ClassCounts
        Of these codes.
    problem : KernelProblem
        Over a sample of the rows: kernel, penalty, alpha, and centres that are points are taken of it.
    request : KernelRequest
    """
    wanted = request.filled(tol=1e-3, max_iter=50)
    system = StreamedEquations(source, totals, problem)
    preconditioner = Preconditioner(problem, system.total)
    coefficients, n_iter, converged = conjugate_gradients(system, preconditioner, wanted.tol, wanted.max_iter)
    warn_unless(converged, wanted)
    penalty = np.einsum("ij,ij->j", coefficients, preconditioner.penalty_times(coefficients))
    objective = system.loss(coefficients) + problem.alpha * penalty / 2
    intercept = system.mean_y - system.mean_columns @ coefficients
    return KernelSolution(coefficients, intercept, objective, converged, n_iter, "nystrom")


class StreamedEquations:
    """Products with K̃ᵀWK̃ and the right-hand sides, as `eigenfeat.kernel.nystrom` has them in memory."""

    def __init__(self, source: Rows, totals: ClassCounts, problem: KernelProblem) -> None:
        self.source, self.kernel, self.centers = source, problem.kernel.kernel, problem.expanded_over
        self.total = float(totals.weights.sum())
        shares = totals.weights / self.total
        shares = shares[1:] if len(shares) == 2 else shares
        self.mean_y = 2 * shares - 1
        self.variance_y = self.total * (1 - np.square(self.mean_y))
        empty = RightHandSides(self.kernel, self.centers, self.mean_y)
        sums = source.reduce(empty, "kernel columns").sums
        self.mean_columns = sums[:, 0] / self.total
        self.right_hand_side = sums[:, 1:]

    def times(self, block: np.ndarray) -> np.ndarray:
        """``K̃ᵀWK̃ @ block``."""
        empty = Products(self.kernel, self.centers, block, self.mean_columns @ block)
        return self.source.reduce(empty, "kernel products").sums

    def loss(self, coefficients: np.ndarray) -> np.ndarray:
        """Half the squared residuals of every target."""
        fitted = self.times(coefficients) - 2 * self.right_hand_side
        return (self.variance_y + np.einsum("ij,ij->j", coefficients, fitted)) / 2


@dataclass(eq=False)
class KernelSums(Accumulator):
    """``Σ wᵢ k(xᵢ) f(xᵢ)``, with the kernel values k(x) of the centres."""

    kernel: Kernel
    centers: np.ndarray
    sums: Any = field(default=0.0, init=False)

    def update(self, block: Block) -> None:
        weights = np.ones(block.n_rows) if block.weight is None else block.weight
        rows = KernelRows(self.kernel, block.X)
        weights = weights.astype(rows.dtype)[:, None]
        for part in rows.over_blocks(self.centers, lambda part, K: K.T @ (weights[part] * self.values(block, part, K))):
            self.sums = self.sums + part.astype(np.float64)

    def merge(self, other: KernelSums) -> None:
        self.sums = self.sums + other.sums

    def values(self, block: Block, part: slice, K: np.ndarray) -> np.ndarray:
        """f at these rows, whose kernel values are K."""
        raise NotImplementedError


@dataclass(eq=False)
class RightHandSides(KernelSums):
    """f is one, and beside it ±1 for every class less its mean."""

    mean_y: np.ndarray

    def values(self, block: Block, part: slice, K: np.ndarray) -> np.ndarray:
        assert block.y is not None
        classes = np.array([1]) if len(self.mean_y) == 1 else np.arange(len(self.mean_y))
        targets = np.where(block.y[part, None] == classes, 1.0, -1.0) - self.mean_y
        return np.column_stack([np.ones(len(targets)), targets]).astype(K.dtype)


@dataclass(eq=False)
class Products(KernelSums):
    """f is an expansion less its mean: in single precision the mean would drown it."""

    block: np.ndarray
    mean: np.ndarray

    def values(self, block: Block, part: slice, K: np.ndarray) -> np.ndarray:
        return K @ self.block.astype(K.dtype) - self.mean.astype(K.dtype)
