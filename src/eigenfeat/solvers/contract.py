"""What a solver is: a name, what it requires of a problem, and a function.

Quotients, kernel problems, least-squares problems, score tensors and the logit each have a `SolverTable`; which solver
"auto" takes, why one cannot run and what could run instead are decided here, once. The second half of the module is
the contract of the solvers of quotients: the `Request` that they are given and what they may require.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eigenfeat.moments.forms import DenseForm, FactoredForm, SymmetricForm
from eigenfeat.quotients.quotient import Quotient

Test = Callable[[Any, Any], bool]
"""A question about a problem and a request (how many, how exact)."""


def always(problem: Any, request: Any) -> bool:
    return True


def never(problem: Any, request: Any) -> bool:
    return False


@dataclass(frozen=True)
class Requirement:
    """Something a solver requires, as a test and in words: "a signal_factor H with S = HHᵀ"."""

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
        ``solve(problem, request)``; it may assume that its requirements are met.
    requires : tuple of Requirement
        Without these it cannot run.
    suits : callable
        Test of whether "auto" takes it where it can run: a matter of speed and accuracy, not of right and wrong.
    """

    name: str
    solve: Callable[[Any, Any], Any]
    requires: tuple[Requirement, ...] = ()
    suits: Test = always

    def unmet(self, problem: Any, request: Any) -> list[str]:
        """The requirements that a problem does not meet, in words."""
        return [requirement.words for requirement in self.requires if not requirement.met(problem, request)]


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
        """Values of an estimator's ``solver`` parameter."""
        return {"auto", *self.names}

    def __getitem__(self, name: str) -> Solver:
        for solver in self.solvers:
            if solver.name == name:
                return solver
        raise ValueError(f"Unknown solver {name!r}: choose one of {', '.join(['auto', *self.names])}.")

    def able(self, problem: Any, request: Any) -> list[str]:
        """Names of the solvers that can run."""
        return [solver.name for solver in self.solvers if not solver.unmet(problem, request)]

    def choose(self, name: str, problem: Any, request: Any) -> Solver:
        """The solver of that name; for "auto" the first that can run and suits.

        Raises
        ------
        ValueError
            If it cannot run: with its unmet requirements, and the solvers that can; if none can, with those of each.
        """
        candidates = self.solvers if name == "auto" else (self[name],)
        for solver in candidates:
            if (name != "auto" or solver.suits(problem, request)) and not solver.unmet(problem, request):
                return solver
        needs = {solver.name: "; and ".join(solver.unmet(problem, request)) for solver in candidates}
        if name == "auto":
            words = ". ".join(f"{each} needs {unmet}" for each, unmet in needs.items())
            raise ValueError(f"No solver can run on {self.describe(problem)}: {words}.")
        able = self.able(problem, request)
        way_out = f"solvers that can: {', '.join(able)}" if able else "no solver can"
        raise ValueError(f"Solver {name!r} cannot run on {self.describe(problem)}: it needs {needs[name]} ({way_out}).")


# ---------------------------------------------------------------------- quotients

#: Relative residual up to which a direction counts as converged, by the type of the result. An eigenvalue's
#: relative error is of the order of the square of its residual over the gap to the rest of the spectrum.
DEFAULT_TOL = {np.dtype(np.float64): 5e-5, np.dtype(np.float32): 2e-3}

#: Columns up to which d × d arrays are formed when a problem comes factored: 200 MB each in float64.
MODERATE_SIZE = 5000


class Workspace:
    """Results that the problems of one `solve` share: a signal meets many noises, and is converted once.

    It does not leave its process: pickled, it is empty.
    """

    def __init__(self) -> None:
        self._results: dict[tuple, Any] = {}

    def once(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """``function(*arguments)``, computed the first time (by two threads, if both are first)."""
        key = (function, *arguments)
        if key not in self._results:
            self._results[key] = function(*arguments)
        return self._results[key]

    def __reduce__(self) -> tuple:
        return (Workspace, ())


@dataclass(frozen=True)
class Request:
    """Which directions, how exact, in which type; the same for all problems solved together.

    Attributes
    ----------
    n_components : int or None
        Directions a quotient; None for all there are.
    which : {"largest", "smallest"}
        End of the spectrum.
    min_eigenvalue : float or None
        Directions with a smaller eigenvalue are dropped.
    tol : float
        Relative residual to reach.
    dtype : numpy dtype
        float64 or float32: of factors, products and results.
    seed : int
        Of the random starting blocks.
    workspace : Workspace
        Of these problems.
    """

    n_components: int | None
    which: str
    min_eigenvalue: float | None
    tol: float
    dtype: np.dtype
    seed: int
    workspace: Workspace = field(default_factory=Workspace, repr=False, compare=False)

    @property
    def largest(self) -> bool:
        return self.which == "largest"

    def count(self, available: int) -> int:
        """Directions to compute out of those there are."""
        return available if self.n_components is None else min(self.n_components, available)


def is_moderate(quotient: Quotient, request: Request) -> bool:
    return isinstance(quotient.noise, DenseForm) or quotient.n_features <= MODERATE_SIZE


def is_factored(quotient: Quotient, request: Request) -> bool:
    S, N = quotient.signal, quotient.noise
    return isinstance(S, FactoredForm) and isinstance(N, FactoredForm) and S.rows is N.rows and not np.any(S.shift)


def is_rows_and_ridge(noise: SymmetricForm) -> bool:
    """Whether a noise is made of rows and one number, so that its inverse is as well."""
    return isinstance(noise, FactoredForm) and not np.ndim(noise.shift) and bool(noise.shift > 0)


def has_noise_solve(quotient: Quotient, request: Request) -> bool:
    return is_rows_and_ridge(quotient.noise) or is_moderate(quotient, request)


SIGNAL_FACTOR = Requirement(lambda quotient, _: quotient.signal_factor is not None, "a signal_factor H with S = HHᵀ")
FACTORED = Requirement(is_factored, "signal and noise factored over the same rows, the signal without a shift")
MODERATE = Requirement(is_moderate, f"matrices that are dense or have at most {MODERATE_SIZE} columns")
NOISE_SOLVE = Requirement(
    has_noise_solve,
    f"a noise that is dense, has at most {MODERATE_SIZE} columns, or is made of rows and one number as ridge",
)
LARGEST = Requirement(lambda _, request: request.largest, 'which="largest"')
N_COMPONENTS = Requirement(lambda _, request: request.n_components is not None, "a given n_components")
