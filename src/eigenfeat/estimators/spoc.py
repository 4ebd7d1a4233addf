"""Source power comodulation: filters of channels whose power follows a continuous target."""

from __future__ import annotations

import numpy as np

from eigenfeat._sklearn import checked_fit
from eigenfeat.estimators.spatial_filters import Named, SpatialFilters
from eigenfeat.estimators.validation import check_weights
from eigenfeat.quotients import comodulation
from eigenfeat.rows.rows import Rows


class SPoC(SpatialFilters):
    r"""Log-power of multichannel trials through the spatial filters whose power moves with a target.

    X is (trials, channels, time), y a number a trial. With C the covariance of a trial and z its standardised target,
    the filters solve :math:`\mathbb{E}[z\,C]\, v = \lambda\, \mathbb{E}[C]\, v`: λ is the covariance of z with the
    power behind the filter, scaled to mean one. Those of the largest \|λ\| are kept, and the features of a trial are
    the logarithms of its variance behind each of them, for any regression to follow.

    Parameters
    ----------
    n_components : int or None
        Filters, in each of several bands; None for all.
    shrinkage, ridge, log, normalise, bands, sampling_rate
        As in `CommonSpatialPatterns`; the noise is the mean covariance of all trials.

    Attributes
    ----------
    components_ : (n_features_out, channels) array
        Filters, a row each, of mean power one; those of a band are sorted by \|λ\|.
    eigenvalues_ : (n_features_out,) array
        λ: positive where power rises with the target.
    patterns_, bands_, residuals_, solver_, criterion_, fitted_, n_channels_in_, n_features_in_
        As in `CommonSpatialPatterns`.

    References
    ----------
    Dähne, Meinecke, Haufe, Höhne, Tangermann, Müller & Nikulin (2014), *SPoC: a novel framework for relating the
    amplitude of neuronal oscillations to behaviorally relevant parameters*.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import SPoC
    >>> rng = np.random.default_rng(0)
    >>> y = rng.uniform(1, 3, size=80)
    >>> sources = rng.normal(size=(80, 5, 200))
    >>> sources[:, 2] *= np.sqrt(y)[:, None]
    >>> X = np.einsum("cs,nst->nct", rng.normal(size=(5, 5)), sources)
    >>> power = SPoC(n_components=1, log=False).fit_transform(X, y)
    >>> bool(np.corrcoef(power[:, 0], y)[0, 1] > 0.9)
    True
    """

    def __init__(
        self, n_components=4, *, shrinkage=None, ridge=0.0, log=True, normalise=False, bands=None, sampling_rate=None
    ):
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.ridge = ridge
        self.log = log
        self.normalise = normalise
        self.bands = bands
        self.sampling_rate = sampling_rate

    @checked_fit
    def fit(self, X, y, sample_weight=None):
        """Find the filters.

        Parameters
        ----------
        X : (trials, channels, time) array
        y : (trials,) array
            Numbers that are not all the same.
        sample_weight : (trials,) array, optional
            An integer weight equals that many copies of the trial.

        Returns
        -------
        self
        """
        X, y = self._check(X, y, y_numeric=True)
        weights = check_weights(sample_weight, X)
        weights = np.ones(len(X)) if weights is None else weights
        counted = y[weights > 0].astype(np.float64)
        if counted.min() == counted.max():
            raise ValueError(
                f"SPoC needs a target that varies; y is {counted[0]:g} in every trial that counts (n_samples={len(y)})."
            )
        self._check_settings(X.shape[1])
        mean = np.average(y, weights=weights)
        deviation = np.sqrt(np.average((y - mean) ** 2, weights=weights))
        self._fit_trials(X, (y - mean) / deviation, weights)
        return self

    def _problems(self, trials: Rows, target: np.ndarray, weights: np.ndarray | None) -> list[Named]:
        assert weights is not None
        everything = self._moments(trials, None, weights)
        sides = self._moments(trials, (target > 0).astype(np.int64), weights * np.abs(target))
        return [("", comodulation(everything, sides, self._regularisation()))]

    def _strongest(self, values: np.ndarray) -> np.ndarray:
        return np.argsort(-np.abs(values), kind="stable")[: self.n_components]
