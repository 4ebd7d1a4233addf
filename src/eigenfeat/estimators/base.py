"""What the estimators of one quotient share: rows -> moments -> quotient -> directions, and the projection."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenfeat.estimators.validation import check_class_labels, check_weights
from eigenfeat.moments import Moments, empty_moments
from eigenfeat.quotients import Quotient, Regularisation
from eigenfeat.solvers import Directions, DualVectors, settle_ties, solve

REGULARISATION_CONSTRAINTS: dict = {
    "ridge": [Interval(Real, 0, None, closed="left")],
    "shrinkage": [None, StrOptions({"auto", "oas"}), Interval(Real, 0, 1, closed="both")],
}

SOLVER_CONSTRAINTS: dict = {
    "solver": [StrOptions({"auto", "dense", "krylov", "randomized", "dual", "low_rank"})],
    "tol": [None, Interval(Real, 0, None, closed="neither")],
    "random_state": ["random_state"],
}


class QuotientTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators that keep directions of a single quotient.

    A subclass says which quotient its moments make (`_quotient`), whether rows are sorted by label
    (`_labels_needed`), and which end of the spectrum it wants (`_end_of_spectrum`).
    """

    # What every subclass takes.
    n_components: int | None
    ridge: float
    shrinkage: float | str | None
    solver: str
    tol: float | None
    random_state: int | np.random.RandomState | None

    _parameter_constraints: dict = {
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        **REGULARISATION_CONSTRAINTS,
        **SOLVER_CONSTRAINTS,
    }

    @abstractmethod
    def _quotient(self, moments: Moments) -> Quotient:
        """The problem these moments pose."""

    def _labels_needed(self) -> bool:
        return True

    def _end_of_spectrum(self) -> str:
        return "largest"

    # ------------------------------------------------------------------ fit

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None):
        """Collect the moments of the rows and solve.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe
        y : (n,) array, optional
            Labels, where the criterion needs them.
        sample_weight : (n,) array, optional

        Returns
        -------
        self
        """
        X, labels, weights = self._validated(X, y, sample_weight, reset=True)
        self.moments_ = self._empty_moments(X, labels).update(X, labels, weights)
        return self._solve_moments()

    def _validated(self, X, y, sample_weight, *, reset: bool, whole: bool = True):
        options: dict = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "reset": reset}
        if not self._labels_needed():
            X = validate_data(self, X, **options)
            return X, None, check_weights(sample_weight, X)
        X, y = validate_data(self, X, y, **options)
        weights = check_weights(sample_weight, X)
        if whole:
            y = self._labels(y, weights)
        return X, y, weights

    def _labels(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Labels that sort the rows into classes; a subclass may slice a continuous y."""
        classes, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        return classes[codes]

    def _empty_moments(self, X, labels) -> Moments:
        return empty_moments(*X.shape, track_fourth=self._tracks_fourth())

    def _tracks_fourth(self) -> bool:
        return self._regularisation().needs_fourth_moment

    def _regularisation(self) -> Regularisation:
        return Regularisation(self.ridge, self.shrinkage)

    def _solve_moments(self):
        quotient = self._quotient(self.moments_)
        self._directions = self._find(quotient, self._n_wanted(quotient))
        self.eigenvalues_ = self._directions.values
        self.residuals_ = self._directions.residuals
        self.solver_ = self._directions.solver
        self.offset_ = np.zeros(self.n_features_in_) if quotient.offset is None else quotient.offset
        if self._labels_needed():
            self.classes_ = self.moments_.classes
        return self

    def _find(self, quotient: Quotient, n_components: int | None) -> Directions:
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        which = self._end_of_spectrum()
        found = solve([quotient], n_components, solver=self.solver, which=which, tol=self.tol, random_state=seed)[0]
        return settle_ties(found, quotient.references)

    def _n_wanted(self, quotient: Quotient) -> int | None:
        return self.n_components

    # ------------------------------------------------------------------ what was found

    @property
    def components_(self) -> np.ndarray:
        """(n_components, d): one direction a row."""
        check_is_fitted(self, "eigenvalues_")
        return self._directions.toarray().T

    @property
    def patterns_(self) -> np.ndarray:
        """(n_components, d): what each component looks like in the input, ``Cov(x) V (Vᵀ Cov(x) V)⁻¹``.

        A direction says what to weigh, a pattern what the weighed thing looks like (Haufe et al. 2014).
        """
        check_is_fitted(self, "eigenvalues_")
        V = self._directions.toarray()
        spread = self.moments_.covariance() @ V
        return np.linalg.lstsq(V.T @ spread, spread.T, rcond=None)[0]

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    # ------------------------------------------------------------------ project

    def transform(self, X):
        """Project rows on the components: ``(x - offset_)ᵀ v`` for every component v.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe

        Returns
        -------
        (n, n_components) array
            float32 for float32 input.
        """
        check_is_fitted(self, "eigenvalues_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return project(X, self._directions.vectors, self.offset_)

    def inverse_transform(self, Z):
        """The best linear reconstruction of rows from their projections, ``E[x] + patterns``.

        Parameters
        ----------
        Z : (n, n_components) array

        Returns
        -------
        (n, d) array
        """
        check_is_fitted(self, "eigenvalues_")
        Z = np.asarray(Z)
        if Z.ndim != 2 or Z.shape[1] != self._n_features_out:
            raise ValueError(f"Expected projections on {self._n_features_out} components, got an array of {Z.shape}.")
        mean = self.moments_.mean()
        centre = project(mean[None], self._directions.vectors, self.offset_)
        return mean + (Z - centre) @ self.patterns_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self._labels_needed()
        return tags


class StreamingQuotientTransformer(QuotientTransformer):
    """`partial_fit` for estimators whose moments merge: every batch costs one update and one solve."""

    @_fit_context(prefer_skip_nested_validation=True)
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
        if first:
            # A stream has no known length: matrices of fixed size are the form that cannot grow.
            self.moments_ = empty_moments(X.shape[1], X.shape[1], classes, track_fourth=self._tracks_fourth())
        self.moments_.update(X, labels, weights)
        seen = int(np.count_nonzero(self.moments_.weights))
        if self._labels_needed() and seen < 2:
            return self  # a contrast needs two classes; it will be solved when the second arrives
        return self._solve_moments()


def project(X, vectors: np.ndarray | DualVectors, offset: np.ndarray | None) -> np.ndarray:
    """``(X - offset) V`` in the type of X, through the rows the directions are made of where they are dual."""
    if isinstance(vectors, DualVectors):
        basis = vectors.store.rows[vectors.index]
        inner = X @ basis.T
        projections = np.asarray(inner @ vectors.coefficients)
        constant = None if offset is None else (basis @ offset) @ vectors.coefficients
    else:
        projections = np.asarray(X @ vectors.astype(X.dtype, copy=False))
        constant = None if offset is None else offset @ vectors
    if constant is not None:
        projections = projections - constant.astype(projections.dtype, copy=False)
    return projections.astype(X.dtype, copy=False)
