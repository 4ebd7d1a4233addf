"""What the cells of a column say: text, numbers in the notations people use, truth values, dates.

Columns come as text (CSV) or with a type (Parquet, dataframes). Each function here takes either, so that a model that
was fitted on one kind of file reads the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigenfeat.rows.readers.options import MISSING_WORDS

#: Cells that say that nothing is known, in lower case.
NOTHING = MISSING_WORDS
TRUE_FALSE = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"), ("ja", "nein"), ("oui", "non"))

#: What may stand around or inside a number without being part of it: currency signs, blanks, apostrophes.
ORNAMENT = r"[€$£¥₹%\s\x{a0}\x{202f}\x{2009}'’]"
PLAIN = r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"
THOUSANDS = r"^[-+]?\d{1,3}(,\d{3})+(\.\d*)?$"
DECIMAL_COMMA = r"^[-+]?(\d+|\d{1,3}(\.\d{3})+)(,\d*)?([eE][-+]?\d+)?$"
NOTATIONS = {"plain": PLAIN, "thousands": f"{PLAIN}|{THOUSANDS}", "decimal comma": DECIMAL_COMMA}

ISO = "iso"
DATE_FORMATS = (
    *("%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y", "%Y/%m/%d", "%d-%m-%Y", "%Y.%m.%d"),
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d-%b-%y"),
    *("%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M:%S"),
    *("%d/%m/%Y %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S"),
)
_ISO_TEXT = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?(\.\d+)?\s*(Z|UTC|[+-]\d{2}:?\d{2})?)?$"
DAY = 86400e6
"""Microseconds of a day."""


def has_text(column: Any) -> bool:
    """Whether the cells are text, so that what they mean is still to be found."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()


def is_nested(column: Any) -> bool:
    """Whether cells are lists, records or bytes: nothing that one column of numbers could say."""
    return pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)


def text(column: Any) -> Any:
    """Cells as text without blanks around it, null where nothing is known; whole numbers have no point."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if has_text(column):
        plain = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    elif pa.types.is_floating(column.type):
        whole = pc.equal(column, pc.round(column))
        limited = pc.less(pc.abs(column), 2.0**53)
        as_whole = pc.cast(pc.if_else(pc.and_(whole, limited), column, None), pa.int64())
        plain = pc.coalesce(pc.cast(as_whole, pa.string()), pc.cast(column, pa.string()))
    else:
        plain = pc.cast(column, pa.string())
    nothing = pc.is_in(pc.utf8_lower(plain), pa.array(NOTHING))
    return pc.if_else(nothing, pa.scalar(None, pa.string()), plain)


def numbers(column: Any, notation: str = "plain") -> np.ndarray:
    """Cells as floats, NaN where there is no number."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if has_text(column):
        try:
            values = pc.cast(column, pa.float64())  # all are plain: the quick way
        except pa.ArrowInvalid:
            values = _parsed(text(column), notation)
    elif pa.types.is_boolean(column.type):
        values = pc.cast(column, pa.uint8())
    elif is_time(column):
        return days(column)
    elif pa.types.is_time(column.type) or pa.types.is_duration(column.type):
        values = pc.cast(column, pa.int64() if column.type.bit_width == 64 else pa.int32())
    else:
        values = column
    floats = pc.cast(values, pa.float64())
    found = floats.to_numpy(zero_copy_only=False) if isinstance(floats, pa.Array) else floats.to_numpy()
    return found if np.isfinite(found).all() else np.where(np.isfinite(found), found, np.nan)


def _parsed(cells: Any, notation: str) -> Any:
    """Text as floats, null where it is no number of this notation; per cents are hundredths."""
    bare = pc.replace_substring_regex(cells, ORNAMENT, "")
    bare = pc.if_else(pc.match_substring_regex(bare, NOTATIONS[notation]), bare, pa.scalar(None, pa.string()))
    if notation == "thousands":
        bare = pc.replace_substring(bare, ",", "")
    elif notation == "decimal comma":
        bare = pc.replace_substring(pc.replace_substring(bare, ".", ""), ",", ".")
    values = pc.cast(bare, pa.float64())
    return pc.if_else(pc.fill_null(pc.ends_with(cells, "%"), False), pc.divide(values, 100.0), values)


def notation_of(cells: Any) -> tuple[str, float]:
    """The notation that most cells of a text column are numbers of, and which share of those that are not missing."""
    known = pc.drop_null(cells)
    if not len(known):
        return "plain", 0.0
    bare = pc.replace_substring_regex(known, ORNAMENT, "")
    shares = {
        name: pc.sum(pc.cast(pc.match_substring_regex(bare, pattern), pa.int64())).as_py() / len(known)
        for name, pattern in NOTATIONS.items()
    }
    best = max(shares, key=shares.__getitem__)  # the first of equals: plain, then thousands
    return best, shares[best]


def is_code(cells: Any) -> bool:
    """Whether digits begin with a zero that a number would not have: a postal code, an article."""
    found = pc.any(pc.match_substring_regex(pc.drop_null(cells), r"^0\d"))
    return bool(found.as_py())


def truth(column: Any, yes: str) -> np.ndarray:
    """1 where the cell is ``yes``, 0 where it is something else, NaN where nothing is known."""
    if pa.types.is_boolean(column.type):
        return numbers(column)
    cells = pc.utf8_lower(text(column))
    equal = pc.is_in(cells, pa.array([yes, "1"])) if yes == "true" else pc.equal(cells, yes)
    return numbers(pc.if_else(pc.is_null(cells), pa.scalar(None, pa.bool_()), equal))


def truth_words(values: list[str]) -> str | None:
    """The word for yes, where these are the two words of a pair."""
    found = {value.lower() for value in values}
    return next((yes for yes, no in TRUE_FALSE if found == {yes, no}), None)


def is_time(column: Any) -> bool:
    """Whether cells are points in time by their type."""
    return pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)


def days(column: Any, pattern: str = ISO) -> np.ndarray:
    """Points in time as days since 1970, NaN where there is none."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if not is_time(column):
        column = _times(text(column), pattern)
    moments = pc.cast(pc.cast(column, pa.timestamp("us"), safe=False), pa.int64())
    return numbers(moments) / DAY


def _times(cells: Any, pattern: str) -> Any:
    if pattern != ISO:
        return pc.strptime(cells, format=pattern, unit="us", error_is_null=True)
    is_iso = pc.match_substring_regex(cells, _ISO_TEXT)
    cells = pc.if_else(is_iso, pc.utf8_slice_codeunits(cells, 0, 19), pa.scalar(None, pa.string()))
    cells = pc.replace_substring_regex(pc.replace_substring(cells, "T", " "), r"[.Z+\s]+$", "")
    try:
        return pc.cast(cells, pa.timestamp("us"))
    except pa.ArrowInvalid:  # 25 o'clock, 30 February: what can be read of the day
        return pc.strptime(pc.utf8_slice_codeunits(cells, 0, 10), format="%Y-%m-%d", unit="us", error_is_null=True)


def date_pattern(cells: Any) -> tuple[str, float, str]:
    """The way dates are written that reads most cells, the share it reads, and one that would read as many."""
    known = pc.drop_null(cells)
    if not len(known):
        return ISO, 0.0, ""
    shares = {pattern: float(np.isfinite(days(known, pattern)).mean()) for pattern in (ISO, *_plausible(known))}
    best = max(shares, key=shares.__getitem__)
    swapped = best.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m")
    other = swapped if best != ISO and shares.get(swapped, 0.0) == shares[best] else ""
    return best, shares[best], other


def _plausible(known: Any) -> list[str]:
    """Ways that read one of the first cells."""
    few = known.slice(0, 20)
    return [pattern for pattern in DATE_FORMATS if np.isfinite(days(few, pattern)).any()]
