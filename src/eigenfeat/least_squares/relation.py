"""What directions of X know of the targets: enough to predict them, and to find their own directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.solution import Solution
from eigenfeat.least_squares.targets import TargetSpace
from eigenfeat.moments.forms import SymmetricForm


@dataclass(frozen=True, eq=False)
class TargetRelation:
    """Directions W of X beside the orthonormal targets T.

    Attributes
    ----------
    space : TargetSpace
    along : (r, k) array
        ``TᵀAW``.
    noise : (k, k) array
        ``Wᵀ(AᵀA + shift·I)W``.
    """

    space: TargetSpace
    along: np.ndarray
    noise: np.ndarray

    @classmethod
    def of_rows(cls, quotient: LeastSquaresQuotient, solution: Solution) -> TargetRelation:
        targets, scores = quotient.targets, solution.scores.astype(np.float64)
        noise = scores.T @ scores + solution.shift * quotient.rows.inner(solution.vectors, solution.scores)
        return cls(targets, targets.along(scores), noise)

    def target_loadings(self) -> np.ndarray:
        """(k, s): the regression of H on the scores AW, under the same ridge."""
        return np.linalg.lstsq(self.noise, (self.space.writing @ self.along).T, rcond=None)[0]

    def target_directions(self) -> np.ndarray:
        """(s, k): the combination of H's columns that correlates most with each score, of unit norm."""
        norms = np.linalg.norm(self.along, axis=0)
        return self.space.reading @ (self.along / np.where(norms > 0, norms, 1))


def input_loadings(noise: SymmetricForm, vectors: np.ndarray) -> np.ndarray:
    """(k, d): the regression of X on its projections; the ridge takes no part in it."""
    spread = noise.shifted(-noise.shift) @ vectors
    return np.linalg.lstsq(vectors.T @ spread, spread.T, rcond=None)[0]
