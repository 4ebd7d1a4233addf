"""The sparse penalty with a piecewise linear loss: a linear program, solved by HiGHS (thesis, 3.55 and 3.56).

The dual is the smaller program: one variable a row of the data, one constraint a kernel column::

    max yᵀτ - ε‖τ‖₁,   1ᵀτ = 0,   -alpha ≤ K[:, j]ᵀτ ≤ alpha for all j,   |τᵢ| ≤ c wᵢ

The expansion coefficient of a kernel column is the multiplier of its constraint, exactly zero where the
constraint is not active, and the intercept is that of ``1ᵀτ = 0``.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec

import numpy as np
from scipy.optimize import linprog

from eigenfeat.kernel.needs import NO_INVARIANCES, PIECEWISE_LINEAR_LOSS, SPARSE_PENALTY
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.kernel.used_rows import UsedRows
from eigenfeat.solvers.contract import Solver

#: Above this many rows the whole program gives way to column generation, which forms few of its constraints. Measured
#: (benchmarks/speed/constants.py), that is quicker from 100-200 rows on and 1.3-2.5 times as quick at 500; up to there
#: the program that needs no further package (column generation needs highspy) is quick enough.
MAX_ROWS = 500
#: The least feasibility tolerance that HiGHS takes.
LEAST_TOLERANCE = 1e-10
#: Terms that change no output by more than this share of the largest target are none.
NEGLIGIBLE = 1e-9


def has_highspy() -> bool:
    """Whether HiGHS is there with its own interface, which keeps a basis from one run to the next."""
    return find_spec("highspy") is not None


class MultiplierProgram:
    """The dual linear program in HiGHS, whose constraints come and go and whose basis stays.

    With a tube ε > 0 the variables are τ⁺ and τ⁻, else τ itself. Constraints are divided by alpha, so that
    the feasibility tolerance of HiGHS is relative to it.

    Parameters
    ----------
    problem : KernelProblem
    tol : float
        Feasibility tolerance of primal and dual, not below that of HiGHS.
    many_runs : bool
        Price by Devex: steepest-edge weights, better in one long run, are computed anew at every start.
    """

    def __init__(self, problem: KernelProblem, tol: float, many_runs: bool = False) -> None:
        try:
            import highspy
        except ImportError:
            raise ImportError(
                "Warm-started linear programs need HiGHS: pip install 'eigenfeat[lp]'. "
                "solver='lp' also runs without it, on scipy."
            ) from None
        self.problem = problem
        self.tube = problem.loss.tube
        n = problem.n_rows
        signs = np.concatenate([np.ones(n), -np.ones(n)]) if self.tube else np.ones(n)
        upper = np.tile(problem.loss.bound * problem.weights, 2 if self.tube else 1)
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = len(signs), 1
        model.col_cost_ = np.zeros(len(signs))
        model.col_lower_ = np.zeros(len(signs)) if self.tube else -upper
        model.col_upper_ = upper
        model.row_lower_ = model.row_upper_ = np.zeros(1)
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.array([0, len(signs)])
        model.a_matrix_.index_ = np.arange(len(signs))
        model.a_matrix_.value_ = signs
        self.highs = highspy.Highs()
        self.highs.silent()
        for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            self.highs.setOptionValue(name, min(max(tol, LEAST_TOLERANCE), 1e-7))
        if many_runs:
            self.highs.setOptionValue("simplex_dual_edge_weight_strategy", 1)
        self.highs.passModel(model)
        self._optimal = highspy.HighsModelStatus.kOptimal
        self.n_columns = len(signs)
        self.limit = 1.0
        """What the constraints allow, in units of the problem's alpha."""
        self.largest, self.span = 0.0, 0.0
        """The largest entry of all constraints so far, and the largest target."""

    def set_alpha(self, alpha: float) -> None:
        """Another weight of the penalty: only bounds move, so the basis stays dual feasible."""
        self.limit = alpha / self.problem.alpha
        for row in range(1, self.highs.getNumRow()):
            self.highs.changeRowBounds(row, -self.limit, self.limit)

    def set_targets(self, y: np.ndarray) -> None:
        """Another right side of the data: the constraints and the basis stay."""
        self.span = float(np.abs(y).max(initial=0.0))
        cost = np.concatenate([self.tube - y, self.tube + y]) if self.tube else -y
        self.highs.changeColsCost(self.n_columns, np.arange(self.n_columns, dtype=np.int32), cost)

    def add_constraints(self, kernel_columns: np.ndarray) -> None:
        """Constrain ``Kᵀτ`` for these columns (n, k) of the kernel matrix."""
        rows = kernel_columns.T / self.problem.alpha
        values = np.ascontiguousarray(np.hstack([rows, -rows]) if self.tube else rows)
        self.largest = max(self.largest, float(np.abs(rows).max(initial=0.0)))
        count, limits = len(values), np.full(kernel_columns.shape[1], self.limit)
        starts = np.arange(count, dtype=np.int32) * np.int32(self.n_columns)
        index = np.tile(np.arange(self.n_columns, dtype=np.int32), count)
        self.highs.addRows(count, -limits, limits, values.size, starts, index, values.ravel())

    def drop_constraints(self, positions: np.ndarray) -> None:
        """Drop by position among the constraints now in the program."""
        self.highs.deleteRows(len(positions), (positions + 1).astype(np.int32))

    def run(self, max_iter: int) -> bool:
        """Optimise from the basis at hand, in at most this many simplex steps; whether it got there."""
        self.highs.setOptionValue("simplex_iteration_limit", max_iter)
        self.highs.run()
        if self.highs.getModelStatus() != self._optimal:
            # A basis from other bounds may have become singular: once more without it.
            self.highs.clearSolver()
            self.highs.run()
        return bool(self.highs.getModelStatus() == self._optimal)

    @property
    def n_iter(self) -> int:
        """Simplex steps of the last run."""
        return int(self.highs.getInfo().simplex_iteration_count)

    @property
    def objective(self) -> float:
        """``ε‖τ‖₁ - yᵀτ`` at the last optimum: constraints that join can only raise it."""
        return float(self.highs.getInfo().objective_function_value)

    def multipliers(self) -> np.ndarray:
        """τ."""
        values = np.array(self.highs.getSolution().col_value)
        n = self.problem.n_rows
        return values[:n] - values[n:] if self.tube else values

    def coefficients(self) -> np.ndarray:
        """α of the constraints in the program, exact zeros where not active."""
        multipliers = np.array(self.highs.getSolution().row_dual)[1:]
        # A constraint that is met as it happens, without being active, has a multiplier of rounding.
        multipliers[np.abs(multipliers) * self.largest <= NEGLIGIBLE * self.span] = 0.0
        return -multipliers / self.problem.alpha


def solve(problem: KernelProblem, request: KernelRequest = DEFAULTS) -> KernelSolution:
    """Solve with all constraints in the program; the basis of one target column starts the next.

    Parameters
    ----------
    problem : KernelProblem
    request : KernelRequest
        ``tol`` (1e-9) is the feasibility tolerance of HiGHS, ``max_iter`` (10⁶) counts simplex steps a target column.

    Notes
    -----
    Without the ``highspy`` package ``scipy.optimize.linprog`` solves the same program, each target from
    scratch.
    """
    wanted = request.filled(tol=1e-9, max_iter=1_000_000)
    used = UsedRows.of(problem)
    kernel = used.problem.columns()
    if not has_highspy() and used.problem.n_rows > MAX_ROWS:
        warnings.warn(
            f"A linear program of {used.problem.n_rows} rows is solved as a whole, by scipy: column generation would "
            "be several times as fast, with highspy. pip install 'eigenfeat[lp]'",
            UserWarning,
            stacklevel=2,
        )
    method = _warm if has_highspy() else _from_scratch
    coefficients, converged, n_iter = method(used.problem, kernel, wanted.tol, wanted.max_iter)
    penalty = np.abs(coefficients).sum(axis=0)
    return used.solution(coefficients, kernel @ coefficients, penalty, converged=converged, n_iter=n_iter, solver="lp")


def _warm(problem: KernelProblem, kernel: np.ndarray, tol: float, max_iter: int) -> tuple[np.ndarray, bool, int]:
    program = MultiplierProgram(problem, tol)
    program.add_constraints(kernel)
    coefficients = np.zeros((kernel.shape[1], problem.targets.shape[1]))
    converged, n_iter = True, 0
    for t, y in enumerate(problem.targets.T):
        program.set_targets(y)
        converged &= program.run(max_iter)
        n_iter += program.n_iter
        coefficients[:, t] = program.coefficients()
    return coefficients, converged, n_iter


def _from_scratch(
    problem: KernelProblem, kernel: np.ndarray, tol: float, max_iter: int
) -> tuple[np.ndarray, bool, int]:
    """One ``linprog`` a target, with |Kᵀτ| ≤ alpha as two sets of constraints."""
    tube = problem.loss.tube
    n, q = kernel.shape
    rows = np.vstack([kernel.T, -kernel.T]) / problem.alpha
    constraints = np.hstack([rows, -rows]) if tube else rows
    balance = np.hstack([np.ones((1, n)), -np.ones((1, n))]) if tube else np.ones((1, n))
    upper = np.tile(problem.loss.bound * problem.weights, 2 if tube else 1)
    lower = np.zeros(2 * n) if tube else -upper
    tolerance = min(max(tol, LEAST_TOLERANCE), 1e-7)
    coefficients = np.zeros((q, problem.targets.shape[1]))
    converged, n_iter = True, 0
    for t, y in enumerate(problem.targets.T):
        result = linprog(
            np.concatenate([tube - y, tube + y]) if tube else -y,
            A_ub=constraints,
            b_ub=np.ones(len(constraints)),
            A_eq=balance,
            b_eq=np.zeros(1),
            bounds=np.column_stack([lower, upper]),
            method="highs-ds",
            options={
                "maxiter": max_iter,
                "primal_feasibility_tolerance": tolerance,
                "dual_feasibility_tolerance": tolerance,
            },
        )
        converged &= result.status == 0
        n_iter += result.nit
        # A run that stopped early has no multipliers; the zero model is the honest answer beside the flag.
        if result.status == 0:
            marginals = result.ineqlin.marginals
            coefficients[:, t] = (marginals[q:] - marginals[:q]) / problem.alpha
    return coefficients, converged, n_iter


def is_small(problem: KernelProblem, request: KernelRequest) -> bool:
    """Few rows; or any number where column generation cannot run, which is over all rows."""
    return problem.n_rows <= MAX_ROWS or problem.centers is not None or not has_highspy()


SOLVER = Solver("lp", solve, (PIECEWISE_LINEAR_LOSS, SPARSE_PENALTY, NO_INVARIANCES), suits=is_small)
