"""How a text file of a table is written: its encoding, what stands between cells, and what its columns are called."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from dataclasses import dataclass

DELIMITERS = (",", ";", "\t", "|", " ")
HEAD = 1 << 18
"""Bytes that a dialect is found from."""

MOST_RECORDS = 200
BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
FALLBACK = "cp1252"
"""What text is that is not UTF-8: Western European Windows, in which every byte is a letter."""


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Attributes
    ----------
    encoding, delimiter : str
    header : tuple of str
        The cells of the first line.
    notes : tuple of str
        What was decided and may be wrong, in words.
    """

    encoding: str
    delimiter: str
    header: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """What columns are called: blanks around names are dropped, columns without a name are numbered."""
        return [cell.strip() or f"column {j + 1}" for j, cell in enumerate(self.header)]

    def problems(self) -> list[str]:
        """What is wrong with the header, in words."""
        counts = Counter(self.names)
        twice = [repr(name) for name, count in counts.items() if count > 1]
        found = []
        if twice:
            found.append(
                f"several columns are called {', '.join(twice[:8])}: names must tell columns apart. Rename them"
            )
        if self.header and all(_is_number(cell) for cell in self.header):
            found.append("the first line holds numbers; it must name the columns. Write names into a line before it")
        return found


def find_dialect(
    head: bytes, delimiter: str | None = None, encoding: str | None = None, whole: bool = False
) -> Dialect:
    """How a file is written whose first bytes these are; what is given is taken as it is.

    Raises
    ------
    ValueError
        For bytes that are no text in the encoding.
    """
    encoding, note = (encoding, "") if encoding else _encoding(head)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head, whole).removeprefix("\ufeff")
    except LookupError:
        raise ValueError(f"there is no encoding {encoding!r}; usual ones are utf-8, cp1252, latin-1, utf-16") from None
    except UnicodeDecodeError as problem:
        raise ValueError(f"it is no text in {encoding} ({problem.reason} at byte {problem.start})") from None
    if "\x00" in text:
        raise ValueError("it is no text: it holds zero bytes")
    lines = text if whole or "\n" not in text else text[: text.rindex("\n") + 1]
    delimiter = delimiter or _delimiter(lines)
    records = _records(lines, delimiter, 1)
    return Dialect(encoding, delimiter, tuple(records[0]) if records else (), (note,) if note else ())


def _encoding(head: bytes) -> tuple[str, str]:
    for mark, name in BOMS:
        if head.startswith(mark):
            return name, ""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return FALLBACK, f"it is no UTF-8: read as {FALLBACK} (another: --encoding)"
    return "utf-8", ""


def _delimiter(text: str) -> str:
    """What cuts most records into the same number of cells, and into more than one."""
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        widths = Counter(len(record) for record in _records(text, delimiter, MOST_RECORDS))
        if not widths:
            continue
        width, count = widths.most_common(1)[0]
        score = (count / widths.total(), width) if width > 1 else (0.0, 0)
        if score[0] > best_score[0] + 1e-9 or (score[0] > best_score[0] - 1e-9 and score[1] > best_score[1]):
            best, best_score = delimiter, score
        if delimiter == "|" and best_score[0] > 0.5:
            break  # blanks stand in cells, too
    return best


def _records(text: str, delimiter: str, most: int) -> list[list[str]]:
    found = []
    try:
        for record in csv.reader(text.splitlines(keepends=True), delimiter=delimiter):
            if record:
                found.append(record)
            if len(found) >= most:
                break
    except csv.Error:
        pass  # a cell longer than csv has room for: what was read before decides
    return found


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
