"""What all kernel estimators share: from parameters to a problem, from its solution to a kernel expansion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from eigenfeat._sklearn import COUNT, NON_NEGATIVE, POSITIVE, Interval, Real, StrOptions
from eigenfeat.estimators.column_scaler import COLUMNS_CONSTRAINT, learn_columns, treated_rows
from eigenfeat.estimators.edge import Estimator
from eigenfeat.estimators.kernel_settings import KernelSettings
from eigenfeat.kernel import LOSSES, Loss, subset
from eigenfeat.kernel.losses import as_loss
from eigenfeat.kernel.problem import DEFAULTS, PENALTIES, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.search import Score, Trial, best_alpha
from eigenfeat.kernel.table import SOLVERS
from eigenfeat.rows.block import Matrix
from eigenfeat.rows.rows import ArrayRows, Rows
from eigenfeat.stages import Chain, KernelExpansion
from eigenfeat.stages.kernels import DOT_PRODUCT, KERNELS, RADIAL

#: Kernels that compare columns by their numbers; "cosine" and "chi2" mean the rows as they are, and so may a function.
TREATED_KERNELS = (*RADIAL, *DOT_PRODUCT, "laplacian")


class KernelEstimator(Estimator):
    """Base of estimators of the form ``k(x, ·) @ dual_coef_ + intercept_``."""

    # What every subclass takes beside the other settings.
    kernel: str | Callable
    random_state: int | np.random.RandomState | None
    #: What is done to columns where a subclass does not take `columns`.
    columns: Any = None
    _inputs: Chain

    _parameter_constraints: dict = {
        "kernel": [StrOptions(set(KERNELS)), callable],
        "degree": [POSITIVE],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "penalty": [StrOptions({"function", "coefficients"})],
        "centers": [None, StrOptions({"random", "kmeans"}), "array-like"],
        "n_centers": [None, COUNT],
        "invariances": [None, list, tuple],
        "expand_over": [StrOptions({"rows", "transformed"})],
        "random_state": ["random_state"],
    }
    _weight_constraints: dict = {"gamma": [None, POSITIVE], "alpha": [NON_NEGATIVE]}
    _columns_constraints: dict = {"columns": [None, *COLUMNS_CONSTRAINT]}

    def _settings(self, **chosen: Any) -> KernelSettings:
        """What the parameters ask for: every setting that is one of them, in the place of ``chosen`` ones."""
        parameters = self.get_params(deep=False)
        asked = {f.name: parameters[f.name] for f in fields(KernelSettings) if f.name in parameters}
        return self._points_treated(KernelSettings(**{**asked, **chosen}))

    def _treated(self, X: Matrix, weights: np.ndarray | None) -> Matrix:
        """Rows in memory after the treatment of their columns: see `_treated_source`."""
        return self._treated_source(ArrayRows(X, None, weights)).X  # type: ignore[attr-defined]

    def _treated_source(self, rows: Rows) -> Rows:
        """Rows after the treatment of their columns, which is learnt here and is the first part of ``_inputs``."""
        self._inputs, self.columns_ = Chain(), None
        columns, as_given = self.columns, getattr(self, "invariances", None) or self.kernel not in TREATED_KERNELS
        if columns is None or (isinstance(columns, str) and columns == "auto" and as_given):
            return rows
        if as_given and (self.kernel == "precomputed" or self.kernel in TREATED_KERNELS):
            reason = (
                "kernel='precomputed' has no columns"
                if self.kernel == "precomputed"
                else ("invariances transform the rows as they are given")
            )
            raise ValueError(f"columns={columns!r} cannot be: {reason}. Leave columns at 'auto', or scale X before.")
        stage, self.columns_ = learn_columns(self, rows, columns)
        self._inputs = Chain((stage,))
        return treated_rows(stage, rows)

    def _points_treated(self, settings: KernelSettings) -> KernelSettings:
        """Centres that are points are treated as rows are."""
        centers = settings.centers
        if isinstance(centers, str | None) or np.ndim(centers) != 2 or not self._inputs.stages:
            return settings
        return replace(settings, centers=self._inputs.apply(np.asarray(centers, dtype=np.float64)))

    def _keep(self, solution: KernelSolution, problem: KernelProblem) -> KernelExpansion:
        """Publish a solution; the function it is, over the rows or points that carry a nonzero coefficient."""
        kernel, centers = problem.kernel, problem.centers
        self.dual_coef_ = solution.coefficients.astype(kernel.dtype, copy=False)
        self.intercept_ = solution.intercept.astype(kernel.dtype, copy=False)
        self.support_ = np.flatnonzero(self.dual_coef_.any(axis=1))
        source = kernel.rows if centers is None or centers.ndim == 1 else centers
        self.support_vectors_ = None if kernel.precomputed else source[self.support_]
        self.gamma_, self.alpha_ = kernel.kernel.gamma, problem.alpha
        self.solver_ = solution.solver
        points = self.support_ if self.support_vectors_ is None else self.support_vectors_
        return KernelExpansion(kernel.kernel, points, self.dual_coef_[self.support_], self.intercept_)

    def _keep_fit(self, solution: KernelSolution, problem: KernelProblem) -> tuple[KernelExpansion, np.ndarray]:
        """Publish what a solver found; its function, and its outputs at the rows, left out where that is exact."""
        expansion = self._keep(solution, problem)
        self.n_iter_, self.objective_ = solution.n_iter, solution.objective
        if solution.loo_outputs is not None:
            return expansion, solution.loo_outputs
        outputs = Chain((expansion,)).at(problem.kernel.rows) if solution.outputs is None else solution.outputs
        return expansion, outputs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def left_out_alpha(problem: KernelProblem, score: Score) -> Trial:
    """The best alpha by outputs left out; one where the loss or the penalty has no exact ones."""
    problem = replace(problem, classes=None)
    if subset.SOLVER.unmet(problem, DEFAULTS):
        return Trial(1.0, problem.kernel.kernel.gamma, (np.inf, np.inf))
    return best_alpha(problem, score)


def checked_loss(given: str | Loss) -> Loss:
    """The loss of a name, or the one given if its numbers are those of a convex loss."""
    loss = as_loss(given)
    convex = loss.curvature >= 0 and loss.tube >= 0 and loss.bound > 0 and 1 < loss.power < np.inf
    if not convex or (loss.curvature == 0 and np.isinf(loss.bound)):
        raise ValueError(
            f"loss={loss!r} has curvature {loss.curvature:g}, tube {loss.tube:g}, bound {loss.bound:g} and power "
            f"{loss.power:g}: the first two must not be negative, the third positive, curvature or bound finite and "
            "not zero, and the power above one. Give its parameters such values."
        )
    return loss


class KernelRegression(KernelEstimator):
    """Base of the estimators that take a loss and a solver."""

    alpha: float | str
    loss: str | Loss
    solver: str
    max_terms: int | None
    tol: float | None
    max_iter: int | None

    _parameter_constraints: dict = {
        **KernelEstimator._parameter_constraints,
        **KernelEstimator._weight_constraints,
        **KernelEstimator._columns_constraints,
        "alpha": [StrOptions({"loo"}), NON_NEGATIVE],
        "loss": [StrOptions(set(LOSSES)), Loss],
        "penalty": [StrOptions(set(PENALTIES))],
        "solver": [StrOptions(SOLVERS.options)],
        "max_terms": [None, COUNT],
        "tol": [None, NON_NEGATIVE],
        "max_iter": [None, COUNT],
    }

    def _asked(self) -> KernelSettings:
        return self._settings(loss=checked_loss(self.loss))

    def _request(self) -> KernelRequest:
        return KernelRequest(self.tol, self.max_iter, self.max_terms, self.random_state)

    def _solved(self, problem: KernelProblem, score: Score) -> tuple[KernelProblem, KernelSolution]:
        """The problem with its alpha, found by leave-one-out where that was asked for, and its solution."""
        request = self._request()
        solver = SOLVERS.choose(self.solver, problem, request)
        if isinstance(self.alpha, str):
            found = left_out_alpha(problem, score)
            problem = replace(problem, alpha=found.alpha)
            if found.solution is not None and found.solution.solver == solver.name and problem.classes is None:
                return problem, found.solution
        return problem, solver.solve(problem, request)
