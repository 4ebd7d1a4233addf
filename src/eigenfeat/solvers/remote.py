"""Quotients of matrices that stay on the workers of a cluster: solved there, a few signals over a noise at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenfeat.moments import DenseForm, RemoteForm
from eigenfeat.moments.sharded import matrix_bytes
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.rows import current
from eigenfeat.rows.dask_tasks import Remote, cluster
from eigenfeat.rows.dask_waiting import awaited
from eigenfeat.solvers.directions import Directions
from eigenfeat.solvers.request import Request


def is_remote(quotient: Quotient) -> bool:
    return isinstance(quotient.signal, RemoteForm) or isinstance(quotient.noise, RemoteForm)


@dataclass(frozen=True, eq=False)
class Slot:
    """Stands for a form on its way to where its matrix is, which is the argument of that number."""

    number: int
    factor: float
    shift: float | np.ndarray

    def filled(self, matrices: Sequence[np.ndarray]) -> DenseForm:
        matrix = matrices[self.number]
        return DenseForm(matrix if self.factor == 1.0 else matrix * self.factor, self.shift)


def solved_there(
    function: Callable, tasks: Sequence[tuple[Callable, Sequence[Quotient], Request]]
) -> list[list[Directions]]:
    """Results of ``function(solve, quotients, request)`` for each of some tuples, whose quotients share a noise.

    A task takes the noise and as many signals as the memory limit (`eigenfeat.rows.streaming`) holds beside it, one at
    least: the factor of the noise is found again for every such part.
    """
    futures, owners = [], []
    for owner, (solve_group, quotients, request) in enumerate(tasks):
        size = max(1, current().budget // matrix_bytes(1, quotients[0].n_features) - 1)
        for start in range(0, len(quotients), size):
            futures.append(_submitted(function, solve_group, quotients[start : start + size], request))
            owners.append(owner)
    results: list[list[Directions]] = [[] for _ in tasks]
    for owner, found in zip(owners, awaited(futures, "eigenproblems")):
        results[owner] += found
    return results


def _submitted(function: Callable, solve_group: Callable, quotients: Sequence[Quotient], request: Request) -> Any:
    """A task that takes its matrices from other tasks, each once."""
    remotes: list[Remote] = []
    slots: dict[int, Slot] = {}

    def slot(form: Any) -> Any:
        if not isinstance(form, RemoteForm):
            return form
        if form.matrix.there not in remotes:
            remotes.append(form.matrix.there)
        return slots.setdefault(id(form), Slot(remotes.index(form.matrix.there), form.factor, form.shift))

    emptied = [replace(quotient, signal=slot(quotient.signal), noise=slot(quotient.noise)) for quotient in quotients]
    matrices = [remote.future for remote in remotes]
    return cluster().submit(_solved, matrices, function, solve_group, emptied, request, pure=False)


def _solved(
    matrices: Sequence[np.ndarray],
    function: Callable,
    solve_group: Callable,
    emptied: Sequence[Quotient],
    request: Request,
) -> list[Directions]:
    forms: dict[int, DenseForm] = {}  # quotients of one noise share it

    def form(slot: Any) -> Any:
        return forms.setdefault(id(slot), slot.filled(matrices)) if isinstance(slot, Slot) else slot

    return function(solve_group, [replace(q, signal=form(q.signal), noise=form(q.noise)) for q in emptied], request)
