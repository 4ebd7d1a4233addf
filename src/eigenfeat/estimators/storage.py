"""How rows and targets are stored: what cannot be read as such is refused before any compiled loop trusts it."""

from __future__ import annotations

from collections import Counter
from numbers import Number
from typing import Any

import numpy as np
from scipy import sparse


def check_table(X: Any) -> None:
    """Refuses a sparse matrix whose arrays contradict each other, and a dataframe with a column name twice."""
    if sparse.issparse(X):
        _check_sparse(X)
    elif hasattr(X, "columns") and hasattr(X, "dtypes"):
        twice = [name for name, count in Counter(X.columns).items() if count > 1]
        if twice:
            raise ValueError(f"X has several columns called {twice[0]!r}: names must tell columns apart.")


def check_targets(y: Any) -> None:
    """Refuses dates, and labels of several kinds, which have no order."""
    if y.dtype.kind in "mM":
        raise ValueError(f"y holds dates ({y.dtype}): turn them into numbers, or into text where they are classes.")
    if y.dtype == object:
        kinds = {"number" if isinstance(label, Number) else type(label).__name__ for label in y.ravel().tolist()}
        if len(kinds) > 1 or "NoneType" in kinds:
            raise ValueError(
                f"y holds labels of the types {', '.join(sorted(kinds))}, which cannot be sorted: give all of them as "
                "text, or all as numbers, and leave rows without one out."
            )


def check_gaps(y: Any) -> None:
    """Refuses targets of which some are missing, NaN or None, whatever would be made of them."""
    y = np.asarray(y)
    if y.dtype.kind in "fO":
        missing = np.isnan(y) if y.dtype.kind == "f" else np.array([v is None or v != v for v in y.ravel().tolist()])
        if missing.any():
            raise ValueError(
                f"y has no value in {np.count_nonzero(missing)} of {missing.size} places: leave out the rows without "
                "one, or y where it is not used."
            )


def canonical(X: Any) -> Any:
    """CSR rows with sorted, distinct indices: the caller's own where they are so already, else a copy."""
    if not sparse.issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def _check_sparse(X: Any) -> None:
    """What scipy trusts: pointers that rise from zero to the number of entries, indices within the matrix."""
    if X.format in ("csr", "csc"):
        n_lines, n_places = X.shape if X.format == "csr" else X.shape[::-1]
        pointers, n_stored = X.indptr, min(len(X.indices), len(X.data))
        if len(pointers) != n_lines + 1:
            _refuse(X, f"it has {len(pointers)} index pointers for {n_lines} {_lines(X)}")
        if pointers[0] != 0 or pointers[-1] > n_stored or (np.diff(pointers) < 0).any():
            _refuse(X, f"its index pointers do not rise from 0 to at most the {n_stored} entries stored")
        _check_indices(X, X.indices[: pointers[-1]], n_places)
    elif X.format == "coo":
        for indices, n_places in zip((X.row, X.col), X.shape):
            if len(indices) != len(X.data):
                _refuse(X, f"it has {len(indices)} indices for {len(X.data)} entries")
            _check_indices(X, indices, n_places)


def _check_indices(X: Any, indices: np.ndarray, n_places: int) -> None:
    if len(indices) and not 0 <= indices.min() <= indices.max() < n_places:
        wrong = indices.min() if indices.min() < 0 else indices.max()
        _refuse(X, f"it has an entry at index {wrong} of {n_places}")


def _refuse(X: Any, reason: str) -> None:
    raise ValueError(f"X is a damaged {X.format.upper()} matrix of shape {X.shape}: {reason}. Make it anew.")


def _lines(X: Any) -> str:
    return "rows" if X.format == "csr" else "columns"
