"""What a solver returns: directions, their values, and how far to trust them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenfeat.rows.store import RowStore


class Vectors(ABC):
    """r directions in a space of d columns, held as numbers or as combinations of data rows."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(d, r)."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype: ...

    @abstractmethod
    def toarray(self) -> np.ndarray:
        """The (d, r) matrix itself."""

    @abstractmethod
    def columns(self, keep: np.ndarray | slice) -> Vectors:
        """Some of the directions."""

    @abstractmethod
    def combined(self, coefficients: np.ndarray) -> Vectors:
        """``V @ coefficients``: other directions in the same span."""

    @abstractmethod
    def projected(self, rows: Any) -> np.ndarray:
        """``rows @ V`` for dense or sparse rows, without forming V."""

    @abstractmethod
    def astype(self, dtype: np.dtype) -> Vectors:
        """The same with products in another floating type."""

    @property
    def economical(self) -> Vectors:
        """The same in the form that takes less to hold and to project on."""
        return self

    @classmethod
    @abstractmethod
    def joined(cls, parts: Sequence[Any]) -> Vectors:
        """Directions of several problems side by side."""


@dataclass(frozen=True, eq=False)
class DenseVectors(Vectors):
    """Directions as the columns of a (d, r) array."""

    array: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype

    def toarray(self) -> np.ndarray:
        return self.array

    def columns(self, keep: np.ndarray | slice) -> DenseVectors:
        return DenseVectors(self.array[:, keep])

    def combined(self, coefficients: np.ndarray) -> DenseVectors:
        return DenseVectors(self.array @ coefficients)

    def projected(self, rows: Any) -> np.ndarray:
        return np.asarray(rows @ self.array)

    def astype(self, dtype: np.dtype) -> DenseVectors:
        return self if self.dtype == dtype else DenseVectors(self.array.astype(dtype))

    @classmethod
    def joined(cls, parts: Sequence[DenseVectors]) -> DenseVectors:
        return cls(np.concatenate([part.array for part in parts], axis=1))


@dataclass(frozen=True, eq=False)
class DualVectors(Vectors):
    """Directions ``V = X[index]ᵀ coefficients``, left as coefficients until someone asks for them."""

    store: RowStore
    index: np.ndarray
    coefficients: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return (self.store.n_columns, self.coefficients.shape[1])

    @property
    def dtype(self) -> np.dtype:
        return self.coefficients.dtype

    def toarray(self) -> np.ndarray:
        return self.store.transpose_times(self.index, self.coefficients)

    def columns(self, keep: np.ndarray | slice) -> DualVectors:
        return DualVectors(self.store, self.index, self.coefficients[:, keep])

    def combined(self, coefficients: np.ndarray) -> DualVectors:
        return DualVectors(self.store, self.index, self.coefficients @ coefficients)

    def projected(self, rows: Any) -> np.ndarray:
        return np.asarray((rows @ self.store.rows[self.index].T) @ self.coefficients)

    def astype(self, dtype: np.dtype) -> DualVectors:
        return self  # the rows keep their type; so do products with them

    @property
    def economical(self) -> Vectors:
        is_wide = self.store.n_columns > self.store.n_rows
        return self if is_wide else DenseVectors(self.toarray().astype(self.dtype, copy=False))

    @classmethod
    def joined(cls, parts: Sequence[DualVectors]) -> DualVectors:
        store = parts[0].store
        coefficients = np.zeros((store.n_rows, sum(p.shape[1] for p in parts)), dtype=parts[0].dtype)
        start = 0
        for part in parts:
            np.add.at(coefficients[:, start : start + part.shape[1]], part.index, part.coefficients)
            start += part.shape[1]
        return cls(store, np.arange(store.n_rows), coefficients)


@dataclass(frozen=True, eq=False)
class Directions:
    """Solutions of one quotient, strongest first, scaled so that ``vᵀNv = 1`` with the ridge included.

    Attributes
    ----------
    vectors : Vectors
        One direction a column.
    values : (r,) array
        Eigenvalues: the signal-to-noise ratio of each direction.
    residuals : (r,) array
        ``‖Sv - λNv‖ / (‖Sv‖ + |λ|‖Nv‖)``, from a product with the matrices as they were given.
    converged : bool
        Whether every residual met the tolerance.
    solver : str
        The solver that ran, also under "auto".
    noise_rank : int
        Dimension of the space searched: less than d when a singular noise was restricted to its range.
    label : str
        The quotient's label.
    """

    vectors: Vectors
    values: np.ndarray
    residuals: np.ndarray
    converged: bool
    solver: str
    noise_rank: int
    label: str = ""

    @property
    def n_directions(self) -> int:
        return len(self.values)

    def toarray(self) -> np.ndarray:
        """The directions as a dense (d, r) array."""
        return self.vectors.toarray()

    def first(self, count: int) -> Directions:
        """The first ``count`` directions."""
        return self.take(slice(0, count))

    def take(self, keep: np.ndarray | slice) -> Directions:
        """Some of the directions, in the order given."""
        return replace(
            self, vectors=self.vectors.columns(keep), values=self.values[keep], residuals=self.residuals[keep]
        )
