"""What the least-squares family shares: a quotient from X and y, its directions, its chain."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array

from eigenfeat._sklearn import COUNT, NON_NEGATIVE, POSITIVE, Interval, Real, StrOptions, checked_fit
from eigenfeat.estimators.edge import ComponentsMixin, Estimator
from eigenfeat.estimators.least_squares_choice import Choice, on_folds
from eigenfeat.estimators.streaming import is_stream, refuse_source
from eigenfeat.estimators.validation import check_kernel_takes, check_weights
from eigenfeat.least_squares.coordinate_descent import Descent
from eigenfeat.least_squares.graph import laplacian_root, neighbour_pairs
from eigenfeat.least_squares.leave_one_out import decades
from eigenfeat.least_squares.paths import SPARSE_PENALTIES, Settings, solve_at, solve_path
from eigenfeat.least_squares.penalised import aligned_targets, default_alphas, warn_of_gaps
from eigenfeat.least_squares.quotient import LeastSquaresQuotient, pose
from eigenfeat.least_squares.relation import TargetRelation
from eigenfeat.least_squares.rows import (
    CentredKernel,
    CentredRows,
    append_differences,
    centre,
    centre_kernel,
    centre_kernel_with,
)
from eigenfeat.least_squares.solution import Solution
from eigenfeat.least_squares.solve import SOLVERS
from eigenfeat.least_squares.spectrum import RowSpectrum, decompose
from eigenfeat.least_squares.targets import reduce
from eigenfeat.moments import CrossMoments, Moments
from eigenfeat.quotients import Quotient, Regularisation
from eigenfeat.rows.keys import row_keys, row_order
from eigenfeat.rows.rows import Rows
from eigenfeat.stages import Affine, Chain, Fitted, KernelExpansion
from eigenfeat.stages.kernels import CONDITIONAL, KERNELS, Kernel, KernelRows, default_gamma


@dataclass(frozen=True, eq=False)
class AlphaPath:
    """Components for a grid of alphas.

    Attributes
    ----------
    alphas : (m,) array
        Descending.
    components : (m, k, d) array or None
        Directions as rows for each alpha; ones that a penalty emptied are zero. Without ``kernel``.
    eigenvalues : (m, k) array
        The quotient each of them attains.
    dual_coef : (m, k, n) array or None
        Coefficients of the training rows. With ``kernel``.
    offsets : (m, k) array
        What is added to the projection on each: ``X @ components[i].T + offsets[i]``, with a kernel
        ``K @ dual_coef[i].T + offsets[i]`` from the values K between new and training rows.
    """

    alphas: np.ndarray
    components: np.ndarray | None
    eigenvalues: np.ndarray
    dual_coef: np.ndarray | None
    offsets: np.ndarray


class LeastSquaresBase(ComponentsMixin, Estimator):
    """What the family shares: a quotient from X and y, its directions, its chain.

    Subclasses say what H is (`eigenfeat.estimators.least_squares_models`) and where alpha comes from: a parameter
    (`eigenfeat.estimators.least_squares`) or a search (`eigenfeat.estimators.least_squares_cv`).
    """

    # What every subclass takes.
    n_components: int | None
    penalty: str | None
    l1_ratio: float
    ridge: float
    solver: str
    kernel: str | Callable | None
    gamma: float | None
    degree: float
    coef0: float
    smoothness: float
    n_neighbors: int
    tol: float
    max_iter: int

    _parameter_constraints: dict = {
        "n_components": [None, COUNT],
        "penalty": [None, StrOptions({"ridge", *SPARSE_PENALTIES})],
        "l1_ratio": [Interval(Real, 0, 1, closed="right")],
        "ridge": [NON_NEGATIVE],
        "solver": [StrOptions(SOLVERS.options)],
        "kernel": [None, StrOptions(set(KERNELS) - set(CONDITIONAL)), callable],
        "gamma": [None, POSITIVE],
        "degree": [POSITIVE],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "smoothness": [NON_NEGATIVE],
        "n_neighbors": [COUNT],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
    }
    #: Whether S is the projection on the columns of H instead of HHᵀ.
    _project = False
    #: What a reader calls the quotient.
    _label = "targets"
    #: What the labels of a row source are.
    _label_kind = "numbers"
    #: Whether y may have several columns; a single one holds classes.
    _multi_output = True

    # ------------------------------------------------------------------ fit

    @checked_fit
    def fit(self, X, y=None, sample_weight=None, X_unlabelled=None):
        """Find the directions.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, or row source
            Rows; (n, n) kernel values where ``kernel="precomputed"``. Sparse rows stay sparse. Of a source
            (`eigenfeat.rows`) the moments are fitted, as by `fit_moments`.
        y : (n,) or (n, q) array, or sparse matrix
            What the model relates X to; for a source the name of its column, where the source does not say.
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row.
        X_unlabelled : (m, d) array or sparse matrix, optional
            More rows, of which only the geometry is known: directions that tell neighbours apart are penalised, see
            ``smoothness``. With a kernel they are among the rows a direction is made of. In a Pipeline, name it in
            ``transform_input``.

        Returns
        -------
        self
        """
        if is_stream(X):
            return self._fit_source(X, y, sample_weight, X_unlabelled)
        X, y, weights = self._validated(X, y, sample_weight)
        points, quotient = self._posed(X, y, weights, X_unlabelled)
        self.alpha_, spectrum = self._choose_alpha(X, y, weights, quotient)
        solution = solve_at(quotient, self.alpha_, self._settings(), spectrum)
        if self._settings().is_sparse:
            warn_of_gaps(solution.converged, self.max_iter, self.tol)
        self._keep_solution(points, quotient, solution)
        return self

    def path(self, X, y, alphas=None, sample_weight=None):
        """Components for a whole grid of alphas, at little more than the cost of one.

        Ridge solutions share one decomposition of X; penalised ones start from each other, largest alpha first.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        alphas : array, optional
            For "lasso", "elasticnet" and "group", by default 50 values from the smallest that leaves no weight down to
            a thousandth of it; for "ridge" powers of ten of the trace of XᵀX, from ten down to a hundredth of its
            smallest eigenvalue.

        Returns
        -------
        AlphaPath
        """
        if self.penalty is None:
            raise ValueError(
                'path needs a penalty whose weight can vary; got penalty=None. Set penalty to "ridge", "lasso", '
                '"elasticnet" or "group".'
            )
        return clone(self)._path(X, y, alphas, sample_weight)  # what was fitted stays as it is

    @checked_fit
    def _path(self, X, y, alphas, sample_weight) -> AlphaPath:
        X, y, weights = self._validated(X, y, sample_weight)
        _, quotient = self._posed(X, y, weights, None)
        alphas = np.sort(self._path_alphas(quotient) if alphas is None else self._checked_alphas(alphas))[::-1]
        solutions = list(solve_path(quotient, alphas, self._settings()))
        shape = (len(alphas), max(len(solution.values) for solution in solutions))
        weighed = np.zeros((*shape, X.shape[1] if self.kernel is None else X.shape[0]), dtype=X.dtype)
        offsets, eigenvalues = np.zeros(shape, dtype=X.dtype), np.zeros(shape, dtype=X.dtype)
        for i, solution in enumerate(solutions):
            one, offset = self._projection(quotient, solution.vectors)
            weighed[i, : len(one)], offsets[i, : len(one)], eigenvalues[i, : len(one)] = one, offset, solution.values
        by_columns = self.kernel is None
        return AlphaPath(alphas, weighed if by_columns else None, eigenvalues, None if by_columns else weighed, offsets)

    # ------------------------------------------------------------------ settings

    def _path_alphas(self, quotient: LeastSquaresQuotient) -> np.ndarray:
        if self.penalty == "ridge":
            return decades(decompose(quotient.rows).singular_values ** 2)
        return self._sparse_alphas(quotient, 50)

    def _sparse_alphas(self, quotient: LeastSquaresQuotient, n_alphas: int) -> np.ndarray:
        assert isinstance(quotient.rows, CentredRows)
        targets = aligned_targets(quotient, self._settings().solve(quotient))
        alphas = default_alphas(Descent(quotient.rows, targets), self.penalty == "group", n_alphas)
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

    def _choose_alpha(self, X, y, weights, quotient: LeastSquaresQuotient) -> tuple[float, RowSpectrum | None]:
        """The weight of the penalty, and the decomposition of the rows if choosing it took one."""
        raise NotImplementedError

    def _on_folds(self, X, y, weights, quotient: LeastSquaresQuotient, alphas, cv=None) -> Choice:
        """Errors of the candidates, given or by default, on held-out folds."""
        if alphas is None and self.penalty == "ridge":
            alphas = decades(decompose(quotient.rows).singular_values ** 2)
        elif alphas is None:
            alphas = self._sparse_alphas(quotient, 21)[1:]
        kernel = None if self.kernel is None else self._kernel_matrix(X, weights)
        classes = not self._multi_output
        return on_folds(
            X,
            y,
            weights,
            quotient,
            alphas,
            self._settings(),
            cv,
            classes=classes,
            order=self._order(X, y, weights),
            kernel=kernel,
        )

    def _order(self, X, y, weights) -> np.ndarray:
        """The order of the rows that they are drawn and split in: nothing depends on the one they came in."""
        keys_of_y = row_keys(y if y.ndim == 2 else np.unique(y, return_inverse=True)[1][:, None])
        return row_order(X, keys_of_y, weights=weights, kernel=self.kernel == "precomputed")

    def _check_combination(self) -> None:
        if self.kernel is not None and self.penalty in SPARSE_PENALTIES:
            raise ValueError(
                f"penalty={self.penalty!r} removes inputs, of which kernel={self.kernel!r} has no list: use "
                'penalty=None or "ridge" with a kernel.'
            )

    # ------------------------------------------------------------------ the problem

    def _fit_source(self, source: Rows, y, sample_weight, X_unlabelled):
        """A fit on the moments of a source, where they suffice."""
        refuse_source(self, source)

    def _collect(self, source: Rows) -> Moments | CrossMoments:
        """Moments of a source, of the kind `fit_moments` takes."""
        raise NotImplementedError

    def _validated(self, X, y, sample_weight):
        self._check_combination()
        X, y = self._check(X, y, multi_output=self._multi_output, ensure_min_samples=2)
        return X, y, check_weights(sample_weight, X)

    def _factor(self, y, weights):
        """Rows of H from the checked y."""
        raise NotImplementedError

    def _posed(self, X, y, weights, X_unlabelled):
        """The points that directions are made of, X and unlabelled rows, and the quotient."""
        if self.kernel is not None:
            return self._posed_by_kernel(X, y, weights, X_unlabelled)
        rows = centre(X, weights)
        quotient = self._quotient(rows, y, weights)
        if X_unlabelled is None:
            return X, quotient
        both, pairs, weight = self._neighbours(X, X_unlabelled, quotient)
        differences = pairs @ both * X.dtype.type(weight)
        if not rows.is_sparse and not isinstance(differences, np.ndarray):
            differences = differences.toarray()
        return X, quotient.over(append_differences(rows, differences))

    def _posed_by_kernel(self, X, y, weights, X_unlabelled):
        quotient = self._quotient(centre_kernel(self._kernel_matrix(X, weights), weights), y, weights)
        if X_unlabelled is None:
            return X, quotient
        if self.kernel == "precomputed":
            raise ValueError(
                "X_unlabelled needs a kernel by name, or a function of two rows: of kernel='precomputed' no values "
                "between labelled and unlabelled rows are known."
            )
        both, pairs, weight = self._neighbours(X, X_unlabelled, quotient)
        K = KernelRows(self.kernel_, both).between(np.arange(both.shape[0]))
        return both, quotient.over(centre_kernel_with(K, weight * laplacian_root(pairs), weights, X.shape[0]))

    def _quotient(self, rows: CentredRows | CentredKernel, y, weights) -> LeastSquaresQuotient:
        targets = reduce(self._factor(y, weights), rows.root, project=self._project, dtype=rows.dtype)
        self._refuse_no_targets(targets.rank)
        return pose(rows, targets, Regularisation(self.ridge), self._label)

    def _refuse_no_targets(self, rank: int) -> None:
        if rank == 0:
            raise ValueError(
                f"{type(self).__name__} found nothing to relate X to: y is empty or the same in every row. Check the "
                "target columns."
            )

    def _neighbours(self, X, X_unlabelled, quotient: LeastSquaresQuotient):
        """All rows, the pairs of neighbours among them, and the square root of the weight of each pair."""
        more = check_array(X_unlabelled, accept_sparse="csr", dtype=X.dtype, input_name="X_unlabelled")
        if more.shape[1] != X.shape[1]:
            raise ValueError(f"X_unlabelled has {more.shape[1]} features, X has {X.shape[1]}: they must agree.")
        both = sparse.vstack([X, more]).tocsr() if sparse.issparse(X) or sparse.issparse(more) else np.vstack([X, more])
        pairs = neighbour_pairs(both, min(self.n_neighbors, both.shape[0] - 1))
        root = quotient.rows.root
        return both, pairs, np.sqrt(self.smoothness * float(root @ root) / pairs.shape[0])

    def _kernel_matrix(self, X, weights) -> np.ndarray:
        """The kernel between the training rows; its parameters, with defaults filled in, are kept for new ones."""
        if self.kernel == "precomputed":
            if X.shape[0] != X.shape[1] or sparse.issparse(X):
                given = f"{'sparse' if sparse.issparse(X) else 'dense'} rows of shape {X.shape}"
                raise ValueError(
                    f"kernel='precomputed' takes the dense square kernel matrix of the training rows, got {given}. "
                    "Give K(train, train) to fit and K(new, train) to transform, or name a kernel."
                )
            self.kernel_, self.gamma_ = Kernel("linear"), 1.0
            return X
        assert self.kernel is not None  # no caller has rows without one
        check_kernel_takes(self.kernel, X)
        gamma = self.gamma
        if gamma is None:
            gamma = default_gamma(X, np.ones(X.shape[0]) if weights is None else weights)
        self.kernel_, self.gamma_ = Kernel(self.kernel, gamma, self.degree, self.coef0), gamma
        return KernelRows(self.kernel_, X).between(np.arange(X.shape[0]))

    # ------------------------------------------------------------------ what was found

    def _check_found(self, n_found: int) -> None:
        if n_found == 0:
            raise ValueError("X has no direction that varies with y: its rows are constant, or unrelated to y.")
        if self.n_components is not None and self.n_components > n_found:
            warnings.warn(
                f"n_components={self.n_components} asked for, {n_found} found: that is the rank of the relation "
                "between X and y.",
                UserWarning,
                stacklevel=4,
            )

    def _keep_solution(self, points, quotient: LeastSquaresQuotient, solution: Solution) -> None:
        self._check_found(len(solution.values))
        self.eigenvalues_, self.residuals_, self.solver_ = solution.values, solution.residuals, solution.solver
        self.n_iter_, self.converged_, self.criterion_ = solution.n_iter, solution.converged, quotient.kind
        if self._settings().is_sparse and not solution.vectors.any():
            warnings.warn(
                f"penalty={self.penalty!r} left no weight on any column: alpha is too large for columns of this size. "
                "Lower alpha, or scale the columns.",
                UserWarning,
                stacklevel=4,
            )
        if isinstance(quotient.rows, CentredRows):
            self._keep_components(solution.vectors, quotient.rows.mean)
        else:
            self._keep_expansion(points, quotient, solution)
        self._store_targets(quotient, solution.vectors, lambda: TargetRelation.of_rows(quotient, solution))

    def _keep_components(self, vectors: np.ndarray, mean: np.ndarray) -> None:
        self.mean_ = mean.astype(vectors.dtype)
        self.components_ = np.ascontiguousarray(vectors.T)
        self.offsets_ = -(self.components_ @ mean).astype(vectors.dtype)
        self.fitted_ = Fitted(features=Chain((Affine.of(self.components_.T, self.offsets_),)))

    def _keep_expansion(self, points, quotient: LeastSquaresQuotient, solution: Solution) -> None:
        self.X_fit_ = points
        self.dual_coef_, self.offsets_ = self._projection(quotient, solution.vectors)
        points = np.arange(points.shape[0]) if self.kernel == "precomputed" else points
        stage = KernelExpansion(self.kernel_, points, self.dual_coef_.T, self.offsets_)
        self.fitted_ = Fitted(features=Chain((stage,)))

    def _projection(self, quotient: LeastSquaresQuotient, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(k, d or n) weights of inputs, or of the kernel's values as they are, and what is added to their sum."""
        rows = quotient.rows
        weighed = vectors if isinstance(rows, CentredRows) else rows.point_coefficients(vectors)
        offsets = -(weighed.T @ rows.mean)
        return np.ascontiguousarray(weighed.T, dtype=vectors.dtype), offsets.astype(vectors.dtype)

    def _store_targets(self, quotient: Quotient, vectors: np.ndarray, relate: Callable[[], TargetRelation]) -> None:
        """Attributes of a model that knows more than directions."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.target_tags.required = True
        tags.target_tags.multi_output = self._multi_output
        return tags
