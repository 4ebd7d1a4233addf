"""What all kernel estimators share: building the kernel, choosing centres, keeping and applying an expansion."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenfeat.kernel.invariances import tangent_covariance, transformed, weighted_transformations
from eigenfeat.kernel.problem import LOSSES, PENALTIES, KernelProblem, KernelSolution
from eigenfeat.kernel.table import MAX_FULL_ROWS, RESTRICTED, SOLVERS, check_cell, choose
from eigenfeat.kernel.table import solve as run_solver
from eigenfeat.stages.kernels import KERNELS, Kernel, KernelRows, default_gamma


class KernelExpansion(BaseEstimator):
    """Base of estimators of the form ``k(x, ·) @ dual_coef_ + intercept_``."""

    kernel: str | Callable
    gamma: float | None
    degree: float
    coef0: float
    centers: str | np.ndarray | None
    n_centers: int | None
    invariances: list | None
    expansion: str
    random_state: int | np.random.RandomState | None

    _parameter_constraints: dict = {
        "kernel": [StrOptions(set(KERNELS)), callable],
        "gamma": [None, Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 0, None, closed="neither")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "centers": [None, StrOptions({"random", "kmeans"}), "array-like"],
        "n_centers": [None, Interval(Integral, 1, None, closed="left")],
        "invariances": [None, list, tuple],
        "expansion": [StrOptions({"short", "long"})],
        "random_state": ["random_state"],
    }

    # ---------------------------------------------------------------- kernel

    def _kernel_rows(self, X, weights: np.ndarray, gamma: float | None) -> KernelRows:
        self._check_kernel(X)
        if gamma is None and self.kernel != "precomputed":
            gamma = default_gamma(X, weights)
        name = "linear" if self.kernel == "precomputed" else self.kernel
        kernel = Kernel(name, 1.0 if gamma is None else gamma, self.degree, self.coef0)
        self.gamma_ = kernel.gamma
        return KernelRows(kernel, X, precomputed=self.kernel == "precomputed")

    def _check_kernel(self, X) -> None:
        if self.kernel != "precomputed":
            return
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' takes the square kernel matrix of the training rows, got shape {X.shape}. "
                "Give K(train, train) to fit and K(test, train) to predict, or name a kernel."
            )
        if sparse.issparse(X):
            raise ValueError("kernel='precomputed' takes a dense kernel matrix: call .toarray() on it first.")
        if self.invariances or (isinstance(self.centers, str) and self.centers == "kmeans"):
            raise ValueError(
                "invariances and centers='kmeans' move points, which kernel='precomputed' cannot see. "
                "Give the rows themselves and name a kernel."
            )

    def _refuse_indefinite(self, kernel: KernelRows, penalty: str) -> None:
        if penalty == "function" and kernel.is_indefinite():
            raise ValueError(
                f"The kernel {self.kernel!r} is not positive semi-definite on these rows, so penalty='function' "
                "(½‖w‖² = ½αᵀKα) has no minimum. Use penalty='coefficients' or 'sparse', or another kernel."
            )

    # --------------------------------------------------------------- centres

    def _chosen_centers(self, kernel: KernelRows, needed: bool, random_state) -> np.ndarray | None:
        """Row numbers or points of a restricted expansion; None for all rows."""
        n = len(kernel)
        if self.centers is None and self.n_centers is None and not needed:
            return None
        if self.centers is not None and not isinstance(self.centers, str):
            return self._given_centers(kernel)
        n_centers = min(n, self.n_centers or int(np.ceil(np.sqrt(n) * np.log(n + 1))))
        if self.centers == "kmeans" and n_centers < n:
            model = MiniBatchKMeans(n_centers, batch_size=max(1024, 2 * n_centers), n_init=1, random_state=random_state)
            return model.fit(kernel.rows).cluster_centers_.astype(kernel.dtype)
        return np.sort(random_state.permutation(n)[:n_centers])

    def _given_centers(self, kernel: KernelRows) -> np.ndarray:
        centers = np.asarray(self.centers)
        if centers.ndim == 1 and np.issubdtype(centers.dtype, np.integer):
            if centers.size == 0 or centers.min() < 0 or centers.max() >= len(kernel):
                raise ValueError(
                    f"centers as row numbers must lie in [0, {len(kernel)}); got {centers.size} of them "
                    f"{'' if centers.size == 0 else f'from {centers.min()} to {centers.max()}'}."
                )
            return np.unique(centers)
        if centers.ndim != 2 or centers.shape[1] != kernel.rows.shape[1] or kernel.precomputed:
            raise ValueError(
                f"centers must be 'random', 'kmeans', integer row numbers, or points with {kernel.rows.shape[1]} "
                f"columns (not with kernel='precomputed'); got an array of shape {centers.shape}."
            )
        return centers.astype(kernel.dtype)

    def _with_invariances(self, problem: KernelProblem) -> KernelProblem:
        """The problem with tangent covariances, over the rows or over rows and transformed rows (3.4.5)."""
        if not self.invariances:
            return problem
        kernel, centers = problem.kernel, problem.centers
        if sparse.issparse(kernel.rows):
            raise ValueError("invariances transform dense rows: call X.toarray() first.")
        transformations = weighted_transformations(self.invariances)
        if centers is None:
            centers = np.arange(len(kernel))
        if self.expansion == "long":
            points = kernel.points(centers)
            centers = np.vstack([points, *(transformed(points, move) for _, move in transformations)])
        T = tangent_covariance(kernel, centers, problem.weights, transformations)
        return KernelProblem(**{**vars(problem), "centers": centers, "invariance": T})

    # -------------------------------------------------------------- expansion

    def _keep(self, solution: KernelSolution, problem: KernelProblem) -> None:
        """Coefficients, and the rows or points that carry a nonzero one."""
        dtype = problem.kernel.dtype
        self.dual_coef_ = solution.coefficients.astype(dtype, copy=False)
        self.intercept_ = solution.intercept.astype(dtype, copy=False)
        self.support_ = np.flatnonzero(self.dual_coef_.any(axis=1))
        centers = problem.centers
        source = problem.kernel.rows if centers is None or centers.ndim == 1 else centers
        self.support_vectors_ = None if problem.kernel.precomputed else source[self.support_]
        self.kernel_ = problem.kernel.kernel

    def _expanded(self, X) -> np.ndarray:
        """The outputs at new rows, (n, m)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        coefficients = self.dual_coef_[self.support_]
        if self.support_vectors_ is None:
            return X[:, self.support_] @ coefficients + self.intercept_
        X = X.astype(coefficients.dtype, copy=False)
        if sparse.issparse(X) != sparse.issparse(self.support_vectors_):
            X = sparse.csr_matrix(X) if sparse.issparse(self.support_vectors_) else X.toarray()
        return KernelRows(self.kernel_, self.support_vectors_).expand(X, coefficients) + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class KernelFit(KernelExpansion):
    """Base of the estimators that solve loss × penalty problems."""

    alpha: float
    loss: str
    penalty: str
    huber_sigma: float
    epsilon: float
    solver: str
    max_terms: int | None
    tol: float | None
    max_iter: int | None

    _parameter_constraints: dict = {
        **KernelExpansion._parameter_constraints,
        "loss": [StrOptions(set(LOSSES))],
        "penalty": [StrOptions(set(PENALTIES))],
        "huber_sigma": [Interval(Real, 0, None, closed="neither")],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions({"auto", *SOLVERS})],
        "max_terms": [None, Interval(Integral, 1, None, closed="left")],
        "tol": [None, Interval(Real, 0, None, closed="left")],
        "max_iter": [None, Interval(Integral, 1, None, closed="left")],
    }

    def _posed(
        self, X, targets: np.ndarray, weights: np.ndarray, copies: np.ndarray | None, gamma: float | None, seed
    ) -> tuple[KernelProblem, str]:
        """The problem these rows and parameters pose, and the name of its solver."""
        random_state = check_random_state(seed)
        kernel = self._kernel_rows(X, weights, gamma)
        self._refuse_indefinite(kernel, self.penalty)
        centers = self._chosen_centers(kernel, self._needs_centers(len(kernel)), random_state)
        solver = self._chosen_solver(len(kernel), None if centers is None else centers.shape[0])
        problem = KernelProblem(
            kernel,
            targets.astype(kernel.dtype, copy=False),
            weights.astype(kernel.dtype, copy=False),
            float(self.alpha),
            self.loss,
            self.penalty,
            self.huber_sigma,
            self.epsilon,
            centers=centers,
            copies=copies,
        )
        return self._with_invariances(problem), solver

    def _needs_centers(self, n_rows: int) -> bool:
        if self.solver == "nystrom" or (self.solver == "subset" and not self.invariances):
            return True
        squares = self.loss == "squared" and self.penalty != "sparse"
        return squares and self.solver in ("auto", "subset") and n_rows > MAX_FULL_ROWS

    def _chosen_solver(self, n_rows: int, n_centers: int | None) -> str:
        """The solver asked for or the one "auto" takes, if it can do what else is asked for."""
        invariant = bool(self.invariances)
        if self.solver == "auto":
            solver = choose(self.loss, self.penalty, n_rows, n_centers, invariant)
        else:
            solver = self.solver
            check_cell(solver, self.loss, self.penalty)
        able = [name for name in RESTRICTED if not (invariant and name == "nystrom")]
        if (n_centers is not None or invariant) and solver not in able:
            raise ValueError(
                f"{'invariances' if invariant else 'centers and n_centers'} are for loss='squared' with a quadratic "
                f"penalty and the solvers {', '.join(able)}; got loss={self.loss!r}, penalty={self.penalty!r}, "
                f"solver={solver!r}."
            )
        return solver

    def _solved(self, problem: KernelProblem, solver: str) -> KernelSolution:
        return run_solver(
            problem,
            solver,
            random_state=check_random_state(self.random_state),
            tol=self.tol,
            max_iter=self.max_iter,
            max_terms=self.max_terms,
        )

    def _keep_fit(self, solution: KernelSolution, problem: KernelProblem) -> np.ndarray:
        """Fitted attributes; the outputs at the training rows, left out where that is exact."""
        self._keep(solution, problem)
        self.solver_ = solution.solver
        self.n_iter_ = solution.n_iter
        self.objective_ = solution.objective
        if solution.loo_outputs is not None:
            return solution.loo_outputs
        if solution.outputs is not None:
            return solution.outputs
        K = problem.kernel
        if problem.centers is None and (K.precomputed or len(self.support_) == 0):
            return K.columns(self.support_) @ self.dual_coef_[self.support_] + self.intercept_
        return KernelRows(self.kernel_, self.support_vectors_).expand(K.rows, self.dual_coef_[self.support_]) + (
            self.intercept_
        )
