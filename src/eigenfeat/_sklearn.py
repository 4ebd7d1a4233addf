"""scikit-learn's names that are not public, in one place: what to look at when a new version breaks something.

Tried with scikit-learn 1.6 to 1.9; everything else of scikit-learn is imported where it is used.
"""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "COUNT",
    "NON_NEGATIVE",
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

#: Decorates every `fit`: constructor parameters are checked against the class's ``_parameter_constraints`` first.
checked_fit = _fit_context(prefer_skip_nested_validation=True)

# Constraints that nearly every estimator has.
COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NON_NEGATIVE = Interval(Real, 0, None, closed="left")
