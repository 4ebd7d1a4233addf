"""What GEM's classifiers share: the fit of members, their chains, and what a classifier leans on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from eigenfeat._sklearn import COUNT, HasMethods, Interval, Real
from eigenfeat.estimators.edge import ScoresMixin
from eigenfeat.estimators.gem_base import GEMFeaturesMixin
from eigenfeat.estimators.multinomial_logit import MultinomialLogit
from eigenfeat.estimators.validation import check_class_labels, check_weights, class_weights, counted_rows, group_keys
from eigenfeat.features.layer import direction_parts
from eigenfeat.features.stack import Stack, StackSettings, fit_stack, timed
from eigenfeat.moments import Moments
from eigenfeat.rows import ArrayRows, LabelledRows, RandomRows
from eigenfeat.stages import BaseMap, Beside, Chain, Fitted, GeometricMean, Softmax, Stage

LOGIT_TOL = {np.dtype(np.float32): 3e-3, np.dtype(np.float64): 1e-5}
"""Relative gap to the minimum of the convex stage, by the type of the rows; 3e-3 is below what test errors show."""

AUTO_PENALTY = 5000.0
"""``alpha · rows · columns`` by default: between what sets of two classes, with few columns, and of many ask for.

Settled on folds of the training rows of ten sets. On five small ones (benchmarks/speed/constants.py) 500 to 1600 have a
mean error of 1.11-1.13 times each set's best, 5000 one of 1.32, carried by sets of few columns.
"""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What a fit of members is made of.

    Attributes
    ----------
    rows : RandomRows
        After the base map, labelled with indices into ``classes``, and weighted.
    classes : (k,) array
    keys : (n,) array of int
        Equal for rows that are left out together.
    """

    rows: RandomRows
    classes: np.ndarray
    keys: np.ndarray


class GEMClassifierBase(ScoresMixin, GEMFeaturesMixin):
    """Members, each a stack of layers and a last stage, combined by the geometric mean of their probabilities."""

    _parameter_constraints: dict = {
        **GEMFeaturesMixin._parameter_constraints,
        "n_estimators": [COUNT],
        "base_map": [None, HasMethods(["fit", "transform"])],
        "label_smoothing": [Interval(Real, 0, 1, closed="left")],
        "class_weight": [None, dict, str],
        "max_iter": [COUNT],
        "verbose": ["verbose"],
    }

    # What every subclass takes.
    n_estimators: int
    base_map: Any
    label_smoothing: float
    class_weight: Any
    max_iter: int
    n_jobs: int | None
    verbose: bool

    # ------------------------------------------------------------------ fit

    def _training_rows(self, X, y, sample_weight, groups) -> TrainingRows:
        """Checked rows; the base map, where there is one, is fitted here."""
        X, y = self._check(X, y)
        weights = check_weights(sample_weight, X)
        classes, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        if self.base_map is not None:
            self.base_map_ = clone(self.base_map)
            self.base_map_.fit(X, codes)
        self._inputs = Chain() if self.base_map is None else Chain((BaseMap.of(self.base_map_, X),))
        rows: RandomRows = self._inputs.over(ArrayRows(X, codes, weights))  # type: ignore[assignment]
        return TrainingRows(rows, classes, group_keys(groups, X))

    def _fit_members(self, moments: Moments, training: TrainingRows, settings: StackSettings, alpha: float | None):
        """Fit all members with these settings, of which the moments of the first layer are given."""
        rng = check_random_state(self.random_state)
        stacks: list[Stack] = []
        classifiers: list[Any] = []
        for _ in range(self.n_estimators):
            stack = fit_stack(moments, training.rows, settings, rng, self.stage_seconds_)
            stacks.append(stack)
            with timed(self.stage_seconds_, "classifier"):
                rows = self._with_class_weights(stack.held(training.rows), training.classes)
                classifiers.append(self._fit_last(rows, training.keys, alpha))
        self.n_iter_ = max(np.max(getattr(last, "n_iter_", 1)) for last in classifiers)
        self.classes_, self.moments_ = training.classes, moments
        self.stacks_, self.classifiers_ = tuple(stacks), classifiers
        self.fitted_ = self._chains()
        return self

    def _fit_last(self, rows: RandomRows, keys: np.ndarray, alpha: float | None) -> Any:
        return self._logit(rows, alpha).fit_rows(rows, keys)

    def _logit(self, rows: RandomRows, alpha: float | None) -> MultinomialLogit:
        n_rows = rows.n_rows if rows.weights is None else counted_rows(rows.weights)
        return MultinomialLogit(
            AUTO_PENALTY / (n_rows * rows.n_columns) if alpha is None else alpha,
            label_smoothing=self.label_smoothing,
            tol=LOGIT_TOL[np.dtype(rows.dtype)],
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    def _with_class_weights(self, rows: RandomRows, classes: np.ndarray) -> RandomRows:
        """Rows of the last stage: class weights count there, not in the moments."""
        if self.class_weight is None:
            return rows
        by_class = class_weights(self.class_weight, classes, rows.labels, rows.weights)
        return LabelledRows(rows, rows.labels, by_class if rows.weights is None else rows.weights * by_class)

    # ------------------------------------------------------------------ the fitted value

    def _chains(self) -> Fitted:
        """Features of all members side by side, and the log probabilities of their geometric mean."""
        chains = [stack.chain for stack in self.stacks_]
        members = [chain.then(*self._score_stages(last)) for chain, last in zip(chains, self.classifiers_)]
        if len(chains) == 1:
            features, scores = chains[0].stages, members[0].stages
        else:
            features, scores = (Beside(tuple(chains)),), self._combined(tuple(members))
        return Fitted(features=self._inputs.then(*features), scores=self._inputs.then(*scores), probabilities=Softmax())

    def _score_stages(self, last: Any) -> tuple[Stage, ...]:
        """From features to logarithms of probabilities."""
        return (*last.fitted_.scores.stages, last.fitted_.probabilities)

    def _combined(self, members: tuple[Stage, ...]) -> tuple[Stage, ...]:
        return (GeometricMean(members),)

    def _input_names(self, names: Sequence[str]) -> Sequence[str]:
        if not self._inputs.stages:
            return names
        return [f"base{i}" for i in range(self._inputs.n_columns(len(names)))]

    # ------------------------------------------------------------------ explain

    def reliance(self, X):
        """How much the classifier leans on each direction of the last layer, on these rows.

        The scores of a linear last stage are sums over directions; a direction's reliance is the variance over rows of
        its part, summed over classes (after taking off their mean, which no probability depends on), as a share of the
        total over directions. Of an ensemble, the first member's.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe
            A thousand rows are plenty.

        Returns
        -------
        reliance : (m,) array
            Shares, summing to one.
        pairs : (m, 2) array
            Labels of numerator and denominator of each direction.
        """
        X = self._check_new(X)
        stack = self.stacks_[0]
        rows: RandomRows = self._inputs.then(*stack.chain.stages).over(ArrayRows(X))  # type: ignore[assignment]
        parts = direction_parts(rows, stack.layers[-1].stage, self._coefficients())
        total = parts.sum()
        return (parts / total if total > 0 else parts), stack.layers[-1].directions.pairs

    def _coefficients(self) -> np.ndarray:
        """(k, columns) of the first last stage, centred over classes."""
        coef = getattr(self.classifiers_[0], "coef_", None)
        if coef is None:
            raise ValueError(f"reliance needs a linear last stage; {type(self.classifiers_[0]).__name__} has no coef_.")
        coef = np.asarray(coef, dtype=np.float64)
        coef = np.concatenate([-coef / 2, coef / 2]) if len(coef) == 1 else coef
        return coef - coef.mean(axis=0)
