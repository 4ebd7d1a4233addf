"""Which solver solves which loss with which penalty, and which one "auto" takes."""

from __future__ import annotations

import inspect
from types import ModuleType

from eigenfeat.kernel import (
    column_generation,
    eigen,
    greedy,
    greedy_smo,
    linear,
    lp,
    nystrom,
    qp,
    smo,
    subset,
)
from eigenfeat.kernel.problem import KernelProblem, KernelSolution

SOLVERS: dict[str, ModuleType] = {
    "eigen": eigen,
    "linear": linear,
    "subset": subset,
    "greedy": greedy,
    "nystrom": nystrom,
    "smo": smo,
    "greedy_smo": greedy_smo,
    "qp": qp,
    "lp": lp,
    "column_generation": column_generation,
}

# Solvers of a restricted expansion, and those whose cost in the number of rows is linear.
RESTRICTED = ("subset", "nystrom", "eigen")

# Above this many rows the n × n system (n² numbers, n³/3 operations) gives way to a restricted expansion.
MAX_FULL_ROWS = 8000
# Above this many kernel values the restricted system is solved by iteration over blocks of them.
MAX_SUBSET_ENTRIES = 200_000_000


def solvers_of(loss: str, penalty: str) -> list[str]:
    """Names of the solvers for this cell of the table."""
    return [name for name, module in SOLVERS.items() if (loss, penalty) in module.SOLVES]


def choose(loss: str, penalty: str, n_rows: int, n_centers: int | None, has_invariances: bool) -> str:
    """The solver "auto" takes.

    ===================================  ====================================================
    problem                              solver
    ===================================  ====================================================
    squared, quadratic penalty           linear up to 8,000 rows without centres; with centres
                                         (or invariances) subset, and nystrom when the kernel
                                         block has more than 2·10⁸ entries
    other loss, "function"               smo
    other loss, "coefficients"           qp
    squared or huber, "sparse"           qp
    absolute or epsilon, "sparse"        lp up to 500 rows, column_generation beyond
    ===================================  ====================================================
    """
    if loss == "squared" and penalty != "sparse":
        if has_invariances:
            return "subset"
        if n_centers is None:
            return "linear" if n_rows <= MAX_FULL_ROWS else "nystrom"
        return "subset" if n_rows * n_centers <= MAX_SUBSET_ENTRIES else "nystrom"
    if penalty == "function":
        return "smo"
    if penalty == "coefficients" or loss in ("squared", "huber"):
        return "qp"
    return "lp" if n_rows <= 500 else "column_generation"


def check_cell(solver: str, loss: str, penalty: str) -> None:
    """Refuse a cell of the table that is empty, naming those that are not."""
    if (loss, penalty) in SOLVERS[solver].SOLVES:
        return
    solved = ", ".join(f"{a} with {b}" for a, b in sorted(SOLVERS[solver].SOLVES))
    raise ValueError(
        f"solver={solver!r} does not solve loss={loss!r} with penalty={penalty!r}. For these use one of "
        f"{solvers_of(loss, penalty)} or 'auto'; {solver!r} solves {solved}."
    )


def solve(problem: KernelProblem, solver: str, **parameters) -> KernelSolution:
    """Run a solver with those of the parameters it names; None leaves its own default."""
    module = SOLVERS[solver]
    known = inspect.signature(module.solve).parameters
    chosen = {name: value for name, value in parameters.items() if value is not None and name in known}
    return module.solve(problem, **chosen)
