"""Solutions over a grid of alphas: one decomposition, or warm starts from the largest alpha down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eigenfeat.least_squares.coordinate_descent import Descent, PenalisedFit, Penalty
from eigenfeat.least_squares.penalised import aligned_targets, penalised_solution
from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.rows import CentredRows
from eigenfeat.least_squares.solution import LeastSquaresRequest, Solution
from eigenfeat.least_squares.solve import choose, solve
from eigenfeat.least_squares.spectrum import RowSpectrum, decompose, solve_spectral

SPARSE_PENALTIES = ("lasso", "elasticnet", "group")


@dataclass(frozen=True)
class Settings:
    """How a problem is to be regularised and solved, whatever its alpha."""

    penalty: str | None = None
    l1_ratio: float = 0.5
    n_components: int | None = None
    solver: str = "auto"
    tol: float = 1e-8
    max_iter: int = 1000

    @property
    def is_sparse(self) -> bool:
        return self.penalty in SPARSE_PENALTIES

    def solve(self, quotient: LeastSquaresQuotient, start: np.ndarray | None = None) -> Solution:
        """The problem as it stands, without a sparse penalty."""
        return solve(quotient, self.solver, self.request(start))

    def request(self, start: np.ndarray | None = None) -> LeastSquaresRequest:
        return LeastSquaresRequest(self.n_components, self.tol, self.max_iter, start)

    def penalty_of(self, alpha: float, shift: float) -> Penalty:
        """The sparse penalty at one alpha; the problem's own ridge stays in the objective."""
        l1_share = self.l1_ratio if self.penalty == "elasticnet" else 1.0
        return Penalty(alpha * l1_share, alpha * (1 - l1_share) + shift, self.penalty == "group")


def solve_at(
    quotient: LeastSquaresQuotient, alpha: float, settings: Settings, spectrum: RowSpectrum | None = None
) -> Solution:
    """The solution for one alpha, from the rows' decomposition where that is known and no other way is asked for."""
    if spectrum is not None and settings.penalty == "ridge" and settings.solver in ("auto", "eigen"):
        return solve_spectral(quotient.shifted(alpha), spectrum, n_components=settings.n_components)
    return next(iter(solve_path(quotient, [alpha], settings)))


def solve_path(
    quotient: LeastSquaresQuotient, alphas: Sequence[float] | np.ndarray, settings: Settings
) -> Iterator[Solution]:
    """Solutions in the order of the alphas; descending alphas make good warm starts.

    Without a penalty, or with the ridge, one decomposition of the rows serves more than one alpha; where the rows are
    too many and too wide for that, each solution starts the next one.
    """
    if settings.is_sparse:
        yield from _sparse_path(quotient, alphas, settings)
    elif settings.penalty is None:
        yield settings.solve(quotient)
    else:
        yield from _ridge_path(quotient, alphas, settings)


def _ridge_path(
    quotient: LeastSquaresQuotient, alphas: Sequence[float] | np.ndarray, settings: Settings
) -> Iterator[Solution]:
    shifted = [quotient.shifted(alpha) for alpha in alphas]
    iterates = choose(shifted[0], settings.request(), settings.solver).iterates
    if len(alphas) > 1 and not iterates:
        spectrum = decompose(quotient.rows)
        coordinates = spectrum.project(quotient.targets)
        yield from (solve_spectral(one, spectrum, coordinates, settings.n_components) for one in shifted)
        return
    start = None
    for one in shifted:
        solution = settings.solve(one, start)
        start = solution.vectors if iterates else None
        yield solution


def _sparse_path(
    quotient: LeastSquaresQuotient, alphas: Sequence[float] | np.ndarray, settings: Settings
) -> Iterator[Solution]:
    exact = settings.solve(quotient)
    targets = aligned_targets(quotient, exact)
    assert isinstance(quotient.rows, CentredRows)
    for fit in descend(Descent(quotient.rows, targets), alphas, quotient.shift, settings):
        yield penalised_solution(quotient, fit, exact.solver, settings.tol)


def descend(
    descent: Descent, alphas: Sequence[float] | np.ndarray, shift: float, settings: Settings
) -> Iterator[PenalisedFit]:
    """Penalised fits, each started from the one before."""
    start = None
    for alpha in alphas:
        fit = descent.solve(settings.penalty_of(alpha, shift), start, settings.tol, settings.max_iter)
        start = fit.vectors
        yield fit
