"""The columns a user gave, by name and as numbers, whatever table they came in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.report.values.subject import Subject
from eigenfeat.report.values.tables import column_of, names_of

MOST_LEVELS = 8
"""Values of a column of words that are told apart: the most frequent ones."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Original columns as numbers: words become one column a value, dates seconds, trials the log-power of channels.

    Attributes
    ----------
    names : tuple of str
    values : (n, d) array or CSR matrix
        NaN where a value is missing.
    """

    names: tuple[str, ...]
    values: Any

    def correlations(self, z: np.ndarray) -> np.ndarray:
        """(d,): by how many of its standard deviations a column is higher where z is one of its own higher.

        That is the pattern of the direction behind z in standardised units (Haufe et al. 2014): the covariance of the
        columns with what the direction sees, each of unit variance.
        """
        z = np.asarray(z, dtype=np.float64)
        z = z - z.mean()
        spread = np.sqrt(np.mean(z**2)) or 1.0
        if sparse.issparse(self.values):
            mean = np.asarray(self.values.mean(axis=0)).ravel()
            square = np.asarray(self.values.multiply(self.values).mean(axis=0)).ravel()
            deviation = np.sqrt(np.maximum(square - mean**2, 0))
            covariance = np.asarray(self.values.T @ z).ravel() / len(z)
        else:
            centred = self.values - np.nanmean(self.values, axis=0)
            centred[np.isnan(centred)] = 0.0  # a missing value is taken for the mean
            deviation = np.sqrt(np.mean(centred**2, axis=0))
            covariance = centred.T @ z / len(z)
        known = deviation > 1e-12 * max(1.0, float(deviation.max(initial=0.0)))
        return np.divide(covariance, deviation * spread, out=np.zeros_like(covariance), where=known)


def column_names(subject: Subject, X: Any = None) -> tuple[str, ...]:
    """Names of the columns the model was given: its own, those of a frame, or x0, x1, ..."""
    own = names_of(X)
    if own is not None:
        return tuple(own)
    names = getattr(subject.model, "feature_names_in_", getattr(subject.steps[0], "feature_names_in_", None))
    width = _width(subject, X)
    if names is not None and len(names) == width:
        return tuple(str(name) for name in names)
    kind = "channel " if getattr(X, "ndim", 2) == 3 else "x"
    return tuple(f"{kind}{j}" for j in range(width))


def original_columns(subject: Subject, X: Any) -> Columns:
    """The columns of rows as the user knows them."""
    names = column_names(subject, X)
    if sparse.issparse(X):
        return Columns(names, X.astype(np.float64))
    if getattr(X, "ndim", 2) == 3:
        power = np.var(np.asarray(X, dtype=np.float64), axis=2)
        return Columns(names, np.log(np.maximum(power, np.finfo(np.float64).tiny)))
    if names_of(X) is None:
        return Columns(names, np.array(X, dtype=np.float64))
    parts = [_numbers(name, column_of(X, j)) for j, name in enumerate(names)]
    return Columns(
        tuple(name for labels, _ in parts for name in labels), np.column_stack([values for _, values in parts])
    )


def _numbers(name: str, column: np.ndarray) -> tuple[Sequence[str], np.ndarray]:
    """One column as numbers: itself, or an indicator of each of its frequent values."""
    if column.dtype.kind in "mM":
        seconds = column.astype("datetime64[s]" if column.dtype.kind == "M" else "timedelta64[s]")
        values = seconds.astype(np.int64).astype(np.float64)
        return [name], np.where(np.isnat(column), np.nan, values)
    if column.dtype.kind in "biuf":
        return [name], column.astype(np.float64)
    try:
        return [name], np.array([np.nan if _missing(value) else _number(value) for value in column])
    except (TypeError, ValueError):
        words = np.array(["" if _missing(value) else str(value) for value in column])
    levels, counts = np.unique(words[words != ""], return_counts=True)
    levels = levels[np.argsort(-counts, kind="stable")[:MOST_LEVELS]]
    return [f"{name} = {level}" for level in levels], np.column_stack(
        [np.empty((len(words), 0)), *((words == level).astype(np.float64) for level in levels)]
    )


def _number(value: Any) -> float:
    """A number as people write it: 1,234.5 or 12 %."""
    return float(value.replace(",", "").rstrip(" %")) if isinstance(value, str) else float(value)


def _missing(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _width(subject: Subject, X: Any) -> int:
    if X is not None:
        return int(X.shape[1])
    return int(getattr(subject.steps[0], "n_features_in_", 0))
