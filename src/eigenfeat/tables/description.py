"""What was done to every column of a table, as a table to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from html import escape

import numpy as np

SHOWN = 200
"""Columns that a printed table has at most."""


@dataclass(frozen=True)
class EncodedColumn:
    """One column: what it was found to be, how many columns of numbers it became, and why."""

    name: str
    kind: str
    n_missing: int
    n_outputs: int
    flagged: bool
    reason: str


@dataclass(frozen=True, eq=False)
class EncodedColumns:
    """What was done to every column; prints as a table.

    ``table["age"]`` and ``table[3]`` are one `EncodedColumn`; iteration gives all of them.

    Attributes
    ----------
    name, kind, reason : (d,) arrays of str
    n_missing, n_outputs : (d,) arrays of int
        Missing cells, and columns of numbers made: none where the column was left out.
    flagged : (d,) array of bool
        Columns left out that a user may want to look at: identifiers, free text.
    """

    name: np.ndarray
    kind: np.ndarray
    n_missing: np.ndarray
    n_outputs: np.ndarray
    flagged: np.ndarray
    reason: np.ndarray

    @classmethod
    def of(cls, columns: list[EncodedColumn]) -> EncodedColumns:
        return cls(*(np.array([getattr(column, field.name) for column in columns]) for field in fields(cls)))

    def __len__(self) -> int:
        return len(self.name)

    def __getitem__(self, column: int | str) -> EncodedColumn:
        if isinstance(column, str):
            (places,) = np.nonzero(self.name == column)
            if not len(places):
                raise KeyError(f"There is no column {column!r}; the first are {', '.join(self.name[:5])}.")
            column = int(places[0])
        return EncodedColumn(*(getattr(self, field.name)[column].item() for field in fields(self)))

    def __iter__(self) -> Iterator[EncodedColumn]:
        return (self[j] for j in range(len(self)))

    def as_dict(self) -> dict[str, list]:
        """A list a field: what ``pandas.DataFrame`` takes."""
        return {field.name: getattr(self, field.name).tolist() for field in fields(self)}

    def left_out(self) -> dict[str, str]:
        """Columns of which nothing was made, and why."""
        return {column.name: column.reason for column in self if column.n_outputs == 0}

    def cells(self) -> list[list[str]]:
        """A heading and a line a column, as words."""
        lines = [
            [
                column.name,
                column.kind,
                f"{column.n_missing:,}" if column.n_missing else "",
                f"{column.n_outputs}" if column.n_outputs else "left out",
                column.reason,
            ]
            for column in list(self)[:SHOWN]
        ]
        rest = [[f"and {len(self) - SHOWN} more", "", "", "", ""]] if len(self) > SHOWN else []
        return [["column", "kind", "missing", "outputs", "why"], *lines, *rest]

    def __str__(self) -> str:
        shown = self.cells()
        widths = [max(len(row[k]) for row in shown) for k in range(len(shown[0]))]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in shown)

    def _repr_html_(self) -> str:
        head, *body = self.cells()
        rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body)
        names = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        return f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"
