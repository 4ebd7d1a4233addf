"""The public multinomial logit: an edge of checks around ``eigenfeat.linear``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral, Real
from time import perf_counter

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from eigenfeat.estimators.validation import check_class_labels, check_weights
from eigenfeat.features.expansion import RowSource, as_row_source
from eigenfeat.linear.logit import LogitFit, LogitSolver, predict_scores
from eigenfeat.linear.steps import Step


class MultinomialLogit(ClassifierMixin, BaseEstimator):
    """Multinomial logistic regression that stays quick on wide, badly conditioned features.

    Minimises

        ``Σᵢ wᵢ [log Σ_c exp(sᵢc) - Σ_c tᵢc sᵢc] / Σᵢ wᵢ + ½ alpha ‖W‖²``,  ``s = X Wᵀ + b``

    where t are the labels as 0 and 1, or smoothed (see ``label_smoothing``), with one coefficient vector for each of
    the k classes and a free intercept b, by quasi-Newton steps in the metric of a preconditioner and then Newton
    steps. It equals scikit-learn's ``LogisticRegression`` with ``C = 1 / (alpha Σᵢ wᵢ)`` for three or more classes.
    For two classes scikit-learn penalises one vector ``w = W₁ - W₀``, and ``½ alpha ‖W‖² = ¼ alpha ‖w‖²``: there
    ``C = 2 / (alpha Σᵢ wᵢ)``.

    Rows may be a dense array, a memory map, a CSR matrix, or an ``Expansion`` of projections that is never
    formed as a whole. Products run in the type of the rows, sums and the objective in float64.

    Parameters
    ----------
    alpha : float, default=1e-4
        Weight of the penalty, on a *mean* loss. Zero is allowed where the classes overlap.
    label_smoothing : float, default=0.0
        ε: the targets are ``(1 - ε) [c = yᵢ] + ε / k``. With more features than the labels can pin down, a plain
        logit ends up fitting its hardest rows alone; smoothed targets keep every row in play, which is often
        more accurate and always better conditioned. Probabilities are those of the labels as given:
        ``softmax(temperature_ · s)``, with the temperature of least log loss on rows left out of further fits.
    tol : float, default=1e-4
        Stop when the estimated gap to the minimum is at most ``tol`` times the objective.
    max_iter : int, default=200
        Steps at most.
    fit_intercept : bool, default=True
        Whether to fit b, which is not penalised.
    class_weight : "balanced", dict or None, default=None
        Weights of the classes, which multiply the sample weights.
    solver : {"auto", "gram", "diagonal"}, default="auto"
        The preconditioner: a factored Gram matrix of the rows, weighted with their curvature and sampled when
        they are many; or its diagonal, for sparse and very wide rows.
    warm_start : bool, default=False
        Whether ``fit`` starts from the coefficients of the fit before.
    batch_size : int, default=None
        Rows a block; by default as many as stay in cache.
    n_jobs : int, default=None
        Threads; by default as many as linear algebra may use. The result does not depend on it.
    verbose : bool, default=False
        Whether to print a line a step.
    random_state : int, RandomState or None, default=0
        Draws the rows of a sampled Gram matrix.

    Attributes
    ----------
    classes_ : (k,) array
        The class labels.
    coef_ : (k, n_features) array, or (1, n_features) for two classes
        W, or ``W₁ - W₀``.
    intercept_ : (k,) or (1,) array
        b, which sums to zero, or ``b₁ - b₀``.
    temperature_ : float
        What scores are multiplied by before they become probabilities; one without smoothing.
    objective_ : float
        The minimised function at the end.
    gradient_norm_ : float
        Largest absolute entry of its gradient.
    gap_ : float
        Estimate of how far the objective was above its minimum before the last step.
    n_iter_ : int
        Steps taken.
    n_passes_ : float
        Passes over the rows those took.
    solver_ : str
        The preconditioner that was used.
    n_features_in_ : int
    feature_names_in_ : array, where X had column names

    References
    ----------
    Böhning, *Multinomial logistic regression algorithm*, 1992; the convex stage (line 8 of Algorithm 1) of
    Karampatziakis & Mineiro, *Discriminative Features via Generalized Eigenvectors*, ICML 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenfeat import MultinomialLogit
    >>> X, y = load_digits(return_X_y=True)
    >>> model = MultinomialLogit(alpha=1e-2).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """

    _parameter_constraints: dict = {
        "alpha": [Interval(Real, 0, None, closed="left")],
        "label_smoothing": [Interval(Real, 0, 1, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "fit_intercept": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "solver": [StrOptions({"auto", "gram", "diagonal"})],
        "warm_start": ["boolean"],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        alpha=1e-4,
        *,
        label_smoothing=0.0,
        tol=1e-4,
        max_iter=200,
        fit_intercept=True,
        class_weight=None,
        solver="auto",
        warm_start=False,
        batch_size=None,
        n_jobs=None,
        verbose=False,
        random_state=0,
    ):
        self.alpha = alpha
        self.label_smoothing = label_smoothing
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.warm_start = warm_start
        self.batch_size = batch_size
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, *, groups=None):
        """Fit the coefficients.

        Parameters
        ----------
        X : (n, d) array, CSR matrix or row source
        y : (n,) array of labels
        sample_weight : (n,) array, optional
        groups : (n,) array of int, optional
            With smoothed labels: rows of equal value are left out together when the temperature is found.

        Returns
        -------
        self
        """
        before = self._coefficients() if self.warm_start and hasattr(self, "coef_") else None
        solver = self._solver(X, y, sample_weight)
        if before is not None and before[0].shape != (len(self.classes_), self.n_features_in_):
            before = None
        temperature, nearby = solver.calibrate(self.alpha, groups)
        return self._keep(self._minimise(solver, self.alpha, before or nearby), solver, temperature)

    def alpha_path(
        self, X, y, alphas, sample_weight=None, *, groups=None, calibrate=True
    ) -> Iterator[MultinomialLogit]:
        """A fitted copy of this estimator for each alpha, from the largest to the smallest.

        Each starts from the one before and all share one Gram matrix, so that a grid costs little more than
        its smallest alpha.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in ``fit``.
        alphas : sequence of float
            Penalties, in any order.
        calibrate : bool
            Whether to find the temperature of each, which probabilities of smoothed labels need and classes do not.

        Yields
        ------
        MultinomialLogit
            With ``alpha`` set to the penalty it was fitted with.
        """
        shared = clone(self)
        shared._validate_params()
        solver = shared._solver(X, y, sample_weight)
        initial = None
        for alpha in sorted(alphas, reverse=True):
            temperature, nearby = solver.calibrate(alpha, groups) if calibrate else (1.0, None)
            fit = shared._minimise(solver, alpha, initial or nearby)
            initial = (fit.coef, fit.intercept)
            member = clone(self).set_params(alpha=alpha)
            for name in ("classes_", "n_features_in_", "feature_names_in_"):
                if hasattr(shared, name):
                    setattr(member, name, getattr(shared, name))
            yield member._keep(fit, solver, temperature)

    def decision_function(self, X) -> np.ndarray:
        """Scores ``X Wᵀ + b``: (n, k), or (n,) scores of the second class when there are two."""
        check_is_fitted(self)
        scores = predict_scores(
            self._rows(X), self.coef_, self.intercept_, batch_size=self.batch_size, n_jobs=self.n_jobs
        )
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X) -> np.ndarray:
        """The most probable class of each row."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def predict_proba(self, X) -> np.ndarray:
        """Probabilities of the classes, in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of the probabilities, exact where the probabilities round to zero."""
        scores = self._all_scores(X)  # first: it says so where there was no fit
        return log_softmax(self.temperature_ * scores, axis=1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _all_scores(self, X) -> np.ndarray:
        scores = self.decision_function(X)
        return scores if scores.ndim == 2 else np.column_stack([np.zeros_like(scores), scores])

    def _rows_and_labels(self, X, y) -> tuple[RowSource, np.ndarray]:
        if not isinstance(X, RowSource):
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
            return as_row_source(X), y
        self.n_features_in_ = X.n_columns
        y = column_or_1d(y, warn=True)
        check_consistent_length(range(X.n_rows), y)
        return X, y

    def _rows(self, X) -> RowSource:
        if not isinstance(X, RowSource):
            checks = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "reset": False}
            return as_row_source(validate_data(self, X, **checks))
        if X.n_columns != self.n_features_in_:
            name = type(self).__name__
            raise ValueError(f"X has {X.n_columns} columns, but {name} was fitted with {self.n_features_in_}.")
        return X

    def _solver(self, X, y, sample_weight) -> LogitSolver:
        rows, y = self._rows_and_labels(X, y)
        weights = check_weights(sample_weight, y)
        self.classes_, labels = check_class_labels(y, weights, estimator=type(self).__name__)
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, y)
            weights = by_class if weights is None else weights * by_class
        return LogitSolver(
            rows,
            labels,
            len(self.classes_),
            weights=weights,
            fit_intercept=self.fit_intercept,
            smoothing=self.label_smoothing,
            solver=self.solver,
            batch_size=self.batch_size,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    def _minimise(self, solver: LogitSolver, alpha: float, initial) -> LogitFit:
        started = perf_counter()

        def report(n_iter: int, step: Step) -> None:
            print(
                f"[{type(self).__name__}] step {n_iter:3d}  objective {step.point.value:.6e}  gap before "
                f"{step.gap:.1e}  products {step.n_products:3d}  {perf_counter() - started:7.1f} s"
            )

        fit = solver.fit(
            alpha,
            initial=initial,
            tol=self.tol,
            max_iter=self.max_iter,
            callback=report if self.verbose else None,
        )
        if not fit.converged:
            relative = fit.gap / max(fit.objective, np.finfo(float).tiny)
            warnings.warn(
                f"{type(self).__name__} stopped after {fit.n_iter} steps at alpha={alpha:g}, an estimated "
                f"{relative:.1e} (relative) above the minimum; tol={self.tol:g}. Increase max_iter, alpha or "
                "tol; float64 input allows a smaller tol than float32.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return fit

    def _coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """W and b with a row for every class."""
        if len(self.classes_) > 2:
            return self.coef_, self.intercept_
        half = np.array([[-0.5], [0.5]])
        return half * self.coef_, half.ravel() * self.intercept_

    def _keep(self, fit: LogitFit, solver: LogitSolver, temperature: float) -> MultinomialLogit:
        dtype = solver.objective.passes.dtype
        coef, intercept = fit.coef, fit.intercept
        if len(self.classes_) == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef.astype(dtype), intercept.astype(dtype)
        self.objective_, self.gradient_norm_, self.gap_ = fit.objective, fit.gradient_norm, fit.gap
        self.n_iter_, self.n_passes_, self.solver_ = fit.n_iter, fit.n_passes, fit.solver
        self.temperature_ = temperature
        return self
