"""A preconditioner for many classes: what all rows curve in every class, and what the rows of a class curve in it.

Row i curves in class c by ``p_c (1 - p_c)``. Of a thousand classes that is next to nothing in nearly all, and a lot in
its own: the mean over classes, which is what a Gram matrix for all of them has, is hundreds of times too small there.
Steps along it are as many times too long, one for every row, and no few pairs of past steps can tell them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eigenfeat.linear.objective import LogitObjective
from eigenfeat.linear.passes import Passes
from eigenfeat.linear.preconditioners import OPTIMISM, GramPreconditioner, PreconditionerRequest

MOST_OWN_ROWS = 500
"""Rows of a class at most that are taken as its own, those with most curvature: of more, inverses take long to make."""

BLOCK_ROWS = 512
"""Rows, of whole classes, that are made at a time."""


@dataclass(frozen=True, eq=False)
class OwnRows:
    """Rows by class, each with the root of what it curves in that class once it is fitted.

    Attributes
    ----------
    passes : Passes
        Over these rows, one class after the other.
    factors : (r,) array
    starts : (k + 1,) array of int
        Where classes begin.
    """

    passes: Passes
    factors: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, objective: LogitObjective) -> OwnRows:
        curvature = objective.own_curvature()
        rows = np.flatnonzero(curvature)
        rows = rows[np.lexsort((-curvature[rows], objective.labels[rows]))]
        labels = objective.labels[rows]
        rows = rows[np.arange(len(rows)) - np.searchsorted(labels, labels) < MOST_OWN_ROWS]
        starts = np.searchsorted(objective.labels[rows], np.arange(objective.n_classes + 1))
        return cls(objective.passes.of_rows(rows), np.sqrt(curvature[rows]), starts)

    def blocks(self) -> Iterator[tuple[range, list[np.ndarray]]]:
        """Classes, and S_c of each: its own rows times their factors, constant column included."""
        first, n_classes = 0, len(self.starts) - 1
        while first < n_classes:
            last = max(first + 1, int(np.searchsorted(self.starts, self.starts[first] + BLOCK_ROWS, "right")) - 1)
            chosen = np.arange(self.starts[first], self.starts[last])
            scaled = self.passes.of_rows(chosen).scaled(self.factors[chosen])
            yield range(first, last), np.split(scaled, self.starts[first + 1 : last] - self.starts[first])
            first = last


@dataclass(frozen=True, eq=False)
class ClassPreconditioner:
    """``(B + S_cᵀ S_c)⁻¹`` for class c: B of `GramPreconditioner`, and its own rows S_c (`OwnRows`).

    By Woodbury's identity ``(B + SᵀS)⁻¹ g = B⁻¹ (g - Sᵀ (1 + S B⁻¹ Sᵀ)⁻¹ S B⁻¹ g)``: beside a factor of B, a matrix
    for the few rows of each class.

    Attributes
    ----------
    mean : GramPreconditioner
        B⁻¹.
    own : OwnRows
        S.
    inverses : list of arrays
        ``(1 + S_c B⁻¹ S_cᵀ)⁻¹``.
    """

    mean: GramPreconditioner
    own: OwnRows
    inverses: list[np.ndarray]

    optimism = OPTIMISM

    @classmethod
    def build(cls, objective: LogitObjective, request: PreconditionerRequest) -> ClassPreconditioner:
        """A Gram matrix from about ``n_rows`` rows, own rows from all."""
        return cls._of(GramPreconditioner.build(objective, request), OwnRows.of(objective))

    @classmethod
    def _of(cls, mean: GramPreconditioner, own: OwnRows) -> ClassPreconditioner:
        inverses: list[np.ndarray] = []
        for _, parts in own.blocks():
            halves = mean.gram.half_solve(np.concatenate(parts).T)
            for half in np.split(halves, np.cumsum([len(S) for S in parts])[:-1], axis=1):
                inner = half.T @ half
                inner[np.diag_indices(len(inner))] += 1
                inverses.append(np.linalg.inv(inner))
        return cls(mean, own, inverses)

    def with_alpha(self, alpha: float) -> ClassPreconditioner:
        """Factored again with another penalty, in the array of this one, which is then spent."""
        return self._of(self.mean.with_alpha(alpha), self.own)

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        """Of gradients side by side, each with a column a class."""
        solved = self.mean.gram.solve(gradient)
        by_class = np.ascontiguousarray(solved.T).reshape(-1, len(self.inverses), len(solved))
        taken_off = np.zeros_like(by_class)
        for classes, parts in self.own.blocks():
            for c, S in zip(classes, parts):
                taken_off[:, c] = by_class[:, c] @ S.T @ self.inverses[c] @ S
        solved -= self.mean.gram.solve(taken_off.reshape(-1, len(solved)).T)
        return solved.astype(np.float64)
