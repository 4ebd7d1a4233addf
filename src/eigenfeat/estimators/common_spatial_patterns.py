"""Common spatial patterns: filters of channels that tell classes of trials apart by their power."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from eigenfeat._sklearn import StrOptions, checked_fit
from eigenfeat.estimators.spatial_filters import Named, SpatialFilters
from eigenfeat.estimators.validation import check_class_labels, check_weights
from eigenfeat.features.pairs import Contrasts, choose_contrasts
from eigenfeat.moments import Moments
from eigenfeat.quotients import power_share
from eigenfeat.rows.rows import Rows
from eigenfeat.solvers import DenseVectors, Directions
from eigenfeat.solvers.joint import MAX_SWEEPS, JointDirections, jointly_diagonal


class CommonSpatialPatterns(SpatialFilters):
    r"""Log-power of multichannel trials through the spatial filters that separate the classes.

    X is (trials, channels, time). With C_i the mean covariance of the trials of class i, the filters of two classes
    solve :math:`C_i v = \lambda (C_i + C_j) v`: λ is the share of class i in the power behind the filter, near 1 where
    class i is strong and near 0 where class j is. Filters are taken from both ends of the spectrum, and the features of
    a trial are the logarithms of its variance behind each of them, for any classifier to follow.

    Every trial is seen from its own mean over time and weighs the same, whatever its class.

    Parameters
    ----------
    n_components : int or None
        Filters of a pair of classes, half from each end of its spectrum and the odd one from the end that is farther
        from a half, which is the end of larger log-odds ``|log(λ / (1 - λ))|``; None for all. "joint" has as many as
        all pairs together, 24 of four classes by default, or as there are channels; "one-vs-rest" this many a class.
        Bands have theirs each.
    class_pairs : {"joint", "all", "one-vs-rest"} or list of pairs of labels
        More than two classes: the basis of channels in which the covariances of all classes are as diagonal as they can
        be together (Pham 2001), and of it the filters whose power says most about the class (Grosse-Wentrup & Buss
        2008); every pair once; each class against the pool of the others; or the pairs you give.
    shrinkage : None, "auto", "oas" or float in [0, 1]
        Draws the pooled covariance of a pair, or for "joint" that of every class, towards a multiple of the identity.
        "auto" is Ledoit-Wolf; this and "oas" take samples for independent, which neighbours in time are not, and so
        shrink little: where trials are few, try numbers too.
    ridge : float
        Added to the diagonal of the same covariance, relative to its mean.
    log : bool
        Logarithms of variances, or the variances.
    normalise : bool
        Divide each trial by the root of its total power, when fitting and when transforming: features then do not
        depend on the gain of a trial.
    bands : list of (low, high), optional
        A filter bank: bands in Hz, each with filters of its own, features side by side. Trials are filtered by a
        Butterworth filter of order 4 run forward and backward, so cut them with some margin.
    sampling_rate : float, optional
        Samples a second, for ``bands``.

    Attributes
    ----------
    components_ : (n_features_out, channels) array
        Filters, a row each; a problem's are sorted by how far λ is from a half, and have power one in its pool.
    patterns_ : (n_features_out, channels) array
        What the source behind each filter looks like at the channels (Haufe et al. 2014). Interpret these.
    eigenvalues_ : (n_features_out,) array
        λ: a half says nothing. Between 0 and 1, but that shrinkage may take the strongest a little past them. Of joint
        filters, how much their power says about the class, in nats, by the fourth-order approximation of the paper.
    pairs_ : (n_features_out, 2) array
        The classes i and j each filter tells apart; for "one-vs-rest" a class, as text, and "rest". Of a joint filter,
        the classes of most and least power behind it.
    bands_ : (n_features_out, 2) array or None
        The band of each filter.
    residuals_ : (n_features_out,) array
        How well each filter solves its problem. Of a joint filter, its root mean square correlation with the others
        within classes, which no basis makes zero unless the covariances fit together.
    solver_, criterion_ : str
    classes_ : array
    fitted_ : Fitted
        What `transform` does, as a chain of stages.
    n_channels_in_, n_features_in_ : int
        Channels.

    References
    ----------
    Koles, Lazar & Zhou (1990), *Spatial patterns underlying population differences in the background EEG*.
    Blankertz, Tomioka, Lemm, Kawanabe & Müller (2008), *Optimizing spatial filters for robust EEG single-trial
    analysis*. Ang, Chin, Zhang & Guan (2008), *Filter bank common spatial pattern*. Grosse-Wentrup & Buss (2008),
    *Multiclass common spatial patterns and information theoretic feature extraction*. Pham (2001), *Joint approximate
    diagonalization of positive definite Hermitian matrices*.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import CommonSpatialPatterns
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["left", "right"], 30)
    >>> sources = rng.normal(size=(60, 5, 200))
    >>> sources[y == "left", 0] *= 2
    >>> X = np.einsum("cs,nst->nct", rng.normal(size=(5, 5)), sources)
    >>> model = CommonSpatialPatterns(n_components=2).fit(X, y)
    >>> model.eigenvalues_.round(1)
    array([0.8, 0.5])
    >>> model.transform(X).shape
    (60, 2)
    """

    _parameter_constraints: dict = {
        **SpatialFilters._parameter_constraints,
        "class_pairs": [StrOptions({"joint", "all", "one-vs-rest"}), "array-like"],
    }

    def __init__(
        self,
        n_components=4,
        *,
        class_pairs="joint",
        shrinkage=None,
        ridge=0.0,
        log=True,
        normalise=False,
        bands=None,
        sampling_rate=None,
    ):
        self.n_components = n_components
        self.class_pairs = class_pairs
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
            Classes, at least two trials of each.
        sample_weight : (trials,) array, optional
            An integer weight equals that many copies of the trial.

        Returns
        -------
        self
        """
        X, y = self._check(X, y)
        weights = check_weights(sample_weight, X)
        self.classes_, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        counts = np.bincount(codes if weights is None else codes[weights > 0])
        if counts.min() < 2:
            raise ValueError(
                f"Class {self.classes_[np.argmin(counts)]!r} has one trial of positive weight: at least two trials of "
                "each class are needed. Drop the class, or record more."
            )
        self._check_settings(X.shape[1])
        self.pairs_ = np.array(self._fit_trials(X, codes, weights))
        return self

    @property
    def _joint(self) -> bool:
        """Whether all classes are told apart at once; of two classes, a pair does that."""
        return isinstance(self.class_pairs, str) and self.class_pairs == "joint" and len(self.classes_) > 2

    def _solved(self, trials: Rows, target: np.ndarray, weights: np.ndarray | None):
        if not self._joint:
            return super()._solved(trials, target, weights)
        self.criterion_ = "joint_power"
        moments, regularisation = self._moments(trials, target, weights), self._regularisation()
        classes = range(moments.n_classes)
        found = jointly_diagonal(np.array([regularisation.noise(moments, c).toarray() for c in classes]))
        self._warn_of(found)
        information = class_information(found.powers)
        order = np.argsort(-information, kind="stable")
        pairs = self.classes_[np.stack([found.powers.argmax(axis=0), found.powers.argmin(axis=0)], axis=1)]
        return [as_directions(found, information).take(order)], [pairs[order].tolist()]

    def _warn_of(self, found: JointDirections) -> None:
        if found.restricted:
            warnings.warn(
                f"The covariance of all classes is singular (rank {found.vectors.shape[1]} of {self.n_channels_in_}): "
                "filters are sought in its range, where an average reference puts them. A ridge or shrinkage makes it "
                "regular.",
                stacklevel=4,
            )
        if not found.converged:
            warnings.warn(
                f"Joint diagonalisation did not settle in {MAX_SWEEPS} sweeps: the filters are usable, not the best.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _problems(self, trials: Rows, target: np.ndarray, weights: np.ndarray | None) -> list[Named]:
        moments = self._moments(trials, target, weights).rename(self.classes_)
        chosen = self._contrasts(moments)
        labels = [f"{i} vs {j}" for i, j in chosen.names]
        two_sided = [(u, v) for u, v in chosen.mixtures if not isinstance(v, str)]  # here, all: none is "identity"
        quotients = power_share(moments, two_sided, labels, self._regularisation())
        return list(zip(chosen.names, quotients))

    def _contrasts(self, moments: Moments) -> Contrasts:
        """Which classes are told apart; no problem twice, for a pair exchanged has the same filters."""
        pairs = self.class_pairs
        if isinstance(pairs, str) and (pairs != "one-vs-rest" or moments.n_classes == 2):
            pairs = list(combinations(moments.classes.tolist(), 2))
        return choose_contrasts(moments, pairs, check_random_state(0))

    def _strongest(self, values: np.ndarray) -> np.ndarray:
        if self._joint:
            n_pairs = len(self.classes_) * (len(self.classes_) - 1) // 2
            return np.arange(len(values))[: self.n_components and self.n_components * n_pairs]
        return both_ends(values, self.n_components)


def both_ends(shares: np.ndarray, count: int | None) -> np.ndarray:
    """Positions of ``count`` of some descending shares, half from each end, farthest from a half first.

    The distance from a half orders shares as the size of their log-odds does, and needs no care at 0 and 1.
    """
    n, distance = len(shares), np.abs(shares - 0.5)
    if count is None or count >= n:
        chosen = np.arange(n)
    else:
        half = count // 2
        odd = [half if distance[half] >= distance[n - half - 1] else n - half - 1] * (count % 2)
        chosen = np.concatenate([np.arange(half), np.array(odd, dtype=int), np.arange(n - half, n)])
    return chosen[np.argsort(-distance[chosen], kind="stable")]


def class_information(powers: np.ndarray) -> np.ndarray:
    """What the power behind each filter says about a class, in nats (Grosse-Wentrup & Buss 2008).

    Parameters
    ----------
    powers : (k, r) array
        Of every class behind every filter, of mean one over the classes, which count alike.
    """
    return -np.log(powers).mean(axis=0) / 2 - 3 / 16 * ((powers**2).mean(axis=0) - 1) ** 2


def as_directions(found: JointDirections, values: np.ndarray) -> Directions:
    """Joint filters as the solvers of quotients return theirs."""
    rank = found.vectors.shape[1]
    return Directions(
        DenseVectors(found.vectors), values, found.residuals, found.converged, "joint", rank, "all classes"
    )
