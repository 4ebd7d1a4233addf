"""What GEM learns of the columns before it searches: how they are bent, and which pairs of them get surfaces."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from eigenfeat.estimators.column_splines import N_KNOTS, basis_sample
from eigenfeat.estimators.gem_trial_rows import TrialRows
from eigenfeat.features.column_basis import (
    Pairs,
    all_pairs,
    are_codes,
    bin_edges,
    column_basis,
    curved_columns,
    leave_room,
    most_knots,
    n_products,
    n_values,
    strongest,
    summaries_of,
)
from eigenfeat.features.interactions import BINS, binned, class_targets, telling_pairs
from eigenfeat.rows.keys import n_distinct
from eigenfeat.rows.rows import Rows
from eigenfeat.rows.sampling import RowSample

MOST_SPLINED = 100
"""Columns up to which a basis of single columns is tried: of wide rows they say little."""

SCREENING_ROWS = 10_000
"""Different rows that pairs of columns are judged on, at most."""


class ColumnsOfTraining:
    """What fits of rows in memory and of streams learn of the columns alike."""

    rows: Any
    classes: Any
    n_different: Any

    @property
    def trials(self) -> TrialRows:
        """What settings are tried on."""
        raise NotImplementedError

    def screened(self, count: int) -> tuple[Rows, np.ndarray, np.ndarray]:
        """About so many different rows, keys of what is left out together, and their own keys."""
        raise NotImplementedError

    @cached_property
    def basis_sample(self) -> RowSample:
        """What a basis of the columns is learnt from."""
        return basis_sample(self.rows)

    @cached_property
    def telling_pairs(self) -> Pairs | None:
        """Pairs of columns that tell classes apart beyond what each does, judged on rows that no trial leaves out.

        None where trials leave all rows out in turn, or the columns are too many.
        """
        if self.rows.n_columns > MOST_SPLINED or not self.trials.left_out_once:
            return None
        values = n_values(self.basis_sample)
        if not leave_room(values, N_KNOTS):
            return None
        rows, keys, own_keys = self.screened(SCREENING_ROWS)
        kept = np.flatnonzero(~np.isin(keys, self.trials.keys[self.trials.splits[0][1]]))
        part = rows.take(kept)
        X, weights = part.rows(slice(None)), np.ones(len(kept)) if part.weight is None else part.weight
        edges = [bin_edges(column, BINS) for column in summaries_of(self.basis_sample)]
        told = [j for j, cuts in enumerate(edges) if len(cuts)]
        pairs = telling_pairs(
            [binned(X[:, j], edges[j]) for j in told],
            column_basis(self.basis_sample, N_KNOTS).apply(X),
            class_targets(np.asarray(part.y), len(self.classes)),
            weights * (n_distinct(own_keys[kept]) / weights.sum()),
        )
        return strongest([(told[i], told[j]) for i, j in pairs], values, N_KNOTS)

    def bases_of_columns(self, pixels: bool) -> tuple[str, ...]:
        """Base maps that may serve, where columns are few and each has a meaning of its own."""
        if self.rows.is_sparse or self.rows.n_columns > MOST_SPLINED:
            return ()
        values = n_values(self.basis_sample)
        if pixels and not are_codes(values):
            return ()
        splines = ("splines",) if curved_columns(values) else ()
        pairs = self.telling_pairs
        if pairs is None:
            pairs = all_pairs(values, N_KNOTS) or ()
            if n_products(pairs, values, most_knots(pairs, values, N_KNOTS)) > self.n_different:
                pairs = ()  # of fewer rows they were never better than splines
        return (*splines, *(("products",) if pairs else ()))
