"""Numbers whose squares and sums exist: what is too large or too small for them is refused at the edge."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

#: Magnitudes by type of the rows: fourth powers of a thousand columns stay finite and normal in float64, squares in
#: float32, whose sums are kept in float64.
BOUNDS = {np.dtype(np.float64): (1e-70, 1e70), np.dtype(np.float32): (1e-17, 1e17)}


#: How much larger than another a column may be: beyond, the square of the smaller is lost in the rounding of a sum.
UNEVEN = 1e8


def bounds_of(dtype: Any) -> tuple[float, float]:
    """The smallest and largest magnitude that results can be made of."""
    return BOUNDS.get(np.dtype(dtype), BOUNDS[np.dtype(np.float64)])


def check_magnitudes(X: Any, names: Any = None, *, new: bool = False, dtype: Any = None) -> None:
    """Refuses columns that are too large, and (but for ``new`` rows) ones that are too small though not zero.

    Parameters
    ----------
    X : (n, ...) array or CSR matrix
        Of finite numbers.
    names : sequence of str, optional
        Of the columns.
    new : bool
        Whether a model has been fitted already: a new row may well be nearly zero.
    dtype : dtype, optional
        What the rows will become, where that is another type than theirs.
    """
    if X.dtype.kind != "f" or 0 in X.shape:
        return
    dtype = X.dtype if dtype is None else np.dtype(dtype)
    smallest, largest = bounds_of(dtype)
    sizes = _column_sizes(X)
    column = int(np.argmax(sizes))
    if sizes[column] > largest:
        raise ValueError(
            f"Column {_named(column, names)} of X reaches {sizes[column]:.3g}, beyond the {largest:g} up to which "
            f"{dtype} rows can be squared and summed: divide it by a constant{_or_wider(X)}."
        )
    if new:
        return
    tiny = (sizes > 0) & (sizes < smallest)
    if tiny.any():
        column = int(np.argmax(tiny))
        raise ValueError(
            f"Column {_named(column, names)} of X has no entry above {sizes[column]:.3g}, below the {smallest:g} from "
            f"which {dtype} rows can be squared and summed: multiply it by a constant, or drop it{_or_wider(X)}."
        )
    _warn_if_uneven(sizes, names)


def _warn_if_uneven(sizes: np.ndarray, names: Any) -> None:
    """Squares of small columns drown in the rounding of those of large ones: lengths, distances, products of rows."""
    largest, smallest = int(np.argmax(sizes)), int(np.argmin(np.where(sizes > 0, sizes, np.inf)))
    ratio = float(sizes[largest]) / float(sizes[smallest]) if sizes[smallest] > 0 else 1.0
    if ratio > UNEVEN:
        warnings.warn(
            f"Column {_named(largest, names)} of X is {ratio:.0e} times as large as column {_named(smallest, names)}: "
            "lengths and distances of rows hold nothing of the smaller. Scale the columns "
            "(sklearn.preprocessing.StandardScaler).",
            UserWarning,
            stacklevel=4,
        )


def check_target_magnitudes(y: np.ndarray) -> None:
    """Refuses targets that cannot be squared and summed."""
    if y.dtype.kind != "f" or not y.size:
        return
    smallest, largest = bounds_of(np.float64)
    size = float(np.abs(y).max())
    if size > largest or 0 < size < smallest:
        raise ValueError(
            f"The largest target is {size:.3g}; targets are squared and summed, for which the largest must lie between "
            f"{smallest:g} and {largest:g}: scale them by a constant."
        )


def check_weight_magnitudes(weights: np.ndarray, what: str, dtype: Any = np.float64) -> None:
    """Refuses non-negative weights of which some could not be told from zero, or from infinity, in sums."""
    smallest, largest = bounds_of(dtype)
    positive = weights[weights > 0]
    if positive.max() > largest or positive.min() < smallest:
        raise ValueError(
            f"{what} range from {positive.min():g} to {positive.max():g}; positive ones must lie between {smallest:g} "
            f"and {largest:g} for sums of them to be exact{'' if dtype == np.float64 else f' in {dtype}'}. Divide them "
            "by their mean, and give what is to be left out the weight 0."
        )


def _column_sizes(X: Any) -> np.ndarray:
    """The largest magnitude of every column; of an array of more dimensions, of everything."""
    if sparse.issparse(X):
        sizes = np.zeros(X.shape[1], dtype=X.dtype)
        np.maximum.at(sizes, X.indices, np.abs(X.data))
        return sizes
    axis = 0 if X.ndim == 2 else None
    return np.atleast_1d(np.maximum(X.max(axis=axis), -X.min(axis=axis)))


def _named(column: int, names: Any) -> str:
    return str(column) if names is None else repr(names[column])


def _or_wider(X: Any) -> str:
    return ", or give float64 rows" if X.dtype == np.float32 else ""
