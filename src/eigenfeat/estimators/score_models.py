"""Input densities whose score tensors FEAST correlates with labels: Gaussian mixtures and denoising auto-encoders."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin, _fit_context
from sklearn.decomposition import FactorAnalysis
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenfeat.estimators.validation import check_weights
from eigenfeat.scores.gaussian import (
    DensePrecision,
    DiagonalPrecision,
    FactorPrecision,
    GaussianMixtureDensity,
    Precision,
)
from eigenfeat.scores.training import Adam, AutoencoderTrainer, Corruption, train

FLOATS = [np.float64, np.float32]


class GaussianMixtureScore(DensityMixin, BaseEstimator):
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
        "n_mixture": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions({"full", "tied", "diag", "factor"})],
        "n_factors": [Interval(Integral, 1, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

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

    @_fit_context(prefer_skip_nested_validation=True)
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
        X = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2)
        weight = check_weights(sample_weight, X)
        if self.n_mixture == 1 and self.covariance_type != "factor":
            self.score_function_ = self._fit_gaussian(X, weight)
        elif weight is not None and np.ptp(weight) > 0:
            raise ValueError(
                f"sample_weight cannot be used with n_mixture={self.n_mixture} and covariance_type="
                f"{self.covariance_type!r}: fit without weights, or one Gaussian with covariance 'full' or 'diag'."
            )
        elif self.covariance_type == "factor":
            self.score_function_ = self._fit_factors(X)
        else:
            self.score_function_ = self._fit_mixture(X)
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
        check_is_fitted(self)
        return self.score_function_.score1(validate_data(self, X, dtype=FLOATS, reset=False))

    def score_samples(self, X):
        """The log density of every row, (n,)."""
        check_is_fitted(self)
        return self.score_function_.log_density(validate_data(self, X, dtype=FLOATS, reset=False))

    def score(self, X, y=None):
        """The mean log density."""
        return float(np.mean(self.score_samples(X)))


class DenoisingAutoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A denoising auto-encoder with one hidden layer and tied weights, as a model of the input's score.

    ``r(x) = g(W sigmoid(κ Wᵀx + b) + c)`` with g the identity or the sigmoid is trained to undo noise; then ``S1(x)
    = (x - r(x)) / σ²`` is the score of the noisy rows' density, and S2 and S3 follow from the derivatives of r in
    closed form. ``transform`` gives the hidden layer, ``score1`` the score.

    Parameters
    ----------
    n_hidden : int, default=100
        Units of the hidden layer.
    output : {"linear", "sigmoid"}, default="linear"
        g. "sigmoid" is for inputs in [0, 1] and is trained on the cross-entropy, "linear" on the squared error; the
        conditional mean that the score needs minimises both. With "linear" the score is a gradient field and its
        products are cheaper by a factor of about ``n_hidden``.
    noise : {"gaussian", "masking"}, default="gaussian"
        What the rows are corrupted with: Gaussian noise, or entries set to zero.
    noise_level : float, default=0.2
        Standard deviation of the Gaussian noise relative to the root mean variance of the columns, or the share of
        entries masked. For masking, which is not additive, the σ² of the score is the mean square of the change,
        ``noise_level · mean(x²)``.
    gain : float or None, default=None
        κ. None learns it, which makes the model indifferent to the unit of the data; 1 is the paper's model.
    solver : {"adam", "sgd"}, default="adam"
    learning_rate : float or None, default=None
        None is 0.005 for "adam" and 0.1 for "sgd". With early stopping it is divided by five, twice, before stopping.
    batch_size : int, default=128
    max_iter : int, default=100
        Epochs.
    early_stopping : bool, default=True
        Hold out rows, stop when their loss no longer falls, keep the best parameters.
    validation_fraction : float, default=0.1
        Share of the rows held out; data of fewer than 20 rows are not split.
    n_iter_no_change : int, default=5
        Epochs without progress before the learning rate is reduced, and in the end before stopping.
    tol : float, default=1e-4
        Relative gain that counts as progress.
    verbose : bool, default=False
        Print the validation loss after each epoch.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    score_function_ : TiedAutoencoder
        The trained model: ``reconstruct``, ``score1`` and ``tensors_at``; arrays in float32.
    noise_variance_ : float
        σ² of the score.
    loss_curve_ : list of float
        Validation loss after each epoch.
    n_iter_ : int
        Epochs run.
    n_features_in_ : int
    feature_names_in_ : array of str

    References
    ----------
    G. Alain, Y. Bengio (2012). What regularized auto-encoders learn from the data generating distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import DenoisingAutoencoder
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> model = DenoisingAutoencoder(n_hidden=20, random_state=0).fit(X)
    >>> model.score1(X).shape, model.transform(X).shape
    ((2000, 3), (2000, 20))
    """

    _parameter_constraints: dict = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "output": [StrOptions({"linear", "sigmoid"})],
        "noise": [StrOptions({"gaussian", "masking"})],
        "noise_level": [Interval(Real, 0, None, closed="neither")],
        "gain": [None, Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({"adam", "sgd"})],
        "learning_rate": [None, Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_hidden=100,
        *,
        output="linear",
        noise="gaussian",
        noise_level=0.2,
        gain=None,
        solver="adam",
        learning_rate=None,
        batch_size=128,
        max_iter=100,
        early_stopping=True,
        validation_fraction=0.1,
        n_iter_no_change=5,
        tol=1e-4,
        verbose=False,
        random_state=0,
    ):
        self.n_hidden = n_hidden
        self.output = output
        self.noise = noise
        self.noise_level = noise_level
        self.gain = gain
        self.solver = solver
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Train on the rows of X.

        Parameters
        ----------
        X : (n, d) array or dataframe
        y : ignored

        Returns
        -------
        self
        """
        X = self._rows(X, reset=True)
        self._trainer = trainer = self._new_trainer(X)
        trainer.observe(X)
        n_held_out = int(self.validation_fraction * len(X)) if self.early_stopping and len(X) >= 20 else 0
        order = trainer.rng.permutation(len(X))
        self.loss_curve_ = train(
            trainer,
            X[order[n_held_out:]],
            X[order[:n_held_out]],
            batch_size=self.batch_size,
            max_iter=self.max_iter,
            tol=self.tol,
            patience=self.n_iter_no_change,
            verbose=bool(self.verbose),
        )
        self.n_iter_ = len(self.loss_curve_) or self.max_iter
        return self._publish()

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None):
        """One epoch on these rows, on top of what was learnt before.

        The first call fixes the noise; masking noise keeps an average over all rows seen.

        Parameters
        ----------
        X : (n, d) array or dataframe
        y : ignored

        Returns
        -------
        self
        """
        first = not hasattr(self, "_trainer")
        X = self._rows(X, reset=first)
        if first:
            self._trainer = self._new_trainer(X)
            self.loss_curve_, self.n_iter_ = [], 0
        self._trainer.observe(X)
        self._trainer.epoch(X, self.batch_size)
        self.n_iter_ += 1
        return self._publish()

    def _rows(self, X, reset: bool) -> np.ndarray:
        X = validate_data(self, X, dtype=np.float32, reset=reset)
        if self.output == "sigmoid" and (X.min() < 0 or X.max() > 1):
            raise ValueError(
                f"output='sigmoid' reconstructs values in [0, 1], X has values from {X.min():.3g} to {X.max():.3g}: "
                "scale X to [0, 1] or use output='linear'."
            )
        return X

    def _new_trainer(self, X: np.ndarray) -> AutoencoderTrainer:
        if self.noise == "masking" and self.noise_level >= 1:
            raise ValueError(
                f"noise='masking' needs noise_level < 1, the share of entries masked; got {self.noise_level}."
            )
        level = self.noise_level
        if self.noise == "gaussian":
            level *= float(np.sqrt(X.var(axis=0, dtype=np.float64).mean())) or 1.0
        rate = self.learning_rate or {"adam": 0.005, "sgd": 0.1}[self.solver]
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        return AutoencoderTrainer(
            X,
            self.n_hidden,
            Corruption(self.noise, level),
            Adam(rate) if self.solver == "adam" else Adam(rate, momentum=None),
            rng,
            sigmoid_output=self.output == "sigmoid",
            gain=self.gain,
        )

    def _publish(self):
        self.score_function_ = self._trainer.model()
        self.noise_variance_ = self.score_function_.noise_variance
        return self

    @property
    def _n_features_out(self) -> int:
        return self.score_function_.weights.shape[1]

    def transform(self, X):
        """The hidden layer, (n, n_hidden)."""
        check_is_fitted(self)
        return self.score_function_.encode(validate_data(self, X, dtype=FLOATS, reset=False))

    def reconstruct(self, X):
        """``r(x)`` of every row, (n, d)."""
        check_is_fitted(self)
        return self.score_function_.reconstruct(validate_data(self, X, dtype=FLOATS, reset=False))

    def score1(self, X):
        """``S1(x) = (x - r(x)) / σ²`` of every row, (n, d)."""
        check_is_fitted(self)
        return self.score_function_.score1(validate_data(self, X, dtype=FLOATS, reset=False))
