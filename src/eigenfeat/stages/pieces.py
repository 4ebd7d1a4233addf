"""Features that are polynomials of their projection, a piece at a time: products with them without forming them.

A spline of twelve knots makes 14 numbers of a projection, of which 4 are not zero; powers of two sides make 6, of
which 3 are. In terms of the place z within a piece, scores are polynomials whose coefficients follow from those of the
columns by a small linear map, once a pass; gradients are sums of powers of z, mapped back by its transpose.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import copy

import numpy as np

from eigenfeat.stages.piece_kernels import add_powers, add_scores, drain

MAX_CLASSES = 32
"""Above so many, products with formed rows are as quick: matrix products have work enough to be efficient."""
WIDTHS = (4, 8, 16, 24, MAX_CLASSES)
"""Numbers of classes that loops are compiled for; others are rounded up."""
CACHE_LINE = 64
"""Bytes."""


class Pieces(ABC):
    """How the columns of a map of single projections are made of ``z^first, ..., z^(first + n_powers - 1)``.

    Attributes
    ----------
    n_pieces, n_powers : int
    first : int
        The lowest power, 0 or 1.
    """

    n_pieces: int
    n_powers: int
    first: int

    @abstractmethod
    def locate(self, projections: np.ndarray, places: np.ndarray, pieces: np.ndarray) -> None:
        """Fill places z and the numbers (uint8) of their pieces, all (n, m) and C-contiguous."""

    @abstractmethod
    def polynomials(self, coefficients: np.ndarray) -> np.ndarray:
        """(m, n_pieces, n_powers, k) coefficients of powers from (n_columns, k) of columns."""

    @abstractmethod
    def columns(self, powers: np.ndarray) -> np.ndarray:
        """The transpose of ``polynomials``."""

    @property
    @abstractmethod
    def squared(self) -> Pieces:
        """The squares of the columns, of twice the degree."""


class PieceProducts:
    """Products of the columns of a map, some rows at a time: their scores, and sums back over them.

    Parameters
    ----------
    pieces : Pieces
    coefficients : (n_columns, k) array
    """

    def __init__(self, pieces: Pieces, coefficients: np.ndarray) -> None:
        self.pieces, self.n_classes, self.dtype = pieces, coefficients.shape[1], coefficients.dtype
        lanes = next(width for width in WIDTHS if width >= self.n_classes)
        polynomials = pieces.polynomials(coefficients.astype(np.float64))
        self._coefficients = _aligned_zeros((*polynomials.shape[:3], lanes), self.dtype)
        self._coefficients[..., : self.n_classes] = polynomials
        self._sizes = (0,) * lanes, (0,) * pieces.n_powers, (0,) * pieces.first
        self._empty()

    def _empty(self) -> None:
        self._places, self._numbers = np.empty((0, 0), self.dtype), np.empty((0, 0), np.uint8)
        # By zeros(), whose memory costs nothing before it is written to: scores alone need no sums.
        shape = self._coefficients.shape
        self._sums, self._total = _aligned_zeros(shape, self.dtype), np.zeros(shape)

    def anew(self) -> PieceProducts:
        """The same coefficients with sums and buffers of their own, for another thread."""
        other = copy(self)
        other._empty()
        return other

    def scores(self, projections: np.ndarray) -> np.ndarray:
        """(n, k), of which nothing else refers to."""
        projections = np.ascontiguousarray(projections)
        if self._places.shape != projections.shape:  # fresh memory is slow to touch for the first time
            self._places = np.empty(projections.shape, self.dtype)
            self._numbers = np.empty(projections.shape, np.uint8)
        self.pieces.locate(projections, self._places, self._numbers)
        padded = _aligned_zeros((len(projections), self._coefficients.shape[-1]), self.dtype)
        add_scores(self._places, self._numbers, self._coefficients, padded, *self._sizes)
        return padded[:, : self.n_classes].copy()

    def add(self, values: np.ndarray) -> None:
        """Adds what the rows whose scores were last asked for give with these (n, k) values."""
        padded = _aligned_zeros((len(values), self._coefficients.shape[-1]), self.dtype)
        padded[:, : self.n_classes] = values
        add_powers(self._places, self._numbers, self._sums, padded, *self._sizes)
        drain(self._sums.reshape(-1), self._total.reshape(-1))

    def merge(self, other: PieceProducts) -> None:
        """Adds the sums of others with the same coefficients."""
        self._total += other._total

    def total(self) -> np.ndarray:
        """(n_columns, k), in float64."""
        return self.pieces.columns(self._total[..., : self.n_classes])


def _aligned_zeros(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeros that start where a line of the cache does: a vector of classes that spans two takes half as long again."""
    n_bytes = math.prod(shape) * dtype.itemsize
    memory = np.zeros(n_bytes + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + n_bytes].view(dtype).reshape(shape)
