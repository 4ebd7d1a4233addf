"""Feature maps: univariate functions of projections, and products between them.

A map takes an (n, m) array of projections to an (n, ``n_columns(m)``) array. Columns come *function by
function*: the first function of all m projections, then the second of all m, and so on, so that every
function writes one contiguous stretch of a row. Two-sided maps have a function for the positive side and one
for the negative side of each power.

No map returns an infinity for a finite projection: magnitudes saturate where the result would pass the
square root of the largest float, far beyond anything a fitted coefficient can use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from eigenfeat._runtime.jit import jit
from eigenfeat.features.splines import SmoothSplineMap, SplineMap
from eigenfeat.stages.feature_map import FeatureMap, largest_magnitude
from eigenfeat.stages.pieces import Pieces


@dataclass(frozen=True)
class PowerMap(FeatureMap):
    """Powers of a root of the projection, one set for each side of zero.

    ``max(0, δp)^(α/2)`` for α in ``powers`` and δ in {1, -1}: the GEM paper's ψ, a piecewise polynomial in
    ``|p|^½``. With ``soft`` the root is ``sqrt(1 + max(0, δp)) - 1``, which is smooth at zero (slope ½)
    and grows alike.

    Parameters
    ----------
    powers : tuple of positive int
        The powers α of the root.
    soft : bool
        Whether the root is the one that is gentle at zero.
    name : str
        What error messages and reprs call it.

    Examples
    --------
    >>> import numpy as np
    >>> PowerMap(powers=(1, 2))(np.array([[4.0, -9.0]]))
    array([[2., 0., 0., 3., 4., 0., 0., 9.]])
    """

    powers: tuple[int, ...] = (1, 2, 3)
    soft: bool = False
    name: str = "power"

    def __post_init__(self) -> None:
        if not self.powers or any(power != int(power) or power < 1 for power in self.powers):
            raise ValueError(f"powers must be positive integers, got {self.powers!r}.")

    def n_columns(self, n_projections: int) -> int:
        return 2 * len(self.powers) * n_projections

    def write(self, projections: np.ndarray, out: np.ndarray, start: int = 0) -> None:
        limit = largest_magnitude(projections.dtype, max(self.powers) / 2)
        _write_powers(projections, _wanted(self.powers), self.soft, limit, out, start)

    def pieces(self, n_projections: int) -> PowerPieces:
        return PowerPieces(self, n_projections)

    def feature_names(self, projection_names: Sequence[str]) -> list[str]:
        root = "soft" if self.soft else "root"
        return [
            f"{name}_{side}_{root}{power}"
            for power in sorted(self.powers)
            for side in ("pos", "neg")
            for name in projection_names
        ]


class PowerPieces(Pieces):
    """A power map on either side of zero: the place is the root, piece 0 the positive side and 1 the negative."""

    n_pieces, first = 2, 1

    def __init__(self, power_map: PowerMap, n_projections: int, exponent: int = 1) -> None:
        """``exponent``: 2 for the squares of the columns."""
        powers = tuple(exponent * power for power in power_map.powers)
        self.n_powers, self._wanted = max(powers), _wanted(powers)
        self._map, self._n_projections = power_map, n_projections

    @property
    def squared(self) -> PowerPieces:
        return PowerPieces(self._map, self._n_projections, exponent=2)

    def locate(self, projections: np.ndarray, places: np.ndarray, pieces: np.ndarray) -> None:
        limit = largest_magnitude(projections.dtype, max(self._map.powers) / 2)
        _locate_roots(projections, self._map.soft, limit, places, pieces)

    def polynomials(self, coefficients: np.ndarray) -> np.ndarray:
        C = coefficients.reshape(-1, 2, self._n_projections, coefficients.shape[1])
        result = np.zeros((self._n_projections, 2, self.n_powers, C.shape[3]))
        result[:, :, self._wanted] = C.transpose(2, 1, 0, 3)
        return result

    def columns(self, powers: np.ndarray) -> np.ndarray:
        return powers[:, :, self._wanted].transpose(2, 1, 0, 3).reshape(-1, powers.shape[3])


@jit(nogil=True, fast_division=True)
def _locate_roots(projections, soft, limit, places, pieces):  # pragma: no cover - compiled
    n, m = projections.shape
    one, zero = projections.dtype.type(1), projections.dtype.type(0)
    for i in range(n):
        x, place, piece = projections[i], places[i], pieces[i]
        if soft:
            for j in range(m):
                magnitude = min(abs(x[j]), limit)
                place[j] = magnitude / (np.sqrt(one + magnitude) + one)
        else:
            for j in range(m):
                place[j] = np.sqrt(min(abs(x[j]), limit))
        for j in range(m):
            piece[j] = x[j] < zero


@lru_cache
def _wanted(powers: tuple[int, ...]) -> np.ndarray:
    return np.isin(np.arange(1, max(powers) + 1), powers)


@jit(nogil=True, fast_division=True)
def _write_powers(projections, wanted, soft, limit, out, start):  # pragma: no cover - compiled
    n, m = projections.shape
    one = projections.dtype.type(1)
    zero = projections.dtype.type(0)
    # Odd and even powers advance by the square of the root, so that even powers of |p|^½ are exact.
    square = np.empty(m, projections.dtype)
    odd = np.empty(m, projections.dtype)
    even = np.empty(m, projections.dtype)
    for i in range(n):
        p = projections[i]
        if soft:
            for j in range(m):
                magnitude = min(abs(p[j]), limit)
                odd[j] = magnitude / (np.sqrt(one + magnitude) + one)
            for j in range(m):
                square[j] = odd[j] * odd[j]
        else:
            for j in range(m):
                square[j] = min(abs(p[j]), limit)
            for j in range(m):
                odd[j] = np.sqrt(square[j])
        for j in range(m):
            even[j] = square[j]
        first = start
        for q in range(wanted.size):
            power = even if q % 2 else odd
            if q > 1:
                for j in range(m):
                    power[j] *= square[j]
            if wanted[q]:
                positive = out[i, first : first + m]
                for j in range(m):
                    positive[j] = power[j] if p[j] > zero else zero
                negative = out[i, first + m : first + 2 * m]
                for j in range(m):
                    negative[j] = power[j] if p[j] < zero else zero
                first += 2 * m


def _copy(projections: np.ndarray, out: np.ndarray) -> None:
    out[...] = projections


def _rectify(projections: np.ndarray, out: np.ndarray) -> None:
    np.maximum(projections, 0, out=out)


def _square(projections: np.ndarray, out: np.ndarray) -> None:
    np.abs(projections, out=out)
    np.minimum(out, largest_magnitude(projections.dtype, 2), out=out)
    np.multiply(out, out, out=out)


PLAIN: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "identity": _copy,
    "rectified-positive": _rectify,
    "absolute": np.abs,
    "square": _square,
}
"""Functions of one projection, by name: each fills its second argument."""


@dataclass(frozen=True)
class PlainMap(FeatureMap):
    """One column a projection: a function of `PLAIN`."""

    name: str

    def n_columns(self, n_projections: int) -> int:
        return n_projections

    def write(self, projections: np.ndarray, out: np.ndarray, start: int = 0) -> None:
        PLAIN[self.name](projections, out[:, start : start + projections.shape[1]])

    def feature_names(self, projection_names: Sequence[str]) -> list[str]:
        return [name if self.name == "identity" else f"{name}_{self.name}" for name in projection_names]


@dataclass(frozen=True)
class ProductMap(FeatureMap):
    """Another map's columns, then products of pairs of projections.

    Parameters
    ----------
    base : FeatureMap
        What each projection gives on its own.
    pairs : tuple of (int, int), optional
        Which products; all pairs of different projections when not given.
    """

    base: FeatureMap
    pairs: tuple[tuple[int, int], ...] | None = None
    name: str = "products"

    is_pointwise = False

    def n_columns(self, n_projections: int) -> int:
        return self.base.n_columns(n_projections) + len(self._pairs(n_projections))

    @property
    def learns(self) -> bool:
        return self.base.learns

    def fit(self, projections: np.ndarray) -> ProductMap:
        return replace(self, base=self.base.fit(projections))

    def write(self, projections: np.ndarray, out: np.ndarray, start: int = 0) -> None:
        self.base.write(projections, out, start)
        edge = start + self.base.n_columns(projections.shape[1])
        first, second = self._pairs(projections.shape[1]).T
        limit = largest_magnitude(projections.dtype, 2)
        clipped = np.clip(projections, -limit, limit)
        np.multiply(clipped[:, first], clipped[:, second], out=out[:, edge : edge + len(first)])

    def feature_names(self, projection_names: Sequence[str]) -> list[str]:
        products = [f"{projection_names[i]}_x_{projection_names[j]}" for i, j in self._pairs(len(projection_names))]
        return self.base.feature_names(projection_names) + products

    def _pairs(self, n_projections: int) -> np.ndarray:
        pairs = combinations(range(n_projections), 2) if self.pairs is None else self.pairs
        return np.array(list(pairs), dtype=np.intp).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class CallableMap(FeatureMap):
    """A user's function of the (n, m) projections; it must treat every row alike.

    Parameters
    ----------
    function : callable
        ``function(projections) -> (n, c) array``.
    width : int, optional
        c, which ``fit`` finds by calling the function on two rows.
    """

    function: Callable[[np.ndarray], np.ndarray]
    width: int | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def learns(self) -> bool:
        return False  # but the width, which any two rows tell

    is_pointwise = False  # for all that is known

    def n_columns(self, n_projections: int) -> int:
        if self.width is None:
            return self.fit(np.zeros((2, n_projections))).n_columns(n_projections)
        return self.width

    def fit(self, projections: np.ndarray) -> CallableMap:
        result = np.asarray(self.function(projections[:2]))
        if result.ndim != 2 or len(result) != len(projections[:2]):
            raise ValueError(
                f"The feature map {self.name!r} turned projections of shape {projections[:2].shape} into "
                f"shape {result.shape}; it must return an array of as many rows with a column a feature."
            )
        return replace(self, width=result.shape[1])

    def write(self, projections: np.ndarray, out: np.ndarray, start: int = 0) -> None:
        out[:, start : start + self.n_columns(projections.shape[1])] = self.function(projections)

    def feature_names(self, projection_names: Sequence[str]) -> list[str]:
        return [f"{self.name}{c}" for c in range(self.n_columns(len(projection_names)))]


FEATURE_MAPS: dict[str, FeatureMap] = {
    "cubic": PowerMap((1, 2, 3), name="cubic"),
    "soft-cubic": PowerMap((1, 2, 3), soft=True, name="soft-cubic"),
    "rectified": PowerMap((2,), name="rectified"),
    "rectified-positive": PlainMap("rectified-positive"),
    "sqrt": PowerMap((1,), name="sqrt"),
    "square": PlainMap("square"),
    "absolute": PlainMap("absolute"),
    "spline": SplineMap(),
    "smooth-spline": SmoothSplineMap(),
    "identity": PlainMap("identity"),
}


def as_feature_map(chosen: str | FeatureMap | Callable[[np.ndarray], np.ndarray]) -> FeatureMap:
    """The map a user means by a name, a map or a function of the projections.

    Examples
    --------
    >>> as_feature_map("rectified")
    PowerMap(powers=(2,), soft=False, name='rectified')
    """
    if isinstance(chosen, FeatureMap):
        return chosen
    if isinstance(chosen, str) and chosen in FEATURE_MAPS:
        return FEATURE_MAPS[chosen]
    if callable(chosen):
        return CallableMap(chosen)
    raise ValueError(
        f"feature_map={chosen!r} is not known. Give one of {', '.join(map(repr, FEATURE_MAPS))}, a "
        "FeatureMap such as PowerMap(powers=(1, 2), soft=True), or a function of the (n, m) projections."
    )
