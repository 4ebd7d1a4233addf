"""scikit-learn's names that are not public, in one place: what to look at when a new version breaks something.

Tried with scikit-learn 1.6 to 1.9; everything else of scikit-learn is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from numbers import Integral, Real

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

from eigenfeat._runtime.callbacks import fit_with_callbacks
from eigenfeat._runtime.config import runtime_of_fit
from eigenfeat._runtime.threads import limit_blas_off_main

__all__ = [
    "COUNT",
    "NON_NEGATIVE",
    "N_JOBS",
    "POSITIVE",
    "HasMethods",
    "Integral",
    "Interval",
    "Real",
    "StrOptions",
    "check_feature_names_in",
    "check_sample_weight",
    "checked_fit",
]

#: What makes a model anew; other decorated methods (`partial_fit`, `path`) add to it or leave it alone.
WHOLE_FITS = ("fit", "fit_moments")

#: What linear algebra and arithmetic raise where numbers run out.
BREAKDOWNS = (np.linalg.LinAlgError, ArithmeticError)
#: How scipy says the same in a ValueError.
NO_NUMBERS = ("infs or NaNs", "is NaN; solver cannot continue")


def checked_fit(method: Callable) -> Callable:
    """Decorates every method that fits.

    Constructor parameters are checked against the class's ``_parameter_constraints``. A whole fit starts from nothing:
    what an earlier one left, perhaps under other parameters, is dropped, unless a warm start asks for it; and where it
    fails, the model is as it was. What it leaves is checked (`_check_outcome` of the estimator).
    """

    @wraps(method)
    def called(self, *args, **kwargs):
        return fit_with_callbacks(self, method, *args, **kwargs)

    checked = _under_runtime(_fit_context(prefer_skip_nested_validation=True)(called))
    if method.__name__ not in WHOLE_FITS:
        return checked

    @wraps(checked)
    def fit(self, *args, **kwargs):
        if "_is_fitting" in vars(self):  # a fit that calls that of its base class
            return checked(self, *args, **kwargs)
        before = dict(vars(self))
        if not getattr(self, "warm_start", False):
            for name in [name for name in before if name.endswith("_")]:
                delattr(self, name)
        self._is_fitting = True
        try:
            with explained_breakdowns(type(self).__name__):
                result = checked(self, *args, **kwargs)
            self._check_outcome()
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise
        del self._is_fitting
        return result

    return fit


def _under_runtime(method: Callable) -> Callable:
    """Run a fit under one runtime; one of several in threads takes one core, so that they do not change each other."""

    @wraps(method)
    def limited(self, *args, **kwargs):
        with runtime_of_fit(self), limit_blas_off_main():
            return method(self, *args, **kwargs)

    return limited


@contextmanager
def explained_breakdowns(estimator: str) -> Iterator[None]:
    """Numerical breakdowns as refusals of the input that led to them."""
    try:
        yield
    except (*BREAKDOWNS, ValueError) as problem:
        if not isinstance(problem, BREAKDOWNS) and not any(words in str(problem) for words in NO_NUMBERS):
            raise
        raise ValueError(
            f"{estimator} broke down on these rows ({problem}): columns, weights or parameters are too large, too "
            "small or too far apart in size. Scale the columns (sklearn.preprocessing.StandardScaler), look at the "
            "weights, or regularise more."
        ) from problem


class _Count(Interval):
    """Whole numbers of which True is none."""

    def is_satisfied_by(self, val) -> bool:
        return not isinstance(val, bool | np.bool_) and super().is_satisfied_by(val)


# Constraints that nearly every estimator has.
COUNT = _Count(Integral, 1, None, closed="left")
N_JOBS = [None, COUNT, Interval(Integral, None, -1, closed="right")]
POSITIVE = Interval(Real, 0, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
