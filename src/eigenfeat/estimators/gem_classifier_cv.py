"""GEM with its hyper-parameters chosen on held-out training rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from eigenfeat._runtime.progress import counted
from eigenfeat._sklearn import Integral, Interval, Real, StrOptions, checked_fit
from eigenfeat.estimators.gem_classifier_base import GEMClassifierBase, LastStage
from eigenfeat.estimators.gem_search import Candidate, Grid, Split, class_splits, common_rows, grid
from eigenfeat.estimators.gem_splits import SplitRows
from eigenfeat.estimators.gem_trials import LeftOut
from eigenfeat.estimators.multinomial_logit import warn_of_temperature
from eigenfeat.estimators.search import keep_search
from eigenfeat.estimators.streaming import stream_targets
from eigenfeat.features.stack import Seconds, Stack, StackSettings, layer_moments, with_map
from eigenfeat.moments import Moments, merged_moments
from eigenfeat.rows.keys import key_order

Tried = tuple[int, float, float]
"""A candidate by its place in the grid, its temperature and its score on the held-out rows of one split."""

# What is chosen is not a parameter.
CHOSEN = ("subclasses", "ridge", "min_eigenvalue", "n_components", "alpha", "feature_map", "label_smoothing")


class GEMClassifierCV(GEMClassifierBase):
    """`GEMClassifier` with its settings chosen from a grid on held-out training rows: the thorough form of its search.

    `GEMClassifier` itself varies one setting after the other on a sample of the rows; here all combinations are tried
    on all rows. Those are passed over once: the moments of each fold are computed, those of a training part are merged
    from the folds in it, and after the choice all are merged for the final fit. For each ridge the problems are solved
    once, for the largest number of components and the lowest threshold; the other candidates of one layer are subsets.
    Fits over alpha share their Gram matrix and start from each other. Held-out rows take part in nothing, so the
    temperature of the probabilities is found on them too.

    Parameters
    ----------
    ridges : sequence of float
        Candidates for ``ridge``.
    min_eigenvalues : sequence of float
        Candidates for ``min_eigenvalue``; zero keeps all.
    n_components_grid : sequence of int
        Candidates for ``n_components``.
    alphas : sequence of float
        Candidates for ``alpha``.
    n_layers_grid : sequence of int
        Candidates for ``n_layers``; each deeper one is fitted anew for every ridge, threshold, number and map.
    subclasses_grid : sequence of int
        Candidates for ``subclasses``, one for classes as they are. Two clusters a class make four pairs of each pair of
        classes, with ``n_components`` directions each. They pay with thousands of rows a class; `GEMClassifier`, whose
        trials have fewer, never takes them by itself.
    feature_maps, label_smoothings : sequences
        Candidates for ``feature_map`` and ``label_smoothing``.
    cv : float, int, splitter or iterable of splits
        A share in (0, 1) of rows to hold out once, a number of folds, or what scikit-learn takes for ``cv``.
    scoring : {"accuracy", "neg_log_loss"}
        What is maximised on the held-out rows. Of equal candidates the more regularised is taken.
    class_pairs, n_pairs, noise, ridge_shape, shrinkage, max_components, keep_inputs, constant, columns
        As in `GEMFeatures`.
    n_estimators, base_map, class_weight, classifier_tol, solver, tol, max_iter, n_jobs, verbose, random_state
        As in `GEMClassifier`, ``base_map`` but for "auto"; the choice is made with the first member of an ensemble.

    Attributes
    ----------
    best_params_ : dict
        The chosen n_layers, subclasses, ridge, min_eigenvalue, n_components, feature_map, label_smoothing and alpha.
    n_layers_, subclasses_, ridge_, min_eigenvalue_, n_components_, feature_map_, label_smoothing_, alpha_
        The same, one by one.
    best_score_ : float
        Its mean score on the held-out rows.
    best_index_ : int
        Its place in ``cv_results_``.
    cv_results_ : dict of arrays
        Every candidate with its scores, as in scikit-learn's ``GridSearchCV``.
    components_, patterns_, offsets_, eigenvalues_, residuals_, pairs_, solver_, criterion_, moments_, columns_,
    stacks_, classifiers_, n_iter_, stage_seconds_, classes_, n_features_in_
        As in `GEMClassifier`.

    References
    ----------
    Karampatziakis & Mineiro (2014), section 4.1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenfeat import GEMClassifierCV
    >>> X, y = load_digits(return_X_y=True)
    >>> grid = {"ridges": (0.1, 1.0), "n_components_grid": (2,), "min_eigenvalues": (0.0,), "alphas": (1e-2,)}
    >>> model = GEMClassifierCV(**grid).fit(X[:600] / 16, y[:600])
    >>> model.best_params_["ridge"] in (0.1, 1.0), model.score(X[1200:] / 16, y[1200:]) > 0.9
    (True, True)
    """

    _parameter_constraints: dict = {
        **{name: values for name, values in GEMClassifierBase._parameter_constraints.items() if name not in CHOSEN},
        "ridges": ["array-like"],
        "min_eigenvalues": ["array-like"],
        "n_components_grid": ["array-like"],
        "alphas": ["array-like"],
        "n_layers_grid": ["array-like"],
        "subclasses_grid": ["array-like"],
        "feature_maps": [list, tuple],
        "label_smoothings": ["array-like"],
        "cv": [Interval(Real, 0, 1, closed="neither"), Interval(Integral, 2, None, closed="left"), "cv_object"],
        "scoring": [StrOptions({"accuracy", "neg_log_loss"})],
    }

    def __init__(
        self,
        *,
        ridges=(0.05, 0.2, 1.0),
        min_eigenvalues=(0.0, 2.0),
        n_components_grid=(10, 20),
        alphas=(1e-5, 1e-4, 1e-3),
        n_layers_grid=(1,),
        subclasses_grid=(1,),
        feature_maps=("soft-cubic",),
        label_smoothings=(0.2,),
        cv=0.2,
        scoring="accuracy",
        class_pairs="auto",
        n_pairs=None,
        noise="second_moment",
        ridge_shape="identity",
        shrinkage=None,
        max_components=None,
        keep_inputs=True,
        constant=False,
        columns="auto",
        n_estimators=1,
        base_map=None,
        class_weight=None,
        solver="auto",
        tol=None,
        classifier_tol=1e-2,
        max_iter=200,
        n_jobs=None,
        verbose=False,
        random_state=0,
    ):
        self.ridges = ridges
        self.min_eigenvalues = min_eigenvalues
        self.n_components_grid = n_components_grid
        self.alphas = alphas
        self.n_layers_grid = n_layers_grid
        self.subclasses_grid = subclasses_grid
        self.feature_maps = feature_maps
        self.label_smoothings = label_smoothings
        self.cv = cv
        self.scoring = scoring
        self.class_pairs = class_pairs
        self.n_pairs = n_pairs
        self.noise = noise
        self.ridge_shape = ridge_shape
        self.shrinkage = shrinkage
        self.max_components = max_components
        self.keep_inputs = keep_inputs
        self.constant = constant
        self.columns = columns
        self.n_estimators = n_estimators
        self.base_map = base_map
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.classifier_tol = classifier_tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y=None, sample_weight=None, *, groups=None, subclass_labels=None):
        """Choose on held-out rows, then fit on all of them.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, row source or Dask collection
            A source that memory does not hold is read a block at a time, its labels are held. On a cluster, the
            candidates of every ridge, depth and cut of the classes are a task, as is the last stage of every member.
        y : (n,) array
            Class labels; for a source the name of their column, where it does not say.
        sample_weight : (n,) array, optional
            A weighted row stays in one fold, where copies of it may be spread over several.
        groups : (n,) array, optional
            Speaker, subject, recording of each row, where rows of one are alike: rows of a group are held out together.
        subclass_labels : (n,) array, optional
            Event of every row, as in `GEMFeatures`.

        Returns
        -------
        self
        """
        training = self._training_rows(X, y, sample_weight, groups, subclass_labels)
        training = self._behind(self._base(self.base_map, training), training)
        self.stage_seconds_: dict[str, float] = {}
        candidates = grid(self._grid())
        self._warn_of_memory(training, *(self._settings(**candidate.params) for candidate in candidates))
        splits = self._splits(training, groups is not None)
        patterns = common_rows(splits, training.rows.n_rows)
        first = self._settings(**candidates[0].params)
        parts = [self._part_moments(training, first, rows) for rows, _ in patterns]
        scores, temperatures = np.empty((2, len(candidates), len(splits)))
        for s, (train, held_out) in enumerate(counted(splits, "split")):
            moments = merged_moments([part for part, (_, trains) in zip(parts, patterns) if trains[s]])
            split = SplitRows(training.part(train, self._inputs), training.part(held_out, self._inputs).rows, moments)
            for place, temperature, score in self._tried(split):
                temperatures[place, s], scores[place, s] = temperature, score
        best = Candidate(**keep_search(self, [candidate.params for candidate in candidates], scores))
        for name, value in best.params.items():
            setattr(self, f"{name}_", value)
        temperature = float(np.exp(np.log(temperatures[self.best_index_]).mean()))
        warn_of_temperature(temperature, type(self).__name__)
        last = LastStage(best.alpha, best.label_smoothing, temperature)
        return self._fit_members(merged_moments(parts), training, self._member_settings(training, **best.params), last)

    def _grid(self) -> Grid:
        return {
            "n_layers": tuple(self.n_layers_grid),
            "subclasses": tuple(self.subclasses_grid),
            "ridge": tuple(self.ridges),
            "min_eigenvalue": tuple(self.min_eigenvalues),
            "n_components": tuple(self.n_components_grid),
            "feature_map": tuple(self.feature_maps),
            "label_smoothing": tuple(self.label_smoothings),
            "alpha": tuple(self.alphas),
        }

    def _settings(self, n_layers: int = 1, *, subclasses: int = 1, **chosen: Any) -> StackSettings:
        """Where one sub-class a class is chosen, members of an ensemble may still cut theirs."""
        return super()._settings(n_layers, subclasses=None if subclasses == 1 else subclasses, **chosen)

    def _splits(self, training: Any, grouped: bool) -> list[Split]:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        rows: Any = training.rows
        if rows.random_access:
            labels, order = rows.y, key_order(training.own_keys, rows.y, rows.weight)
        else:
            labels, weights, keys = stream_targets(training.raw.with_keys())
            order = key_order(keys, labels, weights)
        return class_splits(self.cv, labels, training.keys if grouped else None, seed, order)

    def _part_moments(self, training: Any, settings: StackSettings, rows: np.ndarray) -> Moments:
        chosen, first = training.part(rows, self._inputs).rows, settings.layers[0]
        return layer_moments(chosen, first, training.classes, self.stage_seconds_, n_rows=training.rows.n_rows)

    def _score(self, held_out: LeftOut, temperature: float) -> float:
        return 1 - held_out.error if self.scoring == "accuracy" else -held_out.log_loss(temperature)

    # ------------------------------------------------------------------ the candidates of one split

    def _tried(self, split: SplitRows) -> Iterator[Tried]:
        """Every candidate: those of one ridge share their problems, those of several are tried where the rows are."""
        points = list(product(self.n_layers_grid, self.subclasses_grid, self.ridges))
        for tried, seconds in split.train.rows.starmap(partial(self._try, split), points, nested=True):
            for stage, spent in seconds.items():
                self.stage_seconds_[stage] = self.stage_seconds_.get(stage, 0.0) + spent
            yield from tried

    def _try(self, split: SplitRows, n_layers: int, subclasses: int, ridge: float) -> tuple[list[Tried], Seconds]:
        """The candidates of one depth, cut of the classes and ridge, and what the stages took."""
        candidates, tried = grid(self._grid()), list[Tried]()
        seconds: Seconds = {}
        for point, stack in self._stacks(split, n_layers, {"subclasses": subclasses, "ridge": ridge}, seconds):
            rows = self._last_rows(stack, split.train)
            logits = [
                self._logit(LastStage(max(self.alphas), each), self.classifier_tol) for each in self.label_smoothings
            ]
            paths = [logit.alpha_path_rows(rows, self.alphas, calibrate=False) for logit in logits]
            fits = list(chain.from_iterable(paths))
            for fitted, left_out in zip(fits, split.left_out(stack.chain, fits)):
                place = candidates.index(
                    Candidate(n_layers, subclasses, ridge, *point, fitted.label_smoothing, fitted.alpha)
                )
                temperature = left_out.temperature
                tried.append((place, temperature, self._score(left_out, temperature)))
        return tried, seconds

    def _stacks(
        self, split: SplitRows, n_layers: int, given: dict[str, Any], seconds: Seconds
    ) -> Iterator[tuple[tuple[float, int, Any], Stack]]:
        """Layers for every threshold, number of components and map; of one layer all are subsets of the widest."""

        def settings(threshold: float, count: int, feature_map: Any) -> StackSettings:
            chosen = {"min_eigenvalue": threshold, "n_components": count, "feature_map": feature_map}
            return self._member_settings(split.train, n_layers, **given, **chosen)

        widest = None
        if n_layers == 1:
            most = settings(min(self.min_eigenvalues), max(self.n_components_grid), self.feature_maps[0])
            widest = split.fit(most, self.random_state, seconds).layers[0].directions
        for point in product(self.min_eigenvalues, self.n_components_grid, self.feature_maps):
            if widest is None:
                yield point, split.fit(settings(*point), self.random_state, seconds)
            else:
                (layer,) = settings(*point).layers
                yield point, Stack((with_map(widest.thinned(*point[:2]), split.moments, split.train.rows, layer),))
