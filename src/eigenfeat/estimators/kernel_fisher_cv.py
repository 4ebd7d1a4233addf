"""Kernel Fisher discriminants with alpha and gamma chosen by leave-one-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from eigenfeat._progress import counted
from eigenfeat._sklearn import N_JOBS, checked_fit
from eigenfeat.estimators.edge import flat, renamed_parameters
from eigenfeat.estimators.kernel_base import RENAMED, KernelEstimator
from eigenfeat.estimators.kernel_discriminant import KernelDiscriminant, weighted_error
from eigenfeat.estimators.kernel_settings import KernelSettings, posed
from eigenfeat.estimators.search import keep_search
from eigenfeat.kernel.table import path_of
from eigenfeat.kernel.thresholds import one_vs_rest, thresholds
from eigenfeat.rows import Block
from eigenfeat.stages.kernels import default_gamma


@renamed_parameters(**RENAMED)
class KernelFisherClassifierCV(KernelDiscriminant):
    r"""Kernel Fisher discriminant with alpha and gamma chosen by their exact leave-one-out error.

    The problem is that of `KernelFisherClassifier` with squared loss: ½Σξ² + alpha·P. All leave-one-out outputs for
    one pair cost about as much as one fit (thesis 4.4), so a grid is searched without folds and without chance.

    Parameters
    ----------
    alphas, gammas : sequence of float
        The grid; by default alphas 10⁻³ to 10, and ¼ to 4 times the default gamma of `KernelFisherClassifier`.
    n_jobs : int, optional
        Processes over gammas.
    kernel, penalty, threshold, degree, coef0, centers, n_centers, class_weight, probability
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
        As scikit-learn's searches have it, with leave-one-out as the only split: scores are minus the errors.
    loo_errors_ : (n_gammas, n_alphas) array
    gammas_ : (n_gammas,) array
    dual_coef_, intercept_, support_, support_vectors_, threshold_, slope_, output_moments_, classes_,
    loo_decision_, loo_error_
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
        "alphas": ["array-like"],
        "gammas": [None, "array-like"],
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        alphas=(1e-3, 1e-2, 1e-1, 1.0, 10.0),
        gammas=None,
        kernel="rbf",
        penalty="function",
        threshold="margin",
        *,
        degree=3,
        coef0=1.0,
        centers=None,
        n_centers=None,
        class_weight=None,
        probability="logistic",
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
        rows = X, codes, weights, copies = self._labelled(X, y, sample_weight)
        settings = self._settings(solver="auto")
        alphas, gammas = self._grid(X, weights)
        # A generator given by the user must put the same centres under every gamma.
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(left_out_scores)(replace(settings, gamma=gamma), *rows, alphas, self.threshold, seed)
            for gamma in counted(gammas, "candidate gamma")
        )
        self._keep_search(alphas, gammas, np.array(found))
        chosen = replace(settings, alpha=self.best_params_["alpha"], gamma=self.best_params_["gamma"])
        problem = posed(chosen, X, one_vs_rest(codes), weights, copies, seed)
        self._keep_rule(next(path_of(problem)(problem, [chosen.alpha])), problem, codes)
        return self

    def _grid(self, X, weights: np.ndarray) -> tuple[list[float], list[float]]:
        if self.gammas is None:
            has_width = self.kernel != "precomputed"
            gammas = default_gamma(X, weights) * 2.0 ** np.arange(-2, 3) if has_width else np.ones(1)
        else:
            gammas = np.asarray(self.gammas, dtype=float)
        alphas = np.asarray(self.alphas, dtype=float)
        for name, grid in (("alphas", alphas), ("gammas", gammas)):
            if grid.ndim != 1 or grid.size == 0 or not (grid > 0).all():
                raise ValueError(f"{name} must be a non-empty list of positive numbers, got {grid.tolist()}.")
        return alphas.tolist(), gammas.tolist()

    def _keep_search(self, alphas: list[float], gammas: list[float], found: np.ndarray) -> None:
        """Publish (n_gammas, n_alphas, 2) errors and squared residuals: the second decides between equal errors."""
        params = [{"alpha": alpha, "gamma": gamma} for gamma in gammas for alpha in alphas]
        errors, squares = found.reshape(-1, 2).T
        self.alpha_ = keep_search(self, params, 0.0 - errors[:, None], ties=squares)["alpha"]
        self.gammas_, self.loo_errors_ = np.array(gammas), found[..., 0]


def left_out_scores(
    settings: KernelSettings,
    X: Block,
    codes: np.ndarray,
    weights: np.ndarray,
    copies: np.ndarray | None,
    alphas: Sequence[float],
    threshold: str | float,
    seed: int,
) -> list[tuple[float, float]]:
    """Leave-one-out error and mean squared residual for every alpha."""
    problem = posed(settings, X, one_vs_rest(codes), weights, copies, seed)
    scores = []
    for solution in path_of(problem)(problem, alphas):
        outputs = solution.loo_outputs
        assert outputs is not None  # every path of `path_of` has them
        decision = flat(outputs - thresholds(outputs, codes, weights, threshold))
        squares = np.square(problem.targets - outputs).mean(axis=1)
        scores.append((weighted_error(decision, codes, weights), float(np.average(squares, weights=weights))))
    return scores
