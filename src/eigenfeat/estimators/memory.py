"""What a fit on features that are never held will take, told before it starts."""

from __future__ import annotations

import warnings

from eigenfeat._runtime.config import current
from eigenfeat._runtime.memory import available_memory
from eigenfeat.features.stack import StackSettings
from eigenfeat.linear.preconditioner_table import preconditioner_bytes

#: Blocks of rows and their features that are worked on at a time, in all threads together.
BLOCKS = 50_000_000
#: Moments beside which problems hold second moments of all classes, and their copies in float32.
MOMENTS = 2.5
#: Scores of all rows that an optimiser holds: at the point, the step, the gradient and their products.
SCORES = 4


def expected_bytes(
    n_rows: int,
    n_columns: int,
    n_classes: int,
    n_directions: int,
    n_features: int,
    itemsize: int = 8,
    as_rows: bool = False,
) -> int:
    """About what a GEM classifier's fit allocates beside its rows: within a factor of two of the peak.

    Parameters
    ----------
    n_rows, n_columns : int
        Of the rows.
    n_classes : int
    n_directions : int
        m, whose projections are held: n m numbers.
    n_features : int
        p, made of the projections a block at a time; what the logit holds beside them, `preconditioner_bytes` tells.
    itemsize : int
        Bytes a number: 4 for float32 rows.
    as_rows : bool
        Whether rows stand for their moments, which are then no matrices.

    Examples
    --------
    >>> from eigenfeat.estimators.memory import expected_bytes
    >>> f"{expected_bytes(60_000, 784, 10, 1800, 12_000, itemsize=4) / 1e9:.1f} GB"
    '1.5 GB'
    """
    matrices = min(
        MOMENTS * n_classes * n_columns**2 * 8, current().memory_budget
    )  # beyond it, of some classes at a time
    moments = n_rows * n_columns * itemsize if as_rows else matrices
    projections = n_rows * n_directions * itemsize
    scores = SCORES * n_rows * n_classes * 8
    return int(BLOCKS + moments + projections + scores + preconditioner_bytes(n_rows, n_features, itemsize))


def expected_of_settings(
    settings: StackSettings, n_rows: int, n_columns: int, n_classes: int, itemsize: int, largest: int | None = None
) -> int:
    """`expected_bytes` of the widest layer that settings may lead to, known before a row was read.

    ``largest`` is the rows of the largest class, where they are known. Thresholds on eigenvalues and rank-deficient
    classes make a fit smaller, never larger.
    """
    parts, needed = settings.subclasses or 1, 0
    for layer in settings.layers:
        n_directions = layer.most_directions(n_classes, n_rows, n_columns, parts)
        n_features = layer.feature_map.n_columns(n_directions) + (n_columns if layer.keep_inputs else 0)
        as_rows = layer.uses_dual_moments(n_classes * parts, n_rows, n_columns, largest)
        sizes = (n_rows, n_columns, n_classes * parts, n_directions, n_features, itemsize, as_rows)
        needed, n_columns = max(needed, expected_bytes(*sizes)), n_features
    return needed


def warn_of_memory(needed: int, estimator: str) -> None:
    """A warning where a fit is expected to take more than there is."""
    available = available_memory()
    if available is not None and needed > available:
        warnings.warn(
            f"{estimator} will take about {needed / 1e9:.1f} GB beside its rows, and {available / 1e9:.1f} GB are "
            "free. Give fewer components (n_components, max_components, min_eigenvalue), float32 rows, or fewer rows.",
            UserWarning,
            stacklevel=4,
        )
