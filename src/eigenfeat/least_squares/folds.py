"""Held-out error of the regressions behind the directions, over a grid of alphas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from eigenfeat._runtime.progress import report
from eigenfeat.least_squares.coordinate_descent import Descent
from eigenfeat.least_squares.paths import Settings, descend
from eigenfeat.least_squares.rows import CentredRows, centre
from eigenfeat.least_squares.spectrum import decompose


def fold_errors(
    X: np.ndarray | sparse.csr_array,
    targets: np.ndarray,
    sample_weight: np.ndarray | None,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    alphas: np.ndarray,
    shift: float,
    settings: Settings,
) -> np.ndarray:
    """Held-out squared error of regressing the targets on X: one row a fold, one column an alpha.

    Parameters
    ----------
    targets : (n, r) array
        Unweighted target rows; each fold centres them anew.
    shift : float
        Ridge that stays whatever alpha is.
    """
    order = np.argsort(alphas)[::-1]
    errors = np.empty((len(folds), len(alphas)))
    for i, (train, test) in enumerate(folds):
        weight = None if sample_weight is None else sample_weight[train]
        rows = centre(X[train], weight)
        mean = np.average(targets[train], axis=0, weights=weight)
        T = rows.root[:, None] * (targets[train] - mean).astype(rows.dtype)
        test_weight = np.ones(len(test)) if sample_weight is None else sample_weight[test]
        for k, (position, W) in enumerate(zip(order, _regressions(rows, T, alphas[order], shift, settings))):
            done = i * len(alphas) + k
            report("candidate alpha", done, errors.size, f"{alphas[position]:.3g}, fold {i + 1} of {len(folds)}")
            fitted = X[test] @ W - rows.mean @ W
            loss = np.sum((targets[test] - mean - fitted) ** 2, axis=1)
            errors[i, position] = test_weight @ loss / max(test_weight.sum(), np.finfo(float).tiny)
    return errors


def _regressions(
    rows: CentredRows, T: np.ndarray, alphas: np.ndarray, shift: float, settings: Settings
) -> Iterator[np.ndarray]:
    """Coefficients of the (penalised) regression of T on the rows for each alpha."""
    if settings.is_sparse:
        yield from (fit.vectors for fit in descend(Descent(rows, T), alphas, shift, settings))
        return
    spectrum = decompose(rows)
    s, coordinates = spectrum.singular_values, spectrum.project_block(T)
    for alpha in alphas:
        yield spectrum.expand((s / (s**2 + shift + alpha))[:, None] * coordinates)
