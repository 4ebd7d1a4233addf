"""What becomes of missing values: refused by name, filled in, or their rows left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eigenfeat.rows.rows import Rows
from eigenfeat.rows.streams import Batch

Missing = str | float | Mapping[Any, float]
"""\"refuse\", \"drop\", a number for all columns, or numbers by column."""


def without_gaps(batch: Batch, missing: Missing, names: Sequence[Any], place: str, first_row: int) -> Batch:
    """A batch whose missing values (NaN) have been dealt with.

    Parameters
    ----------
    batch : Batch
        Of dense rows.
    missing : "refuse", "drop", number or mapping
        Columns that a mapping does not name are refused.
    names : sequence
        Of the columns.
    place : str
        Where the batch comes from.
    first_row : int
        Number of its first row there.
    """
    gaps = np.isnan(batch.X)
    if not gaps.any():
        return batch
    if missing == "drop":
        return batch.part(np.flatnonzero(~gaps.any(axis=1)))
    fillable = np.zeros(len(names), dtype=bool) if missing == "refuse" else np.ones(len(names), dtype=bool)
    if isinstance(missing, Mapping):
        fillable = np.array([name in missing for name in names])
        fills = np.array([missing.get(name, np.nan) for name in names])
    else:
        fills = np.full(len(names), np.nan if missing == "refuse" else missing, dtype=np.float64)
    refused = gaps[:, ~fillable]
    if refused.any():
        row = int(np.argmax(refused.any(axis=1)))
        name = np.array(names, dtype=object)[~fillable][np.argmax(refused[row])]
        raise ValueError(
            f"column {name!r} of {place} has a missing value in row {first_row + row + 1}: fill it in (missing=0.0, "
            f'missing="mean" or missing={{{name!r}: 0.0}}), leave such rows out (missing="drop"), or the column '
            f"(drop=[{name!r}])."
        )
    return batch._replace(X=np.where(gaps, fills.astype(batch.X.dtype), batch.X))


def column_means(source: Rows) -> np.ndarray:
    """(d,): mean of what is there of every column, in one pass over rows with NaN where nothing is.

    Raises
    ------
    ValueError
        For a column that is missing in every row.
    """
    totals, counts = np.zeros(source.n_columns), np.zeros(source.n_columns)
    for block in source.blocks():
        present = ~np.isnan(block.X)
        totals += np.where(present, block.X, 0).sum(axis=0, dtype=np.float64)
        counts += present.sum(axis=0)
    if not counts.all():
        empty = int(np.argmin(counts))
        name = repr(source.names[empty]) if source.names else str(empty)
        raise ValueError(f"column {name} is missing in every row and has no mean: leave it out (drop=[{name}]).")
    return totals / counts
