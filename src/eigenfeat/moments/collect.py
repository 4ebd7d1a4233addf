"""From rows to moments: which form to keep them in, and the one pass that fills it."""

from __future__ import annotations

import numpy as np

from eigenfeat.moments.base import Moments
from eigenfeat.moments.dense_moments import DenseMoments
from eigenfeat.moments.row_moments import RowMoments


def empty_moments(
    n_rows: int, n_features: int, classes: np.ndarray | None = None, *, track_fourth: bool = False
) -> Moments:
    """Moments in the form that suits the shape of the data.

    ======================  =============================================================
    ``DenseMoments``        at least as many rows as columns: k matrices, d × d
    ``RowMoments``          more columns than rows: the rows, and small Gram matrices
    ======================  =============================================================
    """
    if n_features > n_rows:
        return RowMoments(classes)
    return DenseMoments(classes, track_fourth=track_fourth)


def collect_moments(X, y=None, sample_weight=None, *, classes=None, track_fourth: bool = False) -> Moments:
    """One pass over X: class-conditional moments in the form that suits its shape.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.moments import collect_moments
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    >>> collect_moments(X, ["a", "b", "a"]).means
    array([[2. , 0.5],
           [0. , 2. ]])
    """
    moments = empty_moments(X.shape[0], X.shape[1], classes, track_fourth=track_fourth)
    return moments.update(X, y, sample_weight)
