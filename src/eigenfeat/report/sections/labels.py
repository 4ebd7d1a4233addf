"""Results of many labels: one by one, and which go together."""

from __future__ import annotations

import numpy as np

from eigenfeat.report.drawing.charts import bars
from eigenfeat.report.sections.html import Section, figure, missing, paragraph, percent, table
from eigenfeat.report.values.labels import Labels

N_BARS, N_LISTED = 15, 300


def by_label(found: Labels) -> Section:
    """Precision, recall, F1 and area under the curve of every label."""
    order = np.argsort(-found.n_true, kind="stable")
    lines = [
        (
            found.names[j],
            f"{found.n_true[j]:,}",
            f"{found.n_said[j]:,}",
            percent(found.precision[j]),
            percent(found.recall[j]),
            _plain(found.f1[j]),
            _plain(found.area[j]),
            percent(found.wrong[j]),
            percent(found.baseline_wrong[j]),
        )
        for j in order[:N_LISTED]
    ]
    heads = ("label", "rows", "times said", "precision", "recall", "F1", "area", "wrong", "without a model")
    top = order[:N_BARS]
    areas = np.nan_to_num(found.area[top], nan=0.5)
    spoken = ", ".join(f"{found.names[j]} {_plain(found.area[j])}" for j in top[:5])
    picture = bars(
        [found.names[j] for j in top],
        areas,
        f"Area under the ROC curve of the {len(top)} most frequent labels: {spoken}",
        None,
        "area under the ROC curve",
    )
    body = (
        paragraph(
            "Precision: of the rows a label is said of, the share that have it. Recall: of the rows that have it, the "
            "share that were found. F1 is their harmonic mean. Area: how often a row with the label scores above one "
            "without it; 0.5 is chance, whatever the threshold. “Without a model”: rows that would be wrong if one "
            "always said what most rows have. A dash: there are no such rows."
        )
        + figure(picture, "How well scores tell rows with a label from rows without it; 0.5 is chance.")
        + table(heads, lines, numbers=tuple(range(1, 9)))
    )
    if len(found.names) > N_LISTED:
        body += paragraph(f"The {N_LISTED} most frequent of {len(found.names):,} labels.", "note")
    return Section("labels", "Label by label", body)


def going_together(found: Labels) -> Section:
    """Pairs of labels that correlate, in truth and in what is said."""
    title = "Which labels go together"
    if not found.pairs:
        return Section("together", title, missing("Too few rows have two of the labels to tell."))
    lines = [
        (
            f"{found.names[pair.first]} and {found.names[pair.second]}",
            f"{pair.n_together:,}",
            f"{pair.correlation:+.2f}",
            f"{pair.said_correlation:+.2f}",
        )
        for pair in found.pairs
    ]
    body = paragraph(
        "Pairs of labels that come together, or keep apart, most: correlation +1 is always together, −1 never and one "
        "of them always. Where what is said correlates more than the truth, the model leans on one label for the other."
    ) + table(("labels", "rows with both", "correlation", "in what is said"), lines, numbers=(1, 2, 3))
    return Section("together", title, body)


def _plain(value: float) -> str:
    return "–" if value != value else f"{value:.2f}"
