"""Squared loss over a restricted expansion (thesis 3.57): least squares in the coefficients of the centres.

The problem is solved in coordinates θ in which the penalty is ½‖θ‖²: for ½αᵀKα a pivoted Cholesky factor of the
centres' kernel matrix, K[p, p] = LLᵀ, gives the design Φ = K(rows, p) L⁻ᵀ and α[p] = L⁻ᵀθ. Centres that add
nothing to the span are dropped there, so a singular kernel matrix needs no jitter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import get_lapack_funcs, solve_triangular

from eigenfeat.kernel import leave_one_out
from eigenfeat.kernel.inverses import shifted_inverses
from eigenfeat.kernel.problem import KernelProblem, KernelSolution

SOLVES = frozenset({("squared", "function"), ("squared", "coefficients")})


def solve(problem: KernelProblem) -> KernelSolution:
    """The exact solution over the centres."""
    return next(path(problem, [problem.alpha]))


def path(problem: KernelProblem, alphas: Sequence[float]) -> Iterator[KernelSolution]:
    """The solution at every alpha, in the order given, from one kernel block.

    Centres are taken as given, so the leave-one-out outputs keep them all. The full expansion with ½‖α‖² is
    the exception (a row left out takes its function along), and ``linear`` is the solver for it.
    """
    basis = _basis(problem)
    y = problem.targets
    w = problem.weights.astype(basis.design.dtype)
    mean_y = w @ y / w.sum()
    mean_design = w @ basis.design / w.sum()
    design = basis.design
    design -= mean_design
    gram = design.T @ (w[:, None] * design)
    moment = design.T @ (w[:, None] * (y - mean_y))
    if problem.invariance is not None:
        gram += basis.congruent(problem.invariance)
    share = leave_one_out.left_out_share(problem.copies, len(y))
    loo_is_exact = problem.penalty == "function" or problem.centers is not None
    for alpha, inverse in shifted_inverses(gram, alphas, len(y)):
        theta = inverse.solve(moment)
        outputs = design @ theta + mean_y
        slack = 1 - w * (inverse.quadratic(design) + 1 / w.sum())
        coefficients = basis.coefficients(theta)
        objective = w @ (y - outputs) ** 2 / 2 + alpha * np.einsum("ij,ij->j", theta, theta) / 2
        if problem.invariance is not None:
            objective += np.einsum("ij,ij->j", coefficients, problem.invariance @ coefficients) / 2
        yield KernelSolution(
            basis.full_length(coefficients, problem),
            mean_y - mean_design @ theta,
            objective,
            True,
            1,
            "subset",
            outputs=outputs,
            loo_outputs=leave_one_out.without_row(y, outputs, slack, share) if loo_is_exact else None,
        )


@dataclass(frozen=True, eq=False)
class Basis:
    """A design whose coefficients θ have penalty ½‖θ‖², and the way back to α."""

    design: np.ndarray
    n_centers: int
    chosen: np.ndarray | None = None
    factor: np.ndarray | None = None

    def coefficients(self, theta: np.ndarray) -> np.ndarray:
        """α of θ."""
        if self.factor is None:
            return theta
        alpha = np.zeros((self.n_centers, theta.shape[1]), dtype=theta.dtype)
        alpha[self.chosen] = solve_triangular(self.factor, theta, lower=True, trans=1, check_finite=False)
        return alpha

    def congruent(self, matrix: np.ndarray) -> np.ndarray:
        """A quadratic form in α as one in θ."""
        if self.factor is None or self.chosen is None:
            return matrix
        half = solve_triangular(self.factor, matrix[np.ix_(self.chosen, self.chosen)], lower=True)
        return solve_triangular(self.factor, half.T, lower=True)

    def full_length(self, coefficients: np.ndarray, problem: KernelProblem) -> np.ndarray:
        """α over all rows when the centres are rows."""
        if problem.centers is None or problem.centers.ndim == 2:
            return coefficients
        full = np.zeros((len(problem.kernel), coefficients.shape[1]), dtype=coefficients.dtype)
        full[problem.centers] = coefficients
        return full


def _basis(problem: KernelProblem) -> Basis:
    kernel = problem.kernel
    centers = np.arange(len(kernel)) if problem.centers is None else problem.centers
    K = kernel.columns(centers)
    if problem.penalty == "coefficients":
        return Basis(K, centers.shape[0])
    chosen, factor = pivoted_cholesky(kernel.between(centers))
    design = solve_triangular(factor, K[:, chosen].T, lower=True, overwrite_b=True, check_finite=False).T
    return Basis(design, centers.shape[0], chosen, factor)


def pivoted_cholesky(K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows p and a lower factor L with ``K[p, p] = LLᵀ``, as many as K has numerical rank."""
    (factorise,) = get_lapack_funcs(("pstrf",), (K,))
    factor, pivots, rank, _ = factorise(K.T, tol=4 * len(K) * np.finfo(K.dtype).eps * K.diagonal().max(), lower=1)
    return pivots[:rank] - 1, np.tril(factor[:rank, :rank])
