"""The solvers of least squares: a table of them, and one verb."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from sklearn.exceptions import ConvergenceWarning

from eigenfeat.least_squares.block_cg import solve_block_cg
from eigenfeat.least_squares.direct import solve_dual, solve_primal
from eigenfeat.least_squares.forms import RowScatter, TargetScatter
from eigenfeat.least_squares.lsqr import solve_lsqr
from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.rows import CentredRows
from eigenfeat.least_squares.second_stage import eigenvectors
from eigenfeat.least_squares.solution import LeastSquaresRequest, Regression, Solution
from eigenfeat.least_squares.spectrum import SVD_LIMIT, solve_eigen
from eigenfeat.quotients import Quotient
from eigenfeat.solvers.contract import SIGNAL_FACTOR, Requirement, Solver, SolverTable, Test, always, never

# Above this size of the smaller Gram matrix, "auto" prefers not to form it.
GRAM_LIMIT = 8_000

Regress = Callable[[LeastSquaresQuotient, LeastSquaresRequest], Regression]


# ---------------------------------------------------------------------- what a problem has


def is_over_rows(quotient: Quotient, request: LeastSquaresRequest) -> bool:
    S, N = quotient.signal, quotient.noise
    return isinstance(S, TargetScatter) and isinstance(N, RowScatter) and S.rows is N.rows


def has_columns(quotient: Quotient, request: LeastSquaresRequest) -> bool:
    return isinstance(quotient.noise, RowScatter) and isinstance(quotient.noise.rows, CentredRows)


ROWS = Requirement(is_over_rows, "signal and noise over the same centred rows")
COLUMNS = Requirement(has_columns, "rows with columns to weigh, not a kernel's (kernel=None)")


# ---------------------------------------------------------------------- what suits it


def _is_small_dense_without_ridge(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> bool:
    if not has_columns(quotient, request) or quotient.shift > 0:
        return False
    return not quotient.rows.is_sparse and min(quotient.rows.shape) <= SVD_LIMIT


def _is_large_sparse(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> bool:
    return has_columns(quotient, request) and quotient.rows.is_sparse and min(quotient.rows.shape) > GRAM_LIMIT


def _is_tall(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> bool:
    return has_columns(quotient, request) and quotient.rows.shape[1] <= quotient.rows.shape[0]


# ---------------------------------------------------------------------- the solvers


@dataclass(frozen=True)
class LeastSquaresSolver(Solver):
    """A solver that says whether it iterates.

    One that does decomposes nothing: each solution on a path is found anew, from the one before where it can start
    there.
    """

    iterates: bool = False


def _by_regression(
    name: str, regress: Regress, needs: tuple[Requirement, ...], suits: Test = always, iterates: bool = False
) -> Solver:
    """A solver that regresses H on the rows, and rotates the result to eigenvectors."""

    def run(quotient: LeastSquaresQuotient, request: LeastSquaresRequest) -> Solution:
        regression = regress(quotient, request)
        _warn_of_targets(regression, request)
        return eigenvectors(quotient, regression, request, name)

    return LeastSquaresSolver(name, run, needs, suits, iterates)


OF_ANY_ROWS = (SIGNAL_FACTOR, ROWS)
OF_COLUMNS = (*OF_ANY_ROWS, COLUMNS)

#: In the order "auto" tries them; see `choose`.
SOLVERS = SolverTable(
    (
        LeastSquaresSolver("eigen", solve_eigen, OF_ANY_ROWS, suits=_is_small_dense_without_ridge),
        _by_regression("block_cg", solve_block_cg, OF_COLUMNS, suits=_is_large_sparse, iterates=True),
        _by_regression("primal", solve_primal, OF_COLUMNS, suits=_is_tall),
        _by_regression("dual", solve_dual, OF_ANY_ROWS),
        _by_regression("lsqr", solve_lsqr, OF_COLUMNS, suits=never, iterates=True),
    ),
    describe=lambda quotient: f"quotient {quotient.label!r}",
)


def choose(quotient: Quotient, request: LeastSquaresRequest, solver: str = "auto") -> LeastSquaresSolver:
    """The solver "auto" takes: the first that the problem meets the needs of and that suits it.

    ==========  ==================================================================
    solver      problem
    ==========  ==================================================================
    eigen       dense X, no ridge, min(n, d) <= 600
    block_cg    sparse X, min(n, d) > 8,000
    primal      d <= n
    dual        n < d, and the rows of a kernel
    lsqr        none: it is there to be asked for
    ==========  ==================================================================
    """
    return cast(LeastSquaresSolver, SOLVERS.choose(solver, quotient, request))


def solve(quotient: Quotient, solver: str = "auto", request: LeastSquaresRequest | None = None) -> Solution:
    """Directions of nonzero eigenvalue, strongest first, scaled so that ``Wᵀ(AᵀA + shift·I)W = I``.

    Every solver gives the same directions; they differ in time, memory and, for the iterative ones, in a tolerance.

    Parameters
    ----------
    quotient : LeastSquaresQuotient
        Of `eigenfeat.least_squares.quotient.pose`.
    solver : {"auto", "eigen", "primal", "dual", "block_cg", "lsqr"}
    request : LeastSquaresRequest, optional
        How many directions, and how exact.
    """
    request = request or LeastSquaresRequest()
    return choose(quotient, request, solver).solve(quotient, request)


def _warn_of_targets(regression: Regression, request: LeastSquaresRequest) -> None:
    missed = int((~regression.converged).sum())
    if missed:
        warnings.warn(
            f"{missed} of {len(regression.converged)} targets did not reach tol={request.tol:g} in "
            f"max_iter={request.max_iter} iterations: raise max_iter; a larger alpha or ridge converges sooner.",
            ConvergenceWarning,
            stacklevel=4,
        )
