"""The kernel problem as a quadratic program, solved by our interior point.

With a quadratic penalty the dual is solved (x = τ, the multipliers of the rows), with the sparse penalty the
primal (x = α)::

    function:      min ½ τᵀ(K/alpha)τ   - yᵀτ + Σ (wℓ)*(τ),   1ᵀτ = 0,   α = τ/alpha
    coefficients:  min ½ τᵀ(K²/alpha)τ  - yᵀτ + Σ (wℓ)*(τ),   1ᵀτ = 0,   α = Kτ/alpha
    sparse:        min ½ (y - Kα)ᵀΩ(y - Kα) + alpha‖α‖₁       (squared; a bound adds cw‖u‖₁ and y - u for y)

where (wℓ)* is the conjugate of the weighted loss (`eigenfeat.kernel.losses`) and Ω the weights, centred to
eliminate the intercept.

References
----------
S. Mika, "Kernel Fisher Discriminants", 2002, sections 3.4 and 3.5.5, appendix A.
"""

from __future__ import annotations

import numpy as np

from eigenfeat.kernel.curvatures import DenseCurvature, ResidualCurvature
from eigenfeat.kernel.interior_point import InteriorPoint, minimise, polish
from eigenfeat.kernel.needs import ALL_ROWS, QUADRATIC_PROGRAM
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.separable_program import SeparableProgram
from eigenfeat.kernel.used_rows import UsedRows
from eigenfeat.solvers.contract import Solver


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
    problem = used.problem
    method = _sparse if problem.penalty == "sparse" else _dual
    coefficients, outputs, penalty, points = method(problem, problem.kernel.matrix(), wanted.tol, wanted.max_iter)
    return used.solution(
        coefficients,
        outputs,
        penalty,
        converged=all(point.converged for point in points),
        n_iter=max(point.n_iter for point in points),
        solver="qp",
    )


_Parts = tuple[np.ndarray, np.ndarray, np.ndarray, list[InteriorPoint]]


def _dual_programs(problem: KernelProblem, curvature: DenseCurvature) -> list[SeparableProgram]:
    loss, w = problem.loss, problem.weights
    return [
        SeparableProgram(
            curvature,
            y,
            loss.curvature / w,
            np.full(len(w), loss.tube),
            loss.bound * w,
            balanced=True,
        )
        for y in problem.targets.T
    ]


def _dual(problem: KernelProblem, kernel: np.ndarray, tol: float, max_iter: int) -> _Parts:
    function = problem.penalty == "function"
    quadratic = kernel / problem.alpha if function else kernel @ kernel.T / problem.alpha
    points = []
    for program in _dual_programs(problem, DenseCurvature(quadratic)):
        point = minimise(program, tol=tol, max_iter=max_iter)
        # Only a tube makes zeros to be exact about.
        points.append(polish(program, point, quadratic) if program.tube.any() else point)
    tau = np.column_stack([point.x for point in points])
    if function:
        coefficients = tau / problem.alpha
        outputs = kernel @ coefficients
        return coefficients, outputs, np.einsum("ij,ij->j", coefficients, outputs) / 2, points
    coefficients = kernel.T @ tau / problem.alpha
    return coefficients, kernel @ coefficients, (coefficients**2).sum(axis=0) / 2, points


def _sparse(problem: KernelProblem, kernel: np.ndarray, tol: float, max_iter: int) -> _Parts:
    """One coefficient for rows that are equal: theirs could be shared out in any way, and few terms are wanted."""
    loss, weights = problem.loss, problem.weights / problem.loss.curvature
    distinct = problem.kernel.distinct()
    columns = np.ascontiguousarray(kernel[:, distinct])
    q = len(distinct)
    residual = ResidualCurvature(columns, weights)
    if loss.is_quadratic:
        centred = columns - weights @ columns / weights.sum()
        quadratic = centred.T @ (weights[:, None] * centred)
        curvature: DenseCurvature | ResidualCurvature = DenseCurvature(quadratic)
        tube = np.full(q, problem.alpha)
    else:
        curvature = residual
        tube = np.concatenate([np.full(q, problem.alpha), loss.bound * problem.weights])
    points = []
    for y in problem.targets.T:
        rows = residual.centred(y)
        linear = columns.T @ rows if loss.is_quadratic else np.concatenate([columns.T @ rows, rows])
        size = len(linear)
        program = SeparableProgram(curvature, linear, np.zeros(size), tube, np.full(size, np.inf), balanced=False)
        point = minimise(program, tol=tol, max_iter=max_iter)
        points.append(polish(program, point, quadratic if loss.is_quadratic else None))
    coefficients = np.zeros(problem.targets.shape)
    coefficients[distinct] = np.column_stack([point.x[:q] for point in points])
    return coefficients, kernel @ coefficients, np.abs(coefficients).sum(axis=0), points


SOLVER = Solver("qp", solve, (QUADRATIC_PROGRAM, ALL_ROWS))
