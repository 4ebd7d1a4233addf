"""Spreadsheets as tables, read by python-calamine or openpyxl, whichever is installed."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from typing import Any

import pyarrow as pa

from eigenfeat.rows.readers.errors import BadFile, explained


def read_spreadsheet(place: str, opened: Callable[[], Any]) -> pa.Table:
    """Return the first sheet that has cells; its first row names the columns.

    Raises
    ------
    ImportError
        Where neither reader is installed, with how to.
    ValueError
        For a file that is damaged, or has no header or no rows.
    """
    rows_of = _reader()
    with explained(place), opened() as stream:
        content = io.BytesIO(stream.read())
        try:
            sheets = rows_of(content)
        except Exception as problem:  # of as many types as there are parts of a workbook
            raise ValueError(str(problem) or type(problem).__name__) from problem
        rows = next((rows for rows in sheets if rows), [])
    if not rows:
        raise BadFile(place, ["it is empty: no rows, and no feature columns"])
    header, *cells = rows
    width = max((j + 1 for row in rows for j, cell in enumerate(row) if cell not in (None, "")), default=0)
    if header and all(isinstance(cell, int | float) for cell in header[:width]):
        raise BadFile(
            place, ["the first row holds numbers; it must name the columns. Write names into a row before it"]
        )
    padded = [[*row, *[None] * (width - len(row))] for row in cells]
    names = [str(cell or "").strip() or f"column {j + 1}" for j, cell in enumerate([*header, *[None] * width][:width])]
    return pa.table([_column([row[j] for row in padded]) for j in range(width)], names=names)


def _reader() -> Callable[[io.BytesIO], list[list[list[Any]]]]:
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        return _openpyxl_reader()

    def read(stream: io.BytesIO) -> list[list[list[Any]]]:
        book = CalamineWorkbook.from_filelike(stream)
        return [_without_blank_rows(book.get_sheet_by_name(name).to_python()) for name in book.sheet_names]

    return read


def _openpyxl_reader() -> Callable[[io.BytesIO], list[list[list[Any]]]]:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ImportError(
            'spreadsheets are read by openpyxl or python-calamine: pip install "eigenfeat[excel]"'
        ) from None

    def read(stream: io.BytesIO) -> list[list[list[Any]]]:
        sheets = load_workbook(stream, read_only=True, data_only=True).worksheets
        return [_without_blank_rows(sheet.iter_rows(values_only=True)) for sheet in sheets]

    return read


def _without_blank_rows(rows: Any) -> list[list[Any]]:
    return [list(row) for row in rows if any(cell not in (None, "") for cell in row)]


def _column(cells: Sequence[Any]) -> pa.Array:
    """Return cells as one column: whole numbers, numbers, dates, or what is written where they are mixed."""
    cells = [None if cell == "" else cell for cell in cells]
    known = [cell for cell in cells if cell is not None]
    if known and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in known):
        is_whole = all(float(cell).is_integer() and abs(cell) < 2**53 for cell in known)
        return pa.array([None if c is None else int(c) if is_whole else float(c) for c in cells])
    if known and all(isinstance(cell, bool) for cell in known):
        return pa.array(cells)
    if known and all(isinstance(cell, date) for cell in known):
        return pa.array([_as_datetime(cell) for cell in cells], pa.timestamp("us"))
    return pa.array([None if cell is None else _written(cell) for cell in cells], pa.string())


def _as_datetime(cell: Any) -> datetime | None:
    return cell if cell is None or isinstance(cell, datetime) else datetime.combine(cell, time())


def _written(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
