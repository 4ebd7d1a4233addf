"""Labels of tables: cells as they are spelt, and as numbers only where that makes no two of them one."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

#: Words for a label that is not there.
MISSING = frozenset(("", "na", "n/a", "nan", "null", "<na>"))
#: Whole numbers in the one way to spell them, and numbers in the ways that files of numbers have. What else Python
#: would read as a number, such as 007 or 1_0, is a code.
WHOLE = re.compile(r"0|-?[1-9][0-9]*")
NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]+)?")


def label_cells(column: Any, start: int, name: str, place: str) -> np.ndarray:
    """Labels as numbers where the file has numbers, else as text.

    Parameters
    ----------
    column : array or sequence of cells
    start : int
        Rows that came before.
    name, place : str
        What errors call the column and the file.

    Raises
    ------
    ValueError
        For a label that is missing, or says so, by row.
    """
    if isinstance(column, np.ndarray) and column.dtype.kind in "biuf":
        gaps = np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)
    else:
        column = np.array(["" if cell is None else str(cell) for cell in column], dtype=np.str_)
        gaps = np.isin(np.strings.lower(np.strings.strip(column)), tuple(MISSING))
    if gaps.any():
        row = int(np.argmax(gaps))
        shown = "is empty" if str(column[row]) == "" else f"holds {str(column[row])!r}, which says that it is missing,"
        raise ValueError(
            f"the label column {name!r} of {place} {shown} in row {start + row + 1}: every row needs a label. Leave "
            "such rows out, or, if it is a label, spell it another way"
        )
    return column


def as_numbers_if_all_are(labels: np.ndarray, name: str, place: str) -> np.ndarray:
    """Text that spells numbers as numbers: whole ones, or else floats.

    Raises
    ------
    ValueError
        For labels that are spelt differently and are the same number, as 1 and 1.0.
    """
    if labels.dtype.kind != "U":
        return labels
    distinct = np.unique(labels).tolist()
    if all(WHOLE.fullmatch(label) for label in distinct):
        values = [int(label) for label in distinct]
        fitting = next((kind for kind in (np.int64, np.uint64) if _fits(values, kind)), None)
        return labels if fitting is None else labels.astype(fitting)
    if not all(NUMBER.fullmatch(label) and re.search("[0-9]", label) for label in distinct):
        return labels
    numbers = labels.astype(np.float64)
    by_value: dict[float, str] = {}
    for label in distinct:
        other = by_value.setdefault(float(label), label)
        if other != label:
            raise ValueError(
                f"the label column {name!r} of {place} holds {other!r} and {label!r}: one number, two labels. Spell "
                "labels that are the same alike"
            )
    return numbers


def _fits(values: list[int], kind: type) -> bool:
    return np.iinfo(kind).min <= min(values) and max(values) <= np.iinfo(kind).max
