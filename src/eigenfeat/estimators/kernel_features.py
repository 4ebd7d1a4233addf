"""Kernel Rayleigh coefficients as transformers."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from eigenfeat.estimators.kernel_base import KernelExpansion
from eigenfeat.estimators.validation import check_class_labels, check_weights
from eigenfeat.kernel.basis import Basis, basis_of, full_length
from eigenfeat.kernel.eigen import discriminants
from eigenfeat.kernel.problem import KernelProblem, KernelSolution
from eigenfeat.kernel.scatter import within_scatter
from eigenfeat.moments.forms import DenseForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers import DenseVectors, Directions
from eigenfeat.solvers import solve as solve_quotients
from eigenfeat.solvers.signs import skewness_signs
from eigenfeat.stages.kernels import KernelRows


class KernelFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelExpansion):
    """Base of transformers whose features are kernel expansions of generalized eigenvectors.

    A subclass says which directions its kernel columns have (`_directions`).
    """

    penalty: str

    _parameter_constraints: dict = {
        **KernelExpansion._parameter_constraints,
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "penalty": [StrOptions({"function", "coefficients"})],
    }

    def transform(self, X):
        """The features of the rows of X, centred on the training rows.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; (n, n_train) kernel values when ``kernel="precomputed"``

        Returns
        -------
        (n, n_components) array
        """
        return self._expanded(X)

    @property
    def _n_features_out(self) -> int:
        return self.dual_coef_.shape[1]

    def _fit_directions(self, X, weights: np.ndarray, codes: np.ndarray | None):
        """Pose the problem, find its directions, keep them as an expansion."""
        random_state = check_random_state(self.random_state)
        kernel = self._kernel_rows(X, weights, self.gamma)
        self._refuse_indefinite(kernel, self.penalty)
        centers = self._chosen_centers(kernel, False, random_state)
        weights = weights.astype(kernel.dtype)
        problem = KernelProblem(
            kernel, np.empty((len(kernel), 0)), weights, self.alpha, penalty=self.penalty, centers=centers
        )
        problem = self._with_invariances(problem)
        basis = basis_of(problem)
        directions = self._directions(basis, problem, codes)
        V = directions.toarray()
        coefficients = full_length(basis.coefficients(V), problem)
        offset = -(weights @ basis.design / weights.sum()) @ V
        solution = KernelSolution(coefficients, offset, directions.values, directions.converged, 1, directions.solver)
        self._keep(solution, problem)
        self.eigenvalues_ = directions.values
        self.residuals_ = directions.residuals
        self.solver_ = directions.solver
        return self

    def _directions(self, basis: Basis, problem: KernelProblem, codes: np.ndarray | None) -> Directions:
        raise NotImplementedError

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


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
    kernel, gamma, alpha, penalty, degree, coef0, centers, n_centers, invariances, expansion, random_state
        As in `KernelFisherClassifier`.

    Attributes
    ----------
    dual_coef_ : (n_samples or n_centers, n_components) array
        One feature a column, scaled so that its regularised within-class scatter is one.
    intercept_ : (n_components,) array
        Centres the features on the training rows.
    eigenvalues_, residuals_ : (n_components,) arrays
    classes_, support_, support_vectors_, gamma_, solver_, n_features_in_

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
        alpha=1.0,
        penalty="function",
        *,
        degree=3,
        coef0=1.0,
        centers=None,
        n_centers=None,
        invariances=None,
        expansion="short",
        random_state=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.penalty = penalty
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.n_centers = n_centers
        self.invariances = invariances
        self.expansion = expansion
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Find the directions that tell the classes of y apart.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; the (n, n) kernel matrix when ``kernel="precomputed"``
        y : (n,) array
        sample_weight : (n,) array, optional

        Returns
        -------
        self
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        weights = check_weights(sample_weight, X)
        self.classes_, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        return self._fit_directions(X, np.ones(len(codes)) if weights is None else weights, codes)

    def _directions(self, basis: Basis, problem: KernelProblem, codes: np.ndarray | None) -> Directions:
        assert codes is not None
        n_components = len(self.classes_) - 1 if self.n_components is None else self.n_components
        penalty = basis.penalty(self.alpha, problem.invariance)
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
    noise : (m, d) array, optional
        Rows whose covariance in feature space is unwanted.
    noise_weight : float
        λ.
    alpha : float
        Weight of P; positive unless the noise has full rank.
    kernel, gamma, penalty, degree, coef0, centers, n_centers, invariances, expansion, random_state
        As in `KernelFisherClassifier`. Covariances are means over rows here, tangent covariances too.

    Attributes
    ----------
    dual_coef_ : (n_samples or n_centers, n_components) array
    intercept_, eigenvalues_, residuals_, support_, support_vectors_, gamma_, solver_, n_features_in_
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
        "noise": [None, "array-like", "sparse matrix"],
        "noise_weight": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components=2,
        kernel="rbf",
        gamma=None,
        alpha=1e-3,
        penalty="function",
        *,
        noise=None,
        noise_weight=1.0,
        degree=3,
        coef0=1.0,
        centers=None,
        n_centers=None,
        invariances=None,
        expansion="short",
        random_state=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.penalty = penalty
        self.noise = noise
        self.noise_weight = noise_weight
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.n_centers = n_centers
        self.invariances = invariances
        self.expansion = expansion
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Find the directions.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; the (n, n) kernel matrix when ``kernel="precomputed"``
        y : ignored
        sample_weight : (n,) array, optional

        Returns
        -------
        self
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
        weights = check_weights(sample_weight, X)
        share = np.full(X.shape[0], 1 / X.shape[0]) if weights is None else weights / weights.sum()
        return self._fit_directions(X, share, None)

    def _directions(self, basis: Basis, problem: KernelProblem, codes: np.ndarray | None) -> Directions:
        design, weights = basis.design, problem.weights
        mean = weights @ design / weights.sum()
        signal = within_scatter(design, np.zeros(len(design), dtype=int), weights, mean[None])
        noise = basis.penalty(self.alpha, problem.invariance)
        if self.noise is not None:
            noise = noise + self.noise_weight * basis.congruent(self._noise_covariance(problem))
        quotient = Quotient(DenseForm((signal + signal.T) / 2), DenseForm((noise + noise.T) / 2), label="OKPCA")
        found = solve_quotients([quotient], self.n_components, dtype=design.dtype)[0]
        return self._worthwhile(found, design - mean, weights)

    def _worthwhile(self, found: Directions, centred: np.ndarray, weights: np.ndarray) -> Directions:
        """Directions with variance, signed so that the feature's long tail is positive whatever the row order."""
        # Below this the direction is decided by rounding.
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

    def _noise_covariance(self, problem: KernelProblem) -> np.ndarray:
        kernel = problem.kernel
        if kernel.precomputed:
            raise ValueError("noise rows need a named kernel: kernel='precomputed' cannot see new points.")
        rows = validate_data(self, self.noise, reset=False, accept_sparse="csr", dtype=kernel.dtype)
        centers = np.arange(len(kernel)) if problem.centers is None else problem.centers
        K = KernelRows(kernel.kernel, rows).columns(kernel.points(centers))
        K -= K.mean(axis=0)
        return K.T @ K / len(K)
