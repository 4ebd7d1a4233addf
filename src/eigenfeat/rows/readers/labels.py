"""Labels as numbers or text: cells of text become numbers only where that makes no two of them one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MISSING_LABELS = ("", "na", "n/a", "#n/a", "nan", "null", "<na>", "nat")
"""Words for a label that is not there, in lower case: fewer than among numbers, where "none" or "-" is no class."""

NUMBER = r"[+-]?(0|[1-9][0-9]*|(0|[1-9][0-9]*)?\.[0-9]+|(0|[1-9][0-9]*)\.)([eE][+-]?[0-9]+)?"
SPELLINGS = {
    "whole": r"0|-?[1-9][0-9]*",
    "number": NUMBER,
    "thousands": rf"{NUMBER}|[+-]?[1-9][0-9]{{0,2}}(,[0-9]{{3}})+(\.[0-9]*)?",
    "decimal comma": r"[+-]?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(\.[0-9]{3})+)(,[0-9]*)?",
}
"""Ways to write numbers, the first of which that all labels keep to is meant. Others, such as 007 or 1_0, are codes."""

MAX_CLASSES = 1000
"""Different labels up to which two spellings of one number are refused; more are quantities, not classes."""


class LabelSpelling:
    """How the labels of a column of text are written, found from all of its cells.

    Attributes
    ----------
    name, place : str
        What messages call the column and the file.
    """

    def __init__(self, name: Any, place: str) -> None:
        self.name, self.place = name, place
        self._candidates = dict(SPELLINGS)
        self._distinct: set[str] = set()
        self._range = [0, 0]

    @property
    def is_text(self) -> bool:
        """Whether some cell is no number, so that the others need not be looked at."""
        return not self._candidates

    @property
    def spelling(self) -> str:
        """The way all labels are written: "text", or a key of SPELLINGS."""
        if "whole" in self._candidates:  # neither in int64 nor in uint64: codes of many digits
            return "whole" if self._whole_type() is not None else "text"
        return next(iter(self._candidates), "text")

    def update(self, column: Any) -> None:
        """Look at more cells."""
        if self.is_text:
            return
        distinct = pc.drop_null(_known(pc.unique(column)))
        for spelling, pattern in [*self._candidates.items()]:
            if not pc.all(pc.match_substring_regex(distinct, f"^({pattern})$"), min_count=0).as_py():
                del self._candidates[spelling]
        if "whole" in self._candidates:
            values = [int(cell) for cell in distinct.to_pylist()]
            self._range = [min([self._range[0], *values]), max([self._range[1], *values])]
        if len(self._distinct) <= MAX_CLASSES:
            self._distinct.update(distinct.to_pylist())

    def finish(self) -> str:
        """Return the spelling; refuse labels that are written differently and are the same number, as 1 and 1.0."""
        spelling = self.spelling
        if spelling not in ("whole", "text") and len(self._distinct) <= MAX_CLASSES:
            cells = sorted(self._distinct)
            by_value: dict[float, str] = {}
            for cell, value in zip(cells, _floats(pa.array(cells, pa.string()), spelling).to_pylist()):
                other = by_value.setdefault(value, cell)
                if other != cell:
                    raise ValueError(
                        f"the label column {self.name!r} of {self.place} holds {other!r} and {cell!r}: one number, two "
                        "labels. Spell labels that are the same alike"
                    )
        if not self._distinct:
            return "text"
        return spelling

    def convert(self, column: Any, spelling: str) -> Any:
        """Return cells of text as what they mean, null where a label is missing."""
        if spelling == "text":
            return column
        if spelling == "whole":
            return pc.cast(_known(column), self._whole_type() or pa.int64())
        return _floats(_known(column), spelling)

    def _whole_type(self) -> Any:
        low, high = self._range
        if low >= -(2**63) and high < 2**63:
            return pa.int64()
        return pa.uint64() if low >= 0 and high < 2**64 else None


def _known(column: Any) -> Any:
    """Return cells of text, null where they say that there is no label."""
    missing = pc.is_in(pc.utf8_lower(pc.utf8_trim_whitespace(column)), pa.array(MISSING_LABELS))
    return pc.if_else(missing, pa.scalar(None, column.type), column)


def _floats(cells: Any, spelling: str) -> Any:
    if spelling == "thousands":
        cells = pc.replace_substring(cells, ",", "")
    elif spelling == "decimal comma":
        cells = pc.replace_substring(pc.replace_substring(cells, ".", ""), ",", ".")
    return pc.cast(pc.replace_substring_regex(cells, r"^\+", ""), pa.float64())


def spelling_of(columns: Iterable[Any], name: Any, place: str) -> tuple[LabelSpelling, str]:
    """Find how the labels of some columns of text are written."""
    found = LabelSpelling(name, place)
    for column in columns:
        found.update(column)
    return found, found.finish()


def labels_of(column: Any, name: Any, place: str, where: Callable[[int], str]) -> np.ndarray:
    """Return labels with a type as numpy has them, dictionaries by their values.

    Raises
    ------
    ValueError
        For a label that is missing, or says so, by row.
    """
    _refuse_gaps(column, missing_labels(column), name, place, where)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if is_text(kind):
        codes, words = _encoded(column)
        return words[codes] if len(words) else np.empty(0, np.str_)
    return (pc.cast(column, kind) if column.type != kind else column).to_numpy()


def missing_labels(column: Any) -> np.ndarray:
    """Return which labels are not there, or say so."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not is_text(kind):
        return np.asarray(pc.is_null(column, nan_is_null=True).to_numpy(), dtype=bool)
    codes, words = _encoded(column)
    missing = np.append(np.isin(np.strings.lower(np.strings.strip(words)), MISSING_LABELS), True)
    return missing[codes]


def _encoded(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return indices of a column of text into the words it holds, -1 where nothing is."""
    encoded = column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    encoded = encoded.combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) and encoded.num_chunks else encoded
    words = np.array([str(word) for word in encoded.dictionary.to_pylist()], dtype=np.str_)
    return encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), words


def _refuse_gaps(column: Any, gaps: np.ndarray, name: Any, place: str, where: Callable[[int], str]) -> None:
    if not gaps.any():
        return
    row = int(np.argmax(gaps))
    cell = column[row].as_py()
    shown = "is empty" if cell in (None, "") else f"holds {str(cell)!r}, which says that it is missing,"
    raise ValueError(
        f"the label column {name!r} of {place} {shown} in {where(row)}: every row needs a label. Leave such rows out, "
        "or, if it is a label, spell it another way"
    )


def is_text(kind: Any) -> bool:
    """Whether cells of an Arrow type are text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()
