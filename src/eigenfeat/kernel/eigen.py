"""Squared loss through the Rayleigh coefficient itself (thesis 3.31): directions first, scale and offset after."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from eigenfeat.kernel import leave_one_out
from eigenfeat.kernel.basis import Basis, basis_of, full_length
from eigenfeat.kernel.needs import QUADRATIC_PENALTY, SQUARED_LOSS, TWO_VALUED_TARGETS
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.scatter import between_factor, class_means, within_scatter
from eigenfeat.moments.forms import DenseForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers import Directions
from eigenfeat.solvers import solve as solve_quotients
from eigenfeat.solvers.contract import Solver


def solve(problem: KernelProblem, request: KernelRequest = DEFAULTS) -> KernelSolution:
    """The minimiser of every two-class column, or one function a class of classes that are told apart jointly."""
    if problem.classes is None:
        return _by_columns(problem)
    return _jointly(problem, problem.classes)


def _by_columns(problem: KernelProblem) -> KernelSolution:
    """The direction of (3.31) for every column, scaled to the least squares optimum.

    Penalised least squares to two-valued targets points along the leading generalized eigenvector of M and
    N + alpha·P (3.2.1 in kernel space), so that only a scale and an offset are left to find.
    """
    basis = basis_of(problem)
    penalty = basis.penalty(problem.alpha, problem.invariance)
    w = problem.weights
    columns = []
    for y in problem.targets.T:
        codes = (y > (y.min() + y.max()) / 2).astype(int)
        v = discriminants(basis.design, codes, w, penalty, 1).toarray()[:, 0]
        g = basis.design @ v
        g_mean, y_mean = w @ g / w.sum(), w @ y / w.sum()
        scale = w @ ((g - g_mean) * (y - y_mean)) / (w @ (g - g_mean) ** 2 + v @ penalty @ v)
        outputs = scale * (g - g_mean) + y_mean
        objective = w @ (y - outputs) ** 2 / 2 + scale**2 * (v @ penalty @ v) / 2
        columns.append((scale * v, y_mean - scale * g_mean, objective, outputs))
    theta, intercept, objective, outputs = (np.stack(part, axis=-1) for part in zip(*columns))
    coefficients = full_length(basis.coefficients(theta), problem)
    return KernelSolution(coefficients, intercept, objective, True, 1, "eigen", outputs=outputs)


def _jointly(problem: KernelProblem, codes: np.ndarray) -> KernelSolution:
    """One discriminant function a class from the multi-class eigenproblem.

    In the space of the c - 1 discriminants, scaled to unit within-class variance, class c has mean ν_c; the
    function is ν_cᵀz - ½‖ν_c‖² + log prior, the log posterior of Gaussians with a common covariance.
    """
    basis, w = basis_of(problem), problem.weights
    n_classes = int(codes.max()) + 1
    penalty = basis.penalty(problem.alpha, problem.invariance)
    directions = discriminants(basis.design, codes, w, penalty, n_classes - 1)
    means, totals = class_means(basis.design, codes, w)
    mean = totals @ means / totals.sum()
    V = directions.toarray() * np.sqrt(max(w.sum() - n_classes, 1))
    projected = (means - mean) @ V
    theta = V @ projected.T
    priors = np.log(totals / totals.sum())
    intercept = priors - np.einsum("ij,ij->i", projected, projected) / 2 - mean @ theta
    return KernelSolution(
        full_length(basis.coefficients(theta), problem),
        intercept,
        np.full(n_classes, np.sum(directions.values)),
        directions.converged,
        1,
        "eigen",
        outputs=basis.design @ theta + intercept,
        loo_outputs=_left_out_jointly(problem, basis, codes, penalty),
    )


def _left_out_jointly(problem: KernelProblem, basis: Basis, codes: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """The functions of `_jointly` at every row fitted without it."""
    w, design = problem.weights.astype(np.float64), basis.design.astype(np.float64, copy=False)
    means, totals = class_means(design, codes, w)
    factor = cholesky(within_scatter(design, codes, w, means) + penalty, lower=True)
    rows = [design, *map(basis.coordinates, problem.tangents)]
    halves = np.stack([solve_triangular(factor, part.T, lower=True).T for part in rows])
    half_means = solve_triangular(factor, means.T, lower=True).T
    share = leave_one_out.left_out_share(problem.copies, len(w))
    half_basis = None
    if problem.penalty == "coefficients" and problem.centers is None:
        # A row that has no copies takes its coordinate along.
        half_basis = solve_triangular(factor, np.diag(np.where(share == 1, 1.0, 0.0)), lower=True).T
    return leave_one_out.without_row_of_its_class(halves, half_means, codes, share * w, totals, half_basis)


def discriminants(
    design: np.ndarray, codes: np.ndarray, weights: np.ndarray, penalty: np.ndarray, n_components: int
) -> Directions:
    """Leading directions of the between-class scatter over within-class scatter plus penalty."""
    means, totals = class_means(design, codes, weights)
    H = between_factor(means, totals)
    noise = within_scatter(design, codes, weights, means) + penalty
    quotient = Quotient(
        DenseForm(H @ H.T), DenseForm((noise + noise.T) / 2), signal_factor=H, references=H.T[::-1], label="KFD"
    )
    return solve_quotients([quotient], n_components, dtype=design.dtype)[0]


def is_joint(problem: KernelProblem, request: KernelRequest) -> bool:
    """Of single columns it has the same solution as "linear", which costs less and has leave-one-out outputs."""
    return problem.classes is not None


SOLVER = Solver("eigen", solve, (SQUARED_LOSS, QUADRATIC_PENALTY, TWO_VALUED_TARGETS), suits=is_joint)
