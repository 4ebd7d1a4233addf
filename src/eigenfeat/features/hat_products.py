"""Products of hat functions of two projections: a piecewise bilinear surface over pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from eigenfeat._runtime.jit import jit
from eigenfeat.stages.feature_map import FeatureMap

WEIGHT = 2.0
"""What products are multiplied by, so that a penalty on coefficients bends surfaces about as readily as curves."""


@dataclass(frozen=True, eq=False)
class HatProductMap(FeatureMap):
    """Another map's columns, then the products of hat functions of two projections, for pairs of them.

    A hat function is one at its knot and falls to zero at the neighbouring ones, so the products over a pair of
    projections are the basis of piecewise bilinear functions on a grid: an interaction of any shape. Beyond the outer
    knots the value at the knot holds.

    Parameters
    ----------
    base : FeatureMap
        What each projection gives on its own.
    n_knots : int
        Knots a projection at most, the outer two included.
    knots : (n_projections, n_knots) array, optional
        What ``fit`` learns: quantiles of the training projections.
    n_hats : (n_projections,) array of int, optional
        Of the knots of a projection so many, the first, are different, as of a column of few values; all by default.
    pairs : (n_pairs, 2) array of int, optional
        Projections that get surfaces together; every two by default.
    n_base : int, optional
        Projections that ``base`` is given, the first; all by default.

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
    n_hats: np.ndarray | None = None
    pairs: np.ndarray | None = None
    n_base: int | None = None
    name: str = "hat-products"

    is_pointwise = False

    def n_columns(self, n_projections: int) -> int:
        return self.base.n_columns(self.n_bent(n_projections)) + int(self.grids(n_projections)[2][-1])

    def n_bent(self, n_projections: int) -> int:
        """Projections that the base is given."""
        return n_projections if self.n_base is None else self.n_base

    def grids(self, n_projections: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(p, 2) pairs, hats of each of the projections, and where the columns of each pair start and the last end."""
        every = combinations(range(n_projections), 2)
        pairs = np.array(list(every), dtype=np.intp).reshape(-1, 2) if self.pairs is None else self.pairs
        hats = np.full(n_projections, self.n_knots, dtype=np.intp) if self.n_hats is None else self.n_hats
        return pairs, hats, np.append(0, np.cumsum(hats[pairs].prod(axis=1))).astype(np.intp)

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
        n_projections = projections.shape[1]
        n_bent = self.n_bent(n_projections)
        self.base.write(np.ascontiguousarray(projections[:, :n_bent]), out, start)
        first = start + self.base.n_columns(n_bent)
        knots = self.knots.astype(out.dtype, copy=False)
        _write_products(projections, knots, *self.grids(n_projections), out.dtype.type(WEIGHT), out, first)

    def feature_names(self, projection_names: Sequence[str]) -> list[str]:
        pairs, hats, _ = self.grids(len(projection_names))
        products = [
            f"{projection_names[i]}_x_{projection_names[j]}_hat{a}_{b}"
            for i, j in pairs.tolist()
            for a in range(hats[i])
            for b in range(hats[j])
        ]
        return self.base.feature_names(projection_names[: self.n_bent(len(projection_names))]) + products


@jit(nogil=True, fast_division=True)
def _write_products(projections, knots, pairs, hats, starts, weight, out, start):  # pragma: no cover - compiled
    n, m = projections.shape
    out[:, start : start + starts[-1]] = 0
    piece = np.empty(m, np.intp)
    place = np.empty(m, out.dtype)  # between two knots, from 0 to 1
    for i in range(n):
        for j in range(m):
            q = hats[j]
            x = min(max(projections[i, j], knots[j, 0]), knots[j, q - 1])
            k = 0
            for t in range(1, q - 1):
                k += x >= knots[j, t]
            length = knots[j, k + 1] - knots[j, k]
            piece[j] = k
            place[j] = (x - knots[j, k]) / length if length > 0 else out.dtype.type(0)
        for p in range(len(pairs)):
            a, b = pairs[p]
            q = hats[b]
            corner = start + starts[p] + piece[a] * q + piece[b]
            high = weight * place[a]
            low = weight - high
            out[i, corner] = low - low * place[b]
            out[i, corner + 1] = low * place[b]
            out[i, corner + q] = high - high * place[b]
            out[i, corner + q + 1] = high * place[b]
