"""What the estimators of one quotient share: rows -> moments -> quotient -> directions -> a chain of one stage."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from eigenfeat._sklearn import COUNT, NON_NEGATIVE, POSITIVE, Interval, Real, StrOptions, checked_fit
from eigenfeat.estimators.edge import ComponentsMixin, Estimator
from eigenfeat.estimators.streaming import is_stream, streamed
from eigenfeat.estimators.validation import check_class_labels, check_moments, check_weights
from eigenfeat.moments import Moments, collect_moments, empty_moments, merged_moments
from eigenfeat.quotients import Criterion, Quotient, Regularisation
from eigenfeat.rows.rows import Rows
from eigenfeat.solvers import SOLVERS, Directions, canonicalize_ties, solve
from eigenfeat.stages import Affine, Chain, Fitted

REGULARISATION_CONSTRAINTS: dict = {
    "ridge": [NON_NEGATIVE],
    "shrinkage": [None, StrOptions({"auto", "oas"}), Interval(Real, 0, 1, closed="both")],
}

SOLVER_CONSTRAINTS: dict = {
    "solver": [StrOptions(SOLVERS.options)],
    "tol": [None, POSITIVE],
    "random_state": ["random_state"],
}


class QuotientTransformer(ComponentsMixin, Estimator):
    """Base of the estimators that keep directions of a single quotient.

    A subclass names its criterion (`_criterion`) and what that is given beside moments (`_options`), and says which end
    of the spectrum it wants (`_end_of_spectrum`).
    """

    # What every subclass takes.
    n_components: int | None
    ridge: float
    shrinkage: float | str | None
    solver: str
    tol: float | None
    random_state: int | np.random.RandomState | None

    _parameter_constraints: dict = {
        "n_components": [None, COUNT],
        **REGULARISATION_CONSTRAINTS,
        **SOLVER_CONSTRAINTS,
    }
    _shares_moments = False

    #: What the labels of a row source are.
    _label_kind = "classes"

    @abstractmethod
    def _criterion(self) -> Criterion:
        """The row of the table of criteria that is solved."""

    def _options(self, moments: Moments) -> dict:
        """What the criterion takes beside moments."""
        return {}

    def _quotient(self, moments: Moments) -> Quotient:
        """The problem these moments pose."""
        return self._criterion().build(moments, **self._options(moments))

    def _labels_needed(self) -> bool:
        return self._criterion().needs_labels

    def _end_of_spectrum(self) -> str:
        return "largest"

    # ------------------------------------------------------------------ fit

    @checked_fit
    def fit(self, X, y=None, sample_weight=None):
        """Collect the moments of the rows and solve.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, or row source
            A source (`eigenfeat.rows.open`) is read a block at a time and brings its labels and weights.
        y : (n,) array, optional
            Labels, where the criterion needs them; for a source the name of their column, where it does not say.
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row, but for ``shrinkage="auto"``, for which evidence
            is (Σw)² / Σw² rows.

        Returns
        -------
        self
        """
        X, labels, weights = self._validated(X, y, sample_weight, reset=True)
        moments = self._collect(X, labels, weights)
        self._check_moments(moments)
        return self._fit_moments(moments)

    @checked_fit
    def fit_moments(self, moments):
        """Fit from moments alone: rows seen elsewhere, by other machines, or for another fit.

        Parameters
        ----------
        moments : Moments
            Of `eigenfeat.moments.collect_moments`, merged or not, or a fitted estimator's ``moments_``; kept by
            reference.

        Returns
        -------
        self
        """
        self._check_moments(moments)
        self.n_features_in_ = moments.n_features
        return self._fit_moments(moments, shared=True)

    def _validated(self, X, y, sample_weight, *, reset: bool, whole: bool = True):
        if whole and is_stream(X):
            kind = self._label_kind if self._labels_needed() else None
            return self._labelled(streamed(self, X, y, sample_weight, kind)), None, None
        if not self._labels_needed():
            self._check_unused(X, y)
            X = self._check(X, reset=reset)
            return X, None, check_weights(sample_weight, X)
        X, y = self._check(X, y, reset=reset)
        weights = check_weights(sample_weight, X)
        if whole:
            y = self._labels(y, weights)
        return X, y, weights

    def _labels(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Labels that sort the rows into classes; a subclass may slice a continuous y."""
        classes, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        return classes[codes]

    def _labelled(self, source: Rows) -> Rows:
        """A stream whose labels sort the rows into classes; a subclass may have to see them all first."""
        return source

    def _collect(self, X, labels, weights) -> Moments:
        return collect_moments(X, labels, weights, track_fourth=self._tracks_fourth())

    def _check_moments(self, moments) -> None:
        check_moments(moments, self._labels_needed(), self._tracks_fourth(), estimator=type(self).__name__)

    def _tracks_fourth(self) -> bool:
        return self._regularisation().needs_fourth_moment

    def _regularisation(self) -> Regularisation:
        return Regularisation(self.ridge, self.shrinkage)

    def _fit_moments(self, moments: Moments, shared: bool = False):
        self.moments_, self._shares_moments = moments, shared
        quotient = self._quotient(moments)
        self.criterion_ = quotient.kind
        if self._labels_needed():
            self.classes_ = moments.classes
        self._keep(self._find(quotient, self._n_wanted(quotient)), quotient)
        return self

    def _find(self, quotient: Quotient, n_components: int | None) -> Directions:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        which = self._end_of_spectrum()
        found = solve([quotient], n_components, solver=self.solver, which=which, tol=self.tol, random_state=seed)[0]
        return canonicalize_ties(found, quotient.references)

    def _n_wanted(self, quotient: Quotient) -> int | None:
        return self.n_components

    def _keep(self, found: Directions, quotient: Quotient) -> None:
        """Publish the directions as a chain of one stage, and what is known of each."""
        self.fitted_ = Fitted(features=Chain((Affine.about(found.vectors, quotient.origin),)))
        self.eigenvalues_, self.residuals_, self.solver_ = found.values, found.residuals, found.solver

    # ------------------------------------------------------------------ what was found

    @property
    def _projection(self) -> Affine:
        check_is_fitted(self, "eigenvalues_")
        return self.fitted_.features.stages[0]  # type: ignore[union-attr,return-value]

    @property
    def components_(self) -> np.ndarray:
        """(n_components, d): one direction a row."""
        return self._projection.vectors.toarray().T

    @property
    def offsets_(self) -> np.ndarray:
        """(n_components,): what is added to the projection of each component."""
        bias = self._projection.bias
        return np.zeros(len(self.eigenvalues_)) if bias is None else bias

    @property
    def patterns_(self) -> np.ndarray:
        """(n_components, d): what each component looks like in the input, ``Cov(x) V (Vᵀ Cov(x) V)⁻¹``.

        A direction says what to weigh, a pattern what the weighed thing looks like (Haufe et al. 2014).
        """
        V = self._projection.vectors.toarray()
        spread = self.moments_.covariance() @ V
        return np.linalg.lstsq(V.T @ spread, spread.T, rcond=None)[0]

    def inverse_transform(self, Z):
        """The best linear reconstruction of rows from their projections, ``E[x] + patterns``.

        Parameters
        ----------
        Z : (n, n_components) array

        Returns
        -------
        (n, d) array
        """
        projection = self._projection
        Z = np.asarray(Z)
        if Z.ndim != 2 or Z.shape[1] != self._n_features_out:
            raise ValueError(f"Expected projections on {self._n_features_out} components, got an array of {Z.shape}.")
        mean = self.moments_.mean()
        return mean + (Z - projection.apply(mean[None])) @ self.patterns_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._labels_needed()
        return tags


class StreamingQuotientTransformer(QuotientTransformer):
    """`partial_fit` for estimators whose moments merge: every batch costs one update and one solve."""

    @checked_fit
    def partial_fit(self, X, y=None, classes=None, sample_weight=None):
        """Add a batch of rows to the moments and solve again.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; a batch may lack some classes.
        classes : array, optional
            All labels that will come; given on the first call, or discovered.

        Returns
        -------
        self
        """
        first = not hasattr(self, "moments_")
        X, labels, weights = self._validated(X, y, sample_weight, reset=first, whole=False)
        if first:  # a stream has no known length: matrices of fixed size are the form that cannot grow
            moments = empty_moments(None, X.shape[1], classes, track_fourth=self._tracks_fourth())
        else:  # moments that were given are not ours to change
            moments = merged_moments([self.moments_]) if self._shares_moments else self.moments_
        moments.update(X, labels, weights)
        if self._labels_needed() and np.count_nonzero(moments.weights) < 2:
            self.moments_, self._shares_moments = moments, False
            return self  # a contrast needs two classes; it will be solved when the second arrives
        return self._fit_moments(moments)
