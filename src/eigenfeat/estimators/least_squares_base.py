"""What the least-squares family shares: a problem from X and y, its solution, its projections."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenfeat.estimators.validation import check_weights
from eigenfeat.least_squares.coordinate_descent import Descent
from eigenfeat.least_squares.graph import neighbour_differences
from eigenfeat.least_squares.paths import SPARSE_PENALTIES, Settings, solve_at, solve_path
from eigenfeat.least_squares.penalised import aligned_targets, default_alphas, warn_of_gaps
from eigenfeat.least_squares.problem import Problem, Solution
from eigenfeat.least_squares.rows import CentredRows, append_differences, centre, centre_kernel
from eigenfeat.least_squares.solve import SOLVERS
from eigenfeat.least_squares.targets import reduce

PARAMETERS = """n_components : int, optional
        Directions to keep; by default all of nonzero eigenvalue.
    penalty : {None, "ridge", "lasso", "elasticnet", "group"}
        On ½‖XW - T‖², with sums over rows: none, ½ alpha ‖W‖², alpha ‖W‖₁ (sparse directions), alpha (l1_ratio ‖W‖₁ +
        ½ (1 - l1_ratio) ‖W‖²), or alpha Σ ‖rows of W‖ (whole inputs drop out).
    alpha : float
        Weight of the penalty.
    l1_ratio : float in (0, 1]
        Share of the 1-norm in "elasticnet".
    ridge : float
        Added to XᵀX relative to its mean diagonal, beside any penalty.
    solver : {"auto", "eigen", "primal", "dual", "lsqr"}
        All give the same directions: "eigen" decomposes X and solves the eigenproblem in its range; "primal" and "dual"
        factor XᵀX or XXᵀ; "lsqr" is a block conjugate-gradient method in memory O(nnz + (n + d) k). "auto" factors the
        smaller matrix where it has at most 8,000 rows.
    kernel : str or callable, optional
        Of `sklearn.metrics.pairwise`, or "precomputed": the same model in the kernel's feature space.
    gamma, degree, coef0 : float
        Of the kernel.
    smoothness : float
        Weight of Σ ‖Wᵀ(x_i - x_j)‖² over neighbours, averaged over pairs and times n, when `fit` is given unlabelled
        rows.
    n_neighbors : int
        Of each row in that graph.
    tol : float
        Relative residual of "lsqr", relative duality gap of the sparse penalties.
    max_iter : int
        Iterations of "lsqr", sweeps of the sparse penalties."""

ATTRIBUTES = """components_ : (n_components, d) array
        Directions as rows, scaled so that ``Wᵀ(XᵀX + shift·I)W = I`` with X centred and shift the ridge; with a sparse
        penalty the minimisers themselves. Without ``kernel``.
    dual_coef_ : (n_components, n) array
        Coefficients of the training rows `X_fit_`. With ``kernel``.
    eigenvalues_ : (n_components,) array
        ``wᵀXᵀSXw / wᵀ(XᵀX + shift·I)w``.
    residuals_ : (n_components,) array
        Of the eigenvalue equation, relative.
    mean_, offset_ : (d,) and (n_components,) arrays
        Of the training rows, and its projection.
    solver_, n_iter_ : str and int
        What ran, and its iterations.
    converged_ : array of bool
        Whether the regression on each target met ``tol``.
    n_features_in_ : int"""

REFERENCE = """Sun, Ji & Ye (2009), *A least squares formulation for a class of generalized eigenvalue problems in
    machine learning*."""

Documented = TypeVar("Documented", bound=type)


def documented(cls: Documented) -> Documented:
    """Fill the family's parameters, attributes and reference into a class's docstring."""
    text = cls.__doc__ or ""
    for name, fragment in (("PARAMETERS", PARAMETERS), ("ATTRIBUTES", ATTRIBUTES), ("REFERENCE", REFERENCE)):
        text = text.replace("{" + name + "}", fragment)
    cls.__doc__ = text
    return cls


@dataclass(frozen=True, eq=False)
class AlphaPath:
    """Components for a grid of alphas.

    Attributes
    ----------
    alphas : (m,) array
        Descending.
    components : (m, k, d) array
        Directions as rows for each alpha; ones that a penalty emptied are zero.
    eigenvalues : (m, k) array
        The quotient each of them attains.
    """

    alphas: np.ndarray
    components: np.ndarray
    eigenvalues: np.ndarray


class LeastSquaresTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What the family shares: a problem from X and y, its solution, its projections. Subclasses say what H is."""

    _parameter_constraints: dict = {
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "penalty": [None, StrOptions({"ridge", *SPARSE_PENALTIES})],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="right")],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "solver": [StrOptions({"auto", *SOLVERS})],
        "kernel": [None, StrOptions({*PAIRWISE_KERNEL_FUNCTIONS, "precomputed"}), callable],
        "gamma": [None, Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Real, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "smoothness": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }
    #: Whether S is the projection on the columns of H instead of HHᵀ.
    _project = False
    #: Whether y may have several columns.
    _multi_output = True

    def __init__(
        self,
        n_components=None,
        *,
        penalty=None,
        alpha=1.0,
        l1_ratio=0.5,
        ridge=0.0,
        solver="auto",
        kernel=None,
        gamma=None,
        degree=3,
        coef0=1.0,
        smoothness=1.0,
        n_neighbors=5,
        tol=1e-8,
        max_iter=1000,
    ):
        self.n_components = n_components
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.ridge = ridge
        self.solver = solver
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.smoothness = smoothness
        self.n_neighbors = n_neighbors
        self.tol = tol
        self.max_iter = max_iter

    # ------------------------------------------------------------------ fit

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None, X_unlabelled=None):
        """Find the directions.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe
            Rows; (n, n) kernel values where ``kernel="precomputed"``. Sparse rows stay sparse.
        y : (n,) or (n, q) array, or sparse matrix
            What the model relates X to.
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row.
        X_unlabelled : (m, d) array or sparse matrix, optional
            More rows, of which only the geometry is known: directions that tell neighbours apart are penalised, see
            ``smoothness``. In a Pipeline, name it in ``transform_input``.

        Returns
        -------
        self
        """
        X, y, weights = self._validated(X, y, sample_weight)
        problem = self._problem(X, y, weights)
        alpha = self._choose_alpha(X, y, weights, problem)
        if X_unlabelled is not None:
            problem = self._with_unlabelled(X, problem, X_unlabelled)
        solution = solve_at(problem, alpha, self._settings())
        if self._settings().is_sparse:
            warn_of_gaps(solution.converged, self.max_iter, self.tol)
        return self._store(X, problem, solution)

    @_fit_context(prefer_skip_nested_validation=True)
    def path(self, X, y, alphas=None, sample_weight=None):
        """Components for a whole grid of alphas, at little more than the cost of one.

        Ridge solutions share one decomposition of X; penalised ones start from each other, largest alpha first.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        alphas : array, optional
            For "lasso", "elasticnet" and "group", by default 50 values from the smallest that leaves no weight down to
            a thousandth of it; for "ridge" 1e3 down to 1e-6.

        Returns
        -------
        AlphaPath
        """
        if self.penalty is None or self.kernel is not None:
            raise ValueError(
                f"path needs a penalty and inputs to weigh; got penalty={self.penalty!r}, kernel={self.kernel!r}. Set "
                'penalty to "ridge", "lasso", "elasticnet" or "group", and kernel to None.'
            )
        X, y, weights = self._validated(X, y, sample_weight)
        problem = self._problem(X, y, weights)
        alphas = np.sort(self._path_alphas(problem) if alphas is None else self._checked_alphas(alphas))[::-1]
        solutions = list(solve_path(problem, alphas, self._settings()))
        width = max(len(solution.values) for solution in solutions)
        components = np.zeros((len(alphas), width, X.shape[1]), dtype=X.dtype)
        eigenvalues = np.zeros((len(alphas), width), dtype=X.dtype)
        for i, solution in enumerate(solutions):
            components[i, : len(solution.values)] = solution.vectors.T
            eigenvalues[i, : len(solution.values)] = solution.values
        return AlphaPath(alphas, components, eigenvalues)

    def _path_alphas(self, problem: Problem) -> np.ndarray:
        return np.logspace(-6, 3, 10) if self.penalty == "ridge" else self._sparse_alphas(problem, 50)

    def _sparse_alphas(self, problem: Problem, n_alphas: int) -> np.ndarray:
        assert isinstance(problem.rows, CentredRows)
        targets = aligned_targets(problem, self._settings().solve(problem))
        alphas = default_alphas(Descent(problem.rows, targets), self.penalty == "group", n_alphas)
        return alphas / (self.l1_ratio if self.penalty == "elasticnet" else 1.0)

    def _checked_alphas(self, alphas) -> np.ndarray:
        checked = np.asarray(alphas, dtype=np.float64)
        sparse_penalty = self.penalty in SPARSE_PENALTIES
        if checked.ndim != 1 or len(checked) == 0 or not np.all(checked > 0 if sparse_penalty else checked >= 0):
            raise ValueError(
                f"alphas must be a list of {'positive' if sparse_penalty else 'non-negative'} numbers for "
                f"penalty={self.penalty!r}, got {alphas!r}."
            )
        return checked

    def _settings(self) -> Settings:
        return Settings(self.penalty, self.l1_ratio, self.n_components, self.solver, self.tol, self.max_iter)

    def _validated(self, X, y, sample_weight):
        self._check_combination()
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            multi_output=self._multi_output,
            ensure_min_samples=2,
        )
        return X, y, check_weights(sample_weight, X)

    def _factor(self, y, weights):
        """Rows of H from the checked y."""
        raise NotImplementedError

    def _choose_alpha(self, X, y, weights, problem: Problem) -> float:
        if self.penalty in SPARSE_PENALTIES and self.alpha == 0:
            raise ValueError(
                f"alpha=0 with penalty={self.penalty!r} is no penalty: set penalty=None, or a positive alpha."
            )
        return self.alpha

    def _check_combination(self) -> None:
        if self.kernel is None:
            return
        if self.penalty in SPARSE_PENALTIES:
            raise ValueError(
                f"penalty={self.penalty!r} removes inputs, of which kernel={self.kernel!r} has no list: use "
                'penalty=None or "ridge" with a kernel.'
            )
        if self.solver not in ("auto", "eigen", "dual"):
            raise ValueError(f'A kernel needs solver="auto", "eigen" or "dual", got {self.solver!r}.')

    def _problem(self, X, y, weights) -> Problem:
        rows = centre(X, weights) if self.kernel is None else centre_kernel(self._kernel(X), weights)
        targets = reduce(self._factor(y, weights), rows.root, project=self._project, dtype=rows.dtype)
        if targets.rank == 0:
            raise ValueError(
                f"{type(self).__name__} found nothing to relate X to: y is empty or the same in every row. Check the "
                "target columns."
            )
        return Problem(rows, targets, self.ridge * rows.mean_diagonal())

    def _with_unlabelled(self, X, problem: Problem, X_unlabelled) -> Problem:
        if not isinstance(problem.rows, CentredRows):
            raise ValueError("X_unlabelled needs kernel=None: the graph's penalty is on directions in the inputs.")
        more = check_array(X_unlabelled, accept_sparse="csr", dtype=X.dtype, input_name="X_unlabelled")
        if more.shape[1] != X.shape[1]:
            raise ValueError(f"X_unlabelled has {more.shape[1]} features, X has {X.shape[1]}: they must agree.")
        both = sparse.vstack([X, more]).tocsr() if sparse.issparse(X) or sparse.issparse(more) else np.vstack([X, more])
        differences = neighbour_differences(both, min(self.n_neighbors, both.shape[0] - 1))
        if not problem.rows.is_sparse and not isinstance(differences, np.ndarray):
            differences = differences.toarray()
        root = problem.rows.root
        weight = np.sqrt(self.smoothness * float(root @ root) / differences.shape[0])
        rows = append_differences(problem.rows, differences * X.dtype.type(weight))
        return replace(problem, rows=rows, targets=problem.targets.padded(differences.shape[0]))

    def _kernel(self, X, Y=None) -> np.ndarray:
        parameters = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        parameters = {} if callable(self.kernel) else parameters
        kernel = pairwise_kernels(X, Y, metric=self.kernel, filter_params=True, **parameters)
        return kernel.astype(X.dtype, copy=False)

    def _store(self, X, problem: Problem, solution: Solution):
        if len(solution.values) == 0:
            raise ValueError("X has no direction that varies with y: its rows are constant, or unrelated to y.")
        if self.n_components is not None and self.n_components > len(solution.values):
            warnings.warn(
                f"n_components={self.n_components} asked for, {len(solution.values)} found: that is the rank of the "
                "relation between X and y.",
                UserWarning,
                stacklevel=3,
            )
        self.eigenvalues_ = solution.values
        self.residuals_ = solution.residuals
        self.solver_ = solution.solver
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.converged
        if isinstance(problem.rows, CentredRows):
            self.mean_ = problem.rows.mean
            self.components_ = np.ascontiguousarray(solution.vectors.T)
            self.offset_ = self.components_ @ self.mean_
        else:
            root = problem.rows.root
            shares = root**2 / (root @ root)
            coefficients = root[:, None] * solution.vectors
            coefficients -= np.outer(shares, coefficients.sum(axis=0))
            self.X_fit_ = X
            self.dual_coef_ = np.ascontiguousarray(coefficients.T)
            self.offset_ = self.dual_coef_ @ problem.rows.mean
        self._store_targets(problem, solution)
        return self

    def _store_targets(self, problem: Problem, solution: Solution) -> None:
        """Attributes of a model that knows more than directions."""

    # ------------------------------------------------------------------ project

    def transform(self, X):
        """Project rows on the components.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe

        Returns
        -------
        (n, n_components) array
            float32 for float32 input.
        """
        check_is_fitted(self, "eigenvalues_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        inputs, weights = (X, self.components_) if self.kernel is None else (self._kernel_to_fit(X), self.dual_coef_)
        return np.asarray(inputs @ weights.T.astype(X.dtype)) - self.offset_.astype(X.dtype)

    def _kernel_to_fit(self, X) -> np.ndarray:
        if self.kernel == "precomputed":
            return X.toarray() if sparse.issparse(X) else X
        return self._kernel(X, self.X_fit_)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.target_tags.required = True
        tags.target_tags.multi_output = self._multi_output
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
