"""What every stage of a fitted model is: a frozen function of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from eigenfeat.rows.block import Matrix


class Stage(ABC):
    """One step from rows to a result; it treats every row alike and is never modified."""

    @abstractmethod
    def apply(self, rows: Matrix) -> np.ndarray:
        """The step's result for a block of rows, in the type of the rows."""

    @abstractmethod
    def n_columns(self, n_inputs: int) -> int:
        """Columns made of rows of this width."""

    def widest(self, n_inputs: int) -> int:
        """Columns of the widest array that exists on the way, which decides how many rows make a block."""
        return max(n_inputs, self.n_columns(n_inputs))

    @property
    def projecting(self) -> Stage | None:
        """The part from rows to projections on components, where the stage has one."""
        return None

    def astype(self, dtype: np.dtype) -> Stage:
        """The same stage with its numbers in the type of the rows to come: done once a pass, not once a block."""
        return self

    def fused(self) -> Stage:
        """The same function by quicker steps, where it has some: for one pass, never saved."""
        return self

    def with_next(self, following: Stage) -> Stage | None:
        """One stage that does what this and the following one do without forming what is between, where there is."""
        return None


@dataclass(frozen=True, eq=False)
class Beside(Stage):
    """Results of several stages on the same rows, side by side."""

    parts: tuple[Stage, ...]

    def apply(self, rows: Matrix) -> np.ndarray:
        return np.hstack([part.apply(rows) for part in self.parts])

    def n_columns(self, n_inputs: int) -> int:
        return sum(part.n_columns(n_inputs) for part in self.parts)

    def widest(self, n_inputs: int) -> int:
        return max(self.n_columns(n_inputs), *(part.widest(n_inputs) for part in self.parts))

    @property
    def projecting(self) -> Stage | None:
        """That of the first part."""
        return self.parts[0].projecting

    def astype(self, dtype: np.dtype) -> Beside:
        return replace(self, parts=tuple(part.astype(dtype) for part in self.parts))

    def fused(self) -> Beside:
        return replace(self, parts=tuple(part.fused() for part in self.parts))
