"""GEM with its hyper-parameters chosen on held-out training rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from sklearn.utils import check_random_state

from eigenfeat._sklearn import Integral, Interval, Real, StrOptions, checked_fit
from eigenfeat.estimators.edge import renamed_parameters
from eigenfeat.estimators.gem_base import RENAMED
from eigenfeat.estimators.gem_classifier_base import GEMClassifierBase, TrainingRows
from eigenfeat.estimators.gem_search import Candidate, Split, class_splits, common_rows, grid
from eigenfeat.estimators.search import keep_search
from eigenfeat.features.stack import StackSettings, fit_stack, layer_moments, with_map
from eigenfeat.moments import Moments, merged_moments
from eigenfeat.rows import ChosenRows, RandomRows

# What is chosen is not a parameter.
CHOSEN = ("ridge", "min_eigenvalue", "n_components", "alpha")


@renamed_parameters(**RENAMED)
class GEMClassifierCV(GEMClassifierBase):
    """`GEMClassifier` with ridge, threshold, number of components and alpha chosen on held-out training rows.

    Rows are passed over once: the moments of each fold are computed, those of a training part are merged from the
    folds in it, and after the choice all are merged for the final fit. For each ridge the problems are solved once,
    for the largest number of components and the lowest threshold; the other candidates are subsets. Fits over alpha
    share their Gram matrix and start from each other.

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
    cv : float, int, splitter or iterable of splits
        A share in (0, 1) of rows to hold out once, a number of folds, or what scikit-learn takes for ``cv``.
    scoring : {"accuracy", "neg_log_loss"}
        What is maximised on the held-out rows. Of equal candidates the more regularised is taken.
    class_pairs, n_pairs, noise, feature_map, ridge_shape, shrinkage, max_components, keep_inputs, constant,
    subclasses
        As in `GEMFeatures`.
    n_estimators, base_map, label_smoothing, class_weight, solver, tol, max_iter, n_jobs, verbose, random_state
        As in `GEMClassifier`; the choice is made with the first member of an ensemble.

    Attributes
    ----------
    best_params_ : dict
        The chosen ridge, min_eigenvalue, n_components and alpha.
    ridge_, min_eigenvalue_, n_components_, alpha_
        The same, one by one.
    best_score_ : float
        Its mean score on the held-out rows.
    best_index_ : int
        Its place in ``cv_results_``.
    cv_results_ : dict of arrays
        Every candidate with its scores, as in scikit-learn's ``GridSearchCV``.
    components_, patterns_, offsets_, eigenvalues_, residuals_, pairs_, solver_, criterion_, moments_, stacks_,
    classifiers_, n_iter_, stage_seconds_, classes_, n_features_in_
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
        "cv": [Interval(Real, 0, 1, closed="neither"), Interval(Integral, 2, None, closed="left"), "cv_object"],
        "scoring": [StrOptions({"accuracy", "neg_log_loss"})],
    }
    _renamed_attributes = {"best_": "best_params_"}

    def __init__(
        self,
        *,
        ridges=(0.05, 0.2, 1.0),
        min_eigenvalues=(0.0, 2.0),
        n_components_grid=(10, 20),
        alphas=(1e-5, 1e-4, 1e-3),
        cv=0.2,
        scoring="accuracy",
        class_pairs="auto",
        n_pairs=None,
        noise="second_moment",
        feature_map="soft-cubic",
        ridge_shape="identity",
        shrinkage=None,
        max_components=None,
        keep_inputs=True,
        constant=False,
        subclasses=None,
        n_estimators=1,
        base_map=None,
        label_smoothing=0.2,
        class_weight=None,
        solver="auto",
        tol=None,
        max_iter=200,
        n_jobs=None,
        verbose=False,
        random_state=0,
    ):
        self.ridges = ridges
        self.min_eigenvalues = min_eigenvalues
        self.n_components_grid = n_components_grid
        self.alphas = alphas
        self.cv = cv
        self.scoring = scoring
        self.class_pairs = class_pairs
        self.n_pairs = n_pairs
        self.noise = noise
        self.feature_map = feature_map
        self.ridge_shape = ridge_shape
        self.shrinkage = shrinkage
        self.max_components = max_components
        self.keep_inputs = keep_inputs
        self.constant = constant
        self.subclasses = subclasses
        self.n_estimators = n_estimators
        self.base_map = base_map
        self.label_smoothing = label_smoothing
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y, sample_weight=None, *, groups=None, subclass_labels=None):
        """Choose on held-out rows, then fit on all of them.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe
        y : (n,) array
            Class labels.
        sample_weight : (n,) array, optional
        groups : (n,) array, optional
            Speaker, subject, recording of each row, where rows of one are alike: rows of a group are held out together.
        subclass_labels : (n,) array, optional
            Event of every row, as in `GEMFeatures`.

        Returns
        -------
        self
        """
        training = self._training_rows(X, y, sample_weight, groups, subclass_labels)
        self.stage_seconds_: dict[str, float] = {}
        candidates = grid(self.ridges, self.min_eigenvalues, self.n_components_grid, self.alphas)
        base = self._settings(**candidates[0].params)
        base = base.of_member(self.n_estimators, len(training.classes), training.events is not None)
        splits = self._splits(training, groups is not None)
        patterns = common_rows(splits, training.rows.n_rows)
        parts = [self._part_moments(training, base, rows) for rows, _ in patterns]
        scores = np.empty((len(candidates), len(splits)))
        for s, split in enumerate(splits):
            moments = merged_moments([part for part, (_, trains) in zip(parts, patterns) if trains[s]])
            found = dict(self._try_all(moments, training, base, split))
            scores[:, s] = [found[candidate] for candidate in candidates]
        best = Candidate(**keep_search(self, [candidate.params for candidate in candidates], scores))
        for name, value in best.params.items():
            setattr(self, f"{name}_", value)
        return self._fit_members(merged_moments(parts), training, best.settings(base), best.alpha)

    def _splits(self, training: TrainingRows, grouped: bool) -> list[Split]:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return class_splits(self.cv, training.rows.labels, training.keys if grouped else None, seed)  # type: ignore[arg-type]

    def _part_moments(self, training: TrainingRows, base: StackSettings, rows: np.ndarray) -> Moments:
        chosen = ChosenRows(training.rows, rows)
        return layer_moments(chosen, base.layers[0], training.classes, self.stage_seconds_, n_rows=training.rows.n_rows)

    def _try_all(
        self, moments: Moments, training: TrainingRows, base: StackSettings, split: Split
    ) -> Iterator[tuple[Candidate, float]]:
        """The score of every candidate on the held-out rows of one trial."""
        train, held_out = (ChosenRows(training.rows, rows) for rows in split)
        for ridge in self.ridges:
            widest = Candidate(ridge, min(self.min_eigenvalues), max(self.n_components_grid), max(self.alphas))
            settings = widest.settings(base)
            rng = check_random_state(self.random_state)
            events = None if training.events is None else training.events[split[0]]
            (fitted,) = fit_stack(moments, train, settings, rng, self.stage_seconds_, events).layers
            for threshold, count in product(self.min_eigenvalues, self.n_components_grid):
                thinned = with_map(fitted.directions.thinned(threshold, count), moments, train, settings.layers[0])
                rows = self._with_class_weights(thinned.held(train), training.classes)
                candidate = replace(widest, min_eigenvalue=threshold, n_components=count)
                yield from self._try_alphas(candidate, rows, thinned.held(held_out), training.keys[split[0]])

    def _try_alphas(
        self, candidate: Candidate, rows: RandomRows, held_out: RandomRows, keys: np.ndarray
    ) -> Iterator[tuple[Candidate, float]]:
        last = self._logit(rows, candidate.alpha)
        calibrate = self.scoring == "neg_log_loss"
        labels = np.asarray(held_out.labels)
        for member in last.alpha_path_rows(rows, self.alphas, keys, calibrate=calibrate):
            log_proba = member.predict_log_proba(held_out)
            own = log_proba[np.arange(len(labels)), labels] if calibrate else log_proba.argmax(axis=1) == labels
            yield replace(candidate, alpha=member.alpha), float(np.average(own, weights=held_out.weights))
