"""GEM with its convex stage: layers, ensembles, any map first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from eigenfeat._sklearn import COUNT, NON_NEGATIVE, HasMethods, checked_fit
from eigenfeat.estimators.edge import renamed_parameters
from eigenfeat.estimators.gem_base import RENAMED
from eigenfeat.estimators.gem_classifier_base import GEMClassifierBase
from eigenfeat.features.stack import layer_moments
from eigenfeat.rows import RandomRows, held
from eigenfeat.stages import Affine, Beside, EstimatorScores, Fitted, Stage


def _has_probabilities(model: GEMClassifier) -> bool:
    """Whether the last stage, fitted or to be, knows probabilities."""
    last = getattr(model, "classifiers_", [model.classifier])[0]
    return last is None or hasattr(last, "predict_log_proba")


@renamed_parameters(**RENAMED)
class GEMClassifier(GEMClassifierBase):
    """GEM features and a multinomial logit: Algorithm 1 of the paper, composed with itself and with other maps.

    Parameters
    ----------
    n_components, class_pairs, n_pairs, noise, feature_map, ridge, ridge_shape, shrinkage, min_eigenvalue
        As in `GEMFeatures`. With several layers, ``n_components``, ``ridge``, ``shrinkage``, ``min_eigenvalue``,
        ``max_components``, ``feature_map`` and ``keep_inputs`` may be lists with one value a layer.
    max_components, keep_inputs, constant, solver, tol, n_jobs
        As in `GEMFeatures`.
    n_layers : int
        More than one is deep GEM: GEM on the features of the layer below.
    n_estimators : int
        Classifiers over different random pairs, combined by the geometric mean of their probabilities.
    base_map : transformer, optional
        Any scikit-learn transformer to apply first, such as ``RBFSampler`` or ``Nystroem``; rows pass through it
        block by block.
    alpha : float, optional
        Penalty of the logit, on a mean loss. By default 5000 / (rows · columns of the last stage); weighted rows
        count as their total weight, or as (Σw)² / Σw² where that is more.
    label_smoothing : float
        Of the logit, as in `MultinomialLogit`: with as many features as GEM makes, smoothed labels are quicker to
        fit and more accurate than plain ones.
    classifier : classifier, optional
        Any scikit-learn classifier with ``predict_log_proba`` or ``decision_function`` instead of the logit; its
        features are then formed as one matrix.
    class_weight : "balanced", dict or None
        Weights of classes in the last stage.
    max_iter : int
        Newton steps of the logit at most.
    verbose : bool
        Print the progress of the logit.
    random_state : int, RandomState or None
        Draws pairs; passed to nothing the user gives.

    Attributes
    ----------
    components_, offsets_, eigenvalues_, residuals_, pairs_, solver_, criterion_, moments_
        Of the first layer of the first member, as in `GEMFeatures`.
    stacks_ : tuple of `eigenfeat.features.stack.Stack`
        The layers of each member as a value, with what is known of each direction.
    classifiers_ : list
        The last stage of each member.
    n_iter_ : int
        Steps of the longest last stage.
    stage_seconds_ : dict
        What the fit took for the "moments", "directions" and "classifier" of all layers and members.
    classes_, n_features_in_

    References
    ----------
    Karampatziakis & Mineiro (2014), *Discriminative features via generalized eigenvectors*.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from eigenfeat import GEMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
    >>> model = GEMClassifier(n_components=2, alpha=1e-3).fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.97
    True
    """

    _parameter_constraints: dict = {
        **GEMClassifierBase._parameter_constraints,
        "n_layers": [COUNT],
        "alpha": [None, NON_NEGATIVE],
        "classifier": [None, HasMethods(["fit", "predict"])],
    }

    def __init__(
        self,
        n_components=None,
        *,
        class_pairs="auto",
        n_pairs=None,
        noise="second_moment",
        feature_map="soft-cubic",
        ridge=1.0,
        ridge_shape="identity",
        shrinkage=None,
        min_eigenvalue=None,
        max_components=None,
        keep_inputs=True,
        constant=False,
        n_layers=1,
        n_estimators=1,
        base_map=None,
        alpha=None,
        label_smoothing=0.2,
        classifier=None,
        class_weight=None,
        solver="auto",
        tol=None,
        max_iter=200,
        n_jobs=None,
        verbose=False,
        random_state=0,
    ):
        self.n_components = n_components
        self.class_pairs = class_pairs
        self.n_pairs = n_pairs
        self.noise = noise
        self.feature_map = feature_map
        self.ridge = ridge
        self.ridge_shape = ridge_shape
        self.shrinkage = shrinkage
        self.min_eigenvalue = min_eigenvalue
        self.max_components = max_components
        self.keep_inputs = keep_inputs
        self.constant = constant
        self.n_layers = n_layers
        self.n_estimators = n_estimators
        self.base_map = base_map
        self.alpha = alpha
        self.label_smoothing = label_smoothing
        self.classifier = classifier
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y, sample_weight=None, *, groups=None):
        """Find features and fit the classifier on them.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe
        y : (n,) array
            Class labels.
        sample_weight : (n,) array, optional
        groups : (n,) array, optional
            Speaker, subject, recording of each row, where rows of one are alike: rows of a group are left out
            together when probabilities are calibrated. Without, equal rows are.

        Returns
        -------
        self
        """
        training = self._training_rows(X, y, sample_weight, groups)
        settings = self._settings(self.n_layers)
        self.stage_seconds_: dict[str, float] = {}
        moments = layer_moments(training.rows, settings.layers[0], training.classes, self.stage_seconds_)
        return self._fit_members(moments, training, settings, self.alpha)

    # ------------------------------------------------------------------ a last stage of the user's

    def _fit_last(self, rows: RandomRows, keys: np.ndarray, alpha: float | None) -> Any:
        if self.classifier is None:
            return super()._fit_last(rows, keys, alpha)
        weights = {} if rows.weights is None else {"sample_weight": rows.weights}
        last = clone(self.classifier).fit(held(rows), rows.labels, **weights)
        if not hasattr(last, "predict_log_proba") and not hasattr(last, "decision_function"):
            raise ValueError(
                f"The classifier {type(last).__name__} has neither predict_log_proba nor decision_function: nothing to "
                "tell its classes apart by. Give another, or put GEMFeatures before it in a pipeline."
            )
        return last

    def _score_stages(self, last: Any) -> tuple[Stage, ...]:
        if self.classifier is None:
            return super()._score_stages(last)
        n_classes = len(self.classes_)
        if _has_probabilities(self):
            return (EstimatorScores(last, "predict_log_proba", n_classes),)
        return (EstimatorScores(last, "decision_function", 1 if n_classes == 2 else n_classes),)

    def _chains(self) -> Fitted:
        fitted = super()._chains()
        return fitted if _has_probabilities(self) else replace(fitted, probabilities=None)

    def _combined(self, members: tuple[Stage, ...]) -> tuple[Stage, ...]:
        if _has_probabilities(self):
            return super()._combined(members)
        width = members[0].n_columns(self.n_features_in_)
        return Beside(members), Affine.of(np.tile(np.eye(width) / len(members), (len(members), 1)))

    def _scores(self, X) -> np.ndarray:
        if self.classifier is None:
            return super()._scores(X)
        # A given classifier is asked once, for all rows: it may be slow to start, or unsafe in threads.
        X = self._check_new(X)
        return self.fitted_.scores.astype(X.dtype).apply(X)  # type: ignore[union-attr]

    @available_if(_has_probabilities)
    def predict_log_proba(self, X):
        """Logarithms of the class probabilities: of an ensemble, the geometric mean of its members', normalised.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe

        Returns
        -------
        (n, k) array
        """
        return super().predict_log_proba(X)

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """Class probabilities, (n, k), in the order of ``classes_``."""
        return super().predict_proba(X)
