"""Kernel Fisher discriminants with alpha and gamma chosen by leave-one-out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from eigenfeat._progress import counted
from eigenfeat._sklearn import N_JOBS, checked_fit
from eigenfeat.estimators.edge import renamed_parameters
from eigenfeat.estimators.kernel_base import RENAMED, KernelEstimator
from eigenfeat.estimators.kernel_discriminant import KernelDiscriminant
from eigenfeat.estimators.kernel_settings import posed
from eigenfeat.estimators.search import keep_search
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem
from eigenfeat.kernel.search import (
    PairSearch,
    Score,
    Trial,
    at_gamma,
    best_pair,
    classification_error,
    default_grid,
    given_grid,
)
from eigenfeat.kernel.table import SOLVERS
from eigenfeat.kernel.thresholds import one_vs_rest


@renamed_parameters(**RENAMED)
class KernelFisherClassifierCV(KernelDiscriminant):
    r"""Kernel Fisher discriminant with alpha and gamma chosen by their exact leave-one-out error.

    The problem is that of `KernelFisherClassifier` with squared loss: ½Σξ² + alpha·P. All leave-one-out outputs for
    one pair cost about as much as one fit (thesis 4.4), so a grid is searched without folds and without chance.

    Parameters
    ----------
    alphas, gammas : sequence of float, optional
        A grid, every pair of which is tried on all rows. By default the grid is scaled to the data: half or whole
        decades of alpha in units of the kernel, and ¼ to 4 times the default gamma of `KernelFisherClassifier`; an edge
        at which the best pair lies is moved on. More than 1,000 rows are screened by a quarter of them, 2,000 at most,
        and a walk over neighbouring pairs on all rows begins at the best.
    n_jobs : int, optional
        Processes over gammas.
    kernel, penalty, threshold, columns, degree, coef0, centers, n_centers, class_weight, probability
        As in `KernelFisherClassifier`; penalty "function" or "coefficients".
    invariances, expand_over, random_state
        As in `KernelFisherClassifier`.

    Attributes
    ----------
    alpha_, gamma_ : float
        The pair with the smallest leave-one-out error; of equal ones that with the smallest leave-one-out squared
        residual.
    best_params_, best_score_, best_index_
        The pair as {"alpha", "gamma"}, minus its leave-one-out error, and its place in ``cv_results_``.
    cv_results_ : dict
        As scikit-learn's searches have it, with leave-one-out as the only split: scores are minus the errors. Pairs
        tried on all rows; of more rows than exact leave-one-out is to be had for, on those that were screened.
    alphas_, gammas_ : (n_alphas,) and (n_gammas,) arrays
        The grid, with what it was extended by.
    loo_errors_ : (n_gammas, n_alphas) array
        Its errors on the rows screened.
    n_screened_ : int
        How many rows these were.
    extended_ : tuple of str
        Edges of the grid that were moved: "gamma below", "gamma above", "alpha below", "alpha above".
    dual_coef_, intercept_, support_, support_vectors_, columns_, threshold_, slope_, logit_coef_, logit_intercept_,
    output_moments_, classes_, loo_decision_, loo_error_
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
        self.n_jobs = n_jobs
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y, sample_weight=None):
        """Search the grid and fit with the chosen pair.

        Parameters
        ----------
        X, y, sample_weight
            As for `KernelFisherClassifier.fit`.

        Returns
        -------
        self
        """
        X, codes, weights, copies = self._labelled(X, y, sample_weight)
        settings = self._settings(solver="auto")
        # A generator given by the user must put the same centres under every gamma.
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        problem = posed(settings, X, one_vs_rest(codes), weights, copies, seed)
        score = classification_error(self.threshold)
        found = self._searched(problem, score)
        self._keep_search(found)
        chosen = replace(at_gamma(problem, found.best.gamma), alpha=found.best.alpha)
        solution = found.best.solution
        if solution is None:
            solution = SOLVERS.choose("auto", chosen, DEFAULTS).solve(chosen, DEFAULTS)
        self._keep_rule(solution, chosen, codes)
        return self

    def _searched(self, problem: KernelProblem, score: Score) -> PairSearch:
        """The best pair of the grid that was given, or of one scaled to the data."""

        def run(function: Callable[[float], list[Trial]], gammas: Sequence[float]) -> list[list[Trial]]:
            return Parallel(n_jobs=self.n_jobs)(
                delayed(function)(gamma) for gamma in counted(gammas, "candidate gamma")
            )

        if self.alphas is None and self.gammas is None:
            return best_pair(problem, score, run)
        alphas, gammas = self._grid(problem)
        return given_grid(problem, score, run, alphas, gammas)

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
