"""Squared loss over the full expansion as one linear system (thesis 3.63, 3.64), for a whole path of alpha.

With D = diag(√w), d = D1 and P the penalty's matrix (K or I), both systems are

    [S + alpha·I  d] [γ]   [D y]
    [     dᵀ      0] [b] = [ 0 ],     S = D K P⁻¹ K D,     α = P⁻¹ K D γ,

so S is DKD for ½‖w‖² and D K² D for ½‖α‖²; the residuals are alpha D⁻¹γ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from eigenfeat.kernel import leave_one_out, subset
from eigenfeat.kernel.inverses import ShiftedInverse, shifted_inverses
from eigenfeat.kernel.needs import ALL_ROWS, QUADRATIC_PENALTY, SQUARED_LOSS
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.solvers.contract import Solver

#: Above this many rows the n × n system (n² numbers, n³/3 operations) gives way to a restricted expansion. A limit of
#: time and memory (6 s, 256 MB in float32 on one core, benchmarks/speed/constants.py): all rows are more accurate.
MAX_ROWS = 8000


def solve(problem: KernelProblem, request: KernelRequest = DEFAULTS) -> KernelSolution:
    """The exact solution."""
    return next(path(problem, [problem.alpha]))


def path(problem: KernelProblem, alphas: Sequence[float]) -> Iterator[KernelSolution]:
    """The solution at every alpha, in the order given, from one kernel matrix."""
    if min(alphas) <= 0:
        # Residuals are alpha times γ: the dual has no limit at zero, the least squares problem has.
        yield from subset.path(problem, alphas)
        return
    K = problem.kernel.matrix()
    d = np.sqrt(problem.weights).astype(K.dtype)
    of_coefficients = problem.penalty == "coefficients"
    KD, DKD = (K, K) if (d == 1).all() else (K * d, d[:, None] * K * d)
    S = KD.T @ KD if of_coefficients else DKD
    n_probes = 3 * len(K) if of_coefficients else len(K) // 3
    for alpha, inverse in shifted_inverses(S, alphas, n_probes):
        yield _solution(problem, alpha, inverse, d, KD if of_coefficients else None)


def _solution(
    problem: KernelProblem, alpha: float, inverse: ShiftedInverse, d: np.ndarray, KD: np.ndarray | None
) -> KernelSolution:
    y, w = problem.targets, problem.weights
    z = inverse.solve(d[:, None])[:, 0]
    c = d @ z
    Dy = d[:, None] * y
    intercept = z @ Dy / c
    gamma = inverse.solve(Dy) - np.outer(z, intercept)
    coefficients = d[:, None] * gamma if KD is None else KD @ gamma

    residuals = np.divide(alpha * gamma, d[:, None], out=np.zeros_like(gamma), where=d[:, None] > 0)
    unused = np.flatnonzero(d == 0)
    if unused.size:
        K = problem.kernel.block(unused, np.arange(len(y)))
        residuals[unused] = y[unused] - K @ coefficients - intercept
    outputs = y - residuals

    diagonal = inverse.diagonal() - z**2 / c
    slack = np.where(w > 0, alpha * diagonal, 1.0)
    share = leave_one_out.left_out_share(problem.copies, len(y))
    if KD is None:
        loo_outputs = leave_one_out.without_row(y, outputs, slack, share)
        penalty = np.einsum("ij,ij->j", coefficients, outputs - intercept)
    else:
        Kz = KD @ z
        root = np.where(d > 0, d, 1)
        loo_outputs = leave_one_out.without_row_and_basis(
            y,
            outputs,
            slack,
            share,
            weights=w,
            coefficients=coefficients,
            gain=(inverse.cross_diagonal(KD) - Kz * z / c) / root,
            variance=(1 - inverse.quadratic(KD) + Kz**2 / c) / alpha,
        )
        penalty = np.einsum("ij,ij->j", coefficients, coefficients)
    objective = w @ residuals**2 / 2 + alpha * penalty / 2
    return KernelSolution(
        coefficients, intercept, objective, True, 1, "linear", outputs=outputs, loo_outputs=loo_outputs
    )


def is_small(problem: KernelProblem, request: KernelRequest) -> bool:
    return problem.n_rows <= MAX_ROWS


SOLVER = Solver("linear", solve, (SQUARED_LOSS, QUADRATIC_PENALTY, ALL_ROWS), suits=is_small)
