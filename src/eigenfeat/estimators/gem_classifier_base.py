"""What GEM's classifiers share: the fit of members, their chains, and what a classifier leans on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenfeat._sklearn import COUNT, POSITIVE, HasMethods, Interval, Real, StrOptions, check_feature_names_in
from eigenfeat.estimators.column_scaler import treated_rows
from eigenfeat.estimators.column_splines import N_KNOTS, basis_names
from eigenfeat.estimators.edge import ScoresMixin
from eigenfeat.estimators.gem_base import GEMFeaturesMixin, check_events
from eigenfeat.estimators.gem_columns import ColumnsOfTraining
from eigenfeat.estimators.gem_streaming import (
    BASE_ROWS,
    StreamedTraining,
    gem_fits_memory,
    training_stream,
    warn_of_gaps,
)
from eigenfeat.estimators.gem_trial_rows import TrialRows
from eigenfeat.estimators.memory import expected_of_settings, warn_of_memory
from eigenfeat.estimators.multinomial_logit import MultinomialLogit
from eigenfeat.estimators.streaming import is_stream, refuse_beside_stream, with_class_weights
from eigenfeat.estimators.unlabelled import beside
from eigenfeat.estimators.validation import (
    check_class_labels,
    check_weights,
    checked_group_keys,
    class_weights,
    left_out_keys,
)
from eigenfeat.features.column_basis import Pairs, column_basis, crossed_columns, n_values, required_pairs
from eigenfeat.features.layer import direction_parts
from eigenfeat.features.stack import Stack, StackSettings, fit_stack, largest_class, refuse_equal_members, timed
from eigenfeat.moments import Moments
from eigenfeat.rows.cache import CacheDecision
from eigenfeat.rows.keys import n_distinct
from eigenfeat.rows.rows import ArrayRows, Rows
from eigenfeat.rows.sampling import ClassBounds
from eigenfeat.scores.axes import ROWS_AN_AXIS, leading_axes
from eigenfeat.solvers import DenseVectors
from eigenfeat.stages import Affine, BaseMap, Beside, Chain, FeatureLayer, Fitted, GeometricMean, Softmax, Stage

DEFAULT_PENALTY = 1.0
"""``alpha`` times the different rows where there is nothing to choose it on."""

MOST_AXES = 100
"""Leading principal axes that ``base_map="axes"`` takes: GEM compares second moments, which are told from noise along
more of them than third moments are."""


@dataclass(frozen=True, eq=False)
class TrainingRows(ColumnsOfTraining):
    """What a fit of members is made of.

    Attributes
    ----------
    rows : Rows
        In memory, before the base map, labelled with indices into ``classes``, and weighted.
    classes : (k,) array
    own_keys : (n,) array of int
        Equal for rows that count as one.
    keys : (n,) array of int
        Equal for rows that are left out together: the same, or those of the user's groups.
    events : (n,) array, optional
        The user's labels of sub-classes.
    more : ArrayRows, optional
        The rows and, after them, those without labels, treated alike.
    searching : bool
        Whether settings are chosen on these rows.
    """

    rows: Rows
    classes: np.ndarray
    own_keys: np.ndarray
    keys: np.ndarray
    events: np.ndarray | None = None
    more: ArrayRows | None = None
    searching: bool = True

    @property
    def n_different(self) -> int:
        """Different rows of positive weight."""
        weights = self.rows.weight
        return n_distinct(self.own_keys if weights is None else self.own_keys[weights > 0])

    @cached_property
    def trials(self) -> TrialRows:
        """What settings are tried on."""
        return TrialRows.of(self.rows, self.classes, self.own_keys, self.keys, self.events, self.searching)

    def screened(self, count: int) -> tuple[Rows, np.ndarray, np.ndarray]:
        chosen = ClassBounds.within(self.own_keys, np.asarray(self.rows.y), self.rows.weight, count)
        return self.rows.take(chosen), self.keys[chosen], self.own_keys[chosen]

    def sample(self, count: int) -> tuple[Any, np.ndarray]:
        """All rows, which are at hand, and their keys."""
        return self.rows, self.own_keys

    def behind(self, rows: Any) -> TrainingRows:
        """The same with other rows: these behind a base map."""
        return replace(self, rows=rows)

    def part(self, index: np.ndarray, inputs: Chain) -> TrainingRows:
        """Some of the rows, by ascending index; ``inputs`` stands before them already."""
        events = None if self.events is None else self.events[index]
        keys = {"own_keys": self.own_keys[index], "keys": self.keys[index]}
        return replace(self, rows=self.rows.take(index), events=events, **keys)


@dataclass(frozen=True)
class LastStage:
    """What the logit is asked for; a temperature of None is found on rows left out of the logit."""

    alpha: float
    label_smoothing: float
    temperature: float | None = None


class GEMClassifierBase(ScoresMixin, GEMFeaturesMixin):
    """Members, each a stack of layers and a last stage, combined by the geometric mean of their probabilities."""

    _parameter_constraints: dict = {
        **GEMFeaturesMixin._parameter_constraints,
        "n_estimators": [COUNT],
        "base_map": [None, StrOptions({"splines", "products", "axes"}), HasMethods(["fit", "transform"])],
        "label_smoothing": [Interval(Real, 0, 1, closed="left")],
        "class_weight": [None, dict, str],
        "classifier_tol": [POSITIVE],
        "max_iter": [COUNT],
        "verbose": ["verbose"],
    }

    # What every subclass takes.
    n_estimators: int
    base_map: Any
    label_smoothing: float
    class_weight: Any
    classifier_tol: float
    max_iter: int
    n_jobs: int | None
    verbose: bool

    @property
    def _searches(self) -> bool:
        """Whether settings are chosen on the training rows."""
        return True

    # ------------------------------------------------------------------ fit

    def _training_rows(self, X, y, sample_weight, groups, subclass_labels=None, unlabelled=None) -> Any:
        """Checked rows; the treatment of columns is learnt here."""
        rows: Any
        codes: Any
        if is_stream(X):
            refuse_beside_stream(groups=groups, subclass_labels=subclass_labels, unlabelled=unlabelled)
            stream, seen = training_stream(self, X, y, sample_weight)
            if not gem_fits_memory(stream, seen.totals):
                rows = self._treated(stream)
                return StreamedTraining(stream, seen.totals.classes, seen, rows, self._inputs, self._searches)
            in_memory = stream.load()
            X, codes, weights, classes = in_memory.X, in_memory.y, in_memory.weight, seen.totals.classes
        else:
            X, y = self._check(X, y)
            weights = check_weights(sample_weight, X)
            classes, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        more = self._beside(X, weights, unlabelled)
        rows = self._treated(ArrayRows(X, codes, weights), more)
        own_keys = left_out_keys(rows.keys, codes, weights)
        keys = own_keys if groups is None else checked_group_keys(groups, codes)
        events = check_events(subclass_labels, rows)
        return TrainingRows(rows, classes, own_keys, keys, events, self._treated_alike(more), self._searches)

    def _beside(self, X: Any, weights: np.ndarray | None, unlabelled: Any) -> ArrayRows | None:
        """All rows, those with labels first, where there are others."""
        if unlabelled is None:
            return None
        weights = np.ones(X.shape[0]) if weights is None else weights
        rows, share = beside(X, weights, self._check(unlabelled, reset=False))
        return ArrayRows(rows, None, share)

    def _treated_alike(self, rows: ArrayRows | None) -> Any:
        if rows is None or not self._inputs.stages:
            return rows
        return treated_rows(self._inputs.stages[0], rows)  # type: ignore[arg-type]

    def _base(self, name: Any, training: Any) -> Chain:
        """A base map learnt from rows: one of ours by name, none, or the user's, which is kept as ``base_map_``.

        Of a stream, the user's is fitted to a sample of rows.
        """
        if name is None:
            return Chain()
        if getattr(self, "invariances", None):
            raise ValueError("invariances transform the inputs, and base_map stands between them and the directions.")
        if name == "axes":
            return Chain((principal_axes(training),))
        if isinstance(name, str):
            pairs = self._surface_pairs(training) if name == "products" else ()
            return Chain((column_basis(training.basis_sample, N_KNOTS, pairs),))
        rows, _ = training.sample(BASE_ROWS)
        self.base_map_ = clone(name).fit(rows.X, rows.y)
        return Chain((BaseMap.of(self.base_map_, rows.X),))

    def _surface_pairs(self, training: Any) -> Pairs:
        """Pairs of columns that "products" are made of."""
        return required_pairs(n_values(training.basis_sample), N_KNOTS)

    def _behind(self, base: Chain, training: Any) -> Any:
        """The training rows after a base map, which becomes a part of the model."""
        self._inputs = self._inputs.then(*base.stages)
        return training.behind(base.over(training.rows))

    def _member_settings(self, training: TrainingRows, n_layers: int = 1, **chosen: Any) -> StackSettings:
        """Settings of one member of the ensemble."""
        settings = self._settings(n_layers, **chosen)
        return settings.of_member(self.n_estimators, len(training.classes), training.events is not None)

    def _fit_members(self, moments: Moments, training: TrainingRows, settings: StackSettings, last: LastStage):
        """Fit all members with these settings, of which the moments of the first layer are given."""
        rng = check_random_state(self.random_state)
        stacks: list[Stack] = []
        for _ in range(self.n_estimators):
            stack = fit_stack(moments, training.rows, settings, rng, self.stage_seconds_, training.events)
            if stacks:
                refuse_equal_members(stacks[0], stack)
            stacks.append(stack)
        with timed(self.stage_seconds_, "classifier"):
            members = training.rows.starmap(
                partial(self._fit_member, training, last), [(stack,) for stack in stacks], nested=True
            )
        classifiers, caches = zip(*members)
        if caches[0] is not None:
            self.cache_ = caches[0]
        if len(stacks) > 1 and not training.rows.is_local:
            warn_of_gaps(classifiers)
        self.n_iter_ = max(np.max(getattr(last, "n_iter_", 1)) for last in classifiers)
        self.classes_, self.moments_ = training.classes, moments
        self.stacks_, self.classifiers_ = tuple(stacks), list(classifiers)
        self.fitted_ = self._chains()
        return self

    def _fit_member(self, training: Any, last: LastStage, stack: Stack) -> tuple[Any, CacheDecision | None]:
        """The last stage of one member, and what of a stream its passes read."""
        rows = self._last_rows(stack, training)
        return self._fit_last(rows, training.keys, last), getattr(rows, "decision", None)

    def _last_rows(self, stack: Stack, training: Any) -> Any:
        """Features of the training rows for the passes of the last stage."""
        if isinstance(training, StreamedTraining):
            return stack.cached_rows(
                self._inputs.over(with_class_weights(training.raw, self.class_weight, training.classes))
            )
        return self._with_class_weights(stack.cached_rows(training.rows), training.classes)

    def _warn_of_memory(self, training: Any, *candidates: StackSettings) -> None:
        """Told before anything large is made; what streams hold is bounded by `eigenfeat.runtime`."""
        rows = training.rows
        if isinstance(training, StreamedTraining):
            return
        itemsize = np.dtype(rows.dtype).itemsize
        sizes = (rows.n_rows, rows.n_columns, len(training.classes), itemsize, largest_class(rows))
        needed = max(expected_of_settings(settings, *sizes) for settings in candidates)
        warn_of_memory(needed, type(self).__name__)

    def _fit_last(self, rows: Rows, keys: np.ndarray, last: LastStage) -> Any:
        return self._logit(last, self.classifier_tol).fit_rows(rows, keys, last.temperature)

    def _logit(self, last: LastStage, tol: float) -> MultinomialLogit:
        return MultinomialLogit(
            last.alpha,
            label_smoothing=last.label_smoothing,
            tol=tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    def _with_class_weights(self, rows: Any, classes: np.ndarray) -> Any:
        """Rows of the last stage: class weights count there, not in the moments."""
        if self.class_weight is None:
            return rows
        of_rows = class_weights(self.class_weight, classes, rows.y, rows.weight)
        return rows.with_labels(rows.y, of_rows if rows.weight is None else rows.weight * of_rows)

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
        bases = FeatureLayer | BaseMap | Affine
        base = next((stage for stage in self._inputs.stages if isinstance(stage, bases)), None)
        if base is None:
            return names
        if isinstance(base, Affine):
            return [f"axis{i}" for i in range(base.n_columns(len(names)))]
        if isinstance(base, FeatureLayer):
            return basis_names(base, names)
        return [f"base{i}" for i in range(self._inputs.n_columns(len(names)))]

    # ------------------------------------------------------------------ explain

    @property
    def column_pairs_(self) -> list[tuple[str, str]]:
        """Columns that get a surface together, by name, those first that tell most beyond what each does."""
        check_is_fitted(self, "fitted_")
        basis = next((stage for stage in self._inputs.stages if isinstance(stage, FeatureLayer)), None)
        names = check_feature_names_in(self, None)
        return [] if basis is None else [(names[i], names[j]) for i, j in crossed_columns(basis)]

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
        rows: Rows = self._inputs.then(*stack.chain.stages).over(ArrayRows(X))
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


def principal_axes(training: Any) -> Affine:
    """Treated rows on their leading principal axes, in their own scale; rows without labels count, where there are."""
    rows = training.sample(BASE_ROWS)[0] if training.more is None else training.more
    weights = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    axes = leading_axes(rows.X, weights, max(1, min(MOST_AXES, rows.n_rows // ROWS_AN_AXIS)))
    return Affine.about(DenseVectors(axes.vectors.astype(rows.dtype)), axes.mean)
