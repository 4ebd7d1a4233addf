"""GEM with its hyper-parameters chosen on held-out training rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit, check_cv
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from eigenfeat.estimators.gem_base import Stack
from eigenfeat.estimators.gem_classifier import GEMClassifier
from eigenfeat.estimators.validation import check_class_labels, check_weights, group_keys
from eigenfeat.features.expansion import RowSource
from eigenfeat.features.layer import ChosenRows, Layer, rank_in_contrast, subset
from eigenfeat.moments import Moments


@dataclass(frozen=True, order=True)
class Choice:
    """One point of the grid, ordered so that of equal scores the simpler model is taken."""

    ridge: float
    min_eigenvalue: float
    n_components: int
    alpha: float


class GEMClassifierCV(GEMClassifier):
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
    scoring : {"error", "log_loss"}
        What is minimised on the held-out rows.
    class_pairs, n_pairs, noise, feature_map, ridge_shape, shrinkage, max_features, keep_inputs, constant
        As in `GEMFeatures`.
    n_estimators, base_map, label_smoothing, class_weight, solver, tol, max_iter, n_jobs, verbose, random_state
        As in `GEMClassifier`; the choice is made with the first member of an ensemble.

    Attributes
    ----------
    best_ : dict
        The chosen ridge, min_eigenvalue, n_components and alpha.
    best_score_ : float
        Its held-out error or log loss.
    cv_results_ : dict of arrays
        Every candidate with its mean score.
    ridge_, min_eigenvalue_, n_components_, alpha_
        The chosen values.
    components_, eigenvalues_, residuals_, pairs_, solver_, moments_, classifiers_, stage_seconds_, classes_,
    n_features_in_
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
    >>> model.best_["ridge"] in (0.1, 1.0), model.score(X[1200:] / 16, y[1200:]) > 0.9
    (True, True)
    """

    _parameter_constraints: dict = {
        **{
            name: constraint
            for name, constraint in GEMClassifier._parameter_constraints.items()
            if name not in ("n_components", "ridge", "min_eigenvalue", "alpha", "n_layers", "classifier")
        },
        "ridges": ["array-like"],
        "min_eigenvalues": ["array-like"],
        "n_components_grid": ["array-like"],
        "alphas": ["array-like"],
        "cv": [Interval(Real, 0, 1, closed="neither"), Interval(Integral, 2, None, closed="left"), "cv_object"],
        "scoring": [StrOptions({"error", "log_loss"})],
    }

    # Fixed here, so that the fit of the classifier reads the chosen values where it expects parameters.
    n_layers = 1
    classifier = None

    def __init__(
        self,
        *,
        ridges=(0.05, 0.2, 1.0),
        min_eigenvalues=(0.0, 2.0),
        n_components_grid=(10, 20),
        alphas=(1e-5, 1e-4, 1e-3),
        cv=0.2,
        scoring="error",
        class_pairs="auto",
        n_pairs=None,
        noise="second_moment",
        feature_map="soft-cubic",
        ridge_shape="identity",
        shrinkage=None,
        max_features=None,
        keep_inputs=True,
        constant=False,
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
        self.max_features = max_features
        self.keep_inputs = keep_inputs
        self.constant = constant
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, *, groups=None):
        """Choose on held-out rows, then fit on all of them.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe
        y : (n,) array
            Class labels.
        sample_weight : (n,) array, optional
        groups : (n,) array, optional
            Speaker, subject, recording of each row, where rows of one are alike: rows of a group are held out together.

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        weights = check_weights(sample_weight, X)
        self.classes_, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        source, keys = self._input_rows(X, codes), group_keys(groups, X)
        self.stage_seconds_ = {}
        splits = self._splits(codes, None if groups is None else keys)
        patterns = _common_rows(splits, len(codes))
        parts = [
            self._moments(0, ChosenRows(source, rows), codes[rows], _at(weights, rows), n_rows=len(codes))
            for rows, _ in patterns
        ]
        scores: dict[Choice, list[float]] = {}
        for s, (train, held_out) in enumerate(splits):
            moments = _merged([part for part, (_, trains) in zip(parts, patterns) if trains[s]])
            for choice, score in self._try_all(moments, source, codes, weights, keys, train, held_out):
                scores.setdefault(choice, []).append(score)
        self._keep_best({choice: float(np.mean(values)) for choice, values in scores.items()})
        self.moments_ = _merged(parts)
        return self._fit_members(source, codes, weights, keys)

    def _splits(self, codes: np.ndarray, groups: np.ndarray | None) -> list[tuple[np.ndarray, np.ndarray]]:
        """Training and held-out rows of each trial."""
        rows = np.arange(len(codes))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        smallest = int(np.bincount(codes).min())
        splitter: Any
        if groups is not None and isinstance(self.cv, float | int | np.integer):
            n_folds = max(2, round(1 / self.cv)) if isinstance(self.cv, float) else self.cv
            splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        elif isinstance(self.cv, float):
            if smallest < 2:
                raise ValueError("Holding rows out needs at least two of every class; the smallest class has 1 row.")
            n_test = max(len(np.unique(codes)), round(self.cv * len(codes)))
            splitter = StratifiedShuffleSplit(1, test_size=n_test, random_state=seed)
        elif isinstance(self.cv, int | np.integer):
            if smallest < self.cv:
                raise ValueError(f"cv={self.cv} folds need as many rows of every class; the smallest has {smallest}.")
            splitter = StratifiedKFold(self.cv, shuffle=True, random_state=seed)
        else:
            splitter = check_cv(self.cv)
        splits = [(np.sort(train), np.sort(test)) for train, test in splitter.split(rows, codes, groups)]
        splits = splits[:1] if isinstance(self.cv, float) else splits
        if any(len(np.unique(codes[train])) < codes.max() + 1 for train, _ in splits):
            raise ValueError(
                f"cv={self.cv!r} holds out every row of some class. Leave some of every class to train on: with "
                "groups, each class needs rows in at least two of them."
            )
        return splits

    def _try_all(self, moments, source, codes, weights, keys, train, held_out) -> Iterator[tuple[Choice, float]]:
        train_rows, test_rows = ChosenRows(source, train), ChosenRows(source, held_out)
        for ridge in self.ridges:
            self._take(Choice(ridge, min(self.min_eigenvalues), max(self.n_components_grid), max(self.alphas)))
            rng = check_random_state(self.random_state)
            (fitted,) = self._fit_stack(moments, train_rows, codes[train], _at(weights, train), rng).layers
            for threshold, count in product(self.min_eigenvalues, self.n_components_grid):
                stack = Stack([self._mapped(_thinned(fitted.layer, threshold, count), moments, train_rows, 0)])
                rows, test = stack.rows(train_rows, hold=True), stack.rows(test_rows, hold=True)
                for alpha, score in self._try_alphas(rows, test, codes, weights, keys, train, held_out):
                    yield Choice(ridge, threshold, count, alpha), score

    def _try_alphas(self, rows: RowSource, test: RowSource, codes, weights, keys, train, held_out):
        last = self._logit(rows, None).set_params(class_weight=self._class_weight_by_code())
        how = {"groups": keys[train], "calibrate": self.scoring == "log_loss"}
        for member in last.alpha_path(rows, codes[train], self.alphas, _at(weights, train), **how):
            log_proba = member.predict_log_proba(test)
            w = _at(weights, held_out)
            right = log_proba[np.arange(len(held_out)), codes[held_out]]
            losses = -right if self.scoring == "log_loss" else log_proba.argmax(axis=1) != codes[held_out]
            yield member.alpha, float(np.average(losses, weights=w))

    def _keep_best(self, scores: dict[Choice, float]) -> None:
        ordered = sorted(scores)
        # Ties go to the more regularised model: larger ridge, threshold and alpha, fewer components.
        best = min(ordered, key=lambda c: (scores[c], -c.ridge, -c.min_eigenvalue, c.n_components, -c.alpha))
        self.best_score_ = scores[best]
        self.best_ = {name: getattr(best, name) for name in ("ridge", "min_eigenvalue", "n_components", "alpha")}
        self.cv_results_ = {name: np.array([getattr(c, name) for c in ordered]) for name in self.best_}
        self.cv_results_["score"] = np.array([scores[c] for c in ordered])
        self._take(best)

    def _take(self, choice: Choice) -> None:
        self.ridge_, self.min_eigenvalue_ = choice.ridge, choice.min_eigenvalue
        self.n_components_, self.alpha_ = choice.n_components, choice.alpha

    # The classifier reads these as its parameters; here they are what was chosen.
    ridge = property(lambda self: self.ridge_)
    min_eigenvalue = property(lambda self: self.min_eigenvalue_)
    n_components = property(lambda self: self.n_components_)
    alpha = property(lambda self: self.alpha_)


def _thinned(layer: Layer, min_eigenvalue: float, n_components: int) -> Layer:
    rank = rank_in_contrast(layer)
    keep = (layer.eigenvalues >= min_eigenvalue) & (rank < n_components)
    return subset(layer, np.flatnonzero(keep if keep.any() else rank == 0))


def _common_rows(splits, n_rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Groups of rows that are in the same training parts, each with the trials that train on it.

    Every training part is a union of groups, and so is the whole: moments of the groups, merged, serve all.
    """
    trains = np.zeros((n_rows, len(splits)), dtype=bool)
    for s, (train, _) in enumerate(splits):
        trains[train, s] = True
    patterns, group = np.unique(trains, axis=0, return_inverse=True)
    return [(np.flatnonzero(group.ravel() == g), pattern) for g, pattern in enumerate(patterns)]


def _merged(parts: list[Moments]) -> Moments:
    """All parts in one; the parts stay as they are."""
    whole = parts[0].empty_copy()
    for part in parts:
        whole.merge(part)
    return whole


def _at(weights: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if weights is None else weights[rows]
