"""What the solvers of kernel problems may ask of a problem."""

from __future__ import annotations

import numpy as np

from eigenfeat.kernel.problem import KernelProblem, KernelRequest
from eigenfeat.solvers.contract import Requirement


def has_half_square(problem: KernelProblem, request: KernelRequest) -> bool:
    return problem.loss.is_half_square


def has_piecewise_linear_loss(problem: KernelProblem, request: KernelRequest) -> bool:
    return problem.loss.is_piecewise_linear


def has_parabolic_loss(problem: KernelProblem, request: KernelRequest) -> bool:
    return problem.loss.is_parabolic


def has_smooth_loss(problem: KernelProblem, request: KernelRequest) -> bool:
    return problem.loss.is_smooth


def has_quadratic_penalty(problem: KernelProblem, request: KernelRequest) -> bool:
    return problem.penalty in ("function", "coefficients")


def has_function_penalty(problem: KernelProblem, request: KernelRequest) -> bool:
    return problem.penalty == "function"


def has_sparse_penalty(problem: KernelProblem, request: KernelRequest) -> bool:
    return problem.penalty == "sparse"


def is_quadratic_program(problem: KernelProblem, request: KernelRequest) -> bool:
    return has_quadratic_penalty(problem, request) or problem.loss.is_smooth


def expands_over_all_rows(problem: KernelProblem, request: KernelRequest) -> bool:
    return problem.centers is None and not problem.invariances


def has_no_invariances(problem: KernelProblem, request: KernelRequest) -> bool:
    return not problem.invariances


def qp_takes_invariances(problem: KernelProblem, request: KernelRequest) -> bool:
    return not problem.invariances or has_quadratic_penalty(problem, request) or problem.loss.is_quadratic


def has_two_valued_targets(problem: KernelProblem, request: KernelRequest) -> bool:
    return all(len(np.unique(column)) == 2 for column in problem.targets.T)


def is_column_by_column(problem: KernelProblem, request: KernelRequest) -> bool:
    return problem.classes is None


SQUARED_LOSS = Requirement(has_half_square, "loss 'squared'")
PIECEWISE_LINEAR_LOSS = Requirement(
    has_piecewise_linear_loss, "a piecewise linear loss ('absolute', 'epsilon': conjugates without curvature)"
)
PARABOLIC_LOSS = Requirement(
    has_parabolic_loss, "a loss of parabolas and lines (all names but 'polynomial' and 'piecewise')"
)
SMOOTH_LOSS = Requirement(has_smooth_loss, "a loss without kinks ('squared', 'huber', 'polynomial', 'piecewise')")
QUADRATIC_PENALTY = Requirement(has_quadratic_penalty, "a quadratic penalty ('function' or 'coefficients')")
FUNCTION_PENALTY = Requirement(has_function_penalty, "penalty 'function'")
SPARSE_PENALTY = Requirement(has_sparse_penalty, "penalty 'sparse'")
QUADRATIC_PROGRAM = Requirement(
    is_quadratic_program,
    "a quadratic penalty, or a loss without kinks ('squared', 'huber') beside the penalty 'sparse'",
)
ALL_ROWS = Requirement(expands_over_all_rows, "an expansion over all rows (no centers, n_centers or invariances)")
COLUMN_BY_COLUMN = Requirement(is_column_by_column, "a problem a class (multi_class='one-vs-rest')")
NO_INVARIANCES = Requirement(has_no_invariances, "no invariances")
NO_ROBUST_SPARSE_INVARIANCES = Requirement(
    qp_takes_invariances, "no invariances, or with the penalty 'sparse' the loss 'squared' beside them"
)
TWO_VALUED_TARGETS = Requirement(
    has_two_valued_targets, "targets of two values, as classes have (real targets: 'linear' solves the same problem)"
)
