"""GEM for continuous targets: y is cut into classes to find features, and only for that."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin
from sklearn.utils import check_random_state

from eigenfeat._sklearn import COUNT, NON_NEGATIVE, Integral, Interval, checked_fit
from eigenfeat.estimators.edge import PredictionsMixin
from eigenfeat.estimators.gem_base import GEMBase
from eigenfeat.estimators.sliced_inverse import slice_edges
from eigenfeat.estimators.streaming import is_stream, stream_targets, streamed
from eigenfeat.estimators.validation import check_weights
from eigenfeat.features.stack import Stack, fit_stack, layer_moments, without_inputs
from eigenfeat.linear.ridge import fit_ridge, fit_ridge_moments
from eigenfeat.moments import collect_cross_moments
from eigenfeat.rows.accumulators import ClassCounts
from eigenfeat.rows.functions import WithLabels
from eigenfeat.rows.rows import ArrayRows, Rows
from eigenfeat.solvers.canonical import largest_entry_signs
from eigenfeat.stages import Affine, Beside, Chain, Fitted

ALPHAS = np.logspace(-3, 5, 17)


class GEMRegressor(PredictionsMixin, MultiOutputMixin, GEMBase):
    """GEM features of a continuous target and ridge regression on them.

    To find features, and only for that, y is cut into slices of equal weight, which serve as classes. A vector y is
    first contracted with a few vectors u (its principal directions), each giving a y of its own (section 5 of the
    paper). The regression is on y itself: ``Σ w (y - f)² + alpha ‖coef‖²`` over standardised features.

    Parameters
    ----------
    n_components : int, optional
        Directions a pair of slices.
    n_slices : int
        Slices of each contracted target.
    n_contractions : int, optional
        Contractions of a vector target; by default as many as it has columns, 3 at most.
    alpha : float, optional
        Ridge penalty; by default chosen by generalized cross-validation on the training rows.
    class_pairs, n_pairs, noise, feature_map, ridge, ridge_shape, shrinkage, min_eigenvalue, max_components
        As in `GEMFeatures`; pairs are pairs of slices, numbered from the lowest.
    keep_inputs, constant, columns, subclasses, invariances, solver, tol, n_jobs, random_state
        As in `GEMFeatures`.

    Attributes
    ----------
    components_, patterns_, offsets_, eigenvalues_, residuals_, pairs_, solver_, criterion_, moments_, columns_
        Of the first contraction, as in `GEMFeatures`.
    contractions_ : (n_contractions, n_outputs) array
        The vectors u.
    coef_, intercept_, alpha_
        Of the regression on the features.
    stacks_ : tuple of `eigenfeat.features.stack.Stack`
        Layer of each contraction as a value.
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
        "n_slices": [Interval(Integral, 2, None, closed="left")],
        "n_contractions": [None, COUNT],
        "alpha": [None, NON_NEGATIVE],
    }

    def __init__(
        self,
        n_components=None,
        *,
        n_slices=5,
        n_contractions=None,
        alpha=None,
        class_pairs="auto",
        n_pairs=None,
        noise="second_moment",
        feature_map="soft-cubic",
        ridge=1.0,
        ridge_shape="identity",
        shrinkage=None,
        min_eigenvalue=None,
        max_components=None,
        keep_inputs=True,
        constant=False,
        columns="auto",
        subclasses=None,
        invariances=None,
        solver="auto",
        tol=None,
        n_jobs=None,
        random_state=0,
    ):
        self.n_components = n_components
        self.n_slices = n_slices
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
        self.max_components = max_components
        self.keep_inputs = keep_inputs
        self.constant = constant
        self.columns = columns
        self.subclasses = subclasses
        self.invariances = invariances
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y=None, sample_weight=None):
        """Find features and fit the regression on them.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, row source or Dask collection
            A source (`eigenfeat.rows.open`) is read a block at a time: once for its targets, which are held to cut them
            into slices, once for the moments of every contraction, and once for the regression.
        y : (n,) or (n, q) array
            Continuous targets; for a source the name of their column, where it does not say.
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row, but for ``shrinkage="auto"`` and splines (see
            `GEMFeatures.fit`).

        Returns
        -------
        self
        """
        rows: Any
        if is_stream(X):
            rows = streamed(self, X, y, sample_weight, "numbers")
            y, weights, _ = stream_targets(rows)
        else:
            X, y = self._check(X, y, multi_output=True, y_numeric=True)
            weights = check_weights(sample_weight, X)
            rows = ArrayRows(X, None, weights)
        self._y_is_flat = y.ndim == 1
        targets = y.reshape(len(y), -1).astype(np.float64)
        self.contractions_ = self._contractions(targets, weights)
        rows = self._treated(rows)
        self._fit_stacks(rows, targets, weights)
        features = self._features()
        alphas = ALPHAS if self.alpha is None else np.array([self.alpha], dtype=np.float64)
        if isinstance(rows, ArrayRows):
            fit = fit_ridge(features.at(rows).astype(np.float64), targets, weights, alphas)
        else:
            fit = fit_ridge_moments(collect_cross_moments(features.over(rows)), alphas)
        self.coef_ = fit.coef[:, 0] if self._y_is_flat else fit.coef.T
        self.intercept_ = fit.intercept[0] if self._y_is_flat else fit.intercept
        self.alpha_ = fit.alpha
        features = self._inputs.then(*features.stages)
        self.fitted_ = Fitted(features=features, predictions=features.then(Affine.of(fit.coef, fit.intercept)))
        return self

    def _fit_stacks(self, source: Rows, targets: np.ndarray, weights: np.ndarray | None) -> None:
        rng, settings = check_random_state(self.random_state), self._settings()
        self.stage_seconds_: dict[str, float] = {}
        stacks: list[Stack] = []
        for u in self.contractions_:
            slices, codes = np.unique(self._slices(targets @ u, weights), return_inverse=True)
            rows = _sliced(source, slices, codes, weights)
            moments = layer_moments(rows, settings.layers[0], slices, self.stage_seconds_)
            if not stacks:
                self.moments_ = moments
            stacks.append(fit_stack(moments, rows, settings, rng, self.stage_seconds_))
        self.stacks_ = tuple(stacks)

    def _features(self) -> Chain:
        """Features of all contractions side by side; kept inputs stand once."""
        first, *others = (stack.chain for stack in self.stacks_)
        return Chain((Beside((first, *map(without_inputs, others))),)) if others else first

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
        signs = largest_entry_signs(directions.T)
        count = min(3 if self.n_contractions is None else self.n_contractions, len(directions))
        return (directions * signs[:, None] / scale)[:count]

    def _slices(self, target: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        edges = slice_edges(target, weights, self.n_slices)
        if not len(edges):  # one value holds nearly all the weight: cut beside it
            edges = np.unique(target)[1:2]
        return np.searchsorted(edges, target, side="right")


def _sliced(source: Rows, slices: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> Rows:
    """The rows of a source with their slices for labels."""
    if source.random_access:
        return source.with_labels(codes, weights)
    counts = ClassCounts.of(codes, weights, len(slices))
    return source.map(WithLabels(codes, weights), n_rows=len(codes), class_counts=counts)
