"""The report of a fitted model, from the rows of a command."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from eigenfeat.cli.data import Reading, Rows, read_rows
from eigenfeat.cli.talk import Talk
from eigenfeat.export import load
from eigenfeat.report import Provenance, write_report
from eigenfeat.tables.cells import days, numbers
from eigenfeat.tables.plans import DatePlan, NumberPlan

MOST_TRAINING_ROWS = 20_000
"""Rows of the fit that a page looks at: for its learning curve and the patterns of directions."""


def write_page(
    model: Any,
    path: Path,
    rows: Rows | None,
    train: Rows | None = None,
    shape: tuple[int, int] | None = None,
    seed: int = 0,
    seconds: float | None = 30.0,
) -> None:
    """One page about a model, evaluated on rows it has not seen where there are any."""
    card = dict(getattr(model, "card_", {}))
    title = str(card.get("method", type(model).__name__))
    if card.get("file"):
        title = f"{title} on {Path(str(card['file'])).name}"
    subject, parts = _shown(model, [rows, _some(train, seed)])
    X, y = parts[0] or (None, None)
    write_report(
        subject,
        path,
        X,
        y,
        train=parts[1],
        title=title,
        image_shape=shape,
        target_names=list(card.get("label", ())),
        provenance=_origin(card),
        time_budget=seconds,
        random_state=seed,
    )


def run_report(
    model: Path, data: str | None, reading: Reading, output: Path, shape: tuple[int, int] | None, talk: Talk
) -> None:
    """A page about a saved model, evaluated on rows where they are named."""
    fitted = load(model)
    rows = None
    if data is not None:
        card = dict(getattr(fitted, "card_", {}))
        labels = reading.labels or tuple(card.get("label", ()))
        names = getattr(fitted, "feature_names_in_", None)
        reading = replace(reading, labels=labels)
        rows = read_rows(data, reading, None if names is None else list(map(str, names)), card.get("task") or None)
    with talk.progress("writing the report"):
        write_page(fitted, output, rows, shape=shape)
    talk.facts["report"] = str(output)
    talk.say(f"Report  {output}  (open it in a browser)")


def _origin(card: dict[str, Any]) -> Provenance:
    if not card:
        return Provenance()
    return Provenance(
        file=Path(str(card["file"])).name,
        sha256=str(card["sha256"]),
        n_rows=int(card["rows"]),
        n_columns=int(card["columns"]),
        n_fitted=int(card["rows fitted"]) if card.get("holdout") != "cv" else None,
        label=", ".join(card["label"]),
        command=str(card["command"]),
        seed=int(card["seed"]),
        seconds=float(dict(card["seconds"]).get("fitting", 0.0)),
    )


def _some(rows: Rows | None, seed: int) -> Rows | None:
    if rows is None or len(rows) <= MOST_TRAINING_ROWS:
        return rows
    return rows.take(np.sort(np.random.default_rng(seed).choice(len(rows), MOST_TRAINING_ROWS, replace=False)))


def _shown(model: Any, parts: list[Rows | None]) -> tuple[Any, list[tuple[Any, Any] | None]]:
    """The model and rows as a page takes them: frames with the user's columns, or the encoded ones where no library
    of frames is there."""
    encoder = dict(getattr(model, "named_steps", {})).get("table")
    if encoder is None:
        return model, [None if rows is None else (_matrix(rows), rows.y) for rows in parts]
    if find_spec("pandas") or find_spec("polars"):
        return model, [None if rows is None else (_frame(encoder, rows.X), rows.y) for rows in parts]
    return model[1:], [None if rows is None else (encoder.transform(rows.X), rows.y) for rows in parts]


def _matrix(rows: Rows) -> Any:
    return np.column_stack([numbers(column) for column in rows.X.columns]) if rows.is_table else rows.X


def _frame(encoder: Any, table: pa.Table) -> Any:
    """Columns as what the encoder found them to be: text that says numbers or dates becomes such."""
    plans = {plan.name: plan for plan in encoder.plans_}
    columns: dict[str, Any] = {}
    for name in table.column_names:
        plan, column = plans.get(name), table.column(name)
        if isinstance(plan, NumberPlan) and not plan.yes:
            columns[name] = numbers(column, plan.notation)
        elif isinstance(plan, DatePlan):
            found = days(column, plan.pattern)
            moments = np.where(np.isnan(found), 0, found * 86400e6).astype("datetime64[us]")
            columns[name] = np.where(np.isnan(found), np.datetime64("NaT"), moments)
        else:
            columns[name] = np.array(column.to_pylist(), dtype=object)
    if find_spec("pandas"):
        import pandas

        return pandas.DataFrame(columns)
    import polars

    return polars.DataFrame(
        {name: polars.Series(name, values.tolist(), strict=False) for name, values in columns.items()}
    )
