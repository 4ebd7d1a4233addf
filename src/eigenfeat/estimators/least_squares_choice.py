"""Where the weight of a penalty comes from when it is not given: rows left out, one at a time or by folds."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from scipy.linalg import eigh
from sklearn.model_selection import check_cv

from eigenfeat.least_squares.folds import fold_errors
from eigenfeat.least_squares.leave_one_out import LeaveOneOut, decades, search
from eigenfeat.least_squares.paths import Settings
from eigenfeat.least_squares.penalised import aligned_targets
from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.spectrum import RowSpectrum, decompose
from eigenfeat.rows.sampling import splits_in_order

#: Up to so many rows or columns, whichever are fewer, a decomposition of all rows is worth its time by default.
DECOMPOSED = 2_000
#: Of more rows, so many are left out in turn by default.
LEFT_OUT = 5_000


@dataclass(frozen=True, eq=False)
class Choice:
    """Candidates and their errors on rows left out.

    Attributes
    ----------
    alphas : (m,) array
    errors : (splits, m) array
    spectrum : RowSpectrum or None
        The decomposition that served them all.
    """

    alphas: np.ndarray
    errors: np.ndarray
    spectrum: RowSpectrum | None = None

    @property
    def best(self) -> float:
        """The alpha of least error, and of equal ones the largest; differences of rounding are none."""
        means = np.array([float(f"{error:.12g}") for error in self.errors.mean(axis=0)])
        return float(self.alphas[np.lexsort((-self.alphas, means))[0]])


def by_leave_one_out(
    quotient: LeastSquaresQuotient, alphas: np.ndarray | None = None, few: np.ndarray | None = None
) -> Choice:
    """Exact leave-one-out errors of a ridge, by default of a grid scaled to the rows and refined where it is best.

    ``few`` are the rows that are left out, where these are not all.
    """
    spectrum = decompose(quotient.rows)
    leave_one_out = LeaveOneOut(quotient, spectrum, few)
    if alphas is None:
        alphas, errors = search(leave_one_out.errors, decades(spectrum.singular_values**2))
    else:
        errors = leave_one_out.errors(alphas)
    return Choice(alphas, errors[None], spectrum)


def on_folds(
    X,
    y,
    weights: np.ndarray | None,
    quotient: LeastSquaresQuotient,
    alphas: np.ndarray,
    settings: Settings,
    cv=None,
    *,
    classes: bool,
    order: np.ndarray,
    kernel: np.ndarray | None = None,
) -> Choice:
    """Errors on held-out folds: of any penalty, and with the kernel matrix of X where there is one.

    A number of folds is cut from the rows in this order.
    """
    targets = aligned_targets(quotient, settings.solve(quotient)) if settings.is_sparse else quotient.targets.factor
    root = quotient.rows.root[: X.shape[0]]
    with np.errstate(divide="ignore"):
        unweighted = targets[: X.shape[0]] * np.where(root > 0, 1 / root, 0)[:, None]
    splitter = check_cv(cv, y, classifier=classes)
    drawn = cv is None or isinstance(cv, Integral)
    folds = list(splits_in_order(splitter, order, y if classes else None) if drawn else splitter.split(X, y))
    inputs = X if kernel is None else _feature_vectors(kernel)
    return Choice(alphas, fold_errors(inputs, unweighted, weights, folds, alphas, quotient.shift, settings))


def _feature_vectors(kernel: np.ndarray) -> np.ndarray:
    """Rows whose inner products are the kernel's, so that folds need no kernel of their own."""
    values, Q = eigh(kernel, check_finite=False)
    return Q * np.sqrt(np.maximum(values, 0))
