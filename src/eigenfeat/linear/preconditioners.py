"""Cheap stand-ins for the inverse of the logit's Hessian.

At zero coefficients the Hessian is ``(I - 11ᵀ/k) ⊗ ΦᵀΦ / (nk)``, and everywhere it is at most
``½ (I - 11ᵀ/k) ⊗ ΦᵀΦ / n`` (Böhning 1992): one matrix over the columns serves every class. Away from zero
most rows are fitted and curve no more, so the rows are weighted with the curvature they have, and may be
sampled by it. Neither the sample nor a float32 factor bounds the Hessian: users safeguard their steps.

References
----------
Böhning, *Multinomial logistic regression algorithm*, Ann. Inst. Statist. Math. 44, 1992.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import linalg

from eigenfeat.linear.objective import LogitObjective, LogitPoint
from eigenfeat.linear.passes import Passes


class Preconditioner(Protocol):
    """A symmetric positive definite approximation of the inverse Hessian."""

    def solve(self, gradient: np.ndarray) -> np.ndarray: ...

    def with_alpha(self, alpha: float) -> Preconditioner: ...


@dataclass(frozen=True, eq=False)
class PreconditionerRequest:
    """What a preconditioner is built from, beside the objective.

    Attributes
    ----------
    curvature : (n,) array
        Weight of every row, of ``mean_curvature``.
    n_rows : int
        Rows to draw for a Gram matrix.
    rng : RandomState
        Draws them.
    row_sizes : callable
        Returns the ``row_sizes`` they are drawn by; two passes, when it is called for the first time.
    """

    curvature: np.ndarray
    n_rows: int
    rng: np.random.RandomState
    row_sizes: Callable[[], np.ndarray]


@dataclass(frozen=True, eq=False)
class GramPreconditioner:
    """``(Φᵀ diag(curvature) Φ / (k - 1) + alpha)⁻¹`` for every class, from a Cholesky factor.

    One square array holds the factor below its diagonal and the Gram matrix above it, so that another alpha
    costs a factorisation and no second array.
    """

    triangles: np.ndarray
    gram_diagonal: np.ndarray

    @classmethod
    def build(
        cls,
        objective: LogitObjective,
        curvature: np.ndarray,
        n_rows: int,
        rng: np.random.RandomState,
        sizes: np.ndarray | None = None,
    ) -> GramPreconditioner:
        """From about ``n_rows`` rows, drawn by what they add to the matrix and reweighted.

        The diagonal is that of all rows where it is larger: a column that is rarely, but then hugely, other than
        zero may be absent from a sample, and without curvature there a step has no end.
        """
        passes, sampled = sampled_rows(objective.passes, curvature, n_rows, rng, sizes)
        gram = passes.gram(sampled)
        diagonal = np.diagonal(gram).copy()
        if passes.n_rows < objective.passes.n_rows:
            diagonal = np.maximum(diagonal, objective.passes.weighted_squares(curvature).astype(gram.dtype))
        return cls(gram, diagonal).with_alpha(objective.alpha)

    def with_alpha(self, alpha: float) -> GramPreconditioner:
        """Factor again, in place, with another penalty."""
        A, d = self.triangles, len(self.triangles)
        potrf = linalg.get_lapack_funcs("potrf", (A,))
        floor = float(np.finfo(A.dtype).eps) * d * float(self.gram_diagonal.mean()) or 1.0
        ridge = alpha
        while True:
            for start in range(0, d, 256):
                stop = min(start + 256, d)
                upper = np.triu(A[start:stop, start:stop], 1)
                A[start:stop, start:stop] = upper + upper.T
                A[stop:, start:stop] = A[start:stop, stop:].T
            A[np.diag_indices(d)] = self.gram_diagonal + A.dtype.type(ridge)
            A, info = potrf(A, lower=True, clean=False, overwrite_a=True)
            if info == 0:
                return GramPreconditioner(A, self.gram_diagonal)
            ridge = max(10 * ridge, floor)  # rounding made it indefinite: bend it until it is not

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        right = np.asarray(gradient, self.triangles.dtype, order="F")
        return linalg.cho_solve((self.triangles, True), right, check_finite=False).astype(np.float64)


@dataclass(frozen=True, eq=False)
class DiagonalPreconditioner:
    """The inverse of the Hessian's diagonal averaged over classes: for sparse and very wide rows."""

    diagonal: np.ndarray
    inverse: np.ndarray

    @classmethod
    def build(cls, objective: LogitObjective, curvature: np.ndarray) -> DiagonalPreconditioner:
        diagonal = objective.passes.weighted_squares(curvature)
        diagonal += np.finfo(np.float64).eps * max(float(diagonal.max()), 1.0)
        return cls(diagonal, diagonal[:, None]).with_alpha(objective.alpha)

    def with_alpha(self, alpha: float) -> DiagonalPreconditioner:
        return replace(self, inverse=1.0 / (self.diagonal + alpha)[:, None])

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        return self.inverse * gradient


def mean_curvature(objective: LogitObjective, point: LogitPoint) -> np.ndarray:
    """Weight of every row in the diagonal blocks of the Hessian, averaged over the k classes."""
    return objective.weights * point.row_curvature / (objective.n_classes - 1)


def row_sizes(objective: LogitObjective) -> np.ndarray:
    """``Σⱼ φᵢⱼ² / mean(φⱼ²)`` of every row: how much of the Gram matrix, in the units of its diagonal, it can be.

    Two passes. Rows far out in heavy tails, or alone in having a column, are large.
    """
    squares = objective.passes.weighted_squares(objective.weights)
    return objective.passes.row_squares(np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0))


def sampled_rows(
    passes: Passes, weights: np.ndarray, n_rows: int, rng: np.random.RandomState, sizes: np.ndarray | None = None
) -> tuple[Passes, np.ndarray]:
    """About ``n_rows`` rows, drawn by weight times size, with weights that keep every weighted sum unbiased."""
    positive = np.count_nonzero(weights)
    if positive <= n_rows:
        chosen = np.flatnonzero(weights)
        return (passes, weights) if positive == len(weights) else (passes.of_rows(chosen), weights[chosen])
    mass = weights if sizes is None else weights * sizes
    share = np.minimum(1.0, mass * (n_rows / mass.sum()))
    for _ in range(8):  # heavy rows are taken for certain, the others share the rest
        share = np.minimum(1.0, share * (n_rows / share.sum()))
    chosen = np.flatnonzero(rng.random_sample(len(share)) < share)
    return passes.of_rows(chosen), weights[chosen] / share[chosen]
