"""GEM for continuous targets: y is cut into classes to find features, and only for that."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenfeat.estimators.gem_base import GEMBase, Stack
from eigenfeat.estimators.sliced_inverse import slice_edges
from eigenfeat.estimators.validation import check_weights
from eigenfeat.features.expansion import as_row_source
from eigenfeat.features.layer import held
from eigenfeat.linear.ridge import fit_ridge

ALPHAS = np.logspace(-3, 5, 17)


class GEMRegressor(MultiOutputMixin, RegressorMixin, GEMBase):
    """GEM features of a continuous target and ridge regression on them.

    To find features, and only for that, y is cut into slices of equal weight, which serve as classes. A vector y is
    first contracted with a few vectors u (its principal directions), each giving a y of its own (section 5 of the
    paper). The regression is on y itself: ``Σ w (y - f)² + alpha ‖coef‖²`` over standardised features.

    Parameters
    ----------
    n_components : int, optional
        Directions a pair of slices.
    n_bins : int
        Slices of each contracted target.
    n_contractions : int, optional
        Contractions of a vector target; by default as many as it has columns, 3 at most.
    alpha : float, optional
        Ridge penalty; by default chosen by generalized cross-validation on the training rows.
    class_pairs, n_pairs, noise, feature_map, ridge, ridge_shape, shrinkage, min_eigenvalue, max_features
        As in `GEMFeatures`; pairs are pairs of slices, numbered from the lowest.
    keep_inputs, constant, solver, tol, n_jobs, random_state
        As in `GEMFeatures`.

    Attributes
    ----------
    components_, offsets_, eigenvalues_, residuals_, pairs_, solver_, moments_
        Of the first contraction, as in `GEMFeatures`.
    contractions_ : (n_contractions, n_outputs) array
        The vectors u.
    coef_, intercept_, alpha_
        Of the regression on the features.
    stage_seconds_ : dict
        What the fit took for "moments" and "directions".
    n_features_in_ : int

    References
    ----------
    Karampatziakis & Mineiro (2014), section 5.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.linear_model import Ridge
    >>> from eigenfeat import GEMRegressor
    >>> X, y = make_friedman1(600, random_state=0)
    >>> gem, ridge = GEMRegressor().fit(X[:400], y[:400]), Ridge().fit(X[:400], y[:400])
    >>> gem.score(X[400:], y[400:]) > ridge.score(X[400:], y[400:]) + 0.1
    True
    """

    _parameter_constraints: dict = {
        **GEMBase._parameter_constraints,
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "n_contractions": [None, Interval(Integral, 1, None, closed="left")],
        "alpha": [None, Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components=None,
        *,
        n_bins=5,
        n_contractions=None,
        alpha=None,
        class_pairs="auto",
        n_pairs=None,
        noise="second_moment",
        feature_map="soft-cubic",
        ridge=0.5,
        ridge_shape="identity",
        shrinkage=None,
        min_eigenvalue=None,
        max_features=None,
        keep_inputs=True,
        constant=False,
        solver="auto",
        tol=None,
        n_jobs=None,
        random_state=0,
    ):
        self.n_components = n_components
        self.n_bins = n_bins
        self.n_contractions = n_contractions
        self.alpha = alpha
        self.class_pairs = class_pairs
        self.n_pairs = n_pairs
        self.noise = noise
        self.feature_map = feature_map
        self.ridge = ridge
        self.ridge_shape = ridge_shape
        self.shrinkage = shrinkage
        self.min_eigenvalue = min_eigenvalue
        self.max_features = max_features
        self.keep_inputs = keep_inputs
        self.constant = constant
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Find features and fit the regression on them.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe
        y : (n,) or (n, q) array
            Continuous targets.
        sample_weight : (n,) array, optional

        Returns
        -------
        self
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], multi_output=True, y_numeric=True
        )
        weights = check_weights(sample_weight, X)
        targets = y.reshape(len(y), -1).astype(np.float64)
        self.contractions_ = self._contractions(targets, weights)
        source, rng = as_row_source(X), check_random_state(self.random_state)
        self._stacks: list[Stack] = []
        self.stage_seconds_ = {}
        for u in self.contractions_:
            labels = self._slices(targets @ u, weights)
            self.classes_, codes = np.unique(labels, return_inverse=True)
            moments = self._moments(0, source, codes, weights)
            if not self._stacks:
                self.moments_ = moments
            self._stacks.append(self._fit_stack(moments, source, codes, weights, rng))
        del self.classes_  # slices are not classes
        alphas = ALPHAS if self.alpha is None else np.array([self.alpha], dtype=np.float64)
        fit = fit_ridge(self._features(X).astype(np.float64), targets, weights, alphas)
        self.coef_ = fit.coef[:, 0] if y.ndim == 1 else fit.coef.T
        self.intercept_ = fit.intercept[0] if y.ndim == 1 else fit.intercept
        self.alpha_ = fit.alpha
        return self

    def _contractions(self, targets: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Principal directions of the targets, each target in units of its own spread."""
        mean = np.average(targets, axis=0, weights=weights)
        spread = np.sqrt(np.average((targets - mean) ** 2, axis=0, weights=weights))
        if not spread.any():
            raise ValueError(
                f"GEMRegressor needs a target that varies; all rows of y are {mean.tolist()} "
                f"(n_samples={len(targets)})."
            )
        scale = np.where(spread > 0, spread, np.inf)
        standard = (targets - mean) / scale * (1 if weights is None else np.sqrt(weights)[:, None])
        directions = np.linalg.svd(standard, full_matrices=False)[2]
        signs = np.sign(directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)])
        count = min(3 if self.n_contractions is None else self.n_contractions, len(directions))
        return (directions * signs[:, None] / scale)[:count]

    def _slices(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        edges = slice_edges(target, weights, self.n_bins)
        if not len(edges):  # one value holds nearly all the weight: cut beside it
            edges = np.unique(target)[1:2]
        return np.searchsorted(edges, target, side="right")

    def _features(self, X) -> np.ndarray:
        """Features of all contractions side by side; kept inputs stand once."""
        source = as_row_source(X)
        blocks = [held(stack.rows(source)) for stack in self._stacks]
        kept = (source.n_columns + self.constant) if self.keep_inputs else 0
        return np.hstack([blocks[0], *(block[:, kept:] for block in blocks[1:])])

    def predict(self, X):
        """Predicted targets, of the shape of the y of `fit`.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe

        Returns
        -------
        (n,) or (n, q) array
        """
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self._features(X) @ self.coef_.T.astype(X.dtype) + self.intercept_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
