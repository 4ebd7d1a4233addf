"""Splines of projections: a B-spline basis with knots at quantiles, evaluated as polynomial pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from eigenfeat._runtime.jit import jit
from eigenfeat.features.spline_kernels import locate
from eigenfeat.stages.feature_map import FeatureMap
from eigenfeat.stages.pieces import Pieces


@dataclass(frozen=True, eq=False)
class SplineMap(FeatureMap):
    """A B-spline basis on each projection, with knots at quantiles of the training projections.

    ``n_knots + degree - 1`` functions that sum to one; beyond the outer knots the value at the knot holds.

    Parameters
    ----------
    n_knots : int
        Knots a projection, the outer two included.
    degree : int
        Degree of the polynomial pieces.
    knots : (n_projections, n_knots + 2 degree) array, optional
        What ``fit`` learns: the knot vectors, the outer knots repeated as far as the degree asks.
    """

    n_knots: int = 5
    degree: int = 3
    knots: np.ndarray | None = None
    name: str = "spline"

    def n_columns(self, n_projections: int) -> int:
        return (self.n_knots + self.degree - 1) * n_projections

    def fit(self, projections: np.ndarray) -> SplineMap:
        inner = np.quantile(projections, np.linspace(0, 1, self.n_knots), axis=0).T
        return self.with_knots(inner.astype(projections.dtype))

    def with_knots(self, inner: np.ndarray) -> SplineMap:
        """With these knots, (n_projections, n_knots), ascending."""
        return replace(self, knots=np.pad(inner, ((0, 0), (self.degree, self.degree)), mode="edge"))

    def write(self, projections: np.ndarray, out: np.ndarray, start: int = 0) -> None:
        if self.knots is None:
            raise ValueError("The spline map has no knots yet: call fit with training projections first.")
        inner = self.knots[:, self.degree : self.degree + self.n_knots]
        _write_splines(projections, inner, self._pieces.astype(out.dtype, copy=False), out, start)

    def pieces(self, n_projections: int) -> SplinePieces:
        return SplinePieces(self)

    def feature_names(self, projection_names: Sequence[str]) -> list[str]:
        n_functions = self.n_columns(1)
        return [f"{name}_spline{b}" for b in range(n_functions) for name in projection_names]

    @cached_property
    def _pieces(self) -> np.ndarray:
        """The functions that are not zero between two knots, as polynomials of the place in between, from 0 to 1.

        (n_projections, n_knots - 1, degree + 1 powers, degree + 1 functions), by Cox and de Boor's recursion.
        """
        assert self.knots is not None
        t, degree, n_pieces = self.knots.astype(np.float64), self.degree, self.n_knots - 1
        at = lambda shift: t[:, degree + shift : degree + shift + n_pieces, None]  # noqa: E731
        length = at(1) - at(0)
        B = np.zeros((len(t), n_pieces, degree + 1, degree + 1))
        B[:, :, 0, 0] = 1
        for r in range(1, degree + 1):
            carried = np.zeros(B.shape[:3])
            for s in range(r):
                left, right = at(s + 1 - r), at(s + 1)
                share = np.divide(B[..., s], right - left, out=np.zeros(B.shape[:3]), where=right > left)
                higher = length * np.roll(share, 1, axis=2)  # the power it had left is zero: the degree is below
                B[..., s] = carried + (right - at(0)) * share - higher
                carried = (at(0) - left) * share + higher
            B[..., r] = carried
        constant = t[:, -1] <= t[:, 0]  # nothing to tell apart, one function holds it
        B[constant] = 0
        B[constant, :, 0, 0] = 1
        return B.astype(self.knots.dtype)


@dataclass(frozen=True, eq=False)
class SmoothSplineMap(FeatureMap):
    """Splines in coordinates in which a ridge penalises roughness: P-splines (Eilers & Marx 1996) for the logit.

    With c the coefficients of the B-splines of one projection and D the matrix of second differences, the columns are
    ``B (I + penalty DᵀD)^-½``: a ridge ``α‖θ‖²`` on their coefficients is ``α (‖c‖² + penalty ‖Dc‖²)`` on c. Functions
    stay those of `SplineMap`; curved ones cost more. At zero the map is `SplineMap` itself.

    Parameters
    ----------
    splines : SplineMap
        The basis; a penalty lets it have more knots.
    penalty : float
        Of second differences, beside one of the coefficients themselves.

    Examples
    --------
    >>> from eigenfeat import GEMClassifier
    >>> from eigenfeat.features.maps import SmoothSplineMap, SplineMap
    >>> GEMClassifier(2, feature_map=SmoothSplineMap(SplineMap(n_knots=10), penalty=5.0)).feature_map.n_columns(2)
    24
    """

    splines: SplineMap = SplineMap(n_knots=10)
    penalty: float = 10.0
    name: str = "smooth-spline"

    def n_columns(self, n_projections: int) -> int:
        return self.splines.n_columns(n_projections)

    def fit(self, projections: np.ndarray) -> SmoothSplineMap:
        return replace(self, splines=self.splines.fit(projections))

    def write(self, projections: np.ndarray, out: np.ndarray, start: int = 0) -> None:
        n, m = projections.shape
        functions = self.splines(projections).reshape(n, -1, m)
        smoothed = self._smoothing.astype(out.dtype) @ functions
        out[:, start : start + self.n_columns(m)] = smoothed.reshape(n, -1)

    def feature_names(self, projection_names: Sequence[str]) -> list[str]:
        return [name.replace("_spline", "_smooth") for name in self.splines.feature_names(projection_names)]

    @cached_property
    def _smoothing(self) -> np.ndarray:
        """``(I + penalty DᵀD)^-½``, symmetric."""
        differences = np.diff(np.eye(self.splines.n_columns(1)), 2, axis=0)
        values, vectors = np.linalg.eigh(differences.T @ differences)
        return (vectors / np.sqrt(1 + self.penalty * np.maximum(values, 0))) @ vectors.T


class SplinePieces(Pieces):
    """A fitted spline map between its knots: a column is ``Σ_q piece[q, s] z^q`` in the pieces where it is not zero."""

    first = 0

    def __init__(self, fitted: SplineMap, functions: np.ndarray | None = None) -> None:
        """``functions``: others than those of the map, such as their squares."""
        assert fitted.knots is not None
        self._fitted = fitted
        # (n_projections, n_pieces, n_powers, functions that are not zero in a piece)
        self._functions = fitted._pieces.astype(np.float64) if functions is None else functions
        self.n_pieces, self.n_powers = self._functions.shape[1:3]
        self._knots = np.ascontiguousarray(fitted.knots[:, fitted.degree : fitted.degree + fitted.n_knots].T)
        length = np.diff(self._knots, axis=0)
        self._per_length = np.divide(1, length, out=np.zeros_like(length), where=length > 0)

    @property
    def squared(self) -> SplinePieces:
        B, P = self._functions, self.n_powers
        squares = np.zeros((*B.shape[:2], 2 * P - 1, B.shape[3]))
        for q in range(P):
            squares[:, :, q : q + P] += B[:, :, q, None] * B
        return SplinePieces(self._fitted, squares)

    def locate(self, projections: np.ndarray, places: np.ndarray, pieces: np.ndarray) -> None:
        own = projections.dtype
        locate(
            projections, self._knots.astype(own, copy=False), self._per_length.astype(own, copy=False), places, pieces
        )

    def polynomials(self, coefficients: np.ndarray) -> np.ndarray:
        C = coefficients.reshape(-1, len(self._functions), coefficients.shape[1])
        result = np.empty((*self._functions.shape[:3], C.shape[2]))
        for p in range(self.n_pieces):
            result[:, p] = self._functions[:, p] @ C[p : p + self._functions.shape[3]].transpose(1, 0, 2)
        return result

    def columns(self, powers: np.ndarray) -> np.ndarray:
        width = self._functions.shape[3]
        C = np.zeros((self.n_pieces + width - 1, len(powers), powers.shape[3]))
        for p in range(self.n_pieces):
            C[p : p + width] += (self._functions[:, p].transpose(0, 2, 1) @ powers[:, p]).transpose(1, 0, 2)
        return C.reshape(-1, powers.shape[3])


@jit(nogil=True, fast_division=True)
def _write_splines(projections, inner, pieces, out, start):  # pragma: no cover - compiled
    n, m = projections.shape
    last = inner.shape[1] - 2
    top = pieces.shape[2] - 1
    out[:, start : start + (last + 1 + top) * m] = 0
    for i in range(n):
        for j in range(m):
            x = min(max(projections[i, j], inner[j, 0]), inner[j, last + 1])
            k = 0
            for q in range(1, last + 1):
                k += x >= inner[j, q]
            length = inner[j, k + 1] - inner[j, k]
            z = (x - inner[j, k]) / length if length > 0 else out.dtype.type(0)
            piece = pieces[j, k]
            at = start + k * m + j
            if top == 3:  # the default, unrolled: twice as fast
                for s in range(4):
                    out[i, at + s * m] = ((piece[3, s] * z + piece[2, s]) * z + piece[1, s]) * z + piece[0, s]
            else:
                for s in range(top + 1):
                    value = piece[top, s]
                    for power in range(top - 1, -1, -1):
                        value = value * z + piece[power, s]
                    out[i, at + s * m] = value
