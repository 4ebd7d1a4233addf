"""Solve many quotients: group them by noise, choose a solver, run groups in parallel, warn once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from eigenfeat._runtime.threads import one_blas_thread, thread_pool, usable_threads
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers import dense, dual, krylov, low_rank, randomized
from eigenfeat.solvers.contract import DEFAULT_TOL, Request, Solver, SolverTable, Workspace
from eigenfeat.solvers.directions import Directions
from eigenfeat.solvers.low_rank import share_signal_factors

Run = Callable[[Callable, Sequence[tuple]], list]
"""Results of a function for each of some tuples of arguments."""

Task = tuple[Callable, Sequence[Quotient], Request]
"""A solver's function, the quotients of one noise and the request."""

#: In the order "auto" tries them; see `choose`.
SOLVERS = SolverTable(
    (dual.SOLVER, low_rank.SOLVER, krylov.SOLVER, dense.SOLVER, randomized.SOLVER),
    describe=lambda quotient: f"quotient {quotient.label!r}",
)


def solve(
    quotients: Sequence[Quotient] | Iterator[Sequence[Quotient]],
    n_components: int | None = None,
    *,
    solver: str = "auto",
    which: str = "largest",
    min_eigenvalue: float | None = None,
    tol: float | None = None,
    dtype: type | np.dtype | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    run: Run | None = None,
) -> list[Directions]:
    """Directions of every quotient: ``Sv = λNv`` with ``vᵀNv = 1``.

    Quotients that hold the same noise object share one factorisation of it, and noises are worked on in
    parallel threads with BLAS held to one thread each, so that the result does not depend on ``n_jobs``.

    Parameters
    ----------
    quotients : sequence of Quotient, or iterator of such sequences
        An iterator's are solved one after the other: quotients that do not fit into memory together.
    n_components : int, optional
        Directions a quotient; all by default.
    solver : {"auto", "dense", "krylov", "randomized", "dual", "low_rank"}
        "auto" chooses by the form of the matrices (see `choose`).
    which : {"largest", "smallest"}
        End of the spectrum, and so the order of the result: descending or ascending.
    min_eigenvalue : float, optional
        Keep only directions with ``λ >= min_eigenvalue``.
    tol : float, optional
        Relative residual to reach; by default 5e-5, which leaves about 1e-9 of an eigenvalue, and 2e-3 in float32.
    dtype : {float64, float32}, optional
        Of factors, products and results. float64 by default, where the Krylov solver still searches in
        float32 and refines in float64.
    n_jobs : int, optional
        Threads over noises; by default as many as BLAS may use. -1 means all cores.
    random_state : int
        Seed of random starting blocks.
    run : callable, optional
        Runs the problems of each noise, given a function and the arguments of each call: on the workers of a cluster,
        for example. Threads of this process by default.

    Returns
    -------
    list of Directions
        In the order of the quotients, also those of several sequences.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.moments.forms import DenseForm
    >>> from eigenfeat.quotients.quotient import Quotient
    >>> pair = Quotient(DenseForm(np.diag([6.0, 2.0, 1.0])), DenseForm(np.diag([2.0, 1.0, 4.0])))
    >>> solve([pair], 2)[0].values
    array([3., 2.])
    """
    result_type = np.dtype(np.float64 if dtype is None else dtype)
    if result_type not in DEFAULT_TOL:
        raise ValueError(f"dtype must be float64 or float32, got {result_type.name}.")
    if which not in ("largest", "smallest"):
        raise ValueError(f'which must be "largest" or "smallest", got {which!r}.')
    if n_components is not None and n_components < 1:
        raise ValueError(f"n_components must be None or at least 1, got {n_components}.")
    tol = DEFAULT_TOL[result_type] if tol is None else tol
    request = Request(n_components, which, min_eigenvalue, tol, result_type, random_state)

    directions: list[Directions] = []
    widths: list[int] = []
    for together in [quotients] if isinstance(quotients, Sequence) else quotients:
        directions += _solve_together(together, replace(request, workspace=Workspace()), solver, n_jobs, run)
        widths += [quotient.n_features for quotient in together]
        del together  # its matrices are released before the next ones are built
    _warn_of(directions, widths, request)
    return directions


def _solve_together(
    quotients: Sequence[Quotient], request: Request, solver: str, n_jobs: int | None, run: Run | None
) -> list[Directions]:
    if not quotients:
        return []
    if solver == "auto":
        quotients = share_signal_factors(quotients, request)
    groups = _groups(quotients, solver, request)
    tasks = [(each.solve, [quotients[i] for i in positions], request) for each, positions in groups]
    outcomes = _in_threads(tasks, n_jobs) if run is None or len(tasks) == 1 else run(_solve_alone, tasks)
    results: dict[int, Directions] = {}
    for (_, positions), directions in zip(groups, outcomes):
        results.update(zip(positions, directions))
    return [results[i] for i in range(len(quotients))]


def _solve_alone(solve_group: Callable, quotients: Sequence[Quotient], request: Request) -> list[Directions]:
    """The problems of one noise, in a process of their own."""
    with one_blas_thread():
        return solve_group(quotients, request)


def choose(quotient: Quotient, request: Request, solver: str = "auto") -> Solver:
    """Choose a solver: "auto" takes the first that suits the problem and whose requirements it meets.

    ==========  ================================================================================
    solver      problem
    ==========  ================================================================================
    dual        signal and noise are made of the same rows, largest requested
    low_rank    the signal comes as H with S = HHᵀ, largest requested
    krylov      the `krylov.KRYLOV_SHARE` largest or fewer of at least `krylov.KRYLOV_SIZE`
    dense       everything else that may be formed
    randomized  too many columns for that
    ==========  ================================================================================
    """
    return SOLVERS.choose(solver, quotient, request)


def _groups(quotients: Sequence[Quotient], solver: str, request: Request) -> list[tuple[Solver, list[int]]]:
    """Positions of the quotients that share a noise and a solver, in order of first appearance."""
    groups: dict[tuple[int, str], list[int]] = {}
    for position, quotient in enumerate(quotients):
        name = choose(quotient, request, solver).name
        groups.setdefault((id(quotient.noise), name), []).append(position)
    return [(SOLVERS[name], positions) for (_, name), positions in groups.items()]


def _in_threads(tasks: Sequence[Task], n_jobs: int | None) -> list[list[Directions]]:
    def work(task: Task) -> list[Directions]:
        solve_group, quotients, request = task
        return solve_group(quotients, request)

    # One noise: nothing to run side by side, BLAS may as well use the cores. The rule looks at the problem
    # alone, never at n_jobs, so that results are the same bit for bit.
    threads = min(_n_threads(n_jobs), len(tasks))
    with one_blas_thread() if len(tasks) > 1 else nullcontext():
        if threads == 1:
            return [work(task) for task in tasks]
        with thread_pool(threads) as pool:
            return list(pool.map(work, tasks))


def _n_threads(n_jobs: int | None) -> int:
    if n_jobs is None:
        return usable_threads()
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: give a number of threads, or -1 for all cores.")
    cores = os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def _warn_of(results: Sequence[Directions], widths: Sequence[int], request: Request) -> None:
    """Warn of restricted problems, of those with fewer directions than asked for and of residuals, each kind once."""
    restricted = [(r, d) for r, d in zip(results, widths) if r.noise_rank < d]
    if restricted:
        first, d = restricted[0]
        _warn(
            f"The noise matrix of {_subject(restricted)} is singular (rank {first.noise_rank} of {d}): directions are "
            "restricted to its range. Set ridge > 0 to search all of the space."
        )
    # A threshold is asked for: what it drops is no surprise.
    count = 0 if request.n_components is None or request.min_eigenvalue is not None else request.n_components
    short = [(r, d) for r, d in zip(results, widths) if r.n_directions < count]
    if short:
        first, d = short[0]
        reason = f"its noise has rank {first.noise_rank}" if first.noise_rank < d else f"there are {d} columns"
        if first.n_directions < first.noise_rank:
            reason = f"its signal has rank {first.n_directions}"
        _warn(f"{_subject(short)} has {first.n_directions} directions instead of the {count} asked for: {reason}.")
    inexact = [(r, d) for r, d in zip(results, widths) if not r.converged]
    if inexact:
        largest = max(float(r.residuals.max()) for r, _ in inexact)
        _warn(
            f"The directions of {_subject(inexact)} have relative residuals up to {largest:.1e}, above the tolerance "
            f"of {request.tol:.1e} (solver {inexact[0][0].solver!r}): set ridge > 0 or raise it, or raise tol."
        )


def _warn(words: str) -> None:
    warnings.warn(words, UserWarning, stacklevel=4)


def _subject(concerned: Sequence[tuple[Directions, int]]) -> str:
    """The first problem by name, and how many others there are."""
    label, others = concerned[0][0].label, len(concerned) - 1
    first = f"quotient {label!r}" if label else "a quotient"
    return first if others == 0 else f"{first} (and {others} other{'s' * (others > 1)})"
