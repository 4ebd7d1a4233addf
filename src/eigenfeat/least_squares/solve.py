"""One verb for a least-squares problem: choose a solver, solve, rotate to eigenvectors."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from eigenfeat.least_squares.block_cg import solve_iterative
from eigenfeat.least_squares.direct import solve_dual, solve_primal
from eigenfeat.least_squares.problem import Problem, Solution, finish, orient
from eigenfeat.least_squares.rows import CentredRows
from eigenfeat.least_squares.second_stage import rayleigh_ritz
from eigenfeat.least_squares.spectrum import decompose, solve_spectral

SOLVERS = ("eigen", "primal", "dual", "lsqr")
# Above this size of the smaller Gram matrix, "auto" prefers not to form it.
GRAM_LIMIT = 8_000
# Up to this many columns or rows, the SVD of dense rows is quick enough to be preferred for its accuracy.
SVD_LIMIT = 600


def choose(problem: Problem) -> str:
    """The solver "auto" takes.

    ============================================================  ========
    problem                                                       solver
    ============================================================  ========
    kernel rows                                                   dual
    dense X, no ridge, min(n, d) <= 600                           eigen
    min(n, d) <= 8,000 or X dense, d <= n                         primal
    min(n, d) <= 8,000 or X dense, n < d                          dual
    larger sparse X                                               lsqr
    ============================================================  ========
    """
    rows = problem.rows
    if not isinstance(rows, CentredRows):
        return "dual"
    n, d = rows.shape
    if not rows.is_sparse and problem.shift == 0 and min(n, d) <= SVD_LIMIT:
        return "eigen"
    if rows.is_sparse and min(n, d) > GRAM_LIMIT:
        return "lsqr"
    return "primal" if d <= n else "dual"


def solve(
    problem: Problem,
    solver: str = "auto",
    *,
    n_components: int | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    start: np.ndarray | None = None,
) -> Solution:
    """Directions of nonzero eigenvalue, strongest first, scaled so that ``Wᵀ(AᵀA + shift·I)W = I``.

    Every solver gives the same directions; they differ in time, memory and, for "lsqr", in a tolerance.

    Parameters
    ----------
    problem : Problem
    solver : {"auto", "eigen", "primal", "dual", "lsqr"}
    n_components : int, optional
        How many of them; all by default.
    tol : float
        Relative residual of the normal equations at which "lsqr" stops.
    max_iter : int
        Its limit of iterations.
    start : (d, r) array, optional
        Where "lsqr" starts: any directions near the solution, such as those of a neighbouring shift.
    """
    name = choose(problem) if solver == "auto" else solver
    if name == "eigen":
        return solve_spectral(problem, decompose(problem.rows), n_components=n_components)
    n_iter, converged = 1, None
    if name == "lsqr":
        result = solve_iterative(problem, tol, max_iter, start)
        basis, n_iter = result.vectors, result.n_iter
        converged = result.residuals <= max(tol, 10 * float(np.finfo(basis.dtype).eps))
        _warn_of_targets(converged, max_iter, tol)
    else:
        basis = solve_primal(problem) if name == "primal" else solve_dual(problem)
    scores = problem.rows.times(basis)
    values, rotation = rayleigh_ritz(problem, basis, scores)
    values, rotation = values[:n_components].astype(basis.dtype), rotation[:, :n_components].astype(basis.dtype)
    vectors, scores = orient(problem, basis @ rotation, scores @ rotation)
    return finish(problem, vectors, scores, values, name, n_iter, converged)


def _warn_of_targets(converged: np.ndarray, max_iter: int, tol: float) -> None:
    if not converged.all():
        warnings.warn(
            f"{np.count_nonzero(~converged)} of {len(converged)} targets did not reach tol={tol:g} in "
            f"max_iter={max_iter} iterations: raise max_iter; a larger alpha or ridge converges sooner.",
            ConvergenceWarning,
            stacklevel=2,
        )
