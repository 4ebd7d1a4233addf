"""The multinomial logit objective over the rows of a source: value, gradient and curvature.

``F(C) = Σᵢ wᵢ [log Σ_c exp(sᵢc) - Σ_c tᵢc sᵢc] / Σᵢ wᵢ + ½ alpha ‖W‖²`` with scores ``s = Φ W + b`` and targets
``tᵢc = (1 - ε) [c = yᵢ] + ε / k``: the labels, smoothed by ε (0: as they are). Coefficients are one array ``C`` of
shape (columns + 1, classes) whose last row is the intercept b, which is not penalised; without an intercept there
is no such row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from eigenfeat._runtime.jit import jit
from eigenfeat.linear.by_weight import evenness, heaviest, histogram, light_below
from eigenfeat.linear.calibration import left_out_parts
from eigenfeat.linear.passes import Passes
from eigenfeat.rows.keys import are_cells, copy_keys, uniforms
from eigenfeat.rows.rows import Rows

LIGHT_SHARE = 1e-4
"""Of the trace of the Hessian: the rows that hold no more are left out of products with it."""

WORTH_CHOOSING = 0.4
"""Of dense rows: where more than this share matter, all are taken. Chosen ones are copied, to memory that is fresh for
every block, and half of 5000 x 2500 numbers take longer than all of them in place (benchmarks/speed/constants.py)."""

LEAST_CURVATURE = 1e-2
"""Of the curvature at zero coefficients: what a row keeps in a preconditioner, however sure it is.

With nothing kept, steps into heavy tails are cut to next to nothing (tests/linear/test_logit.py has such rows); much
more makes the matrix a worse likeness of the Hessian.
"""


SCALE_ROWS = 2_000_000
"""Rows at most that tell how large columns are: rare ones are not to be missed, but a pass over all costs as much as a
step."""


@dataclass(frozen=True, eq=False)
class LogitPoint:
    """The objective at one point.

    Attributes
    ----------
    coefficients, gradient : (columns [+ 1], classes) arrays, float64
    value : float
    scores, probabilities : (n, classes) arrays
        At every row, in the order of the source.
    """

    coefficients: np.ndarray
    value: float
    gradient: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray

    @property
    def gradient_norm(self) -> float:
        return float(np.max(np.abs(self.gradient)))

    @property
    def row_curvature(self) -> np.ndarray:
        """``1 - Σ_c p_c²``, the trace of ``diag(p) - ppᵀ``: what a row adds to the Hessian."""
        squares = np.einsum("ic,ic->i", self.probabilities, self.probabilities, dtype=np.float64)
        return np.maximum(1.0 - squares, 0.0)  # rounding takes sure rows below zero


@dataclass(frozen=True, eq=False)
class KeysOfRows:
    """Keys that rows are drawn by, made when somebody draws: those of copies where rows are cells that many fall into.

    Labels and weights are those of all rows of the source.
    """

    source: Rows
    labels: np.ndarray
    weights: np.ndarray

    @cached_property
    def keys(self) -> np.ndarray:
        keys = self.source.keys
        return copy_keys(keys, self.labels, self.weights) if are_cells(keys, self.weights) else keys


@dataclass(frozen=True, eq=False)
class LogitObjective:
    """F, for rows with labels 0..k-1 and weights that sum to one.

    ``drawn_by`` has the keys of all rows of the source, by default their own.
    """

    passes: Passes
    labels: np.ndarray
    weights: np.ndarray
    n_classes: int
    alpha: float
    smoothing: float = 0.0
    drawn_by: KeysOfRows | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        source: Rows,
        n_classes: int,
        *,
        fit_intercept: bool,
        smoothing: float,
        batch_size: int | None,
        n_jobs: int | None,
    ) -> LogitObjective:
        weights = np.ones(source.n_rows) if source.weight is None else source.weight
        passes = Passes(source, fit_intercept, None, batch_size, n_jobs)
        labels = np.asarray(source.y, np.intp)
        drawn_by = KeysOfRows(source, labels, weights)
        return cls(passes, labels, weights / weights.sum(), n_classes, 0.0, smoothing, drawn_by)

    @property
    def shape(self) -> tuple[int, int]:
        return (self.passes.n_columns, self.n_classes)

    def without(self, rows: np.ndarray) -> LogitObjective:
        """The same over all other rows."""
        return self._over(np.delete(np.arange(self.passes.n_rows), rows))

    def drawn(self, share: float, seed: int) -> LogitObjective:
        """The same over about a share of the rows, drawn by their keys; they are numbered anew."""
        sample = self._over(np.flatnonzero(self._uniforms(seed) < share))
        assert sample.passes.index is not None
        rows = self.passes.source.take(sample.passes.index)
        drawn_by = KeysOfRows(rows, sample.labels, sample.weights)
        return replace(sample, passes=replace(sample.passes, source=rows, index=None), drawn_by=drawn_by)

    def _over(self, rows: np.ndarray) -> LogitObjective:
        weights = self.weights[rows]
        return replace(
            self,
            passes=self.passes.of_rows(rows),
            labels=self.labels[rows],
            weights=weights / weights.sum(),
            drawn_by=self._keyed,
        )

    @property
    def _keyed(self) -> KeysOfRows:
        return self.drawn_by or KeysOfRows(self.passes.source, self.labels, self.weights)

    def _uniforms(self, seed: int) -> np.ndarray:
        """A number for every row, by its key."""
        keys = self._keyed.keys
        return uniforms(keys if self.passes.index is None else keys[self.passes.index], seed)

    def penalised(self, C: np.ndarray) -> np.ndarray:
        """C with the row of the intercept set to zero."""
        if not self.passes.constant:
            return C
        W = C.copy()
        W[-1] = 0
        return W

    def at(self, C: np.ndarray) -> LogitPoint:
        """One pass over the rows."""
        passes = self.passes
        scores = np.empty((passes.n_rows, self.n_classes), passes.dtype)
        probabilities = np.empty_like(scores)
        losses = np.empty(passes.n_rows)

        def residual(rows: slice, values: np.ndarray) -> None:
            scores[rows] = values
            _softmax(values, probabilities[rows])
            _loss(values, self.labels[rows], self.smoothing, losses[rows])
            _residual(probabilities[rows], self.labels[rows], self.weights[rows], self.smoothing, values)

        gradient = passes.there_and_back(C, residual)
        value = float(self.weights @ losses)
        if self.alpha:  # blocks of a stream have none: threads of BLAS, once called, are busy for a while
            W = self.penalised(C)
            gradient += self.alpha * W
            value += 0.5 * self.alpha * float(np.vdot(W, W))
        return LogitPoint(C, value, gradient, scores, probabilities)

    def seen(self, C: np.ndarray) -> LogitPoint:
        """Scores and probabilities alone, without the way back: half a pass."""
        scores = self.passes.scores(C)
        probabilities = np.empty_like(scores)
        _softmax(scores, probabilities)
        return LogitPoint(C, np.nan, np.full(C.shape, np.nan), scores, probabilities)

    def along(self, start: LogitPoint, end: LogitPoint) -> Callable[[float], float]:
        """F at ``start + step (end - start)``, as a function of the step."""
        return lambda step: self.value_along(start, end, step)

    def value_along(self, start: LogitPoint, end: LogitPoint, step: float) -> float:
        """F at ``start + step (end - start)``: scores are linear in C, so no row is looked at again."""
        scores = start.scores + start.scores.dtype.type(step) * (end.scores - start.scores)
        losses = row_losses(scores, self)
        W = self.penalised(start.coefficients + step * (end.coefficients - start.coefficients))
        return float(self.weights @ losses) + 0.5 * self.alpha * float(np.vdot(W, W))

    def curvature(self, point: LogitPoint, share: float = LIGHT_SHARE) -> Curvature:
        """The Hessian at a point, from the rows that matter: the others hold ``share`` of its trace."""
        weight = self.weights * point.row_curvature
        worth_choosing = 1.0 if self.passes.source.is_sparse else WORTH_CHOOSING
        return self.curvature_above(point, light_below(histogram(weight), share, worth_choosing)[0], weight)

    def curvature_above(self, point: LogitPoint, bound: float, weight: np.ndarray) -> Curvature:
        """The Hessian of the rows whose weight in it is no less than a bound."""
        heavy = np.flatnonzero(weight >= bound)
        if len(heavy) == len(weight):
            return Curvature(self, self.passes, self.weights, point.probabilities)
        return Curvature(self, self.passes.of_rows(heavy), self.weights[heavy], point.probabilities[heavy])

    def mean_curvature(self, point: LogitPoint | None) -> np.ndarray:
        """Weight of every row in the diagonal blocks of the Hessian, averaged over the k classes, for preconditioners.

        At zero coefficients where there is no point. Sure rows keep a little of what they have there: a long step may
        make them unsure, and where only such rows have a column nothing else would keep it short.
        """
        if point is None:
            return self.weights / self.n_classes
        least = LEAST_CURVATURE * (1.0 - 1.0 / self.n_classes)
        return self.weights * np.maximum(point.row_curvature, least) / (self.n_classes - 1)

    def own_curvature(self) -> np.ndarray:
        """What every row curves in its own class once it is fitted, ``w t (1 - t)``: nothing for plain labels."""
        label = 1.0 - self.smoothing * (1.0 - 1.0 / self.n_classes)
        return self.weights * label * (1.0 - label)

    def total_curvature(self, point: LogitPoint) -> float:
        return float((self.weights * point.row_curvature).sum() / (self.n_classes - 1))

    def evenness(self, point: LogitPoint) -> float:
        """What share of the rows would do, if all had the same curvature: little where most are sure."""
        return evenness(histogram(self.weights * point.row_curvature))

    def curved_squares(self, point: LogitPoint | None) -> np.ndarray:
        """Mean squares of the columns over rows weighted with their curvature: the diagonal of their Gram matrix."""
        return self.passes.weighted_squares(self.mean_curvature(point))

    def column_scale(self, most_rows: int | None = None) -> np.ndarray:
        """One over the mean square of every column, zero for one that is empty, of so many rows (`SCALE_ROWS`)."""
        share = share_to_scale_by(self.passes.n_rows, most_rows)
        if share == 1:
            return inverse_of_squares(self.passes.weighted_squares(self.weights))
        chosen = np.flatnonzero(self._uniforms(0) < share)
        return inverse_of_squares(self.passes.of_rows(chosen).weighted_squares(self.weights[chosen] / share))

    def curved_sample(
        self, point: LogitPoint | None, n_rows: int, seed: int, scale: np.ndarray | None
    ) -> tuple[Passes, np.ndarray]:
        """About ``n_rows`` rows drawn by what they add to a Gram matrix, and weights that keep its sums unbiased.

        What a row adds is its curvature times ``Σⱼ φᵢⱼ² scaleⱼ``: rows far out in heavy tails, or alone in having a
        column, are large. Without a scale, all rows.
        """
        curvature = self.mean_curvature(point)
        if scale is None:
            present = np.flatnonzero(curvature)
            return (
                (self.passes, curvature)
                if len(present) == len(curvature)
                else (
                    self.passes.of_rows(present),
                    curvature[present],
                )
            )
        masses = curvature * self.passes.row_squares(scale)
        chosen, least = heaviest(masses, self._uniforms(seed), n_rows)
        return self.passes.of_rows(chosen), curvature[chosen] * np.maximum(1.0, least / masses[chosen])

    # ------------------------------------------------------------------ rows left out

    def left_out_parts(self, keys: np.ndarray | None) -> list[np.ndarray]:
        """Rows to leave out, one part at a time: see `eigenfeat.linear.calibration.left_out_parts`.

        By the keys of the rows where no others are given.
        """
        keys = self.passes.source.keys if keys is None else keys
        return left_out_parts(keys if self.passes.index is None else keys[self.passes.index])  # of positive weight

    def scored(self, rows: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scores, labels and weights of some rows."""
        return self.passes.of_rows(rows).scores(C), self.labels[rows], self.weights[rows]


@dataclass(frozen=True, eq=False)
class Curvature:
    """The Hessian of F at one point as an operator: ``V -> Φᵀ [w (diag(p) - ppᵀ) (Φ V)] + alpha V``."""

    objective: LogitObjective
    passes: Passes
    weights: np.ndarray
    probabilities: np.ndarray

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        def middle(rows: slice, values: np.ndarray) -> None:
            _curve(self.probabilities[rows], self.weights[rows], values)

        return self.passes.there_and_back(V, middle) + self.objective.alpha * self.objective.penalised(V)


def share_to_scale_by(n_rows: int, most_rows: int | None = None) -> float:
    """Of the rows: those that tell how large columns are."""
    return min(1.0, (most_rows or SCALE_ROWS) / max(1, n_rows))


def inverse_of_squares(squares: np.ndarray) -> np.ndarray:
    return np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)


def row_losses(scores: np.ndarray, objective: LogitObjective) -> np.ndarray:
    """(n,): the loss of every row at these scores."""
    losses = np.empty(len(scores))
    _loss(scores, objective.labels, objective.smoothing, losses)
    return losses


@jit(nogil=True)
def _softmax(scores, probabilities):  # pragma: no cover - compiled
    for i in range(scores.shape[0]):
        top = scores[i, 0]
        for c in range(1, scores.shape[1]):
            top = max(top, scores[i, c])
        total = 0.0
        for c in range(scores.shape[1]):
            e = np.exp(scores[i, c] - top)
            probabilities[i, c] = e
            total += e
        scale = probabilities.dtype.type(1.0 / total)
        for c in range(scores.shape[1]):
            probabilities[i, c] *= scale


@jit(nogil=True)
def _loss(scores, labels, smoothing, losses):  # pragma: no cover - compiled
    # log(1 + Σ exp(s_c - s_y)): small losses keep their digits, which log Σ exp(s) - s_y would cancel.
    for i in range(scores.shape[0]):
        y = labels[i]
        own = np.float64(scores[i, y])
        top = 0.0
        mean = 0.0
        for c in range(scores.shape[1]):
            top = max(top, scores[i, c] - own)
            mean += scores[i, c] / scores.shape[1]
        total = 0.0
        for c in range(scores.shape[1]):
            if c != y:
                total += np.exp(scores[i, c] - own - top)
        losses[i] = np.log1p(total) if top == 0.0 else top + np.log(np.exp(-top) + total)
        losses[i] += smoothing * (own - mean)


@jit(nogil=True)
def _residual(probabilities, labels, weights, smoothing, residual):  # pragma: no cover - compiled
    share = smoothing / probabilities.shape[1]
    for i in range(probabilities.shape[0]):
        y = labels[i]
        others = 0.0
        for c in range(probabilities.shape[1]):
            residual[i, c] = weights[i] * (probabilities[i, c] - share)
            if c != y:
                others += probabilities[i, c]
        residual[i, y] = weights[i] * (smoothing - share - others)  # p_y - 1 without its cancellation


@jit(nogil=True)
def _curve(probabilities, weights, values):  # pragma: no cover - compiled
    for i in range(values.shape[0]):
        mean = 0.0
        for c in range(values.shape[1]):
            mean += probabilities[i, c] * values[i, c]
        for c in range(values.shape[1]):
            values[i, c] = weights[i] * probabilities[i, c] * (values[i, c] - mean)
