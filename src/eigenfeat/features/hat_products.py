"""Products of hat functions of two projections: a piecewise bilinear surface over every pair of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from eigenfeat._compiled import compiled
from eigenfeat.stages.feature_map import FeatureMap

WEIGHT = 2.0
"""What products are multiplied by, so that a penalty on coefficients bends surfaces about as readily as curves."""


@dataclass(frozen=True, eq=False)
class HatProductMap(FeatureMap):
    """Another map's columns, then the products of hat functions of every two projections.

    A hat function is one at its knot and falls to zero at the neighbouring ones, so the products over a pair of
    projections are the basis of piecewise bilinear functions on a grid: an interaction of any shape. Beyond the outer
    knots the value at the knot holds.

    Parameters
    ----------
    base : FeatureMap
        What each projection gives on its own.
    n_knots : int
        Knots a projection, the outer two included.
    knots : (n_projections, n_knots) array, optional
        What ``fit`` learns: quantiles of the training projections.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.features.maps import FEATURE_MAPS
    >>> surface = HatProductMap(FEATURE_MAPS["identity"], 2, np.array([[0.0, 1.0], [0.0, 1.0]]))
    >>> surface(np.array([[0.25, 1.0]]))
    array([[0.25, 1.  , 0.  , 1.5 , 0.  , 0.5 ]])
    """

    base: FeatureMap
    n_knots: int = 5
    knots: np.ndarray | None = None
    name: str = "hat-products"

    is_pointwise = False

    def n_columns(self, n_projections: int) -> int:
        n_pairs = n_projections * (n_projections - 1) // 2
        return self.base.n_columns(n_projections) + n_pairs * self.n_knots**2

    @property
    def learns(self) -> bool:
        return True

    def fit(self, projections: np.ndarray) -> HatProductMap:
        knots = np.quantile(projections, np.linspace(0, 1, self.n_knots), axis=0).T
        knots = np.ascontiguousarray(knots.astype(projections.dtype))
        return replace(self, base=self.base.fit(projections), knots=knots)

    def write(self, projections: np.ndarray, out: np.ndarray, start: int = 0) -> None:
        if self.knots is None:
            raise ValueError("The map has no knots yet: call fit with training projections first.")
        self.base.write(projections, out, start)
        first = start + self.base.n_columns(projections.shape[1])
        _write_products(projections, self.knots.astype(out.dtype, copy=False), out.dtype.type(WEIGHT), out, first)

    def feature_names(self, projection_names: Sequence[str]) -> list[str]:
        places = [(a, b) for a in range(self.n_knots) for b in range(self.n_knots)]
        products = [f"{p}_x_{q}_hat{a}_{b}" for p, q in combinations(projection_names, 2) for a, b in places]
        return self.base.feature_names(projection_names) + products


@compiled(nogil=True, fast_division=True)
def _write_products(projections, knots, weight, out, start):  # pragma: no cover - compiled
    n, m = projections.shape
    q = knots.shape[1]
    out[:, start : start + m * (m - 1) // 2 * q * q] = 0
    piece = np.empty(m, np.intp)
    place = np.empty(m, out.dtype)  # between two knots, from 0 to 1
    for i in range(n):
        for j in range(m):
            x = min(max(projections[i, j], knots[j, 0]), knots[j, q - 1])
            k = 0
            for t in range(1, q - 1):
                k += x >= knots[j, t]
            length = knots[j, k + 1] - knots[j, k]
            piece[j] = k
            place[j] = (x - knots[j, k]) / length if length > 0 else out.dtype.type(0)
        at = start
        for a in range(m):
            for b in range(a + 1, m):
                corner = at + piece[a] * q + piece[b]
                high = weight * place[a]
                low = weight - high
                out[i, corner] = low - low * place[b]
                out[i, corner + 1] = low * place[b]
                out[i, corner + q] = high - high * place[b]
                out[i, corner + q + 1] = high * place[b]
                at += q * q
