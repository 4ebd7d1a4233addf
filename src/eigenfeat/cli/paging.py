"""The report of a fitted model, from the rows of a command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from eigenfeat.cli.data import Reading, Rows, read_rows
from eigenfeat.cli.talk import Talk
from eigenfeat.export import load
from eigenfeat.report import write_report


def write_page(model: Any, path: Path, rows: Rows | None, seed: int = 0, shape: tuple[int, int] | None = None) -> None:
    """One page about a model, evaluated on rows it has not seen where there are any."""
    title = dict(getattr(model, "card_", {})).get("method", type(model).__name__)
    X, y = (None, None) if rows is None else (rows.X, rows.y)
    last, inner = model, X
    if hasattr(model, "named_steps"):
        last = model.steps[-1][1]
        inner = X if X is None or len(model.steps) == 1 else model[:-1].transform(X)
    where = "" if rows is None else f" on {Path(rows.place).name}"
    write_report(last, path, inner, y, title=f"{title}{where}", image_shape=shape)


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
        rows = read_rows(
            data,
            replace(reading, labels=labels),
            None if names is None else list(map(str, names)),
            card.get("task") or None,
        )
    with talk.progress("writing the report"):
        write_page(fitted, output, rows, shape=shape)
    talk.facts["report"] = str(output)
    talk.say(f"Report  {output}  (open it in a browser)")
