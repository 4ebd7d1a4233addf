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

from eigenfeat.linear.damped_gram import DampedGram
from eigenfeat.linear.objective import LogitObjective, LogitPoint

RARE = 0.1
"""Share of the squares that a column should have in a sample below which it is not to be trusted."""


OPTIMISM = 10.0
"""What seems to be left to gain is too low by up to this factor: with pairs of steps, on GEM features of MNIST."""


class Preconditioner(Protocol):
    """A symmetric positive definite approximation of the inverse Hessian."""

    @property
    def optimism(self) -> float:
        """By what factor what it thinks is left to gain may be too low."""

    def solve(self, gradient: np.ndarray) -> np.ndarray: ...

    def with_alpha(self, alpha: float) -> Preconditioner: ...


@dataclass(frozen=True, eq=False)
class PreconditionerRequest:
    """What a preconditioner is built from, beside the objective.

    Attributes
    ----------
    point : LogitPoint or None
        Where rows have the curvature they are weighted with; zero coefficients where there is none.
    n_rows : int
        Rows to draw.
    seed : int
        Draws them.
    scale : callable
        Returns the `LogitObjective.column_scale` they are drawn by; a pass, when it is called for the first time.
    curvature : float, optional
        Mean curvature of the rows at the point, where the objective is of a sample of them and the scale of all.
    """

    point: LogitPoint | None
    n_rows: int
    seed: int
    scale: Callable[[], np.ndarray]
    curvature: float | None = None


@dataclass(frozen=True, eq=False)
class GramPreconditioner:
    """``(Φᵀ diag(curvature) Φ / (k - 1) + alpha)⁻¹`` for every class, from a Cholesky factor."""

    gram: DampedGram

    optimism = OPTIMISM

    @classmethod
    def build(cls, objective: LogitObjective, request: PreconditionerRequest) -> GramPreconditioner:
        """From about ``n_rows`` rows, drawn by what they add to the matrix and reweighted.

        The diagonal is that of all rows where it is larger: a column that is rarely, but then hugely, other than
        zero may be absent from a sample, and without curvature there a step has no end.
        """
        is_sample = request.n_rows < objective.passes.n_rows
        scale = request.scale() if is_sample else None
        passes, weights = objective.curved_sample(request.point, request.n_rows, request.seed, scale)
        gram = DampedGram.of(passes.gram(weights))
        if is_sample:
            squares = _curved_squares(objective, request).astype(gram.diagonal.dtype)
            gram = replace(gram, diagonal=np.maximum(gram.diagonal, squares))
        return cls(gram.damped(objective.alpha))

    def with_alpha(self, alpha: float) -> GramPreconditioner:
        """Factored again with another penalty, in the array of this one, which is then spent."""
        return GramPreconditioner(self.gram.damped(alpha))

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        return self.gram.solve(gradient).astype(np.float64)


def _curved_squares(objective: LogitObjective, request: PreconditionerRequest) -> np.ndarray:
    """Mean squares of the columns over curved rows; at zero coefficients all curve alike, and the scale tells them.

    It also tells those of columns that are all but absent from a sample, as if their rows curved like the others.
    """
    curvature = 1.0 / objective.n_classes if request.point is None else request.curvature
    if curvature is None:
        return objective.curved_squares(request.point)
    scale = request.scale()
    alike = np.divide(curvature, scale, out=np.zeros_like(scale), where=scale > 0)
    if request.point is None:
        return alike
    seen = objective.curved_squares(request.point)
    return np.where(seen < RARE * alike, alike, seen)


@dataclass(frozen=True, eq=False)
class DiagonalPreconditioner:
    """The inverse of the Hessian's diagonal averaged over classes: for sparse and very wide rows."""

    diagonal: np.ndarray
    inverse: np.ndarray

    optimism = OPTIMISM

    @classmethod
    def build(cls, objective: LogitObjective, request: PreconditionerRequest) -> DiagonalPreconditioner:
        diagonal = objective.curved_squares(request.point)
        diagonal += np.finfo(np.float64).eps * max(float(diagonal.max()), 1.0)
        return cls(diagonal, diagonal[:, None]).with_alpha(objective.alpha)

    def with_alpha(self, alpha: float) -> DiagonalPreconditioner:
        return replace(self, inverse=1.0 / (self.diagonal + alpha)[:, None])

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        return self.inverse * gradient
