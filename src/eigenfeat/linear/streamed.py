"""The logit objective over rows that are read a block at a time, here or on other machines.

The same questions as `LogitObjective` answers, each one pass: for every block there is a `LogitObjective` of its rows,
whose answers are summed. Nothing is held that grows with the rows; what an objective in memory keeps of each row, its
scores, is made again where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from uuid import uuid4

import numpy as np

from eigenfeat.linear.block_sums import (
    BlockObjectives,
    ColumnSquares,
    CurvedSample,
    Draw,
    HessianProduct,
    LeftOutRows,
    LossAndGradient,
    LossesAlong,
    PartWeights,
    Scores,
)
from eigenfeat.linear.by_weight import evenness, light_below
from eigenfeat.linear.calibration import parts_to_leave_out
from eigenfeat.linear.objective import (
    LIGHT_SHARE,
    WORTH_CHOOSING,
    KeysOfRows,
    LogitObjective,
    inverse_of_squares,
    share_to_scale_by,
)
from eigenfeat.linear.passes import Passes
from eigenfeat.linear.steps import part_way
from eigenfeat.rows.accumulators import ClassCounts, Collect
from eigenfeat.rows.block import concatenate, concatenate_and_free
from eigenfeat.rows.cache import persisted
from eigenfeat.rows.rows import ArrayRows, Rows

STEPS_A_PASS = 8
"""Halvings of a step that one pass tries together; twice as many in every further pass."""


@dataclass(frozen=True)
class StreamedPasses:
    """What is asked of passes beside products; see `Passes`."""

    source: Rows
    constant: bool
    n_rows: int

    @property
    def n_columns(self) -> int:
        return self.source.n_columns + self.constant

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype


@dataclass(frozen=True, eq=False)
class StreamedPoint:
    """The objective at one point.

    Attributes
    ----------
    coefficients, gradient : (columns [+ 1], classes) arrays, float64
    value : float
    curvatures : array
        Histogram of the weights of rows in the Hessian (`eigenfeat.linear.by_weight`).
    """

    coefficients: np.ndarray
    value: float
    gradient: np.ndarray
    curvatures: np.ndarray

    @property
    def gradient_norm(self) -> float:
        return float(np.max(np.abs(self.gradient)))


@dataclass(frozen=True, eq=False)
class StreamedObjective:
    """F, for rows with labels 0..k-1 that bring their weights; see `LogitObjective` for every method."""

    passes: StreamedPasses
    stored: Rows
    blocks: BlockObjectives
    alpha: float = 0.0
    _ahead: list[StreamedPoint] = field(default_factory=list, init=False, repr=False)
    """The last point that a search along a line came by: if it is taken, it needs no other pass."""

    @classmethod
    def of(
        cls,
        source: Rows,
        totals: ClassCounts,
        *,
        fit_intercept: bool,
        smoothing: float,
        batch_size: int | None,
        n_jobs: int | None,
    ) -> StreamedObjective:
        stored, decoder = source.storage()
        weight = float(totals.weights.sum())
        blocks = BlockObjectives(decoder, len(totals.classes), smoothing, fit_intercept, weight, batch_size, n_jobs)
        return cls(StreamedPasses(source, fit_intercept, int(totals.counts.sum())), stored, blocks)

    @property
    def n_classes(self) -> int:
        return self.blocks.n_classes

    @property
    def smoothing(self) -> float:
        return self.blocks.smoothing

    @property
    def shape(self) -> tuple[int, int]:
        return (self.passes.n_columns, self.n_classes)

    def penalised(self, C: np.ndarray) -> np.ndarray:
        return LogitObjective.penalised(self, C)  # type: ignore[arg-type]

    def at(self, C: np.ndarray) -> StreamedPoint:
        for point in self._ahead:
            if np.array_equal(point.coefficients, C):
                return point
        found = self.stored.reduce(LossAndGradient(self.blocks, C), "loss and gradient")
        W = self.penalised(C)
        value = found.value + 0.5 * self.alpha * float(np.vdot(W, W))
        return StreamedPoint(C, value, found.gradient + self.alpha * W, found.curvatures)

    def seen(self, C: np.ndarray) -> StreamedPoint:
        """A point nobody has passed over the rows for: what is asked of it makes passes of its own."""
        return StreamedPoint(C, np.nan, np.full(C.shape, np.nan), np.empty(0))

    def along(self, start: StreamedPoint, end: StreamedPoint) -> Callable[[float], float]:
        known: dict[float, float] = {}

        def value(step: float) -> float:
            if not known and step == 0.5 and half_is_lower(start, end):
                self._ahead[:] = [self.at(part_way(start, end, step))]
                known[step] = self._ahead[0].value
            if step not in known:
                known.update(self._values_along(start, end, step * 0.5 ** np.arange(max(STEPS_A_PASS, 2 * len(known)))))
            return known[step]

        return value

    def _values_along(self, start: StreamedPoint, end: StreamedPoint, steps: np.ndarray) -> dict[float, float]:
        """F at shares of the way: one pass."""
        ends = np.hstack([start.coefficients, end.coefficients])
        losses = self.stored.reduce(LossesAlong(self.blocks, ends, steps), "losses along a step").values
        weights = [self.penalised(part_way(start, end, step)) for step in steps.tolist()]
        penalties = [0.5 * self.alpha * float(np.vdot(W, W)) for W in weights]
        return dict(zip(steps.tolist(), (losses + penalties).tolist()))

    def curvature(self, point: StreamedPoint, share: float = LIGHT_SHARE) -> StreamedCurvature:
        bound, n_heavy = light_below(point.curvatures, share, WORTH_CHOOSING)
        passes = replace(self.passes, n_rows=min(n_heavy, self.passes.n_rows))  # those without weight are in bins too
        return StreamedCurvature(self, passes, point.coefficients, bound)

    def total_curvature(self, point: StreamedPoint) -> float:
        return float(point.curvatures[0].sum()) / (self.n_classes - 1)

    def evenness(self, point: StreamedPoint) -> float:
        return evenness(point.curvatures)

    def drawn(self, share: float, seed: int) -> LogitObjective | StreamedObjective:
        """The same over about a share of the rows, drawn by their keys: in memory, or where the rows are."""
        draw, keyed = Draw(share, seed, self.blocks.left_out), self.stored.with_keys()
        if self.stored.is_local:
            drawn = keyed.reduce(Collect(draw), "rows to start from").blocks
            block = concatenate_and_free(drawn or [self.stored.head(1).take(slice(0))])
            labels = np.asarray(block.y, dtype=np.intp)
            weights = np.ones(block.n_rows) if block.weight is None else block.weight
            drawn_by = KeysOfRows(ArrayRows(block.X, made_of=block.keys), labels, weights)
            passes, shares = self.blocks.passes(block), weights / weights.sum()
            return LogitObjective(passes, labels, shares, self.n_classes, self.alpha, self.smoothing, drawn_by)
        stored = persisted(keyed.map(draw, n_rows=None, class_counts=None))
        totals = stored.reduce(ClassCounts(), "rows to start from")
        blocks = replace(self.blocks, total=float(totals.weights.sum()), left_out=None, name=uuid4().hex)
        return replace(self, passes=replace(self.passes, n_rows=totals.n_rows), stored=stored, blocks=blocks)

    def column_scale(self, most_rows: int | None = None) -> np.ndarray:
        share = share_to_scale_by(self.passes.n_rows, most_rows)
        empty, stored = ColumnSquares(self.blocks), self.stored
        if share < 1:  # the draw leaves out who is left out
            draw, stored = Draw(share, 0, self.blocks.left_out), stored.with_keys()
            empty = ColumnSquares(replace(self.blocks, left_out=None), draw=draw)
        return inverse_of_squares(stored.reduce(empty, "squares of columns").squares / share)

    def curved_squares(self, point: StreamedPoint | None) -> np.ndarray:
        C = np.zeros(self.shape) if point is None else point.coefficients
        return self.stored.reduce(ColumnSquares(self.blocks, C), "squares of columns").squares

    def curved_sample(
        self, point: StreamedPoint | None, n_rows: int, seed: int, scale: np.ndarray | None
    ) -> tuple[Passes, np.ndarray]:
        C = np.zeros(self.shape) if point is None else point.coefficients
        empty = CurvedSample(self.blocks, C, n_rows if scale is not None else self.passes.n_rows, seed, scale)
        found = self.stored.with_keys().reduce(empty, "rows of a Gram matrix").thinned()
        block = concatenate(found.kept)
        return self.blocks.passes(block), found.curvatures * np.maximum(1.0, found.least / found.masses)

    # ------------------------------------------------------------------ rows left out

    def left_out_parts(self, keys: None) -> list[LeftOutRows]:
        n_parts, n_left_out = parts_to_leave_out(self.passes.n_rows)
        weights = self.stored.with_keys().reduce(PartWeights(n_parts), "rows left out").weights
        parts = [LeftOutRows(n_parts, part, float(weights[part])) for part in range(n_left_out)]
        return [part for part in parts if 0 < part.weight < weights.sum()]

    def without(self, rows: LeftOutRows) -> StreamedObjective:
        others = replace(self.blocks, left_out=rows, total=self.blocks.total - rows.weight)
        return replace(self, blocks=others, stored=self.stored.with_keys())

    def scored(self, rows: LeftOutRows, C: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = self.stored.with_keys().reduce(Scores(self.blocks, rows, C), "scores of rows left out")
        scores, labels, weights = map(np.concatenate, zip(*found.parts))
        return scores, labels, weights


def half_is_lower(start: StreamedPoint, end: StreamedPoint) -> bool:
    """Whether F promises to have fallen half way to the end of a step: by the cubic of values and slopes at its ends.

    Then a look there, which costs a pass, is most often the last one; otherwise losses at several lengths are.
    """
    direction = end.coefficients - start.coefficients
    first, last = (float(np.vdot(point.gradient, direction)) for point in (start, end))
    return 0.5 * (start.value + end.value) + (first - last) / 8 < start.value


@dataclass(frozen=True, eq=False)
class StreamedCurvature:
    """The Hessian of F at one point as an operator, of the rows whose weight in it is no less than a bound."""

    objective: StreamedObjective
    passes: StreamedPasses
    coefficients: np.ndarray
    bound: float

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        empty = HessianProduct(self.objective.blocks, self.coefficients, V, self.bound)
        product = self.objective.stored.reduce(empty, "Hessian product").product
        return product + self.objective.alpha * self.objective.penalised(V)
