"""Columns of any unit made ready for second moments: the treatment of each, as a stage and as a table to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from itertools import groupby, islice
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.features.column_rules import TREATMENTS, Decision, decide
from eigenfeat.features.column_summary import ColumnSummary
from eigenfeat.features.sparse_columns import decide_sparse
from eigenfeat.rows.sampling import RowSample
from eigenfeat.stages import TreatedColumns

SAMPLE_ROWS, SAMPLE_VALUES, FEWEST_ROWS = 20_000, 2_000_000, 2000
"""Rows that treatments are learnt from: so many at most, fewer where they are wide."""

N_QUANTILES = 256
"""Knots of a column that is made normal: scores of 10,000 rows are then no more than 0.03 apart."""

SHOWN = 1000
"""Columns that a printed table has at most."""

WORDS = ("auto", *TREATMENTS)


@dataclass(frozen=True)
class ColumnTreatment:
    """What was done to one column: ``(x - shift) · factor``, or normal scores through ``n_quantiles`` knots."""

    name: str
    treatment: str
    shift: float
    factor: float
    n_quantiles: int
    reason: str


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """What was done to every column, and why: prints as a table.

    ``table[3]`` and ``table["age"]`` are the `ColumnTreatment` of a column; iteration gives all of them.

    Attributes
    ----------
    name, treatment, reason : (d,) arrays of str
    shift, factor : (d,) arrays
    n_quantiles : (d,) array of int
        Zero for columns that are shifted and multiplied.
    """

    name: np.ndarray
    treatment: np.ndarray
    shift: np.ndarray
    factor: np.ndarray
    n_quantiles: np.ndarray
    reason: np.ndarray

    def __len__(self) -> int:
        return len(self.name)

    def __getitem__(self, column: int | str) -> ColumnTreatment:
        if isinstance(column, str):
            (places,) = np.nonzero(self.name == column)
            if not len(places):
                raise KeyError(f"There is no column {column!r}; the first are {', '.join(self.name[:5])}.")
            column = int(places[0])
        return ColumnTreatment(*(getattr(self, field.name)[column].item() for field in fields(self)))

    def __iter__(self) -> Iterator[ColumnTreatment]:
        return (self[j] for j in range(len(self)))

    def as_dict(self) -> dict[str, list]:
        """A list a field: what ``pandas.DataFrame`` takes."""
        return {field.name: getattr(self, field.name).tolist() for field in fields(self)}

    def counts(self) -> dict[str, int]:
        """How many columns had each treatment."""
        words, numbers = np.unique(self.treatment, return_counts=True)
        return dict(zip(words.tolist(), numbers.tolist()))

    @property
    def are_pixels(self) -> bool:
        """Whether most columns have one factor about one value: pixels, counts, nothing with a unit of its own."""
        shifts = self.shift[self.treatment == "common"]
        return len(shifts) > 0 and np.unique(shifts, return_counts=True)[1].max() > len(self) / 2

    def __str__(self) -> str:
        shown = self._cells(SHOWN)
        widths = [max(len(row[k]) for row in shown) for k in range(len(shown[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in shown]
        return "\n".join([*lines, *self._left_out(SHOWN)])

    def _repr_html_(self) -> str:
        head, *body = (
            "".join(f"<{mark}>{escape(cell)}</{mark}>" for cell in row)
            for row, mark in zip(self._cells(SHOWN), ["th"] + ["td"] * len(self))
        )
        rows = "".join(f"<tr>{row}</tr>" for row in body)
        rest = "".join(f"<caption>{line}</caption>" for line in self._left_out(SHOWN))
        return f"<table>{rest}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def _cells(self, most: int) -> list[list[str]]:
        """A heading, and a line for every run of columns that were treated alike."""
        head = [field.name.replace("n_", "") for field in fields(self)]
        return [head, *(_line(list(run)) for _, run in groupby(list(islice(self, most)), _but_its_name))]

    def _left_out(self, most: int) -> list[str]:
        return [f"... and {len(self) - most} more columns: {self.counts()}"] if len(self) > most else []


def _but_its_name(column: ColumnTreatment) -> tuple:
    return tuple(vars(column).values())[1:]


def _line(run: list[ColumnTreatment]) -> list[str]:
    name = run[0].name if len(run) == 1 else f"{run[0].name} to {run[-1].name}"
    return [name, *(f"{value:.4g}" if isinstance(value, float) else str(value) for value in _but_its_name(run[0]))]


def sample_size(n_columns: int) -> int:
    """Rows to learn the treatment of so many columns from."""
    return int(np.clip(SAMPLE_VALUES // max(1, n_columns), FEWEST_ROWS, SAMPLE_ROWS))


def asked_treatments(columns: Any, names: Sequence[str]) -> list[str]:
    """A treatment for every column, "auto" where the rules decide.

    Parameters
    ----------
    columns : str, mapping of names or numbers of columns to words, or sequence of words
    names : sequence of str

    Raises
    ------
    ValueError
        For a word or column that is not known, and a sequence of another length.
    """
    if isinstance(columns, str):
        asked = [columns] * len(names)
    elif isinstance(columns, Mapping):
        asked = ["auto"] * len(names)
        for column, word in columns.items():
            asked[_place(column, names)] = word
    else:
        asked = [str(word) for word in columns]
        if len(asked) != len(names):
            raise ValueError(f"columns has {len(asked)} treatments for {len(names)} columns: give one a column.")
    for word in asked:
        if word not in WORDS:
            raise ValueError(f"columns has no treatment {word!r}: choose of {', '.join(WORDS)}.")
    return asked


def _place(column: Any, names: Sequence[str]) -> int:
    if isinstance(column, str):
        if column in names:
            return list(names).index(column)
    elif 0 <= column < len(names):
        return int(column)
    raise ValueError(
        f"columns names {column!r}, which is not there: use the number of a column below {len(names)}, or its name "
        f"({', '.join(map(str, names[:5]))}{', ...' if len(names) > 5 else ''})."
    )


def treat_columns(sample: RowSample, columns: Any, names: Sequence[str]) -> tuple[TreatedColumns, ColumnTable]:
    """Decide on every column from a sample of rows.

    Parameters
    ----------
    sample : RowSample
    columns : str, mapping or sequence
        As in `asked_treatments`.
    names : sequence of str
        Of the columns.

    Returns
    -------
    stage : TreatedColumns
    table : ColumnTable
    """
    asked = asked_treatments(columns, names)
    if sparse.issparse(sample.X):
        decisions, factor = decide_sparse(sample, asked)
        nothing = np.empty((0, 0))
        stage = TreatedColumns(np.zeros(len(names)), factor, np.empty(0, dtype=np.int64), nothing, nothing)
        return stage, _table(stage, decisions, names)
    summaries = [
        ColumnSummary.of(sample.X[:, j], sample.weight, sample.low[j], sample.high[j]) for j in range(len(names))
    ]
    decisions = decide(summaries, asked)
    stage = _stage(summaries, decisions)
    return stage, _table(stage, decisions, names)


def _stage(summaries: Sequence[ColumnSummary], decisions: Sequence[Decision]) -> TreatedColumns:
    common = _common_factors(summaries, decisions)
    pairs = [_shift_and_factor(s, d, common.get(d.group, 1.0)) for s, d in zip(summaries, decisions)]
    shift, factor = np.array(pairs, dtype=np.float64).reshape(-1, 2).T.copy()
    curved = np.array([j for j, d in enumerate(decisions) if d.treatment == "quantile-normal"], dtype=np.int64)
    curves = [summaries[j].normal_scores(N_QUANTILES) for j in curved]
    longest = max((len(knots) for knots, _ in curves), default=0)
    knots, values = np.empty((2, len(curves), longest))
    for j, curve in enumerate(curves):
        knots[j], values[j] = (np.pad(part, (0, longest - len(part)), mode="edge") for part in curve)
    return TreatedColumns(shift, factor, curved, knots, values)


def _common_factors(summaries: Sequence[ColumnSummary], decisions: Sequence[Decision]) -> dict[int, float]:
    """What gives the columns of each group a mean square of one about their centres, over all of them together."""
    groups: dict[int, list[float]] = {}
    for summary, decision in zip(summaries, decisions):
        if decision.treatment == "common":
            groups.setdefault(decision.group, []).append(summary.size_about(_centre(summary, decision)))
    return {group: _inverse(_root_mean_square(np.array(sizes))) for group, sizes in groups.items()}


def _shift_and_factor(summary: ColumnSummary, decision: Decision, common: float) -> tuple[float, float]:
    match decision.treatment:
        case "standardise":
            return summary.mean, _inverse(summary.spread)
        case "common":
            return _centre(summary, decision), common
        case "indicator":
            return summary.low, _inverse(summary.high - summary.low)
        case "drop":
            return 0.0, 0.0
        case _:
            return 0.0, 1.0


def _centre(summary: ColumnSummary, decision: Decision) -> float:
    return summary.mean if decision.centre is None else decision.centre


def _root_mean_square(sizes: np.ndarray) -> float:
    largest = sizes.max() or 1.0
    return float(largest * np.sqrt(np.mean((sizes / largest) ** 2)))


def _inverse(size: float) -> float:
    """The factor for a size; none for sizes whose inverse no number holds."""
    return 1.0 / size if size > np.finfo(np.float64).tiny else 0.0


def _table(stage: TreatedColumns, decisions: Sequence[Decision], names: Sequence[str]) -> ColumnTable:
    n_quantiles = np.zeros(len(names), dtype=np.int64)
    if len(stage.curved):
        n_quantiles[stage.curved] = 1 + (np.diff(stage.knots, axis=1) > 0).sum(axis=1)
    return ColumnTable(
        np.array([str(name) for name in names]),
        np.array([decision.treatment for decision in decisions]),
        stage.shift,
        stage.factor,
        n_quantiles,
        np.array([decision.reason for decision in decisions]),
    )
