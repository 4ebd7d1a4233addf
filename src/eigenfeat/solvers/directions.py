"""What a solver returns: directions, their values, and how far to trust them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenfeat.moments.rows import RowStore


@dataclass(frozen=True, eq=False)
class DualVectors:
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


@dataclass(frozen=True, eq=False)
class Directions:
    """Solutions of one quotient, strongest first, scaled so that ``vᵀNv = 1`` with the ridge included.

    Attributes
    ----------
    vectors : (d, r) array or DualVectors
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

    vectors: np.ndarray | DualVectors
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
        return self.vectors.toarray() if isinstance(self.vectors, DualVectors) else self.vectors

    def first(self, count: int) -> Directions:
        """The first ``count`` directions."""
        keep = slice(0, count)
        dual = isinstance(self.vectors, DualVectors)
        vectors = self.vectors.columns(keep) if dual else self.vectors[:, keep]  # type: ignore[union-attr,index]
        return replace(self, vectors=vectors, values=self.values[keep], residuals=self.residuals[keep])
