"""What is wrong with the file of a table, in one message that names it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

SHOWN = 8


class BadTable(ValueError):
    """A file that cannot be read as a table: everything that is wrong with it, in one message."""

    def __init__(self, place: str, problems: Sequence[str]) -> None:
        more = [f"and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
        lines = [*problems[:SHOWN], *more]
        super().__init__(
            f"{place}: {lines[0]}" if len(lines) == 1 else "\n  - ".join([f"{place} has problems:", *lines])
        )


def ragged(wrong: Sequence[Any], n_lines: int = 0) -> list[str]:
    """Lines of a wrong number of cells, in words; so many lines stand before what was read."""
    rows = sorted(wrong, key=lambda row: row.number or 0)
    return [
        f"{f'line {row.number + n_lines}' if row.number else 'a line'}: {row.actual_columns} cells where the header "
        f"has {row.expected_columns} ({row.text[:40]!r}). Quote cells that hold the delimiter, or mend the line"
        for row in rows
    ]


@contextmanager
def explained(place: str) -> Iterator[None]:
    """What the readers of formats raise, as a refusal that names the file."""
    try:
        yield
    except BadTable:
        raise
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {place}") from None
    except (
        ValueError,
        OSError,
        EOFError,
        KeyError,
        NotImplementedError,
        OverflowError,
        zipfile.BadZipFile,
        pa.ArrowException,
    ) as problem:
        words = str(problem) or type(problem).__name__
        if place in words:
            raise
        if "straddling" in words or "out of sync" in words:
            words = "a quote that is opened is never closed, or a cell is longer than 4 MB"
        raise ValueError(
            f"{place} cannot be read ({words}): it is damaged, cut short or of another format. Write it again"
        ) from problem
