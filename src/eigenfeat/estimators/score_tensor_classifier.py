"""FEAST as a classifier: score-tensor features and the logit, penalty and temperature from left-out rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import log_softmax

from eigenfeat._sklearn import COUNT, N_JOBS, POSITIVE, HasMethods, Integral, Interval, StrOptions, checked_fit
from eigenfeat.estimators.column_scaler import COLUMNS_CONSTRAINT
from eigenfeat.estimators.edge import Estimator, ScoresMixin
from eigenfeat.estimators.multinomial_logit import MultinomialLogit
from eigenfeat.estimators.score_tensor import ScoreTensorFeatures
from eigenfeat.estimators.validation import (
    check_class_labels,
    check_weights,
    class_weights,
    left_out_keys,
)
from eigenfeat.features.maps import FeatureMap, as_feature_map
from eigenfeat.linear.calibration import best_temperature, left_out_parts
from eigenfeat.rows.keys import distinct_keys, row_keys
from eigenfeat.scores.cross_tensor import merged_rows
from eigenfeat.scores.tensors import ScoreFunction
from eigenfeat.stages import Fitted, Softmax

#: Penalties that are tried, of features whose mean square norm is the number of axes; and the one where none can be.
ALPHAS = tuple(10.0 ** np.arange(0.5, -5.1, -0.5))
#: Maps that are tried, in the order of preference.
MAPS = ("rectified", "identity")
TRIAL_TOL = 1e-4
"""Relative gap to the minimum at which the logits that choose a penalty stop, however fine the last one is to be."""

DEFAULT_ALPHA = 1e-2


class ScoreTensorClassifier(ScoresMixin, Estimator):
    """FEAST's features with a multinomial logit, whose penalty and temperature come from rows that were left out.

    The features (`ScoreTensorFeatures`) of the other rows are found again for every part that is left out, because
    they have seen labels; the map and penalty with the least log loss there are taken, with the temperature that makes
    their probabilities honest. Where labels do not bend, projections as they are serve better than their two sides.

    Parameters
    ----------
    score_model : score model or None, default=None
    prefit : bool, default=False
    order : int or tuple of int, default=(1, 2, 3)
    n_components : int or None, default=None
    columns : str, dict or sequence of str, default="auto"
    n_axes : int, "all" or None, default=None
        As in :class:`ScoreTensorFeatures`.
    feature_map : str, FeatureMap or callable, default="auto"
        As in :class:`ScoreTensorFeatures`; "auto" is "rectified" or "identity", as left-out rows have it.
    alpha : float or None, default=None
        Penalty of the logit, as in :class:`MultinomialLogit`. None: of twelve, that with the least log loss on rows
        left out of features and logit: fold by fold, or once a tenth of more than 5000 rows.
    class_weight : "balanced", dict or None, default=None
        Weights of the classes in the logit.
    tol : float, default=1e-4
    max_iter : int, default=200
        Of the logit.
    n_jobs : int, default=None
        Threads of the logit; the result does not depend on it.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    classes_ : (k,) array
    features_ : ScoreTensorFeatures
        Fitted on all rows: ``features_.transform`` gives what the logit sees; its ``columns_``, ``axes_``, ``orders_``
        and ``strengths_`` say what was chosen.
    logit_ : MultinomialLogit
        Fitted on the features.
    feature_map_ : str, FeatureMap or callable
        The map taken.
    alpha_ : float
        The penalty taken.
    temperature_ : float
        What scores are multiplied by before they become probabilities.
    log_losses_ : dict
        Penalty to the mean log loss of left-out rows, of the map taken; empty where there were none.
    map_losses_ : dict
        Map to the least of these, where it was chosen.
    n_features_in_ : int
    feature_names_in_ : array of str

    References
    ----------
    M. Janzamin, H. Sedghi, U. N. Niranjan, A. Anandkumar (2015). FEAST at play: feature extraction using score function
    tensors.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from eigenfeat import ScoreTensorClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = ScoreTensorClassifier().fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.94)
    True
    """

    _parameter_constraints: dict = {
        "score_model": [None, HasMethods("fit"), ScoreFunction],
        "prefit": ["boolean"],
        "order": [Interval(Integral, 1, 16, closed="both"), tuple, list],
        "n_components": [None, COUNT],
        "columns": COLUMNS_CONSTRAINT,
        "n_axes": [None, COUNT, StrOptions({"all"})],
        "feature_map": [str, FeatureMap, callable],
        "alpha": [None, POSITIVE],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "n_jobs": N_JOBS,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        score_model=None,
        *,
        prefit=False,
        order=(1, 2, 3),
        n_components=None,
        columns="auto",
        n_axes=None,
        feature_map="auto",
        alpha=None,
        class_weight=None,
        tol=1e-4,
        max_iter=200,
        n_jobs=None,
        random_state=0,
    ):
        self.score_model = score_model
        self.prefit = prefit
        self.order = order
        self.n_components = n_components
        self.columns = columns
        self.n_axes = n_axes
        self.feature_map = feature_map
        self.alpha = alpha
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y, sample_weight=None, *, unlabelled=None):
        """Fit features and logit.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe
        y : (n,) array of labels
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row.
        unlabelled : (m, d) array, sparse matrix or dataframe, optional
            More rows of the same kind without labels, for columns, axes and score.

        Returns
        -------
        self
        """
        X, y = self._check(X, y)
        weight = check_weights(sample_weight, X)
        self.classes_, codes = check_class_labels(y, weight, estimator=type(self).__name__)
        weight = np.ones(X.shape[0]) if weight is None else weight
        chosen, weight = merged_rows(distinct_keys(X), codes[:, None], weight)  # weights are repetitions, to the bit
        X, codes = X[chosen], codes[chosen]
        unlabelled = None if unlabelled is None else self._check(unlabelled, reset=False)
        self.feature_map_, self.alpha_, self.temperature_ = self._choose(X, codes, weight, unlabelled)
        self.features_ = self._features(self.feature_map_).fit(X, codes, weight, unlabelled=unlabelled)
        rows = self.features_.transform(X)
        self.logit_ = self._logit(self.alpha_, self.tol).fit(rows, codes, self._logit_weights(codes, weight))
        self.n_iter_ = self.logit_.n_iter_
        scores = self.features_.fitted_.features.then(*self.logit_.fitted_.scores.stages)
        features = self.features_.fitted_.features
        self.fitted_ = Fitted(features=features, scores=scores, probabilities=Softmax(self.temperature_))
        return self

    # ------------------------------------------------------------------ fit, step by step

    def _features(self, feature_map: Any) -> ScoreTensorFeatures:
        names = ("prefit", "order", "n_components", "columns", "n_axes", "random_state")
        options = {name: getattr(self, name) for name in names}
        return ScoreTensorFeatures(self.score_model, feature_map=feature_map, **options)

    def _logit(self, alpha: float, tol: float) -> MultinomialLogit:
        return MultinomialLogit(alpha, tol=tol, max_iter=self.max_iter, n_jobs=self.n_jobs)

    def _logit_weights(self, codes: np.ndarray, weight: np.ndarray) -> np.ndarray:
        if self.class_weight is None:
            return weight
        return weight * class_weights(self.class_weight, self.classes_, codes, weight)

    def _choose(self, X: Any, codes: np.ndarray, weight: np.ndarray, unlabelled: Any) -> tuple[Any, float, float]:
        """The map and penalty of least log loss on rows left out, and the temperature of its probabilities there."""
        is_auto = isinstance(self.feature_map, str) and self.feature_map == "auto"
        maps = MAPS if is_auto else (self.feature_map,)
        alphas = ALPHAS if self.alpha is None else (float(self.alpha),)
        scores: dict[tuple[int, float], list[np.ndarray]] = {(m, a): [] for m in range(len(maps)) for a in alphas}
        seen: list[np.ndarray] = []
        for part, rest in self._parts(X, codes, weight):
            features = self._features("identity").fit(X[rest], codes[rest], weight[rest], unlabelled=unlabelled)
            inside, outside = features.transform(X[rest]), features.transform(X[part])
            logit_weights = self._logit_weights(codes[rest], weight[rest])
            for m, name in enumerate(maps):  # directions do not depend on the map
                feature_map = as_feature_map(name).fit(inside)
                logit = self._logit(1.0, max(self.tol, TRIAL_TOL))
                for model in logit.alpha_path(feature_map(inside), codes[rest], alphas, logit_weights):
                    scores[m, model.alpha].append(_columns(model, feature_map(outside)))
            seen.append(part)
        self.log_losses_, self.map_losses_ = {}, {}
        if not seen:
            return maps[0], (DEFAULT_ALPHA if self.alpha is None else float(self.alpha)), 1.0
        rows = np.concatenate(seen)
        judged = {key: _judged(np.vstack(parts), codes[rows], weight[rows]) for key, parts in scores.items()}
        m, alpha = min(judged, key=lambda key: judged[key][0])
        self.log_losses_ = {a: loss for (of_map, a), (loss, _) in judged.items() if of_map == m}
        if is_auto:
            self.map_losses_ = {name: min(judged[i, a][0] for a in alphas) for i, name in enumerate(maps)}
        return maps[m], alpha, judged[m, alpha][1]

    def _parts(self, X: Any, codes: np.ndarray, weight: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows to leave out and the others, among which every class is."""
        for part in left_out_parts(left_out_keys(row_keys(X), codes, weight)):
            part = part[weight[part] > 0]
            rest = np.setdiff1d(np.flatnonzero(weight > 0), part)
            if len(part) and len(np.unique(codes[rest])) == len(self.classes_):
                yield part, rest


def _judged(scores: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """The mean log loss of scores at the temperature that suits them best, and that temperature."""
    temperature = best_temperature(scores, codes, weight)
    log_p = log_softmax(temperature * scores, axis=1)[np.arange(len(codes)), codes]
    return -float(weight @ log_p) / float(weight.sum()), temperature


def _columns(model: MultinomialLogit, rows: np.ndarray) -> np.ndarray:
    """Scores, a column a class."""
    scores = model.decision_function(rows)
    return np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores
