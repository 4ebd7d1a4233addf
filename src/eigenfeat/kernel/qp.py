"""The kernel problem as a quadratic program, solved by our interior point.

With a quadratic penalty the dual is solved (x = τ, the multipliers of the rows), with the sparse penalty the
primal (x = α)::

    function:      min ½ τᵀ(K/alpha)τ   - yᵀτ + Σ (wℓ)*(τ),   1ᵀτ = 0,   α = τ/alpha
    coefficients:  min ½ τᵀ(K²/alpha)τ  - yᵀτ + Σ (wℓ)*(τ),   1ᵀτ = 0,   α = Kτ/alpha
    sparse:        min ½ (y - Kα)ᵀΩ(y - Kα) + alpha‖α‖₁       (squared; a bound adds cw‖u‖₁ and y - u for y)

where (wℓ)* is the conjugate of the weighted loss (`eigenfeat.kernel.losses`) and Ω the weights, centred to
eliminate the intercept. Over centres or with invariances K/alpha gives way to Φ(alpha·I + T)⁻¹Φᵀ, Φ the design of
`eigenfeat.kernel.basis`, and the columns of K to those of the centres.

References
----------
S. Mika, "Kernel Fisher Discriminants", 2002, sections 3.4 and 3.5.5, appendix A.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from eigenfeat.kernel.basis import basis_of
from eigenfeat.kernel.curvatures import DenseCurvature, ResidualCurvature
from eigenfeat.kernel.interior_point import InteriorPoint, minimise, polish
from eigenfeat.kernel.needs import NO_ROBUST_SPARSE_INVARIANCES, PARABOLIC_LOSS, QUADRATIC_PROGRAM
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.separable_program import SeparableProgram
from eigenfeat.kernel.used_rows import UsedRows
from eigenfeat.solvers.contract import Solver
from eigenfeat.stages.kernels import KernelRows


def solve(problem: KernelProblem, request: KernelRequest = DEFAULTS) -> KernelSolution:
    """Solve by the interior point; one run a target column, all on the same kernel matrix.

    Parameters
    ----------
    problem : KernelProblem
    request : KernelRequest
        ``tol`` (1e-8) bounds the relative duality gap and residuals, ``max_iter`` (100) counts iterations a target
        column; each factors an n × n matrix.
    """
    wanted = request.filled(tol=1e-8, max_iter=100)
    used = UsedRows.of(problem)
    method = _sparse if problem.penalty == "sparse" else _dual if is_plain(problem) else _dual_of_basis
    coefficients, outputs, penalty, points = method(used.problem, wanted.tol, wanted.max_iter)
    return used.solution(
        coefficients,
        outputs,
        penalty,
        converged=all(point.converged for point in points),
        n_iter=max(point.n_iter for point in points),
        solver="qp",
    )


_Parts = tuple[np.ndarray, np.ndarray, np.ndarray, list[InteriorPoint]]


def is_plain(problem: KernelProblem) -> bool:
    """Over all rows, without invariances: the kernel matrix itself is the curvature."""
    return problem.centers is None and not problem.invariances


def _multipliers(problem: KernelProblem, quadratic: np.ndarray, tol: float, max_iter: int) -> list[InteriorPoint]:
    """τ of every target: the dual with this Q."""
    loss, w = problem.loss, problem.weights
    curvature, tube = DenseCurvature(quadratic), np.full(len(w), loss.tube)
    points = []
    for y in problem.targets.T:
        program = SeparableProgram(curvature, y, loss.curvature / w, tube, loss.bound * w, balanced=True)
        point = minimise(program, tol=tol, max_iter=max_iter)
        # Only a tube makes zeros to be exact about.
        points.append(polish(program, point, quadratic) if loss.tube else point)
    return points


def _dual(problem: KernelProblem, tol: float, max_iter: int) -> _Parts:
    kernel = problem.kernel.matrix()
    function = problem.penalty == "function"
    quadratic = kernel / problem.alpha if function else kernel @ kernel.T / problem.alpha
    points = _multipliers(problem, quadratic, tol, max_iter)
    tau = np.column_stack([point.x for point in points])
    if function:
        coefficients = tau / problem.alpha
        outputs = kernel @ coefficients
        return coefficients, outputs, np.einsum("ij,ij->j", coefficients, outputs) / 2, points
    coefficients = kernel.T @ tau / problem.alpha
    return coefficients, kernel @ coefficients, (coefficients**2).sum(axis=0) / 2, points


def _dual_of_basis(problem: KernelProblem, tol: float, max_iter: int) -> _Parts:
    """Over centres or with invariances: Q = Φ(alpha·I + T)⁻¹Φᵀ in the coordinates θ of `eigenfeat.kernel.basis`."""
    basis = basis_of(problem)
    factor = cholesky(basis.penalty(problem.alpha, problem.invariance), lower=True)
    half = solve_triangular(factor, basis.design.T, lower=True)
    points = _multipliers(problem, half.T @ half, tol, max_iter)
    tau = np.column_stack([point.x for point in points])
    theta = solve_triangular(factor, half @ tau, lower=True, trans=1)
    return basis.coefficients(theta), basis.design @ theta, (theta**2).sum(axis=0) / 2, points


class SparsePrograms:
    """The programs of the sparse penalty over any of the kernel columns, of which equal ones are taken once.

    Coefficients of equal columns could be shared out in any way, and few terms are wanted.
    """

    def __init__(self, problem: KernelProblem) -> None:
        self.problem = problem
        kernel = problem.kernel
        self.distinct = KernelRows(kernel.kernel, kernel.points(problem.expanded_over)).distinct()
        self.columns = np.ascontiguousarray(problem.columns()[:, self.distinct])
        self.weights = problem.weights / problem.loss.curvature
        self.quadratic: np.ndarray | None = None
        if problem.loss.is_quadratic:
            centred = self.columns - self.weights @ self.columns / self.weights.sum()
            self.quadratic = centred.T @ (self.weights[:, None] * centred)
            if problem.invariance is not None:
                self.quadratic += problem.invariance[np.ix_(self.distinct, self.distinct)]

    def solved(
        self, y: np.ndarray, alpha: float, tol: float, max_iter: int, chosen: np.ndarray | None = None
    ) -> tuple[np.ndarray, InteriorPoint]:
        """Coefficients of the chosen columns, of all by default, at the optimum over these."""
        columns = self.columns if chosen is None else np.ascontiguousarray(self.columns[:, chosen])
        q = columns.shape[1]
        residual = ResidualCurvature(columns, self.weights)
        rows, tube = residual.centred(y), np.full(q, alpha)
        linear, matrix = columns.T @ rows, None
        curvature: DenseCurvature | ResidualCurvature = residual
        if self.quadratic is not None:
            matrix = self.quadratic if chosen is None else np.ascontiguousarray(self.quadratic[np.ix_(chosen, chosen)])
            curvature = DenseCurvature(matrix)
        else:
            linear = np.concatenate([linear, rows])
            tube = np.concatenate([tube, self.problem.loss.bound * self.problem.weights])
        size = len(linear)
        program = SeparableProgram(curvature, linear, np.zeros(size), tube, np.full(size, np.inf), balanced=False)
        point = polish(program, minimise(program, tol=tol, max_iter=max_iter), matrix)
        return point.x[:q], point

    def expanded(self, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients of the distinct columns over the whole expansion."""
        full = np.zeros((self.problem.expanded_over.shape[0], coefficients.shape[1]))
        full[self.distinct] = coefficients
        return full


def _sparse(problem: KernelProblem, tol: float, max_iter: int) -> _Parts:
    programs = SparsePrograms(problem)
    found = [programs.solved(y, problem.alpha, tol, max_iter) for y in problem.targets.T]
    short = np.column_stack([x for x, _ in found])
    return (
        programs.expanded(short),
        programs.columns @ short,
        np.abs(short).sum(axis=0),
        [point for _, point in found],
    )


SOLVER = Solver("qp", solve, (PARABOLIC_LOSS, QUADRATIC_PROGRAM, NO_ROBUST_SPARSE_INVARIANCES))
