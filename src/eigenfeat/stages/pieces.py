"""Features that are polynomials of their projection, a piece at a time: products with them without forming them.

A spline of twelve knots makes 14 numbers of a projection, of which 4 are not zero; powers of two sides make 6, of
which 3 are. In terms of the place z within a piece, scores are polynomials whose coefficients follow from those of the
columns by a small linear map, once a pass; gradients are sums of powers of z, mapped back by its transpose.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass

import numpy as np

from eigenfeat.stages.piece_kernels import VECTOR_BYTES, add_powers, add_scores, drain

MAX_CLASSES = 32
"""Above so many, products with formed rows are as quick: matrix products have work enough to be efficient."""
MOST_PACKED = 8
"""Vectors at most of a line that is packed: its sums are as many."""
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
        self._line = Line.of(self.n_classes, pieces.n_powers, self.dtype)
        polynomials = pieces.polynomials(coefficients.astype(np.float64))
        self._coefficients = _aligned_zeros((*polynomials.shape[:2], self._line.length), self.dtype)
        self._line.classes_of(self._coefficients)[...] = polynomials
        self._sizes = (0,) * self._line.segment, (0,) * pieces.n_powers, (0,) * pieces.first
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
        padded = _aligned_zeros((len(projections), self._line.width), self.dtype)
        add_scores(self._places, self._numbers, self._coefficients, padded, *self._sizes)
        return self._line.classes_of(padded).sum(axis=1)

    def add(self, values: np.ndarray) -> None:
        """Adds what the rows whose scores were last asked for give with these (n, k) values."""
        padded = _aligned_zeros((len(values), self._line.width), self.dtype)
        self._line.classes_of(padded)[...] = values[:, None]
        add_powers(self._places, self._numbers, self._sums, padded, *self._sizes)
        drain(self._sums.reshape(-1), self._total.reshape(-1))

    def merge(self, other: PieceProducts) -> None:
        """Adds the sums of others with the same coefficients."""
        self._total += other._total

    def total(self) -> np.ndarray:
        """(n_columns, k), in float64."""
        return self.pieces.columns(self._line.classes_of(self._total))


@dataclass(frozen=True)
class Line:
    """How the coefficients of a piece stand in memory (`eigenfeat.stages.piece_kernels`).

    Attributes
    ----------
    n_classes, n_powers : int
    segment : int
        Numbers of one power: the classes and, after them, what is left over.
    length : int
        Numbers of all powers and what is left over.
    width : int
        Of a row of scores: a line where it is packed, a segment otherwise.
    """

    n_classes: int
    n_powers: int
    segment: int
    length: int
    width: int

    @classmethod
    def of(cls, n_classes: int, n_powers: int, dtype: np.dtype) -> Line:
        """The shortest of whole vectors; of packed ones with the longest segments, so that few have to be compiled."""
        size = VECTOR_BYTES // dtype.itemsize
        segment = -(-n_classes // size) * size
        packed = -(-n_classes * n_powers // size) * size
        if packed < n_powers * segment and packed <= MOST_PACKED * size:
            return cls(n_classes, n_powers, packed // n_powers, packed, packed)
        return cls(n_classes, n_powers, segment, n_powers * segment, segment)

    def classes_of(self, lines: np.ndarray) -> np.ndarray:
        """A view of lines, or of rows of scores, as (..., powers or one, classes)."""
        n_parts = min(self.n_powers, lines.shape[-1] // self.segment)
        parts = lines[..., : n_parts * self.segment].reshape(*lines.shape[:-1], n_parts, self.segment)
        return parts[..., : self.n_classes]


def _aligned_zeros(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeros that start where a line of the cache does: a vector of classes that spans two takes half as long again."""
    n_bytes = math.prod(shape) * dtype.itemsize
    memory = np.zeros(n_bytes + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + n_bytes].view(dtype).reshape(shape)
