"""The edge where input is checked: below it, functions assume finite float arrays of matching length."""

from __future__ import annotations

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight


def check_weights(sample_weight, X, *, dtype=np.float64) -> np.ndarray | None:
    """Weights of the rows of X as an array, or None where there are none.

    Raises
    ------
    ValueError
        For weights of another length, not finite, negative, or all zero.
    """
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=dtype)
    if (weights < 0).any():
        raise ValueError(
            f"Negative values in data passed to `sample_weight`: the smallest is {weights.min():g}. Weights must be "
            "zero or positive; drop rows you want to leave out or give them weight 0."
        )
    if not weights.any():
        raise ValueError("All sample weights are zero: give at least one row of each class a positive weight.")
    return weights


def check_class_labels(y, sample_weight=None, *, estimator: str) -> tuple[np.ndarray, np.ndarray]:
    """Sorted classes of y and y as indices into them.

    Raises
    ------
    ValueError
        For continuous targets, fewer than two classes, or a class without a row of positive weight.
    """
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{estimator} needs rows of at least two classes; y has only one class, {classes[0]!r}. Check the label "
            "column, or how the rows were split."
        )
    if sample_weight is not None:
        totals = np.bincount(codes, sample_weight)
        if not totals.all():
            raise ValueError(
                f"Class {classes[np.argmin(totals)]!r} has no row of positive sample weight: drop the class from y, "
                "or weight at least one of its rows."
            )
    return classes, codes
