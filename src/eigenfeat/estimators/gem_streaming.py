"""The rows of a GEM classifier's fit that are read a block at a time, and the bounded samples it learns from."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from eigenfeat._runtime.config import current
from eigenfeat.estimators.gem_columns import ColumnsOfTraining
from eigenfeat.estimators.gem_trial_rows import TrialRows, search_rows
from eigenfeat.estimators.memory import expected_of_settings
from eigenfeat.estimators.streaming import encoded, may_load, streamed
from eigenfeat.features.layer import LayerSettings
from eigenfeat.features.stack import StackSettings
from eigenfeat.rows.accumulators import ClassCounts
from eigenfeat.rows.functions import SelectRows
from eigenfeat.rows.rows import ArrayRows, Rows
from eigenfeat.rows.sampling import DifferentRows, sampled_by_class
from eigenfeat.stages import Chain

BASE_ROWS = 20_000
"""Rows of a stream that a base map of the user's is fitted to."""


@dataclass(frozen=True, eq=False)
class StreamedTraining(ColumnsOfTraining):
    """What a fit of members is made of, where rows are read a block at a time: see `TrainingRows`.

    Attributes
    ----------
    raw : Rows
        As the user's columns are, labelled with indices into the classes.
    classes : (k,) array
    seen : DifferentRows
        Of these.
    rows : Rows
        After the treatment of columns, and behind a base map.
    treatment : Chain
        Of columns.
    searching : bool
        Whether settings are chosen on these rows.
    """

    raw: Rows
    classes: np.ndarray
    seen: DifferentRows
    rows: Any
    treatment: Chain
    searching: bool = True

    events = None
    keys = None
    more = None

    @property
    def n_different(self) -> int:
        """Different rows; where rows are cells that many fall into, each counts, as it does in memory."""
        return self.seen.n_present if self.seen.are_cells else self.seen.keys.count

    @cached_property
    def trials(self) -> TrialRows:
        """Settings are tried on a sample."""
        sample, keys = self.sample(search_rows(self.raw.n_rows, len(self.classes), self.searching))
        return TrialRows.of_sample(sample, self.classes, keys, keys)

    def screened(self, count: int) -> tuple[ArrayRows, np.ndarray, np.ndarray]:
        rows, keys = self.sample(count)
        return rows, keys, keys

    def sample(self, count: int) -> tuple[ArrayRows, np.ndarray]:
        """About ``count`` different rows, of every class those with the smallest keys, treated, and their keys."""
        block = sampled_by_class(self.raw, self.seen, count)
        assert block.keys is not None
        rows = self.treatment.at(block.X) if self.treatment.stages else block.X
        return ArrayRows(rows, block.y, block.weight, block.keys), block.keys

    def behind(self, rows: Rows) -> StreamedTraining:
        return replace(self, rows=rows)

    def part(self, index: np.ndarray, inputs: Chain) -> StreamedTraining:
        """Some of the rows, by ascending index, behind what stands before all of them."""
        none = ClassCounts.of(np.empty(0, dtype=np.intp), None, len(self.classes))
        counts = self.raw.take(index).reduce(none, "labels of a part")
        raw = self.raw.map(SelectRows(index), n_rows=len(index), class_counts=counts)
        return replace(self, raw=raw, rows=inputs.over(raw))


def training_stream(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, DifferentRows]:
    """Return rows with codes for labels, and what is known of them: one pass."""
    source = streamed(estimator, X, y, sample_weight, "classes")
    seen = source.reduce(DifferentRows(), "labels")
    return encoded(source, seen.totals, type(estimator).__name__), seen


def gem_fits_memory(stream: Rows, counts: ClassCounts) -> bool:
    """Tell whether the rows, raw and scaled, and what a default GEM fit makes of so many fit the memory budget."""
    if not may_load(stream):
        return False
    sizes = counts.n_rows, stream.n_columns, len(counts.classes), stream.dtype.itemsize
    rows = 2 * counts.n_rows * stream.n_columns * stream.dtype.itemsize
    return rows + expected_of_settings(StackSettings((LayerSettings(),)), *sizes) <= current().memory_budget


def warn_of_gaps(members: Sequence[Any]) -> None:
    """What fits on workers warn of stays in their logs; this is told here too."""
    late = [one for one in members if one.gap_ > max(one.tol, 10 * np.finfo(one.coef_.dtype).eps) * one.objective_]
    if late:
        warnings.warn(
            f"The logit of {len(late)} of {len(members)} members stopped after {late[0].n_iter_} steps, an estimated "
            f"{late[0].gap_ / late[0].objective_:.1e} (relative) above its minimum. Increase max_iter or alpha.",
            ConvergenceWarning,
            stacklevel=4,
        )
