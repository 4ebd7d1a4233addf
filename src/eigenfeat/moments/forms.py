"""Symmetric positive semi-definite matrices, dense or as a product of data rows.

A quotient only ever asks a matrix for products, its diagonal and a ridge, so both shapes of a moment matrix
answer the same questions: ``DenseForm`` (d × d numbers) when there are more rows than columns,
``FactoredForm`` (``F Fᵀ + shift·I`` with ``F`` made of data rows) when there are fewer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.moments.gram import GramCache


class SymmetricForm(ABC):
    """A symmetric matrix that may never be formed."""

    shift: float | np.ndarray
    """Ridge already included: a number (times the identity) or the diagonal of a diagonal matrix."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]: ...

    @property
    @abstractmethod
    def dtype(self) -> np.dtype: ...

    @abstractmethod
    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        """The product with a (d, r) block of vectors."""

    @abstractmethod
    def diagonal(self) -> np.ndarray: ...

    @abstractmethod
    def toarray(self) -> np.ndarray:
        """The d × d matrix itself, shift included, as a new array."""

    @abstractmethod
    def squared_norm(self) -> float:
        """``‖M‖²`` (Frobenius) of the matrix without its shift."""

    @abstractmethod
    def scaled(self, weight: float) -> SymmetricForm:
        """The matrix times a non-negative number (its shift too)."""

    @abstractmethod
    def __add__(self, other: SymmetricForm) -> SymmetricForm: ...

    def shifted(self, shift: float | np.ndarray) -> SymmetricForm:
        """The same matrix with ``shift`` added to its diagonal; nothing is copied."""
        return replace(self, shift=self.shift + shift)  # type: ignore[type-var]

    def trace(self) -> float:
        return float(np.sum(self.diagonal(), dtype=np.float64))

    def mean_diagonal(self) -> float:
        return self.trace() / self.shape[0]

    def quadratic(self, vectors: np.ndarray) -> np.ndarray:
        """``vᵀMv`` for every column v."""
        return np.einsum("ij,ij->j", vectors, self @ vectors)

    def _shift_times(self, vectors: np.ndarray) -> np.ndarray | float:
        if np.ndim(self.shift):
            return np.asarray(self.shift, dtype=vectors.dtype)[:, None] * vectors
        return vectors.dtype.type(self.shift) * vectors if self.shift else 0.0


@dataclass(frozen=True, eq=False)
class DenseForm(SymmetricForm):
    """``matrix + diag(shift)``; the matrix is shared, never written to."""

    matrix: np.ndarray
    shift: float | np.ndarray = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype:
        return self.matrix.dtype

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        return self.matrix @ vectors + self._shift_times(vectors)

    def diagonal(self) -> np.ndarray:
        return np.diagonal(self.matrix) + self.shift

    def toarray(self) -> np.ndarray:
        full = np.array(self.matrix)
        full[np.diag_indices_from(full)] += self.shift
        return full

    def squared_norm(self) -> float:
        return float(np.vdot(self.matrix, self.matrix))

    def scaled(self, weight: float) -> DenseForm:
        return DenseForm(self.matrix * self.dtype.type(weight), self.shift * weight)

    def __add__(self, other: SymmetricForm) -> DenseForm:
        summand = other.matrix if isinstance(other, DenseForm) else other.shifted(-other.shift).toarray()
        return DenseForm(self.matrix + summand, self.shift + other.shift)


@dataclass(frozen=True, eq=False)
class RowTerm:
    """Columns ``X[index]ᵀ L`` of a factor: a weighted second moment, L = diag(scale).

    ``centred`` takes the same rows about their weighted mean: ``L = diag(scale) (I - uuᵀ)``, u = scale / ‖scale‖.
    """

    index: np.ndarray
    scale: np.ndarray
    centred: bool = False

    @property
    def rank(self) -> int:
        return len(self.index)

    def combine(self, block: np.ndarray) -> np.ndarray:
        """``L @ block``: from factor coordinates to row coefficients."""
        return self.scale[:, None] * self._about_mean(block)

    def gather(self, block: np.ndarray) -> np.ndarray:
        """``Lᵀ @ block``: from values at the rows to factor coordinates."""
        return self._about_mean(self.scale[:, None] * block)

    def scaled(self, root: float) -> RowTerm:
        return replace(self, scale=self.scale * root)

    def diagonal(self, rows: GramCache) -> np.ndarray:
        """The diagonal of the term times its transpose."""
        weights = self.scale.astype(np.float64) ** 2
        squares = rows.weighted_squares(self.index, weights)
        return squares - rows.transpose_times(self.index, weights) ** 2 / weights.sum() if self.centred else squares

    def _about_mean(self, block: np.ndarray) -> np.ndarray:
        if not self.centred:
            return block
        return block - np.outer(self.scale, self.scale @ block) / (self.scale @ self.scale)


@dataclass(frozen=True, eq=False)
class CombinedRows:
    """Columns ``X[index]ᵀ coefficients`` of a factor: a few combinations of rows, such as class means."""

    index: np.ndarray
    coefficients: np.ndarray

    @property
    def rank(self) -> int:
        return self.coefficients.shape[1]

    def combine(self, block: np.ndarray) -> np.ndarray:
        return self.coefficients @ block

    def gather(self, block: np.ndarray) -> np.ndarray:
        return self.coefficients.T @ block

    def scaled(self, root: float) -> CombinedRows:
        return replace(self, coefficients=self.coefficients * root)

    def diagonal(self, rows: GramCache) -> np.ndarray:
        return np.sum(rows.transpose_times(self.index, self.coefficients) ** 2, axis=1)


@dataclass(frozen=True, eq=False)
class FactoredForm(SymmetricForm):
    """``F Fᵀ + shift·I`` with ``F = [X[index₁]ᵀL₁, X[index₂]ᵀL₂, ...]`` and X the rows of a shared `GramCache`."""

    rows: GramCache
    terms: tuple[RowTerm | CombinedRows, ...]
    shift: float | np.ndarray = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        return (self.rows.n_columns, self.rows.n_columns)

    @property
    def dtype(self) -> np.dtype:
        return self.rows.dtype

    @property
    def rank(self) -> int:
        """Columns of F: an upper bound on the rank without the shift."""
        return sum(term.rank for term in self.terms)

    def factor_times(self, block: np.ndarray) -> np.ndarray:
        """``F @ block``, a (d, r) array."""
        return self.rows.transpose_times(self.row_index, self.row_coefficients(block))

    @property
    def row_index(self) -> np.ndarray:
        """The rows of all terms, one after the other."""
        return np.concatenate([term.index for term in self.terms])

    def row_coefficients(self, block: np.ndarray) -> np.ndarray:
        """c with ``F @ block = X[row_index]ᵀ c``."""
        edges = np.cumsum([0] + [term.rank for term in self.terms])
        return np.concatenate([t.combine(block[a:b]) for t, a, b in zip(self.terms, edges, edges[1:])])

    def factor_transpose_times(self, vectors: np.ndarray) -> np.ndarray:
        """``Fᵀ @ vectors``."""
        return np.concatenate([t.gather(self.rows.times(t.index, vectors)) for t in self.terms])

    def inner(self, other: FactoredForm) -> np.ndarray:
        """``Fᵀ F_other`` from the Gram matrix of the rows: no d-sized array is touched."""
        # One side after the other: the rest of a hundred classes has a hundred terms, and pairs of them are many.
        half = np.concatenate([term.gather(self.rows.gram(term.index, other.row_index)) for term in self.terms])
        edges = np.cumsum([0] + [len(term.index) for term in other.terms])
        parts = [term.gather(half[:, a:b].T) for term, a, b in zip(other.terms, edges, edges[1:])]
        return np.concatenate(parts).T

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        return self.factor_times(self.factor_transpose_times(vectors)) + self._shift_times(vectors)

    def factor(self) -> np.ndarray:
        """F as a dense (d, rank) array."""
        return self.factor_times(np.eye(self.rank, dtype=self.dtype))

    def diagonal(self) -> np.ndarray:
        zero = np.zeros(self.shape[0])
        return sum((term.diagonal(self.rows) for term in self.terms), zero) + self.shift

    def toarray(self) -> np.ndarray:
        F = self.factor()
        full = F @ F.T
        full[np.diag_indices_from(full)] += self.shift
        return full

    def squared_norm(self) -> float:
        return float(np.sum(self.inner(self) ** 2))

    def scaled(self, weight: float) -> FactoredForm:
        root = float(np.sqrt(weight))
        return FactoredForm(self.rows, tuple(t.scaled(root) for t in self.terms), self.shift * weight)

    def __add__(self, other: SymmetricForm) -> SymmetricForm:
        if isinstance(other, FactoredForm) and other.rows is self.rows:
            return FactoredForm(self.rows, self.terms + other.terms, self.shift + other.shift)
        return DenseForm(self.toarray()) + other


def as_form(matrix: Any) -> SymmetricForm:
    """A form of whatever a user calls a matrix."""
    if isinstance(matrix, SymmetricForm):
        return matrix
    if sparse.issparse(matrix):
        matrix = matrix.toarray()
    return DenseForm(np.asarray(matrix))


def identity_like(form: SymmetricForm) -> SymmetricForm:
    """The identity in the same form."""
    if isinstance(form, FactoredForm):
        nothing = RowTerm(np.empty(0, dtype=np.int64), scale=np.empty(0, dtype=form.dtype))
        return FactoredForm(form.rows, (nothing,), shift=1.0)
    return DenseForm(np.eye(form.shape[0], dtype=form.dtype))


def weighted_sum(forms: Sequence[SymmetricForm], weights: Sequence[float] | None = None) -> SymmetricForm:
    """``Σ weight · form``: several signals or noises as one (KFD thesis eq. 3.24)."""
    if weights is not None:
        forms = [form.scaled(w) for form, w in zip(forms, weights)]
    total = forms[0]
    for form in forms[1:]:
        total = total + form
    return total
