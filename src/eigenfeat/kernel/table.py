"""Which solver solves which problem: the one place where that is decided.

Every solver says itself what it needs (`eigenfeat.kernel.needs`) and when "auto" should take it; "auto" takes the first
of this order that can run and suits.

=====================================  =====================================================
problem                                what "auto" takes
=====================================  =====================================================
squared, quadratic penalty, centres    subset while the kernel block has at most 2·10⁸ values
                                       (and with invariances always), else nystrom
squared, quadratic penalty, all rows   linear up to 8,000 rows; beyond, centres are drawn
other loss, "function"                 smo; qp over centres and with invariances
other loss, "coefficients"             qp
squared or huber, "sparse"             qp
absolute or epsilon, "sparse"          lp up to 500 rows and over centres, column_generation beyond
polynomial or piecewise, quadratic P   newton, the only one that can
classes jointly                        eigen, the only one that can
=====================================  =====================================================
"""

from __future__ import annotations

from dataclasses import replace

from eigenfeat.kernel import (
    column_generation,
    eigen,
    greedy,
    greedy_smo,
    linear,
    lp,
    newton,
    nystrom,
    qp,
    smo,
    subset,
)
from eigenfeat.kernel.losses import named
from eigenfeat.kernel.needs import COLUMN_BY_COLUMN
from eigenfeat.kernel.problem import KernelProblem, KernelRequest
from eigenfeat.solvers.contract import Solver, SolverTable


def described(problem: KernelProblem) -> str:
    """A problem in the words of an estimator's parameters."""
    words = f"loss={named(problem.loss)} with penalty={problem.penalty!r}"
    if problem.classes is not None:
        words = f"the joint eigenproblem of all classes, {words},"
    if problem.invariances:
        return f"{words} and invariances"
    return words if problem.centers is None else f"{words} over {problem.centers.shape[0]} centers"


def by_columns(solver: Solver) -> Solver:
    """A solver that takes the columns of the targets one by one, and says so of classes to be told apart jointly."""
    return replace(solver, requires=(*solver.requires, COLUMN_BY_COLUMN))


#: In the order "auto" tries them.
SOLVERS = SolverTable(
    (
        by_columns(subset.SOLVER),
        by_columns(linear.SOLVER),
        by_columns(nystrom.SOLVER),
        by_columns(smo.SOLVER),
        by_columns(qp.SOLVER),
        by_columns(lp.SOLVER),
        by_columns(column_generation.SOLVER),
        by_columns(newton.SOLVER),
        eigen.SOLVER,
        by_columns(greedy.SOLVER),
        by_columns(greedy_smo.SOLVER),
    ),
    describe=described,
)


def draws_centers(name: str | None, problem: KernelProblem, request: KernelRequest) -> bool:
    """Whether a restricted expansion is to be drawn though none was asked for.

    "nystrom" is about nothing else, "subset" neither unless there are invariances, and "auto" restricts a squared loss
    with a quadratic penalty where the full system is too large. Without a solver (None) nothing is drawn.
    """
    if name == "nystrom" or (name == "subset" and not problem.invariances):
        return True
    least_squares = not subset.SOLVER.unmet(problem, request)
    return least_squares and name in ("auto", "subset") and not linear.SOLVER.suits(problem, request)
