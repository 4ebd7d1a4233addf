"""Sliced inverse regression: Fisher's discriminant where the classes are slices of a continuous target."""

from __future__ import annotations

import numpy as np

from eigenfeat._sklearn import Integral, Interval
from eigenfeat.estimators.base import QuotientTransformer
from eigenfeat.estimators.streaming import stream_targets
from eigenfeat.moments import Moments
from eigenfeat.quotients import CRITERIA, Criterion
from eigenfeat.rows.rows import Rows, as_rows


class SlicedInverseRegression(QuotientTransformer):
    r"""Directions in which the mean of x moves with y.

    Rows are cut into slices of (nearly) equal weight along y; the quotient is the covariance of the slice means,
    weighted by share, over the total covariance:
    :math:`v^\top \mathrm{Cov}(\mathbb{E}[x|y]) v / v^\top \mathrm{Cov}(x) v`.

    Parameters
    ----------
    n_components : int, optional
        At most ``n_slices - 1`` exist.
    n_slices : int
        A target with at most this many distinct values, or one that is not a number, is sliced by value. A row source
        is passed over twice, and its y held in between for the quantiles.
    ridge, shrinkage, solver, tol, random_state
        As in `FisherLDA`.

    Attributes
    ----------
    components_, offsets_, eigenvalues_, residuals_, solver_, moments_, patterns_, criterion_, n_features_in_
        As in `FisherLDA`; the components have unit variance.
    slice_edges_ : array or None
        Values of y that separate the slices; None when sliced by value.

    References
    ----------
    Li (1991), *Sliced inverse regression for dimension reduction*.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import SlicedInverseRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> y = np.exp(X @ [1.0, 1, 0, 0, 0]) + 0.1 * rng.normal(size=2000)
    >>> SlicedInverseRegression(n_components=1).fit(X, y).components_.round(1)
    array([[ 0.7,  0.7, ...]])
    """

    _parameter_constraints: dict = {
        **QuotientTransformer._parameter_constraints,
        "n_slices": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        n_components=None,
        *,
        n_slices=10,
        ridge=0.0,
        shrinkage=None,
        solver="auto",
        tol=None,
        random_state=0,
    ):
        self.n_components = n_components
        self.n_slices = n_slices
        self.ridge = ridge
        self.shrinkage = shrinkage
        self.solver = solver
        self.tol = tol
        self.random_state = random_state

    _label_kind = "values"

    def _labelled(self, source: Rows) -> Rows:
        """Two passes: the quantiles of y, which is held for that, then the rows in their slices."""
        labels, weights, _ = stream_targets(source)
        return as_rows(source, self._labels(labels, weights), weights)

    # No partial_fit: slices are cut at quantiles of all of y.
    def _labels(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        values = np.unique(y if weights is None else y[weights > 0])
        if len(values) < 2:
            raise ValueError(
                f"SlicedInverseRegression needs a target that varies; y is {values[0]!r} in every row that counts "
                f"(n_samples={len(y)})."
            )
        if y.dtype.kind not in "iuf" or len(values) <= self.n_slices:
            self.slice_edges_ = None
            return y
        self.slice_edges_ = slice_edges(y, weights, self.n_slices)
        return np.searchsorted(self.slice_edges_, y, side="right")

    def _criterion(self) -> Criterion:
        return CRITERIA["fisher_total"]

    def _options(self, moments: Moments) -> dict:
        return {"regularisation": self._regularisation()}

    def _fit_moments(self, moments: Moments, shared: bool = False):
        super()._fit_moments(moments, shared)
        del self.classes_  # slices are not classes
        return self


def slice_edges(y: np.ndarray, weights: np.ndarray | None, n_slices: int) -> np.ndarray:
    """Values of y that cut it into at most ``n_slices`` slices of equal weight; ties stay together."""
    values, place = np.unique(y if weights is None else y[weights > 0], return_inverse=True)
    mass = np.cumsum(np.bincount(place, None if weights is None else weights[weights > 0]))
    targets = mass[-1] * np.arange(1, n_slices) / n_slices
    cuts = np.unique(np.searchsorted(mass, targets, side="right"))
    return values[cuts[(cuts > 0) & (cuts < len(values))]]
