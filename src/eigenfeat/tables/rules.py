"""What a column is: one rule after the other, and the plan each leads to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import stats

from eigenfeat.tables import cells
from eigenfeat.tables.plans import CYCLES, CategoryPlan, ColumnPlan, DatePlan, NumberPlan, part_of

KINDS = ("number", "boolean", "category", "date", "drop")
SAMPLE = 50_000
"""Rows that kinds are recognised by; what is learnt of a recognised column is learnt from all rows."""

READABLE = 0.95
"""A column of text is one of numbers, or dates, where so many of its cells are; the rest is then missing."""

ALL_DIFFERENT, FEWEST_FOR_ID = 0.95, 20
DENSE = 1.5
"""Whole numbers that all differ are numbers of rows if their range is not longer than this times their count."""

ID_NAME = re.compile(
    r"(^|[\W_])(id|uuid|guid|key|index|idx|row|record|serial|nr|no|number)$|^(id|uuid|index|unnamed|column)\b|Id$|ID$"
)
LEVEL = 0.01
"""Missing cells inform, and get a column of their own, where a test against y would say so at this level."""


@dataclass(frozen=True)
class Finding:
    """A column, what it was found to be and what is made of it: nothing, where ``plan`` is None."""

    kind: str
    plan: ColumnPlan | None
    reason: str
    n_missing: int = 0
    flagged: bool = False


@dataclass(frozen=True)
class Limits:
    """How categories are pooled: at most so many columns, each for so many rows at least."""

    max_categories: int
    min_frequency: int


def find(name: str, column: Any, y: np.ndarray | None, limits: Limits, asked: str | None = None) -> Finding:
    """What a column is, by what its cells say, or as what the user asked for."""
    if asked == "drop":
        return Finding("dropped", None, "left out, as asked")
    if asked is not None:
        return _ASKED[asked](name, column, y, limits)
    if cells.is_nested(column):
        return Finding("nested", None, f"cells are {column.type}: no single values", flagged=True)
    few = _sample(column)
    if _is_constant(few) and _is_constant(column):
        return _constant(column)
    if cells.is_time(column):
        return _date(name, column, y, limits)
    if pa.types.is_boolean(column.type):
        return _boolean(name, column, y, limits)
    if not cells.has_text(column):
        return _id_number(name, few, column) or _number(name, column, y, limits)
    return _of_text(name, cells.text(few), column, y, limits)


def _of_text(name: str, few: Any, column: Any, y: np.ndarray | None, limits: Limits) -> Finding:
    """What text says, the rules in their order."""
    values = pc.unique(pc.drop_null(few))
    if len(values) == 2 and cells.truth_words(values.to_pylist()):
        return _boolean(name, column, y, limits)
    notation, share = cells.notation_of(few)
    if share >= READABLE and not cells.is_code(few):
        found = cells.numbers(few, notation)
        return _id_number(name, pa.array(found, from_pandas=True), column, notation) or _number(name, column, y, limits)
    _, share, _ = cells.date_pattern(few)
    if share >= READABLE:
        return _date(name, column, y, limits)
    known = len(few) - few.null_count
    if known >= FEWEST_FOR_ID and len(values) >= ALL_DIFFERENT * known:
        words = pc.mean(pc.cast(pc.count_substring(pc.drop_null(few), " "), pa.float64())).as_py() + 1
        what = "free text" if words >= 3 else "an identifier"
        return Finding("text" if words >= 3 else "id", None, f"{what}: nearly every row has its own", flagged=True)
    return _category(name, column, y, limits)


def _sample(column: Any) -> Any:
    n = len(column)
    return column if n <= SAMPLE else column.take(pa.array(np.linspace(0, n - 1, SAMPLE).astype(np.int64)))


def _is_constant(column: Any) -> bool:
    plain = cells.text(column) if cells.has_text(column) else column
    return len(pc.unique(plain)) <= 1


def _constant(column: Any) -> Finding:
    plain = cells.text(column) if cells.has_text(column) else column
    if plain.null_count == len(plain):
        return Finding("empty", None, "no cell says anything", len(plain))
    return Finding("constant", None, f"every row has {plain[0].as_py()!r}")


def _id_number(name: str, few: Any, column: Any, notation: str = "plain") -> Finding | None:
    """Whole numbers that number the rows, or that are called so and hardly come twice."""
    values = cells.numbers(few)
    values = values[~np.isnan(values)]
    if len(values) < FEWEST_FOR_ID or not np.array_equal(values, np.floor(values)):
        return None
    share = len(np.unique(values)) / len(values)
    called_so = ID_NAME.search(name.strip()) is not None
    if called_so and share > 0.5:
        return Finding("id", None, "called and numbered like an identifier", flagged=True)
    if share < 1:
        return None
    everything = cells.numbers(column, notation)
    everything = everything[~np.isnan(everything)]
    different = len(np.unique(everything)) == len(everything)
    if different and np.ptp(everything) + 1 <= DENSE * len(everything):
        return Finding("id", None, "numbers the rows: all are different, with hardly a gap", flagged=True)
    return None


def _number(name: str, column: Any, y: np.ndarray | None, limits: Limits) -> Finding:
    plain = cells.text(column) if cells.has_text(column) else None
    notation = "plain" if plain is None else cells.notation_of(_sample(plain))[0]
    values = cells.numbers(column, notation)
    missing = np.isnan(values)
    if missing.all():
        return Finding("empty", None, "no cell is a number", len(values))
    indicator = informs(missing, y)
    known = values[~missing] if missing.any() else values
    reason = "numbers" if notation == "plain" else f"numbers with {notation}" + " separators" * (notation[0] == "t")
    unread = 0 if plain is None else int(missing.sum()) - plain.null_count
    if unread:
        reason += f"; {unread} cells that are none count as missing"
    return Finding(
        "number",
        NumberPlan(name, notation, float(np.median(known)), indicator),
        reason + _filled(missing, indicator, "the median"),
        int(missing.sum()),
    )


def _boolean(name: str, column: Any, y: np.ndarray | None, limits: Limits) -> Finding:
    if pa.types.is_boolean(column.type):
        yes: str | None = "true"
    else:
        yes = cells.truth_words(pc.unique(pc.drop_null(cells.text(_sample(column)))).to_pylist()) or "true"
    values = cells.truth(column, str(yes))
    missing = np.isnan(values)
    indicator = informs(missing, y)
    fill = float(np.median(values[~missing])) if not missing.all() else 0.0
    return Finding(
        "boolean",
        NumberPlan(name, "yes/no", round(fill), indicator, str(yes)),
        f"{yes} is 1" + _filled(missing, indicator, "the more frequent value"),
        int(missing.sum()),
    )


def _category(name: str, column: Any, y: np.ndarray | None, limits: Limits) -> Finding:
    plain = cells.text(column)
    counted = pc.value_counts(pc.drop_null(plain))
    values = counted.field("values").to_pylist()
    counts = counted.field("counts").to_numpy(zero_copy_only=False)
    order = sorted(range(len(values)), key=lambda i: (-counts[i], values[i]))
    frequent = [i for i in order if counts[i] >= limits.min_frequency][: limits.max_categories]
    rare = len(order) > len(frequent)
    missing = np.asarray(cells.numbers(pc.is_null(plain)), dtype=bool)
    indicator = informs(missing, y)
    if not frequent:
        return Finding("text", None, f"{len(values)} different values, each rare", int(missing.sum()), flagged=True)
    if len(frequent) == 2 and not rare and not missing.any():
        frequent = frequent[:1]  # the other is its opposite
    reason = f"{len(values)} values" + (f", {len(values) - len(frequent)} of them rare: pooled" if rare else "")
    kept = np.array([values[i] for i in frequent], dtype=str)
    return Finding("category", CategoryPlan(name, kept, rare, indicator), reason, int(missing.sum()))


def _date(name: str, column: Any, y: np.ndarray | None, limits: Limits) -> Finding:
    pattern, other = cells.ISO, ""
    if not cells.is_time(column):
        pattern, _, other = cells.date_pattern(cells.text(_sample(column)))
    found = cells.days(column, pattern)
    missing = np.isnan(found)
    if missing.all():
        return Finding("empty", None, "no cell is a date", len(found))
    known = found[~missing]
    parts = tuple(part for part in CYCLES if np.ptp(part_of(known, part)) > 0 and _repeats(known, part))
    indicator = informs(missing, y)
    reason = "dates" if pattern == cells.ISO else f"dates as {pattern}"
    if other:
        reason += f" (they could as well be {other})"
    plan = DatePlan(name, pattern, float(np.median(known)), parts, indicator)
    return Finding("date", plan, reason + _filled(missing, indicator, "the median"), int(missing.sum()))


def _repeats(known: np.ndarray, part: str) -> bool:
    """Whether the span holds a cycle more than once: else the part says no more than the trend."""
    span = np.ptp(known)
    return bool(span > {"month": 365, "weekday": 7, "hour": 1}[part])


def informs(missing: np.ndarray, y: np.ndarray | None) -> bool:
    """Whether missing cells tell something of y; without y, whether there are enough to."""
    n, n_missing = len(missing), int(missing.sum())
    if n_missing == 0 or n_missing == n:
        return False
    if y is None or len(y) != n or np.ndim(y) != 1:
        return min(n_missing, n - n_missing) >= max(5, 0.01 * n)
    y = np.asarray(y)
    classes, index = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        return False
    if y.dtype.kind == "f" and len(classes) > 20:
        return bool(min(n_missing, n - n_missing) > 1 and stats.ttest_ind(y[missing], y[~missing]).pvalue < LEVEL)
    table = np.vstack(
        [np.bincount(index[missing], minlength=len(classes)), np.bincount(index[~missing], minlength=len(classes))]
    )
    return bool(stats.chi2_contingency(table).pvalue < LEVEL)


def _filled(missing: np.ndarray, indicator: bool, by: str) -> str:
    if not missing.any():
        return ""
    return f"; missing cells get {by}" + (" and a column that says so" if indicator else "")


_ASKED = {"number": _number, "boolean": _boolean, "category": _category, "date": _date}
