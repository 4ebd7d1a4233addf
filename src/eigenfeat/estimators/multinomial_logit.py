"""The public multinomial logit: an edge of checks around ``eigenfeat.linear``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from copy import copy
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length, column_or_1d

from eigenfeat._runtime.progress import report
from eigenfeat._sklearn import COUNT, N_JOBS, NON_NEGATIVE, POSITIVE, Interval, Real, StrOptions, checked_fit
from eigenfeat.estimators.edge import Estimator, ScoresMixin
from eigenfeat.estimators.streaming import is_stream, logit_rows, refuse_beside_stream
from eigenfeat.estimators.validation import (
    check_class_labels,
    check_weights,
    checked_group_keys,
    class_weights,
    warn_of_temperature,
)
from eigenfeat.linear.logit import PRECONDITIONERS, LogitFit, LogitSolver
from eigenfeat.linear.steps import Step
from eigenfeat.rows.accumulators import ClassCounts
from eigenfeat.rows.rows import Rows, as_rows
from eigenfeat.stages import Affine, Chain, Fitted, Softmax


class MultinomialLogit(ScoresMixin, Estimator):
    """Multinomial logistic regression that stays quick on wide, badly conditioned features.

    Minimises

        ``Σᵢ wᵢ [log Σ_c exp(sᵢc) - Σ_c tᵢc sᵢc] / Σᵢ wᵢ + ½ alpha ‖W‖²``,  ``s = X Wᵀ + b``

    where t are the labels as 0 and 1, or smoothed (see ``label_smoothing``), with one coefficient vector for each of
    the k classes and a free intercept b, by quasi-Newton steps in the metric of a preconditioner and then Newton
    steps. It equals scikit-learn's ``LogisticRegression`` with ``C = 1 / (alpha Σᵢ wᵢ)`` for three or more classes.
    For two classes scikit-learn penalises one vector ``w = W₁ - W₀``, and ``½ alpha ‖W‖² = ¼ alpha ‖w‖²``: there
    ``C = 2 / (alpha Σᵢ wᵢ)``.

    Rows may be a dense array, a memory map, a CSR matrix, or any source of rows (`eigenfeat.rows`), such as features
    of projections that are never formed as a whole (`eigenfeat.stages.LayerRows`). Products run in the type of the
    rows, sums and the objective in float64.

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
    solver : {"auto", "gram", "classes", "sample", "diagonal"}, default="auto"
        The preconditioner: a Gram matrix of the rows, weighted with their curvature and sampled when they are many;
        that and the rows of every class, for smoothed labels of many; a few thousand rows; or, of sparse, a diagonal.
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
        "alpha": [NON_NEGATIVE],
        "label_smoothing": [Interval(Real, 0, 1, closed="left")],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "fit_intercept": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "solver": [StrOptions(PRECONDITIONERS.options)],
        "warm_start": ["boolean"],
        "batch_size": [COUNT, None],
        "n_jobs": N_JOBS,
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

    @checked_fit
    def fit(self, X, y=None, sample_weight=None, *, groups=None):
        """Fit the coefficients.

        Parameters
        ----------
        X : (n, d) array, CSR matrix, row source or Dask collection
            A stream that memory does not hold is read once a pass: see `eigenfeat.runtime`.
        y : (n,) array of labels
            For a stream the name of their column, where it does not say.
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row.
        groups : (n,) array, optional
            With smoothed labels: rows of equal value, of any type, are left out together when the temperature is found.

        Returns
        -------
        self
        """
        if is_stream(X) and not _has_random_access(X):
            refuse_beside_stream(groups=groups)
            rows, classes = logit_rows(self, X, y, sample_weight)
            self._fit_rows(rows, None)
            self.classes_ = classes
            return self
        rows = self._labelled(X, y, sample_weight)
        return self._fit_rows(rows, None if groups is None else checked_group_keys(groups, rows.y))

    @checked_fit
    def fit_rows(self, rows, keys=None, temperature=None):
        """Fit on rows that bring their labels and weights, of which nothing is checked.

        Parameters
        ----------
        rows : Rows
            With ``labels``, and ``weights`` where there are any; of a stream, labels are indices into the classes.
        keys : (n,) array of int, optional
            With smoothed labels: rows of equal key are left out together, by default equal rows; of a stream these are.
        temperature : float, optional
            What scores are multiplied by before they become probabilities, where it is known.

        Returns
        -------
        self
        """
        self.n_features_in_ = rows.n_columns
        return self._fit_rows(rows, keys, temperature)

    def _fit_rows(self, rows: Rows, keys: Any, temperature: float | None = None) -> MultinomialLogit:
        before = self._coefficients() if self.warm_start and hasattr(self, "coef_") else None
        solver = self._solver(rows)
        if before is not None and before[0].shape != (len(self.classes_), self.n_features_in_):
            before = None
        nearby = None
        if temperature is None:
            temperature, nearby = solver.calibrate(self.alpha, keys)
            warn_of_temperature(temperature, type(self).__name__)
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
        rows = shared._labelled(X, y, sample_weight)
        keys = None if groups is None else checked_group_keys(groups, rows.y)
        yield from shared.alpha_path_rows(rows, alphas, keys, calibrate=calibrate)

    def alpha_path_rows(self, rows, alphas, keys=None, *, calibrate=True) -> Iterator[MultinomialLogit]:
        """`alpha_path` on rows that bring their labels and weights, as in `fit_rows`.

        Parameters
        ----------
        rows, keys
            As in `fit_rows`.
        alphas, calibrate
            As in `alpha_path`.

        Yields
        ------
        MultinomialLogit
        """
        path = self.path_rows(rows, keys, calibrate=calibrate)
        return (path(alpha) for alpha in sorted(alphas, reverse=True))

    def path_rows(self, rows, keys=None, *, calibrate=True) -> Callable[[float], MultinomialLogit]:
        """A function from a penalty to a fitted copy of this estimator, each started from the one before.

        Parameters
        ----------
        rows, keys, calibrate
            As in `alpha_path_rows`.
        """
        self._validate_params()
        shared = clone(self)
        shared.n_features_in_ = rows.n_columns
        solver = shared._solver(rows)
        last = None

        def fitted(alpha: float) -> MultinomialLogit:
            nonlocal last
            temperature, nearby = solver.calibrate(alpha, keys) if calibrate else (1.0, None)
            fit = shared._minimise(solver, alpha, last or nearby)
            last = (fit.coef, fit.intercept)
            member = copy(shared)
            member.alpha = alpha
            if hasattr(self, "feature_names_in_"):
                member.feature_names_in_ = self.feature_names_in_
            return member._keep(fit, solver, temperature)

        return fitted

    # ------------------------------------------------------------------ rows

    def _labelled(self, X, y, sample_weight) -> Rows:
        """Checked rows with their labels and weights."""
        if _has_random_access(X):
            self.n_features_in_ = X.n_columns
            y = column_or_1d(y, warn=True)
            check_consistent_length(range(X.n_rows), y)
        else:
            X, y = self._check(X, y)
        return as_rows(X, y, check_weights(sample_weight, y))

    def _scores(self, X) -> np.ndarray:
        X = self._check_new(X, streams=True)
        return self._finite(self.fitted_.scores.at(X, self.n_jobs), "scores")  # type: ignore[union-attr]

    # ------------------------------------------------------------------ fit

    def _solver(self, rows: Any) -> LogitSolver:
        if not rows.random_access:
            counts = rows.class_counts or rows.reduce(ClassCounts(), "labels")
            self.classes_ = counts.classes
            return self._solver_of(rows, counts)
        weights = rows.weight
        self.classes_, codes = check_class_labels(rows.y, weights, estimator=type(self).__name__)
        if self.class_weight is not None:
            by_class = class_weights(self.class_weight, self.classes_, codes, weights)
            weights = by_class if weights is None else weights * by_class
        return self._solver_of(rows.with_labels(codes, weights))

    def _solver_of(self, rows: Rows, totals: ClassCounts | None = None) -> LogitSolver:
        return LogitSolver(
            rows,
            len(self.classes_),
            totals=totals,
            fit_intercept=self.fit_intercept,
            smoothing=self.label_smoothing,
            solver=self.solver,
            batch_size=self.batch_size,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    def _minimise(self, solver: LogitSolver, alpha: float, initial) -> LogitFit:
        started = perf_counter()

        def show(n_iter: int, step: Step) -> None:
            report("logit: step", n_iter, self.max_iter, f"gap {step.gap:.1e}")
            if not self.verbose:
                return
            print(
                f"[{type(self).__name__}] step {n_iter:3d}  objective {step.point.value:.6e}  gap before "
                f"{step.gap:.1e}  products {step.n_products:3d}  {perf_counter() - started:7.1f} s"
            )

        fit = solver.fit(
            alpha,
            initial=initial,
            tol=self.tol,
            max_iter=self.max_iter,
            callback=show,
        )
        if fit.separated:
            warnings.warn(
                f"{type(self).__name__} can tell all rows apart, so that with alpha=0 there is no minimum: its "
                f"coefficients were still growing after {fit.n_iter} steps. Give a positive alpha.",
                ConvergenceWarning,
                stacklevel=5,
            )
        elif not fit.converged:
            relative = fit.gap / max(fit.objective, np.finfo(float).tiny)
            warnings.warn(
                f"{type(self).__name__} stopped after {fit.n_iter} steps at alpha={alpha:g}, an estimated "
                f"{relative:.1e} (relative) above the minimum; tol={self.tol:g}. Increase max_iter, alpha or "
                "tol; float64 input allows a smaller tol than float32.",
                ConvergenceWarning,
                stacklevel=5,
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
        scores = Chain((Affine.of(self.coef_.T, self.intercept_),))
        self.fitted_ = Fitted(scores=scores, probabilities=Softmax(temperature))
        return self


def _has_random_access(X: Any) -> bool:
    return isinstance(X, Rows) and X.random_access
