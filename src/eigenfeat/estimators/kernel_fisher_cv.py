"""Kernel Fisher discriminants with alpha, gamma and the threshold chosen at rows left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from eigenfeat._runtime.progress import counted
from eigenfeat._sklearn import N_JOBS, StrOptions, checked_fit
from eigenfeat.estimators.kernel_base import KernelEstimator, checked_loss
from eigenfeat.estimators.kernel_discriminant import KernelDiscriminant
from eigenfeat.estimators.kernel_settings import posed
from eigenfeat.estimators.search import keep_search
from eigenfeat.kernel import LOSSES, Loss, subset
from eigenfeat.kernel.folds import ByFolds
from eigenfeat.kernel.problem import DEFAULTS, PENALTIES, KernelProblem
from eigenfeat.kernel.search import (
    FEW_ROWS,
    LeftOut,
    PairSearch,
    Score,
    Trial,
    at_gamma,
    best_pair,
    classification_error,
    default_grid,
    exactly,
    given_grid,
)
from eigenfeat.kernel.table import SOLVERS
from eigenfeat.kernel.thresholds import one_vs_rest


class KernelFisherClassifierCV(KernelDiscriminant):
    r"""Kernel Fisher discriminant with alpha and gamma chosen by their error at rows left out.

    The problem is that of `KernelFisherClassifier`. With squared loss and a quadratic penalty all leave-one-out outputs
    for one pair cost about as much as one fit (thesis 4.4), so a grid is searched without folds and without chance.
    Other losses and the sparse penalty are searched by folds, each with one path over all alphas, in which a solution
    starts from the terms of the one before. The threshold and the probabilities, too, are found at the rows left out.

    Parameters
    ----------
    alphas, gammas : sequence of float, optional
        A grid, every pair of which is tried on all rows. By default the grid is scaled to the data: half or whole
        decades of alpha in units of the kernel, and ¼ to 4 times the default gamma of `KernelFisherClassifier`; an edge
        at which the best pair lies is moved on. More than 1,000 rows are screened by a quarter of them, 2,000 at most,
        and a walk over neighbouring pairs on all rows begins at the best.
    cv : int, splitter or list of splits, optional
        Folds, stratified and shuffled, or splits of scikit-learn's kind whose held-out parts cover all rows. None:
        exact leave-one-out with squared loss and a quadratic penalty, five folds elsewhere.
    loss : {"squared", "absolute", "huber", "epsilon", "polynomial", "piecewise"} or Loss
    penalty : {"function", "coefficients", "sparse"}
    n_jobs : int, optional
        Processes over gammas.
    kernel, threshold, columns, degree, coef0, centers, n_centers, class_weight, probability
        As in `KernelFisherClassifier`; the threshold is that of the outputs at rows left out, by folds too.
    invariances, expand_over, random_state
        As in `KernelFisherClassifier`.

    Attributes
    ----------
    alpha_, gamma_ : float
        The pair with the smallest error at rows left out; of equal ones that with the smallest squared residual there.
    best_params_, best_score_, best_index_
        The pair as {"alpha", "gamma"}, minus its error, and its place in ``cv_results_``.
    cv_results_ : dict
        As scikit-learn's searches have it, with all rows left out as the only split: scores are minus the errors. Pairs
        tried on all rows; of more rows than exact leave-one-out is to be had for, on those that were screened.
    alphas_, gammas_ : (n_alphas,) and (n_gammas,) arrays
        The grid, with what it was extended by.
    loo_errors_ : (n_gammas, n_alphas) array
        Its errors on the rows screened.
    n_screened_ : int
        How many rows these were.
    extended_ : tuple of str
        Edges of the grid that were moved: "gamma below", "gamma above", "alpha below", "alpha above".
    cv_decision_, cv_error_ : array; float, or None
        With folds: decision values of every row fitted without its fold, and their error at the threshold found on
        them; then ``loo_decision_`` and ``loo_error_`` are None.
    dual_coef_, intercept_, support_, support_vectors_, columns_, threshold_, slope_, logit_coef_, logit_intercept_,
    output_moments_, output_densities_, classes_, loo_decision_, loo_error_
        As in `KernelFisherClassifier`, of the fit with the chosen pair.

    References
    ----------
    Mika (2002), *Kernel Fisher Discriminants*, section 4.4.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from eigenfeat import KernelFisherClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelFisherClassifierCV(alphas=[0.1, 1.0], gammas=[0.01, 0.03]).fit(scale(X), y)
    >>> model.best_params_, round(model.best_score_, 3)
    ({'alpha': 0.1, 'gamma': 0.01}, -0.018)
    """

    _parameter_constraints: dict = {
        **KernelEstimator._parameter_constraints,
        "loss": [StrOptions(set(LOSSES)), Loss],
        "penalty": [StrOptions(set(PENALTIES))],
        "cv": ["cv_object"],
        **KernelDiscriminant._classifier_constraints,
        **KernelEstimator._columns_constraints,
        "alphas": [None, "array-like"],
        "gammas": [None, "array-like"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        alphas=None,
        gammas=None,
        kernel="rbf",
        penalty="function",
        threshold="margin",
        *,
        columns="auto",
        degree=3,
        coef0=1.0,
        centers=None,
        n_centers=None,
        class_weight=None,
        probability="multinomial",
        invariances=None,
        expand_over="rows",
        loss="squared",
        cv=None,
        n_jobs=None,
        random_state=0,
    ):
        self.alphas = alphas
        self.gammas = gammas
        self.kernel = kernel
        self.penalty = penalty
        self.threshold = threshold
        self.columns = columns
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.n_centers = n_centers
        self.class_weight = class_weight
        self.probability = probability
        self.invariances = invariances
        self.expand_over = expand_over
        self.loss = loss
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y, sample_weight=None):
        """Search the grid and fit with the chosen pair.

        Parameters
        ----------
        X, y, sample_weight
            As for `KernelFisherClassifier.fit`. An integer weight equals that many copies of the row, all left out
            together by folds; folds that are drawn are other ones for other rows.

        Returns
        -------
        self
        """
        X, codes, weights, copies = self._labelled(X, y, sample_weight)
        settings = self._settings(solver="auto", loss=checked_loss(self.loss))
        # A generator given by the user must put the same centres under every gamma.
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        problem = posed(settings, X, one_vs_rest(codes), weights, copies, seed)
        left_out = self._left_out(problem, seed)
        found = self._searched(problem, classification_error(self.threshold), left_out)
        self._keep_search(found)
        chosen = replace(at_gamma(problem, found.best.gamma), alpha=found.best.alpha)
        solution = found.best.solution
        if solution is None:
            solution = SOLVERS.choose("auto", chosen, DEFAULTS).solve(chosen, DEFAULTS)
        self._keep_rule(solution, chosen, codes)
        self.cv_decision_ = self.cv_error_ = None
        if left_out.costs_fits:
            self.cv_decision_, self.cv_error_ = self.loo_decision_, self.loo_error_
            self.loo_decision_ = self.loo_error_ = None
        return self

    def _left_out(self, problem: KernelProblem, seed: int) -> LeftOut:
        """Exactly where that is to be had and no folds are asked for."""
        if self.cv is None and not subset.SOLVER.unmet(problem, DEFAULTS):
            return exactly
        if self.cv is None or isinstance(self.cv, Integral):
            return ByFolds(StratifiedKFold(self.cv or 5, shuffle=True, random_state=seed), by_key=True)
        if not hasattr(self.cv, "split") and self.alphas is None and self.gammas is None and problem.n_rows > FEW_ROWS:
            raise ValueError(
                f"cv is a list of splits of all {problem.n_rows} rows, of which a quarter are screened: give alphas or "
                "gammas, whose grid is searched on all rows, or a splitter."
            )
        return ByFolds(check_cv(self.cv))

    def _searched(self, problem: KernelProblem, score: Score, left_out: LeftOut) -> PairSearch:
        """The best pair of the grid that was given, or of one scaled to the data."""

        def run(function: Callable[[float], list[Trial]], gammas: Sequence[float]) -> list[list[Trial]]:
            return Parallel(n_jobs=self.n_jobs)(
                delayed(function)(gamma) for gamma in counted(gammas, "candidate gamma")
            )

        if self.alphas is None and self.gammas is None:
            return best_pair(problem, score, run, left_out)
        alphas, gammas = self._grid(problem)
        return given_grid(problem, score, run, alphas, gammas, left_out)

    def _grid(self, problem: KernelProblem) -> tuple[list[float], list[float]]:
        """The values given for the one, and those of the default grid for the other."""
        alphas, gammas = default_grid(problem)
        if self.gammas is not None:
            gammas = np.asarray(self.gammas, dtype=float).tolist()
        if self.alphas is not None:
            alphas = np.asarray(self.alphas, dtype=float).tolist()
        for name, grid in (("alphas", np.array(alphas)), ("gammas", np.array(gammas))):
            if grid.ndim != 1 or grid.size == 0 or not (grid > 0).all():
                raise ValueError(f"{name} must be a non-empty list of positive numbers, got {grid.tolist()}.")
        return alphas, gammas

    def _keep_search(self, found: PairSearch) -> None:
        """Publish what was tried: of equal errors the smaller squared residual decides."""
        params = [{"alpha": trial.alpha, "gamma": trial.gamma} for trial in found.trials]
        errors, squares = np.array([trial.score for trial in found.trials]).T
        keep_search(self, params, 0.0 - errors[:, None], ties=squares)
        self.alphas_, self.gammas_ = np.array(found.alphas), np.array(found.gammas)
        self.loo_errors_ = found.scores[..., 0]
        self.n_screened_, self.extended_ = found.n_rows, found.extended
