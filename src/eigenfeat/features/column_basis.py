"""Columns as functions of their own: the basis that lets a linear method see curves and, in pairs, surfaces."""

from __future__ import annotations

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


def column_basis(sample: RowSample, n_knots: int, products: bool) -> FeatureLayer:
    """``[x · scale, splines of x, products of hats of pairs of x]`` over the columns that have enough values.

    Parameters
    ----------
    sample : RowSample
        Dense rows.
    n_knots : int
        Of the splines.
    products : bool

    Raises
    ------
    ValueError
        Where products are asked for and there are so many columns that even three knots are too many.
    """
    summaries = [
        ColumnSummary.of(sample.rows[:, j], sample.weights, sample.low[j], sample.high[j])
        for j in range(sample.rows.shape[1])
    ]
    curved = curved_columns(sample)
    dtype = sample.rows.dtype
    splines = SplineMap(n_knots=n_knots)
    feature_map: FeatureMap = splines.with_knots(_quantiles(summaries, curved, n_knots, dtype))
    if products:
        n_hats = product_knots(len(curved))
        if n_hats is None:
            raise ValueError(
                f"Products of pairs need at most {most_columns()} columns of {FEWEST_VALUES} values or more, and these "
                f'are {len(curved)}: use base_map="splines", or give fewer columns.'
            )
        feature_map = HatProductMap(feature_map, n_hats, _quantiles(summaries, curved, n_hats, dtype))
    chosen = np.eye(len(summaries), dtype=dtype)[:, curved]
    mean_square = np.mean([column.size_about(0.0) ** 2 for column in summaries])
    scale = np.full(len(summaries), 1.0 / np.sqrt(mean_square) if mean_square > 0 else 1.0)
    return FeatureLayer(Affine.of(chosen), feature_map, scale)


def curved_columns(sample: RowSample) -> list[int]:
    """Columns that have enough values to be bent."""
    return [j for j in range(sample.rows.shape[1]) if len(np.unique(sample.rows[:, j])) >= FEWEST_VALUES]


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


def _quantiles(summaries: list[ColumnSummary], chosen: list[int], count: int, dtype: np.dtype) -> np.ndarray:
    """(len(chosen), count) ascending: the range, and quantiles in between.

    A value that many rows are at, as counts are at zero, would take most of them: it is given no more than the weight
    between two knots and so one of them.
    """
    shares = np.linspace(0, 1, count)
    capped = [summaries[j].capped(shares[1]) for j in chosen]
    knots = [[c.low, *(c.quantile(share) for share in shares[1:-1]), c.high] for c in capped]
    return np.array(knots, dtype=dtype).reshape(len(chosen), count)
