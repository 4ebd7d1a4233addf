"""The rows of a GEM classifier's fit that are read a block at a time, and the bounded samples it learns from."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from eigenfeat._runtime.config import current
from eigenfeat.estimators.gem_columns import ColumnsOfTraining
from eigenfeat.estimators.gem_trial_rows import TrialRows, search_rows, taken_of_class
from eigenfeat.estimators.key_sketch import CLASS_KEYS, DistinctKeys
from eigenfeat.estimators.memory import expected_of_settings
from eigenfeat.estimators.streaming import encoded, may_load, streamed
from eigenfeat.estimators.validation import FEW_DIFFERENT
from eigenfeat.features.layer import LayerSettings
from eigenfeat.features.stack import StackSettings
from eigenfeat.rows.accumulators import Accumulator, ClassCounts
from eigenfeat.rows.block import Block, concatenate
from eigenfeat.rows.functions import SelectRows
from eigenfeat.rows.rows import ArrayRows, Rows
from eigenfeat.rows.sampling import row_keys
from eigenfeat.stages import Chain

BASE_ROWS = 20_000
"""Rows of a stream that a base map of the user's is fitted to."""


@dataclass(frozen=True)
class RowKeysOf:
    """Keys of the rows of a block: equal for equal rows, or, where rows repeat, of each in its place."""

    by_place: bool = False

    def __call__(self, block: Block) -> np.ndarray:
        keys = row_keys(block.X, np.float32)
        if not self.by_place:
            return keys
        return row_keys(np.column_stack([keys, np.arange(block.start, block.start + block.n_rows)]))


@dataclass(eq=False)
class TotalsAndKeys(Accumulator):
    """Classes with their rows, and how many different rows there are of each and in all."""

    totals: ClassCounts = field(default_factory=ClassCounts)
    keys: DistinctKeys = field(default_factory=DistinctKeys)
    by_class: dict[Any, DistinctKeys] = field(default_factory=dict)

    def update(self, block: Block) -> None:
        self.totals.update(block)
        keys, labels = row_keys(block.X, np.float32), np.asarray(block.y)
        if block.weight is not None:
            keys, labels = keys[block.weight > 0], labels[block.weight > 0]
        self.keys.add(keys)
        for label in np.unique(labels).tolist():
            self._of(label).add(keys[labels == label])

    def merge(self, other: TotalsAndKeys) -> None:
        self.totals.merge(other.totals)
        self.keys.add(other.keys.smallest, other.keys.is_full)
        for label, keys in other.by_class.items():
            self._of(label).add(keys.smallest, keys.is_full)

    def _of(self, label: Any) -> DistinctKeys:
        return self.by_class.setdefault(label, DistinctKeys(CLASS_KEYS))


@dataclass(eq=False)
class RowsBelow(Accumulator):
    """Rows of positive weight whose key is at most that of their class."""

    bounds: np.ndarray
    keys: RowKeysOf
    kept: list[Block] = field(default_factory=list)
    own_keys: list[np.ndarray] = field(default_factory=list)

    def update(self, block: Block) -> None:
        keys = self.keys(block)
        taken = keys <= self.bounds[block.y]
        chosen = np.flatnonzero(taken if block.weight is None else taken & (block.weight > 0))
        if len(chosen):
            self.kept.append(block.take(chosen))
            self.own_keys.append(keys[chosen])

    def merge(self, other: RowsBelow) -> None:
        self.kept = [*self.kept, *other.kept]
        self.own_keys = [*self.own_keys, *other.own_keys]


@dataclass(frozen=True, eq=False)
class StreamedTraining(ColumnsOfTraining):
    """What a fit of members is made of, where rows are read a block at a time: see `TrainingRows`.

    Attributes
    ----------
    raw : Rows
        As the user's columns are, labelled with indices into the classes.
    classes : (k,) array
    seen : TotalsAndKeys
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
    seen: TotalsAndKeys
    rows: Any
    treatment: Chain
    searching: bool = True

    events = None
    keys = None
    more = None

    @property
    def n_present(self) -> int:
        return int(self.raw.class_counts.counts.sum())  # type: ignore[union-attr]

    @property
    def _repeats(self) -> bool:
        """Whether rows are cells that many fall into: then each counts, as it does in memory."""
        return self.seen.keys.count < FEW_DIFFERENT * self.n_present

    @property
    def n_different(self) -> int:
        return self.n_present if self._repeats else self.seen.keys.count

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
        found = self.raw.reduce(RowsBelow(self._bounds(count), RowKeysOf(self._repeats)), "sample of rows")
        block = concatenate(found.kept)
        rows = self.treatment.at(block.X) if self.treatment.stages else block.X
        return ArrayRows(rows, block.y, block.weight), np.concatenate(found.own_keys)

    def _bounds(self, count: int) -> np.ndarray:
        """The largest key that is taken of each class."""
        if self.n_different <= count:
            return np.full(len(self.classes), np.iinfo(np.int64).max)
        if self._repeats:
            return np.full(len(self.classes), int(2**31 * count / self.n_present))
        sketches = [self.seen.by_class[label] for label in self.classes.tolist()]
        taken = [taken_of_class(count, self.n_different, sketch.count) for sketch in sketches]
        return np.array([sketch.smallest[min(n, len(sketch.smallest)) - 1] for sketch, n in zip(sketches, taken)])

    def behind(self, rows: Rows) -> StreamedTraining:
        return replace(self, rows=rows)

    def part(self, index: np.ndarray, inputs: Chain) -> StreamedTraining:
        """Some of the rows, by ascending index, behind what stands before all of them."""
        none = ClassCounts.of(np.empty(0, dtype=np.intp), None, len(self.classes))
        counts = self.raw.take(index).reduce(none, "labels of a part")
        raw = self.raw.map(SelectRows(index), n_rows=len(index), class_counts=counts)
        return replace(self, raw=raw, rows=inputs.over(raw))


def training_stream(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, TotalsAndKeys]:
    """Return rows with codes for labels, and what is known of them: one pass."""
    source = streamed(estimator, X, y, sample_weight, "classes")
    seen = source.reduce(TotalsAndKeys(), "labels")
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
