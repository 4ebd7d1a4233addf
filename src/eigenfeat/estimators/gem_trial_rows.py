"""Rows that GEM tries settings on: which of them are left out in turn, and features and scores of those."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from eigenfeat.estimators.gem_trials import LeftOut
from eigenfeat.estimators.multinomial_logit import MultinomialLogit
from eigenfeat.features.stack import Known, StackSettings, fit_stack, layer_moments
from eigenfeat.linear.row_basis import RowBasis, is_wide
from eigenfeat.moments import Moments
from eigenfeat.rows.keys import n_distinct
from eigenfeat.rows.rows import ArrayRows, Rows
from eigenfeat.rows.sampling import ClassBounds, Split, ranked_splits
from eigenfeat.stages import Chain

SEARCH_ROWS, SEARCH_SHARE, MOST_SEARCH_ROWS = 3000, 0.4, 5000
"""Rows that settings are tried on: all up to the first number, then a share of them up to the last."""

SHARE_OF_MANY, MOST_OF_MANY = 0.08, 20_000
"""Of very many rows this share up to so many. On half a million rows of Covertype the penalty that 5000 rows ask for is
far too strong: 13.1 % error, 10.4 % with that of 20,000, whose trials take 6 of 210 s (trials)."""

ROWS_A_CLASS = 10
"""Rows a class that the last number may be exceeded for: with five of a thousand classes penalty and temperature were
those of far fewer rows than a fit has, log loss 2.33 where ten have 1.70 (trials)."""

FOLDS = ((2000, 3, 3), (np.inf, 4, 1))
"""(up to so many rows, parts they are cut into, parts that are left out in turn)."""

MANY_NUMBERS = 50_000
"""Features of a trial, rows times columns, above which they are held in float32: products take half the time, and
rounding moves penalties and temperatures by some 1e-5."""


Solved = tuple[Moments, Known]
"""What trials of one recipe share: moments of a split, and as many directions as any of them takes."""


@dataclass(frozen=True, eq=False)
class TrialFit:
    """How a trial fits: layers, the convex stage on them, the weights its rows get there, what draws at random."""

    settings: StackSettings
    logit: MultinomialLogit
    weighted: Callable[[Rows], Rows]
    seed: Any

    @property
    def rng(self) -> np.random.RandomState:
        """Every trial draws the same, and leaves a generator that the user gave as it is."""
        return (
            np.random.RandomState(self.seed) if isinstance(self.seed, int) else deepcopy(check_random_state(self.seed))
        )


@dataclass(frozen=True, eq=False)
class Fold:
    """Features of training and of left-out rows, held: quicker than made at every pass.

    ``cut`` says that there were more directions than a trial takes.
    """

    train: ArrayRows
    test: ArrayRows
    cut: bool

    def narrowed(self) -> Fold:
        """Rows that are fewer than their columns in coordinates of their span, which all fits to them then share."""
        if not is_wide(self.train):
            return self
        basis = RowBasis.of(self.train)
        test = basis.coordinates(self.test.X).astype(self.test.dtype)
        train = replace(basis.rows, y=self.train.y, weight=self.train.weight)
        return replace(self, train=train, test=replace(self.test, X=test))


@dataclass(frozen=True, eq=False)
class TrialRows:
    """Rows to try settings on, and which of them are left out in turn.

    Attributes
    ----------
    rows : Rows
        Before the base map, with labels that are indices into ``classes``.
    classes : (k,) array
    keys : (n,) array of int
        Equal for rows that are left out together.
    splits : list of (training rows, left-out rows)
    n_training : float
        Different rows of a training part, on average.
    events : (n,) array, optional
        What cuts the classes into sub-classes, where the user says.
    """

    rows: Rows
    classes: np.ndarray
    keys: np.ndarray
    splits: list[Split]
    n_training: float
    events: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        rows: Rows,
        classes: np.ndarray,
        own_keys: np.ndarray,
        keys: np.ndarray,
        events: np.ndarray | None = None,
        searching: bool = True,
    ) -> TrialRows:
        """A sample of the rows by their own keys; rows of equal key of the other kind are left out together.

        ``searching`` says whether settings are chosen, or the temperature of given ones.
        """
        count = search_rows(rows.n_rows, len(classes), searching)
        chosen = ClassBounds.within(own_keys, np.asarray(rows.y), rows.weight, count)
        sample, events = rows.take(chosen), None if events is None else events[chosen]
        return cls.of_sample(sample, classes, own_keys[chosen], keys[chosen], events)

    @classmethod
    def of_sample(
        cls,
        sample: Rows,
        classes: np.ndarray,
        own_keys: np.ndarray,
        keys: np.ndarray,
        events: np.ndarray | None = None,
    ) -> TrialRows:
        """All of these rows."""
        n_different = n_distinct(own_keys)
        n_parts, n_tried = next((parts, tried) for most, parts, tried in FOLDS if n_different <= most)
        splits = ranked_splits(keys, np.asarray(sample.y), n_parts)[:n_tried]
        n_training = float(np.mean([n_distinct(own_keys[train]) for train, _ in splits])) if splits else 0.0
        return cls(sample, classes, keys, splits, n_training, events)

    @property
    def n_numbers(self) -> int:
        """Of the rows, or of their scores where these are more."""
        return self.rows.n_rows * max(self.rows.n_columns, len(self.classes))

    @property
    def left_out_once(self) -> bool:
        """Whether one part of the rows is left out, and no other."""
        return len(self.splits) == 1

    def behind(self, base: Chain) -> TrialRows:
        """The same rows after a base map."""
        rows: Rows = base.over(self.rows)
        return replace(self, rows=_held(rows)) if base.stages else self

    def solved(self, fit: TrialFit) -> Callable[[int], Solved]:
        """First layers by the number of a split, found without its left-out rows, when they are first asked for."""
        return cache(lambda number: self._solved(self.splits[number][0], fit))

    def _solved(self, part: np.ndarray, fit: TrialFit) -> Solved:
        train, rng = self.rows.take(part), fit.rng
        moments = layer_moments(train, fit.settings.layers[0], self.classes, {})
        first = replace(fit.settings, layers=fit.settings.layers[:1])
        stack = fit_stack(moments, train, first, rng, {}, self._events(part))
        return moments, (stack.layers[0].directions, rng.get_state(legacy=True))

    def _events(self, part: np.ndarray) -> np.ndarray | None:
        return None if self.events is None else self.events[part]

    def folds(self, solved: Callable[[int], Solved], fit: TrialFit) -> Callable[[int], Fold]:
        """Features by the number of a split, of first layers that are solved already, made when first asked for."""
        return cache(lambda number: self._fold(self.splits[number], solved(number), fit))

    def _fold(self, split: Split, solved: Solved, fit: TrialFit) -> Fold:
        (moments, known), rows = solved, self.rows
        train, test = (rows.take(part) for part in split)
        stack = fit_stack(moments, train, fit.settings, fit.rng, {}, self._events(split[0]), known)
        chain = stack.chain
        many = train.n_rows * chain.n_columns(train.n_columns) > MANY_NUMBERS
        dtype = np.float32 if many else rows.dtype
        held_train, held_test = (
            ArrayRows(chain.at(part).astype(dtype, copy=False), part.y, part.weight) for part in (train, test)
        )
        return Fold(held_train, held_test, fit.settings.cuts(stack)).narrowed()

    def left_out(self, fold: Callable[[int], Fold], fit: TrialFit) -> Callable[[float, int], LeftOut]:
        """A function from a penalty to scores of what the first splits leave out; fits start from the one before."""
        path = cache(lambda number: fit.logit.path_rows(fit.weighted(fold(number).train), calibrate=False))

        @cache
        def scores(number: int, penalty: float) -> np.ndarray:
            return class_scores(path(number)(penalty / self.n_training), fold(number).test.X)

        def at(penalty: float, n_splits: int) -> LeftOut:
            found = [scores(number, penalty) for number in range(n_splits)]
            return LeftOut.of(penalty, np.concatenate(found), [fold(number).test for number in range(n_splits)])

        return at


def class_scores(fitted: MultinomialLogit, features: np.ndarray) -> np.ndarray:
    """(n, k) scores of every class, in float64 and before any temperature."""
    scores = np.asarray(fitted.fitted_.scores.at(features), dtype=np.float64)  # type: ignore[union-attr]
    return np.hstack([-scores / 2, scores / 2]) if scores.shape[1] == 1 else scores


def search_rows(n_rows: int, n_classes: int, searching: bool = True) -> int:
    """Different rows that settings are tried on, of so many; fewer will do for the temperature of given ones."""
    of_many = min(SHARE_OF_MANY * n_rows, MOST_OF_MANY) if searching else 0
    return int(np.clip(SEARCH_SHARE * n_rows, SEARCH_ROWS, max(MOST_SEARCH_ROWS, of_many, ROWS_A_CLASS * n_classes)))


def _held(rows: Rows) -> Rows:
    return ArrayRows(rows.to_array(), rows.y, rows.weight)
