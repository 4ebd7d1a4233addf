"""The choice of a ridge by exact leave-one-out (PRESS, Allen 1974), from one decomposition of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space, qr

from eigenfeat._runtime.progress import counted
from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.spectrum import RowSpectrum

# Entries of a block of rows that is worked on at a time.
BLOCK_ENTRIES = 5_000_000
# Decades of the default grid: above the squares of the rows nothing is left to shrink, and rounding is below.
LARGEST_DECADE, SMALLEST_DECADE = 1, -12
# Between decades, in logarithms to base 10: where the best one has neighbours.
FINER = (-2 / 3, -1 / 3, 1 / 3, 2 / 3)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows of ``U``, of the targets, and what is left of both outside the range of A: all that no alpha changes.

    Attributes
    ----------
    left : (m, q) array
        Rows of U.
    outside : (m, p) array
        Of the targets, the part that no direction reaches.
    slack : (m,) array
        1 minus the influence of each row on itself were there no ridge.
    constant : (m,) array
        Squared targets outside the p combinations that ``outside`` keeps.
    share : (m,) array
        The part of each row's weight that is left out: one copy of so many.
    """

    left: np.ndarray
    outside: np.ndarray
    slack: np.ndarray
    constant: np.ndarray
    share: np.ndarray


class LeaveOneOut:
    """Mean squared errors at rows left out of the regression of the targets on the rows, for any ridge.

    Leaving out row i, of weight w and residual r, makes its residual ``r / (1 - h)`` with the influence
    ``h = w / n + w (x - mean)ᵀ (AᵀA + a·I)⁻¹ (x - mean)``. Both r and 1 - h vanish with the ridge a where the rows are
    linearly independent. They are therefore not computed as differences: with ``A = U diag(s) Vᵀ``,
    ``l = a / (s² + a)`` and N a basis of what is orthogonal to U and to the weights' roots,

        r = U diag(l) UᵀT + N NᵀT,        1 - h = Σ_j U²_ij l_j + Σ_j N²_ij.

    A weight above one stands for so many copies, one of which is left out. Rows of no weight, such as differences of
    neighbours, are never left out; what they say of the directions stays.

    Parameters
    ----------
    quotient : LeastSquaresQuotient
        Its own ridge stays whatever alpha is.
    spectrum : RowSpectrum
    few : array of int, optional
        The rows that are left out in turn; all, where they are not given.
    """

    def __init__(self, quotient: LeastSquaresQuotient, spectrum: RowSpectrum, few: np.ndarray | None = None) -> None:
        self.shift, self.spectrum = quotient.shift, spectrum
        self.weights = quotient.rows.root**2
        present = np.flatnonzero(self.weights > 0)
        self.present = present if few is None else np.intersect1d(present, few)
        self.targets = quotient.targets
        coordinates = np.asarray(spectrum.project(quotient.targets), dtype=np.float64)
        # Of more targets than directions, combinations of them hold all that a ridge can change.
        self.turn: np.ndarray | None = None
        if 0 < coordinates.shape[0] < coordinates.shape[1]:
            turned, self.turn = qr(coordinates.T, mode="economic", check_finite=False)[::-1]
            coordinates = turned.T
        self.coordinates = coordinates
        self.complement = self._complement()
        if self.complement is not None:
            beside = np.asarray(self.targets.transpose_times(self.complement), dtype=np.float64).T
            self.beside = beside if self.turn is None else beside @ self.turn

    def _complement(self) -> np.ndarray | None:
        """N, (n, n - 1 - q): empty where the rows are independent, None where it was not computed."""
        null, n = self.spectrum.null, len(self.weights)
        if len(self.spectrum.singular_values) >= np.count_nonzero(self.weights) - 1 and np.all(self.weights > 0):
            return np.zeros((n, 0))
        if null is None:
            return None
        direction = np.sqrt(self.weights / self.weights.sum())
        return null @ null_space((direction @ null)[None])

    def errors(self, alphas: np.ndarray) -> np.ndarray:
        """One for each alpha, a mean over (weighted) rows, summed over targets."""
        totals = np.zeros(len(alphas))
        width = max(self.coordinates.shape[0], self.targets.rank)
        step = max(1, BLOCK_ENTRIES // width)
        for start in range(0, len(self.present), step):
            prepared = self._prepared(self.present[start : start + step])
            totals += [
                self._total(prepared, float(alpha)) for alpha in counted(list(alphas), "leave-one-out: candidate alpha")
            ]
        return totals / self.weights[self.present].sum()

    def _prepared(self, index: np.ndarray) -> Prepared:
        U = self.spectrum.left_rows(index)
        targets = np.asarray(self.targets.rows_of(index), dtype=np.float64)
        turned = targets if self.turn is None else targets @ self.turn
        weights = self.weights[index]
        share = 1 / np.maximum(weights, 1)
        if self.complement is None:
            outside = turned - U @ self.coordinates
            slack = np.maximum(1 - weights / self.weights.sum() - np.einsum("ij,ij->i", U, U), 0)
        else:
            N = self.complement[index]
            outside = N @ self.beside
            slack = np.einsum("ij,ij->i", N, N)
        constant = np.zeros(len(index))
        if self.turn is not None and (self.complement is None or self.complement.shape[1]):
            constant = np.maximum(np.einsum("ij,ij->i", targets, targets) - np.einsum("ij,ij->i", turned, turned), 0)
        return Prepared(U, outside, slack, constant, share)

    def _total(self, rows: Prepared, alpha: float) -> float:
        squares = self.spectrum.singular_values**2
        # No ridge at all is the limit of a vanishing one.
        ridge = max(self.shift + alpha, 1e-10 * float(squares.min(initial=np.inf)))
        left_over = ridge / (squares + ridge)
        residuals = rows.outside + rows.left @ (left_over[:, None] * self.coordinates)
        slack = rows.slack + rows.left**2 @ left_over
        losses = np.einsum("ij,ij->i", residuals, residuals) + rows.constant
        remaining = (1 - rows.share) + rows.share * slack
        return float(np.sum(np.divide(losses, remaining**2, out=np.zeros_like(losses), where=remaining > 0)))


def decades(squares: np.ndarray) -> np.ndarray:
    """Powers of ten of Σs², from above it down to a hundredth of the smallest s²: ascending.

    So the unit of the rows does not matter, and neither end can be improved on: the largest shrinks every direction
    alike, the smallest none.
    """
    total = float(squares.sum())
    if not total:
        return np.ones(1)
    smallest = np.floor(np.log10(squares.min() / total) - 2)
    lowest = int(max(smallest, SMALLEST_DECADE))
    return total * 10.0 ** np.arange(lowest, LARGEST_DECADE + 1)


def search(errors: Callable[[np.ndarray], np.ndarray], coarse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Candidates and their errors, ascending: a grid of decades, and thirds of decades beside its best one."""
    found = errors(coarse)
    best = int(np.argmin(found))
    finer = coarse[best] * 10.0 ** np.array(FINER)
    finer = finer[(finer > coarse[0]) & (finer < coarse[-1])]
    alphas, values = np.concatenate([coarse, finer]), np.concatenate([found, errors(finer)])
    order = np.argsort(alphas)
    return alphas[order], values[order]


def generalized_cross_validation(
    squares: np.ndarray, power: np.ndarray, outside: float, n: float, ridges: np.ndarray
) -> np.ndarray:
    """``‖(I - P) H‖² / (n - tr P)²`` for each ridge, P the map from targets to fitted values (mean included).

    Leave-one-out with the mean influence in the place of each row's own (Golub, Heath & Wahba 1979): all that sums over
    rows can tell. It says nothing where P is close to the identity, which takes about as many directions as rows.

    Parameters
    ----------
    squares : (q,) array
        Eigenvalues of AᵀA.
    power : (q,) array
        Squared targets along each.
    outside : float
        Squared targets that no direction reaches.
    n : float
        The sum of the weights.
    """
    scores = []
    for ridge in ridges:
        left_over = ridge / (squares + ridge)
        freedom = n - 1 - np.sum(1 - left_over)
        scores.append((outside + np.sum(left_over**2 * power)) / max(freedom, np.finfo(np.float64).eps) ** 2)
    return np.array(scores)
