"""GEM with its convex stage: layers, ensembles, any map first."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from scipy.special import log_softmax
from sklearn.base import ClassifierMixin, _fit_context, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenfeat.estimators.gem_base import GEMBase
from eigenfeat.estimators.multinomial_logit import MultinomialLogit
from eigenfeat.estimators.validation import check_class_labels, check_weights, group_keys
from eigenfeat.features.expansion import RowSource
from eigenfeat.features.layer import direction_parts, held

LOGIT_TOL = {np.dtype(np.float32): 3e-3, np.dtype(np.float64): 1e-5}
"""Relative gap to the minimum of the convex stage, by the type of the rows; 3e-3 is below what test errors show."""

AUTO_PENALTY = 5000.0
"""``alpha · rows · columns`` by default: between what sets of two classes, with few columns, and of many ask for."""


class GEMClassifier(ClassifierMixin, GEMBase):
    """GEM features and a multinomial logit: Algorithm 1 of the paper, composed with itself and with other maps.

    Parameters
    ----------
    n_components, class_pairs, n_pairs, noise, feature_map, ridge, ridge_shape, shrinkage, min_eigenvalue
        As in `GEMFeatures`. With several layers, ``n_components``, ``ridge``, ``shrinkage``, ``min_eigenvalue``,
        ``max_features``, ``feature_map`` and ``keep_inputs`` may be lists with one value a layer.
    max_features, keep_inputs, constant, solver, tol, n_jobs
        As in `GEMFeatures`.
    n_layers : int
        More than one is deep GEM: GEM on the features of the layer below.
    n_estimators : int
        Classifiers over different random pairs, combined by the geometric mean of their probabilities.
    base_map : transformer, optional
        Any scikit-learn transformer to apply first, such as ``RBFSampler`` or ``Nystroem``; rows pass through it
        block by block.
    alpha : float, optional
        Penalty of the logit, on a mean loss. By default 5000 / (total weight of the rows · columns of the
        last stage).
    label_smoothing : float
        Of the logit, as in `MultinomialLogit`: with as many features as GEM makes, smoothed labels are quicker to
        fit and more accurate than plain ones.
    classifier : classifier, optional
        Any scikit-learn classifier instead of the logit; its features are then formed as one matrix.
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
    components_, offsets_, eigenvalues_, residuals_, pairs_, solver_, moments_
        Of the first layer of the first member, as in `GEMFeatures`.
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
        **GEMBase._parameter_constraints,
        "n_layers": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "base_map": [None, HasMethods(["fit", "transform"])],
        "alpha": [None, Interval(Real, 0, None, closed="left")],
        "label_smoothing": [Interval(Real, 0, 1, closed="left")],
        "classifier": [None, HasMethods(["fit", "predict"])],
        "class_weight": [None, dict, str],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
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
        max_features=None,
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
        self.max_features = max_features
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

    @_fit_context(prefer_skip_nested_validation=True)
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
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        weights = check_weights(sample_weight, X)
        self.classes_, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        source, keys = self._input_rows(X, codes), group_keys(groups, X)
        self.stage_seconds_ = {}
        self.moments_ = self._moments(0, source, codes, weights)
        return self._fit_members(source, codes, weights, keys)

    def _fit_members(self, source: RowSource, codes: np.ndarray, weights: np.ndarray | None, keys: np.ndarray):
        rng = check_random_state(self.random_state)
        self._stacks, self.classifiers_ = [], []
        for _ in range(self.n_estimators):
            stack = self._fit_stack(self.moments_, source, codes, weights, rng)
            self._stacks.append(stack)
            with self._timed("classifier"):
                self.classifiers_.append(self._last_stage(stack.rows(source, hold=True), codes, weights, keys))
        self.n_iter_ = max(np.max(getattr(last, "n_iter_", 1)) for last in self.classifiers_)
        return self

    def _last_stage(self, rows: RowSource, codes: np.ndarray, weights: np.ndarray | None, keys: np.ndarray):
        if self.class_weight is not None:
            by_class = compute_sample_weight(self._class_weight_by_code(), codes)
            weights = by_class if weights is None else weights * by_class
        if self.classifier is None:
            return self._logit(rows, weights).fit(rows, codes, sample_weight=weights, groups=keys)
        last = clone(self.classifier)
        return last.fit(held(rows), codes) if weights is None else last.fit(held(rows), codes, sample_weight=weights)

    def _logit(self, rows: RowSource, weights: np.ndarray | None) -> MultinomialLogit:
        tol = LOGIT_TOL[np.dtype(rows.dtype)]
        n_rows = rows.n_rows if weights is None else float(np.sum(weights))
        return MultinomialLogit(
            AUTO_PENALTY / (n_rows * rows.n_columns) if self.alpha is None else self.alpha,
            label_smoothing=self.label_smoothing,
            tol=tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    def _class_weight_by_code(self):
        if not isinstance(self.class_weight, dict):
            return self.class_weight
        codes = {label: code for code, label in enumerate(self.classes_.tolist())}
        return {codes[label]: weight for label, weight in self.class_weight.items()}

    # ------------------------------------------------------------------ predict

    def predict_log_proba(self, X):
        """Logarithms of the class probabilities: of an ensemble, the geometric mean of its members', normalised.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe

        Returns
        -------
        (n, k) array
        """
        check_is_fitted(self, "classifiers_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        source = self._input_rows(X)
        total = sum(
            last.predict_log_proba(self._features(stack, source))
            for stack, last in zip(self._stacks, self.classifiers_)
        )
        return log_softmax(total / len(self.classifiers_), axis=1)

    def _features(self, stack, source: RowSource):
        rows = stack.rows(source)
        return rows if self.classifier is None else held(rows)

    def predict_proba(self, X):
        """Class probabilities, (n, k)."""
        return np.exp(self.predict_log_proba(X))

    def decision_function(self, X):
        """Log probabilities, or for two classes the log odds of the second; of the given classifier, its own."""
        if self.classifier is None or hasattr(self.classifiers_[0], "predict_log_proba"):
            scores = self.predict_log_proba(X)
            return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores
        check_is_fitted(self, "classifiers_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        source = self._input_rows(X)
        members = zip(self._stacks, self.classifiers_)
        return sum(last.decision_function(held(stack.rows(source))) for stack, last in members) / self.n_estimators

    def predict(self, X):
        """The most probable class of every row."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

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
        check_is_fitted(self, "classifiers_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        layer = self._stacks[0].layers[-1].layer
        parts = direction_parts(self._stacks[0].rows(self._input_rows(X)), self._coefficients(), layer.n_directions)
        total = parts.sum()
        return (parts / total if total > 0 else parts), layer.names[layer.contrast]

    def _coefficients(self) -> np.ndarray:
        """(k, columns) of the first last stage, centred over classes."""
        coef = getattr(self.classifiers_[0], "coef_", None)
        if coef is None:
            raise ValueError(f"reliance needs a linear last stage; {type(self.classifiers_[0]).__name__} has no coef_.")
        coef = np.asarray(coef, dtype=np.float64)
        coef = np.concatenate([-coef / 2, coef / 2]) if len(coef) == 1 else coef
        return coef - coef.mean(axis=0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
