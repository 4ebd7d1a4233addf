"""Spreadsheets as tables, read by openpyxl."""

from __future__ import annotations

import io
from itertools import zip_longest
from typing import Any

import pyarrow as pa

from eigenfeat.rows.readers.locations import explained
from eigenfeat.rows.readers.tables import names_in_header


def read_spreadsheet(place: str, content: bytes) -> pa.Table:
    """Return the first sheet that has cells; its first row names the columns.

    Raises
    ------
    ImportError
        Without openpyxl, with how to install it.
    ValueError
        For a file that is damaged, or has no header or no rows.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ImportError('spreadsheets are read by openpyxl: pip install "eigenfeat[excel]"') from None
    with explained(place):
        sheets = load_workbook(io.BytesIO(content), read_only=True, data_only=True).worksheets
        rows = next(filter(None, ([row for row in sheet.values if any(map(_is_filled, row))] for sheet in sheets)), [])
    if not rows:
        raise ValueError(f"{place}: it is empty: no rows, and no feature columns")
    columns = [cells for cells in zip_longest(*rows) if any(map(_is_filled, cells))]
    names = names_in_header([cells[0] for cells in columns], place)
    return pa.table([_column(cells[1:]) for cells in columns], names=names)


def _is_filled(cell: Any) -> bool:
    return cell not in (None, "")


def _column(cells: Any) -> pa.Array:
    """Return cells as one column: numbers, dates, or what is written where they are mixed."""
    cells = [cell if _is_filled(cell) else None for cell in cells]
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
