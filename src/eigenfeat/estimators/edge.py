"""The edge where input is checked, and the verbs every fitted model shares.

Below this file functions assume finite float arrays of matching length. Above it no estimator repeats a check or a
prediction rule: it fits a value (`eigenfeat.stages.Fitted`), and the mixins here answer from that value.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from eigenfeat._runtime.callbacks import CallbackSupportMixin
from eigenfeat._runtime.config import RuntimeMixin
from eigenfeat.estimators.finite import first_not_finite
from eigenfeat.estimators.magnitudes import check_magnitudes, check_target_magnitudes
from eigenfeat.estimators.storage import canonical, check_gaps, check_table, check_targets
from eigenfeat.estimators.streaming import is_stream, refuse_source, streamed_new
from eigenfeat.rows.dask import is_dask, lazy_results
from eigenfeat.stages import Fitted

FLOATS = (np.float64, np.float32)


class Estimator(RuntimeMixin, CallbackSupportMixin, BaseEstimator):
    """Base of every estimator: how its rows and its outcome are checked.

    Subclasses say whether they take sparse rows (`_takes_sparse`) and leave their fitted value in ``fitted_``.
    """

    fitted_: Fitted

    _takes_sparse = True

    def _check(self, X: Any, y: Any = "no_validation", *, reset: bool = True, **options: Any) -> Any:
        """Rows (and targets, where given) as checked arrays: float64 or float32, CSR where sparse."""
        if is_stream(X):
            refuse_source(self, X)
        check_table(X)
        sparse_format = "csr" if self._takes_sparse else False
        options = {"accept_sparse": sparse_format, "dtype": list(FLOATS), "reset": reset, **options}
        checked = validate_data(self, X, y, **options)
        rows, *targets = checked if isinstance(checked, tuple) else (checked,)
        rows = canonical(rows)
        check_magnitudes(rows, getattr(self, "feature_names_in_", None), new=not reset)
        for target in targets:
            check_targets(target)
            check_target_magnitudes(target)
        return (rows, *targets) if targets else rows

    def _check_unused(self, X: Any, y: Any) -> None:
        """Targets that nothing is made of must still be as many as the rows, and there: else they are of other rows."""
        if y is not None and not is_stream(X):
            check_consistent_length(X, y)
            check_gaps(y)

    def _check_new(self, X: Any, *, streams: bool = False) -> Any:
        """Rows for a model that has been fitted; with ``streams``, a row source stays one."""
        check_is_fitted(self)
        return streamed_new(self, X) if streams and is_stream(X) else self._check(X, reset=False)

    def _check_outcome(self) -> None:
        """Refuses a fit whose result is not made of numbers."""
        place = first_not_finite(getattr(self, "fitted_", None))
        if place is not None:
            raise ValueError(
                f"{type(self).__name__} found no finite solution ({place} is not): columns, weights or parameters are "
                "too large, too small or too far apart in size. Scale the columns "
                "(sklearn.preprocessing.StandardScaler), look at the weights, or regularise more."
            )

    def _finite(self, values: np.ndarray, what: str) -> np.ndarray:
        """What a fitted model answers, refused where it is not a number; a score may be the logarithm of zero."""
        with np.errstate(invalid="ignore", over="ignore"):
            total = values.sum()
        if not np.isfinite(total):
            wrong = ~np.isfinite(values) & ~(np.isneginf(values) if what == "scores" else False)
            if wrong.any():
                row = int(np.argmax(wrong.reshape(len(values), -1).any(axis=1)))
                raise ValueError(
                    f"The {what} of {type(self).__name__} are not finite in row {row}: its entries are too large for "
                    f"this model in {values.dtype}. Scale the columns as the rows of fit were, or give float64 rows."
                )
        return values

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags


def lazy_on_dask(method: Callable) -> Callable:
    """A verb of a fitted model that makes of a Dask collection another one, which is computed when it is asked for."""

    @wraps(method)
    def verb(self, X, *args, **kwargs):
        if not is_dask(X):
            return method(self, X, *args, **kwargs)
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return lazy_results(self, method.__name__, X, names, self.n_features_in_)

    return verb


class FeaturesMixin(TransformerMixin):
    """`transform` from the fitted chain."""

    @lazy_on_dask
    def transform(self, X):
        """The features of every row.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, row source or Dask collection
            Of a source (`eigenfeat.rows`) the features of all rows are held; ``eigenfeat.rows.each`` gives them a
            block at a time, ``eigenfeat.rows.write`` writes them to a file. Of a Dask collection they are one, too.

        Returns
        -------
        (n, n_features_out) array
            float32 for float32 input.
        """
        X = self._check_new(X, streams=True)
        return self._finite(self.fitted_.features.at(X), "features")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class ComponentsMixin(ClassNamePrefixFeaturesOutMixin, FeaturesMixin):
    """`transform` whose columns are named after the estimator and numbered."""

    @property
    def _n_features_out(self) -> int:
        return self.fitted_.features.n_columns(self.n_features_in_)


class ScoresMixin(ClassifierMixin):
    """Every verb of a classifier from its chain of scores and the stage that makes probabilities of them."""

    classes_: np.ndarray

    @lazy_on_dask
    def decision_function(self, X):
        """Decision values: (n, k), or for two classes (n,) values that are positive for the second.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, or row source
        """
        return flat(self._scores(X))

    @lazy_on_dask
    def predict(self, X):
        """The class of the largest decision value."""
        chosen = winners(self.decision_function(X))  # first: it says so where there was no fit
        return self.classes_[chosen]

    @lazy_on_dask
    def predict_log_proba(self, X):
        """Logarithms of the class probabilities, (n, k), exact where the probabilities round to zero."""
        scores = self._scores(X)
        return self.fitted_.probabilities.apply(scores)

    @lazy_on_dask
    def predict_proba(self, X):
        """Class probabilities, (n, k), in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def _scores(self, X) -> np.ndarray:
        X = self._check_new(X, streams=True)
        return self._finite(self.fitted_.scores.at(X), "scores")


class PredictionsMixin(RegressorMixin):
    """`predict` of a regressor from its chain, in the shape of the y it was fitted on."""

    _y_is_flat: bool

    @lazy_on_dask
    def predict(self, X):
        """Predicted targets, of the shape of the y of `fit`.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, or row source

        Returns
        -------
        (n,) or (n, q) array
        """
        X = self._check_new(X, streams=True)
        predicted = self._finite(self.fitted_.predictions.at(X), "predictions")
        return predicted[:, 0] if self._y_is_flat else predicted


def flat(scores: np.ndarray) -> np.ndarray:
    """Decision values as scikit-learn wants them: a vector for two classes."""
    if scores.shape[1] == 1:
        return scores[:, 0]
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def winners(decision: np.ndarray) -> np.ndarray:
    """Index of the predicted class of every row."""
    return (decision > 0).astype(int) if decision.ndim == 1 else np.argmax(decision, axis=1)
