"""Kernel Rayleigh coefficients as transformers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from eigenfeat._sklearn import COUNT, NON_NEGATIVE, StrOptions, checked_fit
from eigenfeat.estimators.edge import ComponentsMixin
from eigenfeat.estimators.kernel_base import KernelEstimator, left_out_alpha
from eigenfeat.estimators.kernel_settings import posed
from eigenfeat.estimators.validation import check_class_labels, check_weights
from eigenfeat.kernel.basis import Basis, basis_of, full_length
from eigenfeat.kernel.eigen import discriminants
from eigenfeat.kernel.problem import KernelProblem, KernelSolution
from eigenfeat.kernel.scatter import within_scatter
from eigenfeat.kernel.search import squared_residual
from eigenfeat.kernel.thresholds import one_vs_rest
from eigenfeat.moments.forms import DenseForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers import DenseVectors, Directions
from eigenfeat.solvers import solve as solve_quotients
from eigenfeat.solvers.canonical import skewness_signs
from eigenfeat.stages import Chain, Fitted
from eigenfeat.stages.kernels import KernelRows

FindDirections = Callable[[Basis, KernelProblem], Directions]


class KernelFeatures(ComponentsMixin, KernelEstimator):
    """Base of transformers whose features are kernel expansions of generalized eigenvectors."""

    alpha: float | str

    _parameter_constraints: dict = {
        **KernelEstimator._parameter_constraints,
        **KernelEstimator._weight_constraints,
        "n_components": [None, COUNT],
    }

    def _fit_directions(self, X, weights: np.ndarray, find: FindDirections, targets: np.ndarray | None = None):
        """Pose the problem, find its directions, keep them as an expansion centred on the rows.

        Where alpha is to be found, it is that of a regression to the targets: the directions are the same.
        """
        X = self._treated(X, weights)
        if targets is None:
            targets = np.empty((X.shape[0], 0))
        problem = posed(self._settings(), X, targets, weights, weights, self.random_state)
        if isinstance(self.alpha, str):
            problem = replace(problem, alpha=left_out_alpha(problem, squared_residual).alpha)
        basis = basis_of(problem)
        directions = find(basis, problem)
        V = directions.toarray()
        coefficients = full_length(basis.coefficients(V), problem)
        offset = -(problem.weights @ basis.design / problem.weights.sum()) @ V
        solution = KernelSolution(coefficients, offset, directions.values, directions.converged, 1, directions.solver)
        self.fitted_ = Fitted(features=Chain((*self._inputs.stages, self._keep(solution, problem))))
        self.eigenvalues_ = directions.values
        self.residuals_ = directions.residuals
        return self

    @property
    def offsets_(self) -> np.ndarray:
        """(n_components,) what is added to the projection of each component: ``intercept_``."""
        return self.intercept_


class KernelFisherFeatures(KernelFeatures):
    r"""Discriminant directions in a kernel feature space.

    With kernel columns :math:`k_x` of the rows, the coefficients α of every feature maximise

    .. math:: \frac{\alpha^\top M \alpha}{\alpha^\top (N + \text{alpha} \cdot P) \alpha}

    M the between-class and N the within-class scatter of the k_x (sums over rows), P the kernel matrix ("function")
    or the identity ("coefficients"), and, with invariances, tangent covariances added to N.

    Parameters
    ----------
    n_components : int, optional
        All n_classes - 1 by default.
    alpha : "loo" or float
        As in `KernelFisherClassifier`; "loo" looks at the squared residual of the regression to the classes, which has
        the same directions.
    kernel, gamma, penalty, columns, degree, coef0, centers, n_centers, invariances, expand_over, random_state
        As in `KernelFisherClassifier`.

    Attributes
    ----------
    dual_coef_ : (n_samples or n_centers, n_components) array
        One feature a column, scaled so that its regularised within-class scatter is one.
    intercept_, offsets_ : (n_components,) array
        Centres the features on the training rows; one array under both names.
    eigenvalues_, residuals_ : (n_components,) arrays
    classes_, support_, support_vectors_, gamma_, alpha_, columns_, solver_, n_features_in_

    References
    ----------
    Mika (2002), *Kernel Fisher Discriminants*, sections 3.4 and 3.5.1.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from eigenfeat import KernelFisherFeatures
    >>> X, y = load_digits(return_X_y=True)
    >>> KernelFisherFeatures(n_components=2, n_centers=200, random_state=0).fit_transform(X / 16, y).shape
    (1797, 2)
    """

    def __init__(
        self,
        n_components=None,
        kernel="rbf",
        gamma=None,
        alpha="loo",
        penalty="function",
        *,
        columns="auto",
        degree=3,
        coef0=1.0,
        centers=None,
        n_centers=None,
        invariances=None,
        expand_over="rows",
        random_state=0,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.penalty = penalty
        self.columns = columns
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.n_centers = n_centers
        self.invariances = invariances
        self.expand_over = expand_over
        self.random_state = random_state

    _parameter_constraints: dict = {
        **KernelFeatures._parameter_constraints,
        **KernelEstimator._columns_constraints,
        "alpha": [StrOptions({"loo"}), NON_NEGATIVE],
    }

    @checked_fit
    def fit(self, X, y, sample_weight=None):
        """Find the directions that tell the classes of y apart.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; the (n, n) kernel matrix when ``kernel="precomputed"``
        y : (n,) array
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row, but for centres that are drawn, which go by the
            place of a row.

        Returns
        -------
        self
        """
        X, y = self._check(X, y)
        weights = check_weights(sample_weight, X)
        self.classes_, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        weights = np.ones(len(codes)) if weights is None else weights
        return self._fit_directions(X, weights, partial(self._directions, codes), one_vs_rest(codes))

    def _directions(self, codes: np.ndarray, basis: Basis, problem: KernelProblem) -> Directions:
        n_components = len(self.classes_) - 1 if self.n_components is None else self.n_components
        penalty = basis.penalty(problem.alpha, problem.invariance)
        return discriminants(basis.design, codes, problem.weights, penalty, n_components)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class OrientedKernelPCA(KernelFeatures):
    r"""Directions in a kernel feature space with much variance of the data and little of a noise.

    The coefficients α of every feature maximise

    .. math:: \frac{\alpha^\top C \alpha}{\alpha^\top (\lambda C_\text{noise} + T + \text{alpha} \cdot P)\, \alpha}

    C the covariance of the kernel columns of the rows, C_noise that of rows known to be noise, T the tangent
    covariance of transformations that should not matter, P the kernel matrix ("function") or the identity. Without
    noise and invariances and with P = K this is kernel PCA, its features divided by the square root of alpha.

    Parameters
    ----------
    n_components : int, optional
        None keeps all whose eigenvalue stands above rounding.
    noise_weight : float
        λ, the weight of the rows of noise given to `fit`.
    alpha : float
        Weight of P; positive unless the noise has full rank.
    kernel, gamma, penalty, degree, coef0, centers, n_centers, invariances, expand_over, random_state
        As in `KernelFisherClassifier`. Covariances are means over rows here, tangent covariances too.

    Attributes
    ----------
    dual_coef_ : (n_samples or n_centers, n_components) array
    intercept_, offsets_, eigenvalues_, residuals_, support_, support_vectors_, gamma_, solver_, n_features_in_
        As in `KernelFisherFeatures`.

    References
    ----------
    Mika (2002), *Kernel Fisher Discriminants*, sections 3.4.2 and 3.4.5, figure 5.4.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import OrientedKernelPCA
    >>> X = np.random.RandomState(0).randn(100, 2)
    >>> shifted = OrientedKernelPCA(n_components=2, invariances=[lambda rows: rows + [0.1, 0.0]])
    >>> shifted.fit_transform(X).shape
    (100, 2)
    """

    _parameter_constraints: dict = {
        **KernelFeatures._parameter_constraints,
        "noise_weight": [NON_NEGATIVE],
    }

    def __init__(
        self,
        n_components=2,
        kernel="rbf",
        gamma=None,
        alpha=1e-3,
        penalty="function",
        *,
        noise_weight=1.0,
        degree=3,
        coef0=1.0,
        centers=None,
        n_centers=None,
        invariances=None,
        expand_over="rows",
        random_state=0,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.penalty = penalty
        self.noise_weight = noise_weight
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.n_centers = n_centers
        self.invariances = invariances
        self.expand_over = expand_over
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y=None, sample_weight=None, noise=None):
        """Find the directions.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; the (n, n) kernel matrix when ``kernel="precomputed"``
        y : ignored
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row, but for centres that are drawn, which go by the
            place of a row.
        noise : (m, d) array or sparse matrix, optional
            Rows whose covariance in feature space is unwanted.

        Returns
        -------
        self
        """
        self._check_unused(X, y)
        X = self._check(X, ensure_min_samples=2)
        if noise is not None:
            if self.kernel == "precomputed":
                raise ValueError("noise rows need a named kernel: kernel='precomputed' cannot see new points.")
            noise = self._check(noise, reset=False, dtype=X.dtype)
        weights = check_weights(sample_weight, X)
        share = np.full(X.shape[0], 1 / X.shape[0]) if weights is None else weights / weights.sum()
        return self._fit_directions(X, share, partial(self._directions, noise))

    def _directions(self, noise_rows, basis: Basis, problem: KernelProblem) -> Directions:
        design, weights = basis.design, problem.weights
        mean = weights @ design / weights.sum()
        signal = within_scatter(design, np.zeros(len(design), dtype=int), weights, mean[None])
        noise = basis.penalty(problem.alpha, problem.invariance)
        if noise_rows is not None:
            noise = noise + self.noise_weight * basis.congruent(covariance_of_columns(noise_rows, problem))
        quotient = Quotient(DenseForm((signal + signal.T) / 2), DenseForm((noise + noise.T) / 2), label="OKPCA")
        found = solve_quotients([quotient], self.n_components, dtype=design.dtype)[0]
        return self._worthwhile(found, design - mean, weights)

    def _worthwhile(self, found: Directions, centred: np.ndarray, weights: np.ndarray) -> Directions:
        """Directions with variance, signed so that the feature's long tail is positive whatever the row order."""
        # Below this the direction is decided by rounding.
        if not found.n_directions:
            raise ValueError(
                f"{type(self).__name__} found no direction that varies: the kernel is the same between all rows, or "
                "between none. Give another gamma, or scale the columns."
            )
        kept = found.values > np.sqrt(np.finfo(centred.dtype).eps) * found.values.max()
        if self.n_components is not None and kept.sum() < self.n_components:
            warnings.warn(
                f"{kept.sum()} components instead of n_components={self.n_components}: the kernel columns of these "
                "rows vary in no more directions.",
                UserWarning,
                stacklevel=2,
            )
        found = found.take(kept)
        signs = skewness_signs(found.vectors.projected(centred), weights)
        return replace(found, vectors=DenseVectors(found.toarray() * signs))


def covariance_of_columns(rows, problem: KernelProblem) -> np.ndarray:
    """The covariance of the kernel columns of further rows over the problem's expansion."""
    kernel = problem.kernel
    K = KernelRows(kernel.kernel, rows).columns(kernel.points(problem.expanded_over))
    K -= K.mean(axis=0)
    return K.T @ K / len(K)
