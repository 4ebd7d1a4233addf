"""What a solver returns: directions, their eigenvalues, and how far to trust them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenfeat.moments.gram import GramCache
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.canonical import orientation, passes_threshold, relative_residuals
from eigenfeat.solvers.contract import Request
from eigenfeat.solvers.noise import BasisNoise, NoiseFactor, WoodburyNoise


@dataclass(frozen=True, eq=False)
class DenseVectors:
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
        """``V @ coefficients``: other directions in the same span."""
        return DenseVectors(self.array @ coefficients)

    def projected(self, rows: Any) -> np.ndarray:
        """``rows @ V`` for dense or sparse rows."""
        return np.asarray(rows @ self.array)

    def astype(self, dtype: np.dtype) -> DenseVectors:
        return self if self.dtype == dtype else DenseVectors(self.array.astype(dtype))

    @property
    def economical(self) -> DenseVectors:
        return self

    @classmethod
    def joined(cls, parts: Sequence[Any]) -> DenseVectors:
        return cls(np.concatenate([part.array for part in parts], axis=1))


@dataclass(frozen=True, eq=False)
class DualVectors:
    """Directions ``V = X[index]ᵀ coefficients``; V, whose columns may be many, is formed for `toarray` alone."""

    rows: GramCache
    index: np.ndarray
    coefficients: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return (self.rows.n_columns, self.coefficients.shape[1])

    @property
    def dtype(self) -> np.dtype:
        return self.coefficients.dtype

    def toarray(self) -> np.ndarray:
        return self.rows.transpose_times(self.index, self.coefficients)

    def columns(self, keep: np.ndarray | slice) -> DualVectors:
        return DualVectors(self.rows, self.index, self.coefficients[:, keep])

    def combined(self, coefficients: np.ndarray) -> DualVectors:
        return DualVectors(self.rows, self.index, self.coefficients @ coefficients)

    def projected(self, rows: Any) -> np.ndarray:
        return np.asarray((rows @ self.rows.X[self.index].T) @ self.coefficients)

    def astype(self, dtype: np.dtype) -> DualVectors:
        return self  # the rows keep their type; so do products with them

    @property
    def economical(self) -> Vectors:
        """The same in the form that takes less memory and time to project on."""
        is_wide = self.rows.n_columns > self.rows.n_rows
        return self if is_wide else DenseVectors(self.toarray().astype(self.dtype, copy=False))

    @classmethod
    def joined(cls, parts: Sequence[Any]) -> DualVectors:
        rows = parts[0].rows
        coefficients = np.zeros((rows.n_rows, sum(p.shape[1] for p in parts)), dtype=parts[0].dtype)
        start = 0
        for part in parts:
            np.add.at(coefficients[:, start : start + part.shape[1]], part.index, part.coefficients)
            start += part.shape[1]
        return cls(rows, np.arange(rows.n_rows), coefficients)


Vectors = DenseVectors | DualVectors
"""r directions in a space of d columns: both kinds answer the same questions."""


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
        True if every residual met the tolerance.
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


def finish(
    quotients: Sequence[Quotient],
    vectors: np.ndarray,
    values: np.ndarray,
    request: Request,
    solver: str,
    noise: NoiseFactor | WoodburyNoise,
    products: tuple[np.ndarray, np.ndarray] | None = None,
) -> list[Directions]:
    """Directions of m quotients from (m, d, r) eigenvectors and (m, r) eigenvalues in their final order.

    Residuals come from products with the matrices as given; where the noise was restricted to its range, from their
    part in that range, for outside it the equation does not hold. A solver that has the ``products`` SV and NV passes
    them. A direction whose value is not a number is left out.
    """
    if products is None:
        NV = side_by_side(quotients[0].noise.__matmul__, vectors)
        SV = np.stack([q.signal @ v for q, v in zip(quotients, vectors)])
    else:
        SV, NV = products
    square = np.einsum("mij,mij->mj", vectors, NV)[:, None, :]
    scale = np.sqrt(np.where(square > 0, square, 1.0)).astype(vectors.dtype, copy=False)
    vectors, SV, NV = vectors / scale, SV / scale, NV / scale
    if isinstance(noise, BasisNoise) and noise.restricted:
        SV, NV = noise.whiten(SV), noise.whiten(NV)
    residuals = relative_residuals(SV, NV, values, spectrum_scale(quotients, values, request))
    vectors = vectors * orientation(vectors, [q.references for q in quotients])[:, None, :]
    directions = [DenseVectors(v) for v in vectors.astype(request.dtype, copy=False)]
    return as_directions(quotients, directions, values, residuals, request, solver, noise.rank)


def side_by_side(function: Callable[[np.ndarray], np.ndarray], stack: np.ndarray) -> np.ndarray:
    """A function of columns on those of all m problems of a stack, (m, d, r), at once."""
    m, d, r = stack.shape
    flat = function(stack.transpose(1, 0, 2).reshape(d, m * r))
    return flat.reshape(len(flat), m, r).transpose(1, 0, 2)


def spectrum_scale(quotients: Sequence[Quotient], values: np.ndarray, request: Request) -> np.ndarray:
    """What a large eigenvalue of each problem is: the first from the top, the mean quotient tr S / tr N from below."""
    if request.largest:
        return np.where(np.isnan(values), 0.0, np.abs(values)).max(axis=1, initial=0.0)
    return np.array([q.signal.trace() for q in quotients]) / quotients[0].noise.trace()


def as_directions(
    quotients: Sequence[Quotient],
    vectors: Sequence[Vectors],
    values: np.ndarray,
    residuals: np.ndarray,
    request: Request,
    solver: str,
    noise_rank: int,
) -> list[Directions]:
    """Directions of every problem, those that reach the threshold."""
    values = values.astype(request.dtype, copy=False)
    keep = passes_threshold(values, request)
    whole = np.all(keep, axis=1)
    below: np.ndarray = np.where(keep, residuals, 0.0).max(axis=1, initial=0.0) <= request.tol
    results = []
    for i, quotient in enumerate(quotients):
        columns = slice(None) if whole[i] else np.flatnonzero(keep[i])
        results.append(
            Directions(
                vectors=vectors[i].columns(columns),
                values=values[i, columns],
                residuals=residuals[i, columns],
                converged=bool(below[i]),
                solver=solver,
                noise_rank=noise_rank,
                label=quotient.label,
            )
        )
    return results
