"""The edge where input is checked: below it, functions assume finite float arrays of matching length."""

from __future__ import annotations

import warnings
from numbers import Real

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from eigenfeat._sklearn import check_sample_weight
from eigenfeat.estimators.magnitudes import check_weight_magnitudes
from eigenfeat.estimators.storage import check_targets
from eigenfeat.linear.calibration import is_at_bound
from eigenfeat.moments import Moments
from eigenfeat.rows.keys import are_cells, copy_keys, group_keys


def check_weights(sample_weight, X, *, dtype=np.float64) -> np.ndarray | None:
    """Weights of the rows of X as an array, or None where there are none.

    Raises
    ------
    ValueError
        For weights of another length, not finite, negative, all zero, or of sizes that sums cannot hold.
    """
    if sample_weight is None:
        return None
    weights = check_sample_weight(sample_weight, X, dtype=dtype)
    if (weights < 0).any():
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: the smallest is {weights.min():g}. Weights must be "
            "zero or positive; drop rows you want to leave out or give them weight 0."
        )
    if not weights.any():
        raise ValueError("All sample weights are zero: give at least one row of each class a positive weight.")
    check_weight_magnitudes(weights, "Sample weights", getattr(X, "dtype", np.float64))
    return weights


def check_class_labels(y, sample_weight=None, *, estimator: str) -> tuple[np.ndarray, np.ndarray]:
    """Sorted classes of y and y as indices into them.

    Raises
    ------
    ValueError
        For continuous targets, fewer than two classes, or a class without a row of positive weight.
    """
    check_targets(np.asarray(y))
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{estimator} needs rows of at least two classes; y has only one class, {classes.tolist()[0]!r}. Check the "
            "label column, or how the rows were split."
        )
    if sample_weight is not None:
        totals = np.bincount(codes, sample_weight)
        if not totals.all():
            absent = classes.tolist()[int(np.argmin(totals))]
            raise ValueError(
                f"Class {absent!r} has no row of positive sample weight: drop the class from y, or weight at least one "
                "of its rows."
            )
    return classes, codes


def class_weights(class_weight, classes: np.ndarray, codes, sample_weight=None) -> np.ndarray:
    """(n,) weight of the class of every row.

    Parameters
    ----------
    class_weight : "balanced" or dict
        All classes alike, ``Σw / (k Σ_c w)``, so that a row of weight s counts as s rows; or a weight a label, one
        where it has none.
    classes : (k,) array
    codes : (n,) array
        Rows as indices into classes.
    sample_weight : (n,) array, optional

    Raises
    ------
    ValueError
        For anything else, unknown labels, and weights that are not positive numbers.
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, sample_weight, minlength=len(classes))
        there = np.flatnonzero(totals)
        by_class = np.zeros(len(classes))
        by_class[there] = totals.sum() / (len(there) * totals[there])
        return by_class[codes]
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict of label: weight, got {class_weight!r}.")
    places = {label: code for code, label in enumerate(classes.tolist())}
    unknown = [label for label in class_weight if label not in places]
    if unknown:
        raise ValueError(
            f"class_weight names the label {unknown[0]!r}, which no row has; the labels are {classes.tolist()[:12]}."
        )
    by_class = np.ones(len(classes))
    for label, weight in class_weight.items():
        if not (isinstance(weight, Real) and 0 < float(weight) < np.inf):
            raise ValueError(
                f"class_weight[{label!r}] is {weight!r}: weights of classes must be positive numbers. Drop the rows of "
                "a class that is not to count."
            )
        by_class[places[label]] = weight
    check_weight_magnitudes(by_class, "Weights of classes")
    return by_class[codes]


def check_priors(priors, n_classes: int) -> np.ndarray:
    """Class probabilities that sum to one.

    Raises
    ------
    ValueError
        For another number of them, or ones that are negative, not finite or all zero.
    """
    try:
        checked = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        checked = np.empty(0)
    if checked.shape != (n_classes,) or not np.isfinite(checked).all() or (checked < 0).any() or not checked.any():
        raise ValueError(
            f"priors must be {n_classes} non-negative numbers, one a class, that are not all zero; got {priors!r}."
        )
    checked = checked / checked.max()  # first: the sum of large ones may not be finite
    return checked / checked.sum()


def check_kernel_takes(kernel, X) -> None:
    """Refuses negative rows for the kernels of histograms."""
    if kernel in ("chi2", "additive_chi2") and (sparse.issparse(X) or X.min() < 0):
        given = "sparse" if sparse.issparse(X) else f"rows that reach {X.min():g}"
        raise ValueError(
            f"kernel={kernel!r} compares histograms, dense rows without negative entries; got {given}. Use another "
            "kernel."
        )


def check_moments(moments, needs_labels: bool, needs_fourth: bool, *, estimator: str) -> None:
    """Moments that a fit can be made of.

    Raises
    ------
    ValueError
        For anything but moments, moments of no rows, of fewer than two classes where classes are told apart, or without
        the fourth moments that Ledoit-Wolf shrinkage needs.
    """
    if not isinstance(moments, Moments):
        raise ValueError(
            f"fit_moments takes the moments of rows, got {type(moments).__name__}: make them with "
            "eigenfeat.moments.collect_moments(X, y), or fit on the rows themselves."
        )
    present = np.count_nonzero(getattr(moments, "weights", ()))
    if present < (2 if needs_labels else 1):
        raise ValueError(
            f"{estimator} needs moments of rows of at least {'two classes' if needs_labels else 'one row'}; these have "
            f"seen {present} class{'' if present == 1 else 'es'}: update or merge them with rows first."
        )
    if needs_labels and not moments.weights.all():
        absent = moments.classes.tolist()[int(np.argmin(moments.weights))]
        raise ValueError(
            f"These moments have seen no row of class {absent!r}: collect them without naming it, or merge them with "
            "the moments of rows that have it."
        )
    if needs_labels and moments.counts.max() == 1 and moments.n_classes > 2:
        raise ValueError(
            f"Every row of these moments is a class of its own ({moments.n_classes} labels): cut a continuous target "
            "into slices before you collect them."
        )
    if needs_fourth and getattr(moments, "track_fourth", True) is False:
        raise ValueError(
            'shrinkage="auto" needs fourth moments, which these were collected without: collect with '
            'track_fourth=True, or use shrinkage="oas" or a number.'
        )


def checked_group_keys(groups, y) -> np.ndarray:
    """(n,) keys of rows that are left out together, equal for rows of one group: one a label."""
    groups = column_or_1d(groups)
    check_consistent_length(y, groups)
    return group_keys(groups)


def left_out_keys(keys: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """(n,) keys of rows that are left out together: equal rows, whose keys are given.

    Where fewer than a quarter of the rows differ, new rows will mostly be equal to known ones, which a row that is left
    out must be allowed to as well: there every copy has a key of its own.
    """
    return copy_keys(keys, labels, weights) if are_cells(keys, weights) else keys


def warn_of_temperature(temperature: float, estimator: str) -> None:
    """A warning where probabilities are as far from the scores as a search for their temperature goes."""
    if is_at_bound(temperature):
        warnings.warn(
            f"The temperature of {estimator}'s probabilities, {temperature:.3g}, is at an end of the range that is "
            "searched: left-out rows are nearly all right, or hardly better than by chance. Look at some probabilities "
            "(sklearn.calibration.calibration_curve) before you trust them.",
            UserWarning,
            stacklevel=5,
        )
