"""Columns as functions of their own: the basis that lets a linear method see curves and, in pairs, surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from eigenfeat.features.column_summary import FEWEST_VALUES, ColumnSummary
from eigenfeat.features.hat_products import HatProductMap
from eigenfeat.features.splines import SplineMap
from eigenfeat.rows.sampling import RowSample
from eigenfeat.stages import Affine, FeatureLayer, FeatureMap

BASIS_COLUMNS = 600
"""Columns that splines and surfaces make at most: the number of knots of surfaces follows. Half as many have 0.7 % more
log loss, twice as many 1.8 % less in 1.3 times the time (benchmarks/gem_constants.py --only BASIS_COLUMNS ...)."""

FEWEST_KNOTS, MOST_KNOTS = 3, 9
"""Knots a column of surfaces; with fewer than three there is none but a plane."""

FEWEST_OF_CHOSEN = 5
"""The same of chosen pairs: rather fewer pairs than coarser surfaces."""

FEWEST_BENT = 3
"""Different values from which a column is more than a line: splines tell three or four, as codes have, all apart."""

MOST_CODES = 8
"""Different values up to which a column may hold codes: as many as splines of the usual knots tell apart."""

Pairs = Sequence[tuple[int, int]]
"""Two columns each, by their place in a table."""


def column_basis(sample: RowSample, n_knots: int, pairs: Pairs = ()) -> FeatureLayer:
    """``[x · scale, splines of x, products of hats of pairs of x]``; columns that have enough values have splines.

    Parameters
    ----------
    sample : RowSample
        Dense rows.
    n_knots : int
        Of the splines.
    pairs : sequence of (int, int)
        Columns that get a surface together.
    """
    summaries = summaries_of(sample)
    values = np.array([len(column.values) for column in summaries])
    curved = curved_columns(values)
    dtype = sample.X.dtype
    splines: FeatureMap = SplineMap(n_knots).with_knots(_quantiles([summaries[j] for j in curved], n_knots, dtype))
    columns = [*curved, *sorted({j for pair in pairs for j in pair} - set(curved))]
    feature_map = splines
    if pairs:
        count = most_knots(pairs, values, n_knots)
        knots, n_hats = _hat_knots([summaries[j] for j in columns], count, dtype)
        place = {column: at for at, column in enumerate(columns)}
        places = np.array([(place[i], place[j]) for i, j in pairs], dtype=np.intp)
        feature_map = HatProductMap(splines, count, knots, n_hats, places, len(curved))
    chosen = np.eye(len(summaries), dtype=dtype)[:, columns]
    mean_square = np.mean([column.size_about(0.0) ** 2 for column in summaries])
    scale = np.full(len(summaries), 1.0 / np.sqrt(mean_square) if mean_square > 0 else 1.0)
    return FeatureLayer(Affine.of(chosen), feature_map, scale)


def crossed_columns(basis: FeatureLayer) -> Pairs:
    """Pairs of columns that a basis has surfaces over."""
    if not isinstance(basis.feature_map, HatProductMap):
        return []
    columns = basis.projection.vectors.toarray().argmax(axis=0)
    return [(int(columns[i]), int(columns[j])) for i, j in basis.feature_map.grids(len(columns))[0]]


def summaries_of(sample: RowSample) -> list[ColumnSummary]:
    """What is known of every column."""
    columns = zip(sample.X.T, sample.low, sample.high)
    return [ColumnSummary.of(column, sample.weight, low, high) for column, low, high in columns]


def n_values(sample: RowSample) -> np.ndarray:
    """Different values of every column."""
    return np.array([len(np.unique(column)) for column in sample.X.T], dtype=int)


def curved_columns(values: np.ndarray) -> list[int]:
    """Columns that have enough different values to be bent."""
    return np.flatnonzero(values >= FEWEST_BENT).tolist()


def are_codes(values: np.ndarray) -> bool:
    """Whether most columns have so few different values that these may be names instead of amounts."""
    return bool(np.mean((values >= FEWEST_BENT) & (values <= MOST_CODES)) > 0.5)


# ---------------------------------------------------------------------- pairs


def all_pairs(values: np.ndarray, n_knots: int) -> Pairs | None:
    """Every two columns that are bent, or where these are too many, of those of more than codes; None if still so.

    Parameters
    ----------
    values : (d,) array of int
        Different values of every column.
    n_knots : int
        Of the splines beside the surfaces.
    """
    for fewest in (FEWEST_BENT, FEWEST_VALUES):
        pairs = list(combinations(np.flatnonzero(values >= fewest).tolist(), 2))
        if n_products(pairs, values, FEWEST_KNOTS) <= _room(values, n_knots):
            return pairs
    return None


def required_pairs(values: np.ndarray, n_knots: int) -> Pairs:
    """`all_pairs`, or a `ValueError`."""
    if (pairs := all_pairs(values, n_knots)) is not None:
        return pairs
    n_columns = np.count_nonzero(values >= FEWEST_VALUES)
    raise ValueError(
        f"Products of all pairs of {n_columns} columns of {FEWEST_VALUES} values or more make, with splines, more than "
        f'{BASIS_COLUMNS} columns: use splines without products (base_map="splines"), or give fewer columns.'
    )


def strongest(pairs: Pairs, values: np.ndarray, n_knots: int) -> Pairs:
    """The first of the pairs, so many that their surfaces are fine enough and all columns few enough."""
    hats = np.minimum(values, FEWEST_OF_CHOSEN)
    widths = np.cumsum([hats[i] * hats[j] for i, j in pairs])
    return pairs[: int(np.searchsorted(widths, _room(values, n_knots), side="right"))]


def leave_room(values: np.ndarray, n_knots: int) -> bool:
    """Whether splines of columns of so many values leave room for a surface."""
    return _room(values, n_knots) >= FEWEST_OF_CHOSEN**2


def n_products(pairs: Pairs, values: np.ndarray, n_knots: int) -> int:
    """Columns of surfaces; of fewer values there are as many knots."""
    hats = np.minimum(values, n_knots)
    return sum(int(hats[i] * hats[j]) for i, j in pairs)


def _room(values: np.ndarray, n_knots: int) -> int:
    return BASIS_COLUMNS - SplineMap(n_knots).n_columns(len(curved_columns(values)))


def most_knots(pairs: Pairs, values: np.ndarray, n_knots: int) -> int:
    """Knots a column of surfaces, as many as leave all columns few enough."""
    room = _room(values, n_knots)
    counts = range(MOST_KNOTS, FEWEST_KNOTS, -1)
    return next((count for count in counts if n_products(pairs, values, count) <= room), FEWEST_KNOTS)


# ---------------------------------------------------------------------- knots


def bin_edges(column: ColumnSummary, count: int) -> np.ndarray:
    """What cuts a column into so many bins, or fewer, of equal weight but for values that many rows are at."""
    capped = column.capped(1 / count, at_ends=1.0)
    edges = np.unique([capped.quantile(i / count) for i in range(1, count)])
    return edges[edges < column.high]


def _hat_knots(columns: Sequence[ColumnSummary], count: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """(m, count) different knots of every column, the last of them repeated, and how many there are."""
    found = [np.unique(row) for row in _quantiles(columns, count, dtype)]
    knots = np.array([np.pad(row, (0, count - len(row)), mode="edge") for row in found], dtype=dtype)
    return knots.reshape(len(found), count), np.array([len(row) for row in found], dtype=np.intp)


def _quantiles(columns: Sequence[ColumnSummary], count: int, dtype: np.dtype) -> np.ndarray:
    """(m, count) ascending: the range, and quantiles in between.

    A value that many rows are at, as counts are at zero, would take most of them: it is given no more than the weight
    between two knots and so one of them.
    """
    shares = np.linspace(0, 1, count)
    capped = [column.capped(shares[1]) for column in columns]
    found = [np.unique([c.low, *(c.quantile(share) for share in shares[1:-1]), c.high]) for c in capped]
    # Of knots that coincide, splines bear those at the low end.
    knots = [np.pad(row, (count - len(row), 0), mode="edge") for row in found]
    return np.array(knots, dtype=dtype).reshape(len(columns), count)
