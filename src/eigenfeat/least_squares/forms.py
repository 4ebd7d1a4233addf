"""Signal and noise of least squares as symmetric forms over centred rows A: products, never a matrix.

The rows of a kernel's feature space are known by ``K = AAᵀ`` alone, and a direction ``Aᵀc`` is written as c. Both
matrices are then those of the quotient in c: ``K²`` stands for AᵀA and ``K`` for the identity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenfeat.least_squares.rows import CentredKernel, CentredRows
from eigenfeat.least_squares.targets import Targets
from eigenfeat.moments.forms import DenseForm, SymmetricForm


@dataclass(frozen=True, eq=False)
class OverRows(SymmetricForm):
    """What signal and noise share. Their sums and multiples are no longer of this form, and are made dense."""

    rows: CentredRows | CentredKernel

    @property
    def shape(self) -> tuple[int, int]:
        return (self.rows.shape[1], self.rows.shape[1])

    @property
    def dtype(self) -> np.dtype:
        return self.rows.dtype

    def scaled(self, weight: float) -> SymmetricForm:
        return DenseForm(self.toarray()).scaled(weight)

    def __add__(self, other: SymmetricForm) -> SymmetricForm:
        return DenseForm(self.toarray()) + DenseForm(other.toarray())


@dataclass(frozen=True, eq=False)
class RowScatter(OverRows):
    """The noise: ``AᵀA + shift·I``."""

    shift: float = 0.0

    def shifted(self, shift: float) -> RowScatter:  # type: ignore[override]  # one number: the same for all directions
        return replace(self, shift=self.shift + shift)

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        return self.of_scores(self.rows.times(vectors), vectors)

    def of_scores(self, scores: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """The product with vectors whose scores ``A @ vectors`` are known."""
        return self.rows.combine(scores, scores.dtype.type(self.shift) * vectors)

    def diagonal(self) -> np.ndarray:
        return self.rows.column_squares(self.shift)

    def mean_diagonal(self) -> float:
        """What a relative ridge is relative to; a mean over rows in a feature space, which has no number of columns."""
        return self.rows.mean_diagonal() + self.shift

    def toarray(self) -> np.ndarray:
        return self.rows.gram(self.shift)

    def squared_norm(self) -> float:
        return float(np.sum(self.rows.gram() ** 2, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class TargetFactor:
    """``AᵀH``, d × r: an array for everyone who asks numpy for one, and nothing before that."""

    rows: CentredRows | CentredKernel
    targets: Targets

    @property
    def shape(self) -> tuple[int, int]:
        return (self.rows.shape[1], self.targets.rank)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.asarray(self.targets.against(self.rows), dtype=dtype)


@dataclass(frozen=True, eq=False)
class TargetReferences:
    """Columns of the unreduced, centred H as points ``Aᵀh``, one a row: what orients the directions."""

    rows: CentredRows | CentredKernel
    targets: Targets

    def __len__(self) -> int:
        return len(self.targets.mean)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        along = self.rows.combine(self.targets.orthonormal)
        return np.asarray(self.targets.writing @ along.T, dtype=dtype)

    def of_scores(self, scores: np.ndarray) -> np.ndarray:
        """(s, k) projections of the references on directions whose scores are known."""
        return self.targets.writing @ self.targets.along(scores)


@dataclass(frozen=True, eq=False)
class TargetScatter(OverRows):
    """The signal: ``AᵀHHᵀA``."""

    targets: Targets
    shift: float = 0.0

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        return self.of_scores(self.rows.times(vectors)) + self._shift_times(vectors)

    def of_scores(self, scores: np.ndarray) -> np.ndarray:
        """The product with vectors whose scores ``A @ vectors`` are known, without the shift."""
        return self.rows.combine(self.targets.times(self.targets.transpose_times(scores)))

    def diagonal(self) -> np.ndarray:
        F = self._factor()
        return np.einsum("ij,ij->i", F, F) + self.shift

    def toarray(self) -> np.ndarray:
        F = self._factor()
        full = F @ F.T
        full[np.diag_indices_from(full)] += self.shift
        return full

    def squared_norm(self) -> float:
        F = self._factor()
        return float(np.sum((F.T @ F) ** 2, dtype=np.float64))

    def _factor(self) -> np.ndarray:
        return np.asarray(TargetFactor(self.rows, self.targets))
