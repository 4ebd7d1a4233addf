"""What was fitted on what."""

from __future__ import annotations

from eigenfeat.report.drawing.svg import number
from eigenfeat.report.provenance import Provenance
from eigenfeat.report.sections.html import Section, details, listed, missing, paragraph, several, table
from eigenfeat.report.values.columns import column_names
from eigenfeat.report.values.facts import ColumnFacts, Facts
from eigenfeat.report.values.measured import Measured

MOST_LINES, UNFOLDED = 300, 12
"""Columns that a table has at most, and up to how many it stands open."""


def fitted(found: Measured, origin: Provenance) -> Section:
    """Rows, columns and what was done to each; the model and its settings."""
    known = found.facts
    body = table(("", ""), [*_data(found, origin), *_model(known)])
    if known.columns:
        body += "".join(_columns(one) for one in known.columns)
    else:
        rows = found.subject.rows
        names = column_names(found.subject, None if rows is None else rows.X)
        body += missing(f"Nothing was done to the columns before the fit: {listed(names)}.")
    return Section("fitted", "What was fitted on what", body)


def _data(found: Measured, origin: Provenance) -> list[tuple[str, str]]:
    subject, known = found.subject, found.facts
    lines = []
    if origin.file:
        lines.append(("File", origin.file))
    if origin.sha256:
        lines.append(("Its SHA-256", origin.sha256))
    if origin.n_rows is not None:
        lines.append(("Rows of the file", f"{origin.n_rows:,}"))
    n_train = subject.n_training or _rows_of_moments(subject.steps)
    if n_train is not None:
        lines.append(("Rows of the fit", f"{n_train:,}"))
    if subject.test is not None:
        lines.append(("Rows to judge by", f"{subject.test.n_rows:,}"))
    trials = subject.rows is not None and getattr(subject.rows.X, "ndim", 2) == 3
    lines.append(("Channels" if trials else "Columns", f"{known.n_features:,}"))
    if origin.label:
        lines.append(("Predicted column", origin.label))
    if known.classes:
        lines.append((f"{len(known.classes)} classes", listed(known.classes, 20)))
    return lines


def _model(known: Facts) -> list[tuple[str, str]]:
    lines = [("Model", " → ".join(known.steps))]
    settings = [f"{name} = {value}" for name, value in known.settings]
    lines.append(("Settings", ", ".join(settings) or "all at their defaults"))
    if known.choices:
        lines.append(("Found by search", ", ".join(f"{name} = {value}" for name, value in known.choices)))
    return lines


def _columns(one: ColumnFacts) -> str:
    count = len(one.lines)
    place = next((j for j, name in enumerate(one.headings) if name in ("treatment", "kind", "action")), None)
    words = f"What was done to each of {several(count, 'column')} ({one.step})"
    if place is not None:
        kinds = [line[place] for line in one.lines]
        words += ": " + listed([f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)])
    shown = table(one.headings, one.lines[:MOST_LINES])
    if count > MOST_LINES:
        shown += paragraph(f"The first {number(MOST_LINES)} of {several(count, 'column')}.", "note")
    return paragraph(words + ".") + shown if count <= UNFOLDED else details(words, shown)


def _rows_of_moments(steps: tuple) -> int | None:
    for step in steps:
        counts = getattr(getattr(step, "moments_", None), "counts", None)
        if counts is not None:
            return int(sum(counts))
    return None
