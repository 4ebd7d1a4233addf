"""From rows to moments: the choice of a form, and the pass that fills it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from eigenfeat.moments.base import Moments
from eigenfeat.moments.dense import DenseMoments
from eigenfeat.moments.dual import DualMoments
from eigenfeat.rows.rows import as_rows


def empty_moments(
    n_rows: int | None,
    n_features: int,
    classes: np.ndarray | None = None,
    *,
    track_fourth: bool = False,
    form: str = "auto",
) -> Moments:
    """Moments in the form that suits the shape of the data.

    ======================  ==================================================================
    ``DenseMoments``        at least as many rows as columns, or an unknown number:
                            k matrices, d × d ("dense")
    ``DualMoments``         more columns than rows: the rows, and small Gram matrices ("dual")
    ======================  ==================================================================
    """
    if form == "auto":
        form = "dual" if n_rows is not None and n_features > n_rows else "dense"
    return DualMoments(classes) if form == "dual" else DenseMoments(classes, track_fourth=track_fourth)


def merged_moments(parts: Iterable[Moments]) -> Moments:
    """Merge the moments of parts of the rows; the parts are not changed.

    Parts may differ in form: the rows of a small last partition, in dual form, join the matrices of the others.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.moments import collect_moments, merged_moments
    >>> X, y = np.random.default_rng(0).normal(size=(50, 4)), np.arange(50) % 2
    >>> whole = merged_moments([collect_moments(X[:48], y[:48]), collect_moments(X[48:], y[48:])])
    >>> bool(np.allclose(whole.means, collect_moments(X, y).means))
    True
    """
    parts = list(parts)
    if not parts:
        raise ValueError("There are no moments to merge: give at least one part.")
    dense = [part for part in parts if isinstance(part, DenseMoments)]
    whole = (dense or parts)[0].empty_copy()
    for part in parts:
        whole.merge(part)
    return whole


def collect_moments(
    rows: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    classes: np.ndarray | None = None,
    track_fourth: bool = False,
    n_rows: int | None = None,
    form: str = "auto",
) -> Moments:
    """Collect class-conditional moments in one pass over rows, in the form that suits their shape.

    Parameters
    ----------
    rows : array, CSR matrix, memory map or `eigenfeat.rows.Rows`
    y, sample_weight : (n,) arrays, optional
        Labels and weights; where either is given, they take the place of those that a source brings. Without labels all
        rows are one class.
    classes : array, optional
        Labels that will come, where they are known.
    track_fourth : bool
        Also what Ledoit-Wolf shrinkage (``shrinkage="auto"``) needs.
    n_rows : int, optional
        How many rows there will be in all, when these are a part that will be merged with others.
    form : {"auto", "dense", "dual"}
        See `empty_moments`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.moments import collect_moments
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    >>> collect_moments(X, ["a", "b", "a"]).means
    array([[2. , 0.5],
           [0. , 2. ]])
    """
    source = as_rows(rows, y, sample_weight)
    total = source.n_rows if n_rows is None else n_rows
    moments = empty_moments(total, source.n_columns, classes, track_fourth=track_fourth, form=form)
    return source.reduce(moments, "moments")
