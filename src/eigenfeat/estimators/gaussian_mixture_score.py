"""A Gaussian or a Gaussian mixture as the density whose score tensors FEAST correlates with labels."""

from __future__ import annotations

import numpy as np
from sklearn.base import DensityMixin
from sklearn.decomposition import FactorAnalysis
from sklearn.mixture import GaussianMixture

from eigenfeat._sklearn import COUNT, NON_NEGATIVE, StrOptions, checked_fit
from eigenfeat.estimators.edge import Estimator
from eigenfeat.estimators.validation import check_weights
from eigenfeat.rows.keys import row_order
from eigenfeat.scores.gaussian import (
    DensePrecision,
    DiagonalPrecision,
    FactorPrecision,
    GaussianMixtureDensity,
    Precision,
)


class GaussianMixtureScore(DensityMixin, Estimator):
    """Score tensors of a fitted Gaussian or Gaussian mixture, in closed form and of every order.

    ``S_m(x) = (-1)ᵐ ∇ᵐp(x) / p(x)``; for one Gaussian with precision Λ: ``S1 = Λ(x - μ)``, ``S2 = S1 S1ᵀ - Λ``, and
    so on with Hermite's polynomials. A mixture's tensors are those of its parts, averaged with the
    responsibilities.

    Parameters
    ----------
    n_mixture : int, default=1
        Gaussians in the mixture.
    covariance_type : {"full", "tied", "diag", "factor"}, default="full"
        As in scikit-learn's ``GaussianMixture``; "factor" is one Gaussian with covariance low rank plus diagonal,
        from ``FactorAnalysis``: products with its precision cost O(d · n_factors).
    n_factors : int, default=10
        Rank of the low-rank part for "factor".
    ridge : float, default=1e-3
        Added to the diagonal of every covariance, relative to the mean variance of the columns.
    max_iter : int, default=200
        Iterations of EM.
    tol : float, default=1e-3
        Gain in mean log-likelihood below which EM stops.
    random_state : int, RandomState or None, default=0
        Of the starts of EM.

    Attributes
    ----------
    score_function_ : GaussianMixtureDensity
        The fitted density: ``score1`` and ``tensors_at``.
    weights_ : (n_mixture,) array
    means_ : (n_mixture, d) array
    n_features_in_ : int
    feature_names_in_ : array of str

    References
    ----------
    M. Janzamin, H. Sedghi, A. Anandkumar (2014). Score function features for discriminative learning: matrix and
    tensor frameworks.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import GaussianMixtureScore
    >>> X = np.random.default_rng(0).normal(size=(10_000, 2)) * [1.0, 2.0]
    >>> model = GaussianMixtureScore().fit(X)
    >>> model.score1([[1.0, 4.0]]).round(1)
    array([[1., 1.]])
    """

    _parameter_constraints: dict = {
        "n_mixture": [COUNT],
        "covariance_type": [StrOptions({"full", "tied", "diag", "factor"})],
        "n_factors": [COUNT],
        "ridge": [NON_NEGATIVE],
        "max_iter": [COUNT],
        "tol": [NON_NEGATIVE],
        "random_state": ["random_state"],
    }
    _takes_sparse = False

    def __init__(
        self,
        n_mixture=1,
        *,
        covariance_type="full",
        n_factors=10,
        ridge=1e-3,
        max_iter=200,
        tol=1e-3,
        random_state=0,
    ):
        self.n_mixture = n_mixture
        self.covariance_type = covariance_type
        self.n_factors = n_factors
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y=None, sample_weight=None):
        """Fit the density.

        Parameters
        ----------
        X : (n, d) array or dataframe
        y : ignored
        sample_weight : (n,) array, optional
            Weights of the rows; only one Gaussian that is not "factor" can use them.

        Returns
        -------
        self
        """
        self._check_unused(X, y)
        X = self._check(X, ensure_min_samples=2)
        weight = check_weights(sample_weight, X)
        if self.n_mixture == 1 and self.covariance_type != "factor":
            self.score_function_ = self._fit_gaussian(X, weight)
        elif weight is not None and np.ptp(weight) > 0:
            raise ValueError(
                f"sample_weight cannot be used with n_mixture={self.n_mixture} and covariance_type="
                f"{self.covariance_type!r}: fit without weights, or one Gaussian with covariance 'full' or 'diag'."
            )
        else:
            X = X[row_order(X)]  # centres to start from are drawn
            is_factor = self.covariance_type == "factor"
            self.score_function_ = self._fit_factors(X) if is_factor else self._fit_mixture(X)
        return self

    def _fit_gaussian(self, X: np.ndarray, weight: np.ndarray | None) -> GaussianMixtureDensity:
        share = np.full(len(X), 1 / len(X)) if weight is None else weight / weight.sum()
        mean = share @ X
        centred = X - mean.astype(X.dtype)
        precision: Precision
        if self.covariance_type == "diag":
            variances = share @ centred**2
            precision = DiagonalPrecision(variances + self._ridge(variances))
        else:
            covariance = ((centred * share[:, None].astype(X.dtype)).T @ centred).astype(np.float64)
            covariance[np.diag_indices_from(covariance)] += self._ridge(np.diagonal(covariance))
            precision = DensePrecision(covariance, X.dtype)
        return GaussianMixtureDensity(np.ones(1), mean[None], (precision,))

    def _fit_factors(self, X: np.ndarray) -> GaussianMixtureDensity:
        if self.n_mixture > 1:
            raise ValueError(
                f"covariance_type='factor' is for one Gaussian, n_mixture={self.n_mixture}: set n_mixture=1 or use "
                "covariance_type='full', 'tied' or 'diag'."
            )
        rank = min(self.n_factors, X.shape[1])
        model = FactorAnalysis(rank, max_iter=self.max_iter, random_state=self.random_state).fit(X)
        ridge = self._ridge(X.var(axis=0, dtype=np.float64))
        precision = FactorPrecision(model.components_.astype(np.float64), model.noise_variance_ + ridge)
        return GaussianMixtureDensity(np.ones(1), model.mean_[None], (precision,))

    def _fit_mixture(self, X: np.ndarray) -> GaussianMixtureDensity:
        if self.n_mixture > len(X):
            raise ValueError(f"n_mixture={self.n_mixture} is more than the {len(X)} rows: give at most as many.")
        model = GaussianMixture(
            self.n_mixture,
            covariance_type=self.covariance_type,
            reg_covar=self._ridge(X.var(axis=0, dtype=np.float64)),
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
        ).fit(X)
        precisions: list[Precision]
        if self.covariance_type == "tied":
            precisions = [DensePrecision(model.covariances_, X.dtype)] * self.n_mixture
        elif self.covariance_type == "diag":
            precisions = [DiagonalPrecision(variances) for variances in model.covariances_]
        else:
            precisions = [DensePrecision(covariance, X.dtype) for covariance in model.covariances_]
        return GaussianMixtureDensity(model.weights_, model.means_, tuple(precisions))

    def _ridge(self, variances: np.ndarray) -> float:
        """Absolute: a positive number even where nothing varies."""
        return max(self.ridge, np.finfo(np.float32).eps) * (float(np.mean(variances)) or 1.0)

    @property
    def weights_(self) -> np.ndarray:
        return self.score_function_.weights

    @property
    def means_(self) -> np.ndarray:
        return self.score_function_.means

    def score1(self, X):
        """``S1(x) = -∇ log p(x)`` of every row, (n, d)."""
        X = self._check_new(X)
        return self._finite(self.score_function_.score1(X), "scores")

    def score_samples(self, X):
        """The log density of every row, (n,)."""
        X = self._check_new(X)
        return self._finite(self.score_function_.log_density(X), "log densities")

    def score(self, X, y=None):
        """The mean log density."""
        return float(np.mean(self.score_samples(X)))
