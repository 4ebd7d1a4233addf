"""Fit a multinomial logit on any row source: the convex stage as one function."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from eigenfeat._runtime.threads import one_blas_thread
from eigenfeat.linear.calibration import best_temperature
from eigenfeat.linear.newton import newton_steps
from eigenfeat.linear.objective import LogitObjective, LogitPoint
from eigenfeat.linear.preconditioner_table import PRECONDITIONERS, build_cost, damping_in_penalties, rows_to_draw
from eigenfeat.linear.preconditioners import Preconditioner, PreconditionerRequest
from eigenfeat.linear.quasi_newton import Pairs, gap_at, no_pairs, quasi_newton_steps
from eigenfeat.linear.row_basis import RowBasis, is_wide
from eigenfeat.linear.sample_start import end_of_sample, shares_to_start_from
from eigenfeat.linear.steps import Step
from eigenfeat.linear.streamed import StreamedObjective
from eigenfeat.rows.accumulators import ClassCounts
from eigenfeat.rows.rows import Rows

# Relative gap below which Newton steps take over: their model is trusted there, and few rows still curve. Those of
# smoothed labels all do, and products with their Hessian stay as dear as passes. Neither is critical: on digits
# (benchmarks/speed/constants.py) plain labels take 150-200 passes for gaps from 0.1 to 1e-3, smoothed ones 9-11.
NEWTON_GAP = 1e-2
SMOOTHED_NEWTON_GAP = 1e-3
# Another preconditioner must promise this many times its cost: what is left of the way is not known. Measured
# (benchmarks/speed/constants.py), margins from 1 to 16 take the same time, and none (always renew) twice as long.
REBUILD_MARGIN = 2.0
# A step over all rows that is shorter than this went where rows that the sample lacks curve: the next preconditioner
# is made of all rows, for the price of such a step.
CUT_SHORT = 0.5
# Damping of few rows, in penalties, up to which the penalty decides: 11,000 columns of MNIST with plain labels have 5
# at alpha 1e-3, and are quicker from a quarter of the rows, and 500 at 1e-5, where they are not.
RULING_PENALTY = 10.0
# Of the rows that a sample is to have, those that it has: of a stream with few different rows it may be a poor one, and
# then none is better.
LEAST_DRAWN = 0.5
# Rows that tell how large columns are where a sample is drawn by that: what it lacks its damping makes up for.
DAMPED_SCALE_ROWS = 10_000
# What a halving of the curvature of all rows counts beside one of the rows that have any.
SCALE_AGE = 0.1
# Fits that leave rows out for one number, the temperature, need no more than this.
LEFT_OUT_GAP = 5e-2
LEFT_OUT_STEPS = 20
# Rows times columns below which threads of BLAS cost more, in being woken for every product, than they save
# (benchmarks/gem_constants.py).
FEW_NUMBERS = 1e7
# Classes beyond which a number takes part in so many products that fewer of them keep threads busy.
MANY_CLASSES = 100
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class LogitFit:
    """What ``fit_logit`` returns.

    Attributes
    ----------
    coef : (n_classes, n_columns) array
    intercept : (n_classes,) array
        Sums to zero over classes; zeros without an intercept.
    objective : float
        ``mean weighted loss + ½ alpha ‖coef‖²`` at the end.
    gradient_norm : float
        Largest absolute entry of its gradient.
    gap : float
        Estimate of ``objective - minimum`` at the last point a step was taken from.
    n_iter : int
        Steps.
    n_passes : float
        Passes over the rows, products with a share of the rows counted as that share.
    converged : bool
    separated : bool
        Whether there is no minimum: without a penalty, rows that coefficients can tell apart pull these ever further.
    solver : str
        "gram", "classes", "sample" or "diagonal": the preconditioner.
    """

    coef: np.ndarray
    intercept: np.ndarray
    objective: float
    gradient_norm: float
    gap: float
    n_iter: int
    n_passes: float
    converged: bool
    separated: bool
    solver: str


class LogitSolver:
    """Fits of one set of rows and labels, for one alpha or many.

    Minimises ``Σ wᵢ lossᵢ / Σ wᵢ + ½ alpha ‖coef‖²`` over a coefficient vector a class and a free intercept;
    ``eigenfeat.linear.objective`` writes it out.
    The preconditioner built in one fit serves the next, so a path over alpha, each fit started from the last,
    costs little more than its hardest member.

    Parameters
    ----------
    source : Rows
        The rows (`eigenfeat.rows`) with their labels, 0..n_classes-1, and, where there are any, weights: non-negative,
        and only their ratios matter. Of a stream nothing is held: see `eigenfeat.linear.streamed`.
    n_classes : int
    totals : ClassCounts, optional
        Rows and weight of every class of a stream, where they are known; a pass otherwise.
    fit_intercept : bool
    smoothing : float
        Share ε of every label that is spread over all classes.
    solver : {"auto", "gram", "classes", "sample", "diagonal"}
        The preconditioner; `PRECONDITIONERS` is the table.
    batch_size, n_jobs : int, optional
        See ``Passes``.
    random_state : int or RandomState, optional
        Draws the rows of a sampled Gram matrix; the minimum does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.rows import as_rows
    >>> rows = as_rows(np.array([[0.0], [1.0], [2.0], [3.0]]), y=[0, 0, 1, 1])
    >>> solver = LogitSolver(rows, n_classes=2)
    >>> path = [solver.fit(alpha) for alpha in (1.0, 0.1)]
    >>> path[1].objective < path[0].objective
    True
    """

    def __init__(
        self,
        source: Rows,
        n_classes: int,
        *,
        totals: ClassCounts | None = None,
        fit_intercept: bool = True,
        smoothing: float = 0.0,
        solver: str = "auto",
        batch_size: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self._basis: RowBasis | None = None
        options: Any = {"fit_intercept": fit_intercept, "smoothing": smoothing}
        if source.random_access:
            self.objective: Any = LogitObjective.of(source, n_classes, batch_size=batch_size, n_jobs=n_jobs, **options)
        else:
            totals = source.reduce(ClassCounts(), "labels") if totals is None else totals
            self.objective = StreamedObjective.of(source, totals, batch_size=batch_size, n_jobs=n_jobs, **options)
        self._asked, self._table_row = solver, PRECONDITIONERS.choose(solver, self.objective, None)
        if source.random_access:
            self._leave_span_and_weightless(source)
        self._rng = check_random_state(random_state)
        self._sample: Any = None
        self._preconditioner: Preconditioner | None = None
        self._pairs = no_pairs(self.objective.shape)
        self._column_scales: dict[str, np.ndarray] = {}
        self._built_at = (1.0, 1.0)
        self._passes_since_build = 0.0

    def _leave_span_and_weightless(self, source: Rows) -> None:
        """Few rows in coordinates of their span; rows without weight left out."""
        passes, labels, weights = self.objective.passes, self.objective.labels, self.objective.weights
        self._basis = RowBasis.of(source) if self.solver in ("gram", "classes") and is_wide(source) else None
        if self._basis is not None:
            passes = replace(passes, source=self._basis.rows)
        if not weights.all():
            present = np.flatnonzero(weights)
            passes, labels, weights = passes.of_rows(present), labels[present], weights[present]
        self.objective = replace(self.objective, passes=passes, labels=labels, weights=weights / weights.sum())

    @property
    def solver(self) -> str:
        """The preconditioner, by name."""
        return self._table_row.name

    def fit(
        self,
        alpha: float,
        *,
        initial: tuple[np.ndarray, np.ndarray] | None = None,
        tol: float = 1e-4,
        max_iter: int = 200,
        callback: Callable[[int, Step], None] | None = None,
    ) -> LogitFit:
        """The minimum for one alpha.

        Parameters
        ----------
        alpha : float
            Penalty on the mean loss, zero or positive.
        initial : (coef, intercept), optional
            Where to start, as in ``LogitFit``; zero otherwise.
        tol : float
            Stop when the estimated gap to the minimum is at most ``tol`` times the objective.
        max_iter : int
            Steps at most, quasi-Newton and Newton together.
        callback : callable, optional
            Called with the number of the step and the ``Step`` after each.
        """
        n_numbers = self.objective.passes.n_rows * self.objective.passes.n_columns
        few = n_numbers * max(1.0, self.objective.n_classes / MANY_CLASSES) < FEW_NUMBERS
        with one_blas_thread() if few else nullcontext():
            return self._fit(alpha, initial, tol, max_iter, callback)

    def _fit(self, alpha, initial, tol, max_iter, callback) -> LogitFit:
        self._set_alpha(alpha)
        objective = self.objective
        point = objective.at(self._start_of_sample(objective) if initial is None else self._start(initial))
        n_passes, n_iter, separated = 1.0, 0, False
        # A step over all rows costs a pass: where a sample has shown all of the way, none is needed.
        gap = (
            np.inf if self._sample is None else gap_at(point, self._preconditioner_at(objective, point, 1), self._pairs)
        )
        converged = gap <= tol * point.value
        for step in () if converged else self._steps(point, tol):
            point, gap = step.point, step.gap
            n_iter += 1
            n_passes += step.n_passes
            if callback is not None:
                callback(n_iter, step)
            # Below the rounding of the rows' type no step improves: that is as good as it gets.
            converged = gap <= max(tol, 10 * np.finfo(objective.passes.dtype).eps * (step.step == 0)) * point.value
            separated = alpha == 0 and point.value <= np.finfo(objective.passes.dtype).eps
            if converged or separated or n_iter >= max_iter or (step.step == 0 and step.n_products):
                break
        return LogitFit(
            *self._coef_and_intercept(point.coefficients),
            objective=point.value,
            gradient_norm=point.gradient_norm,
            gap=gap,
            n_iter=n_iter,
            n_passes=n_passes,
            converged=converged and not separated,
            separated=separated,
            solver=self.solver,
        )

    def calibrate(
        self, alpha: float, keys: np.ndarray | None = None
    ) -> tuple[float, tuple[np.ndarray, np.ndarray] | None]:
        """What to multiply scores by before they become probabilities, and where a fit of all rows may start.

        One, and nowhere, without smoothing. With it, the factor is found on rows left out of fits of their own, which
        share the preconditioner and what they learn of the curvature with the fit of all rows; the last of them ends
        most of the way to its minimum. ``keys``, one of every row, say which are left out, by default those of
        the rows: see ``left_out_parts``.
        """
        if self.objective.smoothing == 0:
            return 1.0, None
        parts = self.objective.left_out_parts(keys)
        if not parts:
            return 1.0, None
        self._set_alpha(alpha)
        scored = []
        for part in parts:
            scored.append(self.objective.scored(part, coefficients := self._fit_without(part)))
        scores, labels, weights = map(np.concatenate, zip(*scored))
        return best_temperature(scores, labels, weights), self._coef_and_intercept(coefficients)

    def _fit_without(self, rows: Any) -> np.ndarray:
        """Coefficients near the minimum over all other rows."""
        others = self.objective.without(rows)
        start = self._start_of_sample(others)
        point = others.at(start)
        at_zero = 1.0 / self.objective.n_classes
        preconditioner = self._preconditioner or self._renew(None, at_zero, others.evenness(point))
        steps = quasi_newton_steps(others, point, lambda *_: preconditioner, self._pairs)
        for step in islice(steps, LEFT_OUT_STEPS):
            point = step.point
            if step.gap <= LEFT_OUT_GAP * point.value or step.step == 0:
                break
        return point.coefficients

    def _steps(self, point: LogitPoint, tol: float) -> Iterator[Step]:
        """Quasi-Newton steps until they promise little, then Newton steps, which know how much is left."""
        newton_gap = SMOOTHED_NEWTON_GAP if self.objective.smoothing else NEWTON_GAP
        preconditioner_at = partial(self._preconditioner_at, self.objective)
        n_steps = 0
        for step in quasi_newton_steps(self.objective, point, preconditioner_at, self._pairs):
            point = step.point
            n_steps += 1
            yield step
            if step.gap <= max(tol, newton_gap) * point.value or step.step == 0:
                break
            if self._sample is not None and step.step < CUT_SHORT:
                self._sample = self._preconditioner = None
        yield from newton_steps(self.objective, point, preconditioner_at, self._own_pairs(n_steps))

    def _own_pairs(self, n_steps: int) -> Pairs:
        """Pairs of the last so many steps alone; none for rows so sparse and wide that these cost more than a pass.

        Those of samples, or of fits without some rows, are near enough for a first way, and not for its end.
        """
        if self.solver == "diagonal":
            return deque(maxlen=0)
        while len(self._pairs) > n_steps:
            self._pairs.popleft()
        return self._pairs

    def _start_of_sample(self, objective: Any) -> np.ndarray:
        """Where fits of ever larger samples of many rows end, leaving preconditioner and pairs; zero of few rows."""
        start, passes = self._start(None), self.objective.passes
        if self.solver == "classes":  # a sample lacks the rows that it is made of
            return start
        shares = shares_to_start_from(passes)
        if not shares and (scarce := shares_to_start_from(passes, scarce=True)) and self._few_rows_will_do():
            shares = scarce
        if not shares:
            return start
        first = objective.drawn(shares[-1], int(self._rng.randint(2**31 - 1)))
        if first.passes.n_rows < LEAST_DRAWN * shares[-1] * passes.n_rows:
            return start
        self._sample = first
        for share in shares:  # of the sample, the smallest first
            part = first if share == shares[-1] else first.drawn(share / shares[-1], int(self._rng.randint(2**31 - 1)))
            start = end_of_sample(part, start, partial(self._preconditioner_at, part), self._pairs)
        return start

    def _few_rows_will_do(self) -> bool:
        """Whether smoothed labels or the penalty, and not chance, decide what few rows leave open."""
        request = PreconditionerRequest(None, 0, 0, self._scale)
        return self.objective.smoothing > 0 or damping_in_penalties(self.objective, request) <= RULING_PENALTY

    def _set_alpha(self, alpha: float) -> None:
        if self.objective.alpha != alpha:
            self.objective = replace(self.objective, alpha=float(alpha))
            self._sample = None if self._sample is None else replace(self._sample, alpha=float(alpha))
            self._pairs.clear()
            if self._preconditioner is not None:
                self._preconditioner = self._preconditioner.with_alpha(self.objective.alpha)

    def _start(self, initial: tuple[np.ndarray, np.ndarray] | None) -> np.ndarray:
        C = np.zeros(self.objective.shape)
        if initial is not None:
            coef, intercept = initial
            coef = coef if self._basis is None else self._basis.coordinates(coef)
            C[: coef.shape[1]] = coef.T
            if self.objective.passes.constant:
                C[-1] = intercept
        return C

    def _coef_and_intercept(self, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        W, intercept = C, np.zeros(self.objective.n_classes)
        if self.objective.passes.constant:
            W, intercept = C[:-1], C[-1] - C[-1].mean()
        return W.T.copy() if self._basis is None else self._basis.combination(W.T), intercept

    def _preconditioner_at(self, objective: Any, point: LogitPoint, passes_since_last: float) -> Preconditioner:
        """The last preconditioner while it serves, a new one when a new one pays.

        One is built of rows weighted with the curvature they have, so it ages as some lose theirs and others do not:
        the passes since, times the halvings (or doublings) of the rows that count, are held against what another costs.
        What all rows lose alike counts less: it is a scale, which pairs of steps tell.
        """
        self._passes_since_build += passes_since_last
        total, evenness = objective.total_curvature(point), objective.evenness(point)
        of_all, of_rows = np.abs(np.log2(np.divide((max(total, TINY), evenness), self._built_at)))
        age = of_rows + SCALE_AGE * of_all
        ages = self._passes_since_build * age > REBUILD_MARGIN * self._build_cost()
        # Where every row is sure, of classes that separate and no penalty, what is left of curvature is rounding.
        curves = total > np.finfo(self.objective.passes.dtype).eps
        if self._preconditioner is None or (ages and curves):
            return self._renew(point, max(total, TINY), evenness)
        return self._preconditioner

    def _renew(self, point: LogitPoint | None, total_curvature: float, evenness: float) -> Preconditioner:
        self._preconditioner = None  # frees its memory before the next is built
        seed = int(self._rng.randint(2**31 - 1))
        if point is not None and not point.coefficients.any():
            point = None  # what rows have there is known without a pass
        if point is not None and self._sample is not None:
            point = self._sample.seen(point.coefficients)
        curvature = None if self._sample is None else total_curvature
        request = PreconditionerRequest(point, 0, seed, self._scale, curvature)
        self._table_row = PRECONDITIONERS.choose(self._asked, self._curving, request)
        n_rows = rows_to_draw(self.solver, self.objective.passes.n_columns)
        self._preconditioner = self._table_row.solve(self._curving, replace(request, n_rows=n_rows))
        self._built_at, self._passes_since_build = (total_curvature, evenness), 0.0
        return self._preconditioner

    @property
    def _curving(self) -> Any:
        """The objective that preconditioners are made of: of a sample, where there is one."""
        return self.objective if self._sample is None else self._sample

    def _scale(self) -> np.ndarray:
        """Of all rows, because some of them may lack rare columns; these do no harm where a sample is damped."""
        if self.solver not in self._column_scales:
            damped = self.solver == "sample"
            self._column_scales[self.solver] = (
                self._curving.column_scale(DAMPED_SCALE_ROWS) if damped else self.objective.column_scale()
            )
        return self._column_scales[self.solver]

    def _build_cost(self) -> float:
        """Cost of a new preconditioner in passes."""
        passes = self._curving.passes
        n_columns, n_classes = self.objective.shape
        return build_cost(self.solver, passes.n_rows, n_columns, n_classes, passes.source.floats_per_row)
