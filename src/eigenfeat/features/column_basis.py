"""Columns as functions of their own: the basis that lets a linear method see curves and, in pairs, surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from eigenfeat.features.column_summary import FEWEST_VALUES, ColumnSummary
from eigenfeat.features.hat_products import HatProductMap
from eigenfeat.features.splines import SplineMap
from eigenfeat.rows import RowSample
from eigenfeat.stages import Affine, FeatureLayer, FeatureMap

PRODUCT_COLUMNS = 600
"""Columns that products make at most: the number of knots follows. Twice as many took 3 times as long on Covertype's
ten numbers, with 2 % less log loss (one split; benchmarks/gem_constants.py --only PRODUCT_COLUMNS --sets ...)."""

FEWEST_KNOTS, MOST_KNOTS = 3, 9
"""Knots a column for products; with fewer than three there is no surface but a plane."""

FEWEST_OF_CHOSEN = 5
"""The same of chosen pairs: rather fewer pairs than coarser surfaces."""

FEWEST_BENT = 3
"""Different values from which a column is more than a line: splines tell three or four, as codes have, all apart."""

MOST_CODES = 8
"""Different values up to which a column may hold codes: as many as splines of the usual knots tell apart."""

Pairs = Sequence[tuple[int, int]]
"""Two columns each, by their place in a table."""


def column_basis(sample: RowSample, n_knots: int, products: bool = False, pairs: Pairs | None = None) -> FeatureLayer:
    """``[x · scale, splines of x, products of hats of pairs of x]`` over the columns that have enough values.

    Parameters
    ----------
    sample : RowSample
        Dense rows.
    n_knots : int
        Of the splines.
    products : bool
        Of every two columns that are bent, unless ``pairs`` says.
    pairs : sequence of (int, int), optional
        Columns that get surfaces together, those that matter most first; the last may be left out.

    Raises
    ------
    ValueError
        Where all products are asked for and there are so many columns that even three knots are too many.
    """
    summaries = summaries_of(sample)
    values = np.array([len(column.values) for column in summaries])
    curved = curved_columns(values, products and pairs is None)
    dtype = sample.rows.dtype
    splines = SplineMap(n_knots=n_knots)
    feature_map: FeatureMap = splines.with_knots(_quantiles(summaries, curved, n_knots, dtype))
    columns = curved
    if products:
        if pairs is None and product_knots(len(curved)) is None:
            raise ValueError(
                f"Products of all pairs need at most {most_columns()} columns of {FEWEST_VALUES} values or more, and "
                f'these are {len(curved)}: use base_map="splines", or give fewer columns.'
            )
        if pairs is None:
            n_hats, crossed = surfaces(list(combinations(curved, 2)), values)
        else:
            n_hats, crossed = chosen_surfaces(pairs, values, n_knots)
        columns = [*curved, *sorted({j for pair in crossed for j in pair} - set(curved))]
        place = {column: at for at, column in enumerate(columns)}
        knots, hats = hat_knots([summaries[j] for j in columns], n_hats, dtype)
        places = np.array([(place[i], place[j]) for i, j in crossed], dtype=np.intp).reshape(-1, 2)
        feature_map = HatProductMap(feature_map, n_hats, knots, hats, places, len(curved))
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
    columns = zip(sample.rows.T, sample.low, sample.high)
    return [ColumnSummary.of(column, sample.weights, low, high) for column, low, high in columns]


def n_values(sample: RowSample) -> np.ndarray:
    """Different values of every column."""
    return np.array([len(np.unique(column)) for column in sample.rows.T], dtype=int)


def curved_columns(values: np.ndarray, products: bool = False) -> list[int]:
    """Columns that have enough different values to be bent; for all products, of too many those of more than codes."""
    curved = np.flatnonzero(values >= FEWEST_BENT)
    if products and product_knots(len(curved)) is None:
        curved = np.flatnonzero(values >= FEWEST_VALUES)
    return curved.tolist()


def are_codes(values: np.ndarray) -> bool:
    """Whether most columns have so few different values that these may be names instead of amounts."""
    return bool(np.mean((values >= FEWEST_BENT) & (values <= MOST_CODES)) > 0.5)


def chosen_surfaces(pairs: Pairs, values: np.ndarray, n_knots: int) -> tuple[int, Pairs]:
    """`surfaces` that with splines of ``n_knots`` are within `PRODUCT_COLUMNS`; the last pairs may be left out."""
    return surfaces(pairs, values, FEWEST_OF_CHOSEN, _room(values, n_knots))


def leave_room(values: np.ndarray, n_knots: int) -> bool:
    """Whether splines of columns of so many values leave room for a surface."""
    return _room(values, n_knots) >= FEWEST_OF_CHOSEN**2


def _room(values: np.ndarray, n_knots: int) -> int:
    return PRODUCT_COLUMNS - SplineMap(n_knots).n_columns(len(curved_columns(values)))


def surfaces(
    pairs: Pairs, values: np.ndarray, fewest: int = FEWEST_KNOTS, most_columns: int | None = None
) -> tuple[int, Pairs]:
    """Knots a column, and the first of the pairs, whose products are within so many columns.

    Columns of fewer values have as many knots as values.
    """
    most_columns = PRODUCT_COLUMNS if most_columns is None else most_columns
    for n_knots in range(MOST_KNOTS, fewest - 1, -1):
        hats = np.minimum(values, n_knots)
        widths = np.cumsum([hats[i] * hats[j] for i, j in pairs])
        if not len(widths) or widths[-1] <= most_columns:
            return n_knots, pairs
    return fewest, pairs[: int(np.searchsorted(widths, most_columns, side="right"))]


def product_knots(n_columns: int) -> int | None:
    """Knots a column that keep products within `PRODUCT_COLUMNS`; None where there are too many columns for three."""
    n_pairs = n_columns * (n_columns - 1) // 2
    n_knots = int(np.sqrt(PRODUCT_COLUMNS / max(n_pairs, 1)))
    return min(n_knots, MOST_KNOTS) if n_knots >= FEWEST_KNOTS else None


def n_products(n_columns: int) -> int:
    """Columns that products of so many columns make; none where there are too many."""
    return n_columns * (n_columns - 1) // 2 * (product_knots(n_columns) or 0) ** 2


def most_columns() -> int:
    """The largest number of columns that products are made for."""
    return next(d for d in range(2, 1000) if product_knots(d + 1) is None)


def bin_edges(column: ColumnSummary, count: int) -> np.ndarray:
    """What cuts a column into so many bins, or fewer, of equal weight but for values that many rows are at."""
    capped = column.capped(1 / count, at_ends=1.0)
    edges = np.unique([capped.quantile(i / count) for i in range(1, count)])
    return edges[edges < column.high]


def hat_knots(columns: Sequence[ColumnSummary], count: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """(m, count) different knots of every column, the last of them repeated, and how many there are."""
    found = [np.unique(row) for row in _quantiles(columns, range(len(columns)), count, dtype)]
    knots = np.array([np.pad(row, (0, count - len(row)), mode="edge") for row in found], dtype=dtype)
    return knots.reshape(len(found), count), np.array([len(row) for row in found], dtype=np.intp)


def _quantiles(summaries: Sequence[ColumnSummary], chosen: Sequence[int], count: int, dtype: np.dtype) -> np.ndarray:
    """(len(chosen), count) ascending: the range, and quantiles in between.

    A value that many rows are at, as counts are at zero, would take most of them: it is given no more than the weight
    between two knots and so one of them.
    """
    shares = np.linspace(0, 1, count)
    capped = [summaries[j].capped(shares[1]) for j in chosen]
    found = [np.unique([c.low, *(c.quantile(share) for share in shares[1:-1]), c.high]) for c in capped]
    # Of knots that coincide, splines bear those at the low end.
    knots = [np.pad(row, (count - len(row), 0), mode="edge") for row in found]
    return np.array(knots, dtype=dtype).reshape(len(chosen), count)
