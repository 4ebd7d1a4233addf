"""Labels as numbers or text: cells of text become numbers only where that makes no two of them one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigenfeat.rows.readers.options import Where, row_number

MISSING_LABELS = ("", "na", "n/a", "#n/a", "nan", "null", "<na>", "nat")
"""Words for a label that is not there, in lower case: fewer than among numbers, where "none" or "-" is no class."""

MAX_CLASSES = 1000
"""Different labels up to which two spellings of one number are refused; more are quantities, not classes."""


@dataclass(frozen=True)
class Spelling:
    """A way to write labels: a regular expression, and what cells that match it mean.

    Attributes
    ----------
    pattern : str
    type : pyarrow.DataType
    group, point : str
        What stands between groups of digits, and before decimals.
    """

    pattern: str
    type: Any
    group: str = ""
    point: str = "."

    def convert(self, column: Any) -> Any:
        """Return cells of text as what they mean, null where a label is missing."""
        if self.type == pa.string():
            return column
        cells = pc.if_else(pa.array(missing_labels(column)), pa.scalar(None, column.type), column)
        for sign, meaning in ((self.group, ""), (self.point, ".")):
            cells = pc.replace_substring(cells, sign, meaning) if sign else cells
        return pc.cast(pc.replace_substring_regex(cells, r"^\+", ""), self.type)

    def fits(self, words: Any) -> bool:
        """Return whether all of some labels are written this way, and of a size that the type has."""
        if not pc.all(pc.match_substring_regex(words, f"^({self.pattern})$"), min_count=0).as_py():
            return False
        try:
            self.convert(words)
        except pa.ArrowInvalid:
            return False
        return True


WHOLE = r"0|-?[1-9][0-9]*"
NUMBER = r"[+-]?(0|[1-9][0-9]*|(0|[1-9][0-9]*)?\.[0-9]+|(0|[1-9][0-9]*)\.)([eE][+-]?[0-9]+)?"
TEXT = Spelling("(?s).*", pa.string())
SPELLINGS = (
    Spelling(WHOLE, pa.int64()),
    Spelling(WHOLE, pa.uint64()),
    Spelling(WHOLE, pa.string()),  # codes of many digits
    Spelling(NUMBER, pa.float64()),
    Spelling(rf"{NUMBER}|[+-]?[1-9][0-9]{{0,2}}(,[0-9]{{3}})+(\.[0-9]*)?", pa.float64(), group=","),
    Spelling(r"[+-]?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(\.[0-9]{3})+)(,[0-9]*)?", pa.float64(), group=".", point=","),
    TEXT,
)
"""The first that all labels keep to is meant. Others, such as 007 or 1_0, are text."""


class LabelSpelling:
    """How the labels of a column of text are written, found from all of its cells.

    Attributes
    ----------
    possible : list of Spelling
        Those that all labels so far keep to.
    """

    def __init__(self) -> None:
        self.possible = list(SPELLINGS)
        self._words: set[str] = set()

    @property
    def is_text(self) -> bool:
        """Whether some label is no number, so that the others need not be looked at."""
        return self.possible == [TEXT]

    def update(self, column: Any) -> None:
        """Look at more cells."""
        fresh = pa.array({*pc.unique(column).to_pylist()} - self._words, pa.string())
        words = fresh.filter(pa.array(~missing_labels(fresh)))
        if len(words):
            self.possible = [spelling for spelling in self.possible if spelling.fits(words)]
        if len(self._words) <= MAX_CLASSES:
            self._words.update(words.to_pylist())

    def finish(self, name: Any, place: str) -> Spelling:
        """Return how the labels are written; refuse two that are one number, as 1 and 1.0."""
        found = self.possible[0] if self._words else TEXT
        if len(self._words) <= MAX_CLASSES:
            by_value: dict[Any, str] = {}
            words = sorted(self._words)
            for word, value in zip(words, found.convert(pa.array(words, pa.string())).to_pylist()):
                other = by_value.setdefault(value, word)
                if other != word:
                    raise ValueError(
                        f"the label column {name!r} of {place} holds {other!r} and {word!r}: one number, two labels. "
                        "Spell labels that are the same alike"
                    )
        return found


def spelling_of(column: Any, name: Any, place: str) -> Spelling:
    """Return how the labels of a whole column of text are written."""
    found = LabelSpelling()
    found.update(column)
    return found.finish(name, place)


def refuse_missing_labels(column: Any, name: Any, place: str, where: Where = row_number) -> None:
    """Refuse a label that is missing, or says so, by row."""
    gaps = missing_labels(column)
    if gaps.any():
        row = int(np.argmax(gaps))
        cell = column[row].as_py()
        shown = "is empty" if cell in (None, "") else f"holds {str(cell)!r}, which says that it is missing,"
        raise ValueError(
            f"the label column {name!r} of {place} {shown} in {where(row)}: every row needs a label. Leave such rows "
            "out, or, if it is a label, spell it another way"
        )


def labels_of(column: Any, name: Any, place: str, where: Where = row_number) -> np.ndarray:
    """Return labels with a type as numpy has them, dictionaries by their values; refuse missing ones."""
    refuse_missing_labels(column, name, place, where)
    if is_text(column.type):
        codes, words = _encoded(column)
        return words[codes] if len(words) else np.empty(0, np.str_)
    return pc.cast(column, value_type(column.type)).to_numpy()


def missing_labels(column: Any) -> np.ndarray:
    """Return which labels are not there, or say so."""
    if not is_text(column.type):
        cells = pc.cast(column, value_type(column.type))
        return pc.is_null(cells, nan_is_null=True).to_numpy(zero_copy_only=False)
    codes, words = _encoded(column)
    missing = np.append(np.isin(np.strings.lower(np.strings.strip(words)), MISSING_LABELS), True)
    return missing[codes]


def _encoded(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return indices of a column of text into the words it holds, -1 where nothing is."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words = np.array([str(word) for word in encoded.dictionary.to_pylist()], dtype=np.str_)
    return encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), words


def value_type(kind: Any) -> Any:
    """Return an Arrow type, that of its values for a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_text(kind: Any) -> bool:
    """Return whether cells of an Arrow type are text."""
    kind = value_type(kind)
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()


def is_number(cell: str) -> bool:
    """Return whether text is a number, written in the usual way."""
    try:
        pa.scalar(cell).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True
