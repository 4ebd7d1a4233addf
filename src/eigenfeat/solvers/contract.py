"""What a solver is, for every family: a name, what it needs of a problem, and a function.

Quotients, kernel problems, least-squares problems, score tensors and the logit each have a `SolverTable`; which solver
"auto" takes, why one cannot run and what could run instead are decided here, once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Test = Callable[[Any, Any], bool]
"""A question about a problem and a request (what is wanted of it: how many, how exact)."""


def always(problem: Any, request: Any) -> bool:
    return True


def never(problem: Any, request: Any) -> bool:
    return False


@dataclass(frozen=True)
class Need:
    """Something a solver asks for, as a test and in words: "a signal_factor H with S = HHᵀ"."""

    met: Test
    words: str


@dataclass(frozen=True)
class Solver:
    """A way to solve a problem.

    Parameters
    ----------
    name : str
        What a user calls it, and what a fitted estimator records.
    solve : callable
        ``solve(problem, request)``; it may assume that its needs are met.
    needs : tuple of Need
        Without these it cannot run.
    suits : callable
        Whether "auto" should take it where it can run: a matter of speed and accuracy, not of right and wrong.
    """

    name: str
    solve: Callable[[Any, Any], Any]
    needs: tuple[Need, ...] = ()
    suits: Test = always

    def lacking(self, problem: Any, request: Any) -> list[str]:
        """The needs a problem does not meet, in words."""
        return [need.words for need in self.needs if not need.met(problem, request)]


@dataclass(frozen=True)
class SolverTable:
    """The solvers of one kind of problem, in the order in which "auto" tries them.

    Parameters
    ----------
    solvers : tuple of Solver
    describe : callable
        What an error message calls a problem.
    """

    solvers: tuple[Solver, ...]
    describe: Callable[[Any], str] = str

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(solver.name for solver in self.solvers)

    @property
    def options(self) -> set[str]:
        """What an estimator's ``solver`` parameter may be."""
        return {"auto", *self.names}

    def __getitem__(self, name: str) -> Solver:
        for solver in self.solvers:
            if solver.name == name:
                return solver
        raise ValueError(f"Unknown solver {name!r}: choose one of {', '.join(['auto', *self.names])}.")

    def able(self, problem: Any, request: Any) -> list[str]:
        """Names of the solvers that can run."""
        return [solver.name for solver in self.solvers if not solver.lacking(problem, request)]

    def choose(self, name: str, problem: Any, request: Any) -> Solver:
        """The solver of that name; for "auto" the first that can run and suits.

        Raises
        ------
        ValueError
            If it cannot run: with what it lacks, and the solvers that can; if none can, with what each lacks.
        """
        if name == "auto":
            for solver in self.solvers:
                if solver.suits(problem, request) and not solver.lacking(problem, request):
                    return solver
            lacking = [f"{s.name} needs {'; and '.join(s.lacking(problem, request))}" for s in self.solvers]
            raise ValueError(f"No solver can run on {self.describe(problem)}: {'. '.join(lacking)}.")
        solver = self[name]
        if solver.lacking(problem, request):
            raise ValueError(self.refusal(solver, problem, request))
        return solver

    def refusal(self, solver: Solver, problem: Any, request: Any) -> str:
        """Why a solver cannot run on a problem, and which ones can."""
        able = self.able(problem, request)
        way_out = f"solvers that can: {', '.join(able)}" if able else "no solver can"
        lacking = "; and ".join(solver.lacking(problem, request))
        return f"Solver {solver.name!r} cannot run on {self.describe(problem)}: it needs {lacking} ({way_out})."
