"""Spreadsheets as tables, read by python-calamine or openpyxl, whichever is installed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date, datetime, time
from itertools import zip_longest
from typing import Any

import pyarrow as pa

from eigenfeat.rows.readers.locations import explained


def read_spreadsheet(place: str, content: bytes) -> pa.Table:
    """Return the first sheet that has cells; its first row names the columns.

    Raises
    ------
    ImportError
        Where neither reader is installed, with how to.
    ValueError
        For a file that is damaged, or has no header or no rows.
    """
    with explained(place):
        try:
            sheets = [[list(map(_plain, row)) for row in sheet] for sheet in _sheets(io.BytesIO(content))]
        except ImportError:
            raise
        except Exception as problem:  # of as many types as there are parts of a workbook
            raise ValueError(str(problem) or type(problem).__name__) from problem
    sheets = [[row for row in rows if any(cell is not None for cell in row)] for rows in sheets]
    header, *rows = next(filter(None, sheets), [[]])
    if not header:
        raise ValueError(f"{place}: it is empty: no rows, and no feature columns")
    if all(isinstance(cell, int | float) for cell in header):
        raise ValueError(
            f"{place}: the first row holds numbers; it must name the columns. Write names into a row before it"
        )
    columns = [cells for cells in zip_longest(header, *rows) if any(cell is not None for cell in cells)]
    names = [str(cells[0] or "").strip() or f"column {j + 1}" for j, cells in enumerate(columns)]
    return pa.table([_column(cells[1:]) for cells in columns], names=names)


def _sheets(stream: io.BytesIO) -> Iterator[Any]:
    """Yield the rows of every sheet."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        try:
            from openpyxl import load_workbook
        except ImportError:
            raise ImportError(
                'spreadsheets are read by openpyxl or python-calamine: pip install "eigenfeat[excel]"'
            ) from None
        for sheet in load_workbook(stream, read_only=True, data_only=True).worksheets:
            yield sheet.iter_rows(values_only=True)
    else:
        book = CalamineWorkbook.from_filelike(stream)
        for name in book.sheet_names:
            yield book.get_sheet_by_name(name).to_python()


def _plain(cell: Any) -> Any:
    """Return a cell that both readers have alike: whole numbers without a point, days with an hour."""
    if cell == "":
        return None
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    if isinstance(cell, date) and not isinstance(cell, datetime):
        return datetime.combine(cell, time())
    return cell


def _column(cells: Any) -> pa.Array:
    """Return cells as one column: numbers, dates, or what is written where they are mixed."""
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
