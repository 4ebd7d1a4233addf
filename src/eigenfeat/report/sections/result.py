"""Results class by class, or prediction by prediction."""

from __future__ import annotations

import numpy as np

from eigenfeat.report.drawing.charts import points
from eigenfeat.report.drawing.svg import number
from eigenfeat.report.sections.html import Section, figure, paragraph, percent, row, table
from eigenfeat.report.values.evaluation import Classification, Regression

MOST_CLASSES = 200


def by_class(result: Classification) -> Section:
    """Precision and recall of every class."""
    totals, said = result.counts.sum(axis=1), result.counts.sum(axis=0)
    lines = [
        (name, f"{totals[i]:,}", f"{said[i]:,}", percent(result.precision[i]), percent(result.recall[i]))
        for i, name in enumerate(result.classes.astype(str)[:MOST_CLASSES])
    ]
    body = paragraph(
        "Precision: of the rows given this class, the share that are of it. Recall: of the rows of this class, the "
        "share that were found. A dash: there are no such rows."
    ) + table(("class", "rows", "times said", "precision", "recall"), lines, numbers=(1, 2, 3, 4))
    if len(result.classes) > MOST_CLASSES:
        body += paragraph(f"The first {MOST_CLASSES} of {len(result.classes):,} classes.", "note")
    return Section("classes", "Class by class", body, half=True)


def predicted_against_observed(results: list[Regression]) -> Section:
    """Dots about the line of perfect predictions, and what is left over."""
    return Section("predictions", "Predicted against observed", "".join(_regression(one) for one in results))


def _regression(one: Regression) -> str:
    wrong = one.truth - one.predicted
    correlation = float(np.corrcoef(one.truth, one.predicted)[0, 1]) if np.std(one.predicted) > 0 else 0.0
    name = f" of {one.name}" if one.name else ""
    against = figure(
        points(
            one.truth,
            one.predicted,
            f"Predicted against observed values{name}: correlation {correlation:.2f}, {len(wrong):,} rows.",
            "observed",
            "predicted",
            diagonal=True,
        ),
        f"A dot a row{name}. On the line, prediction and truth are equal; correlation {correlation:.2f}.",
    )
    low, middle, high = np.quantile(wrong, [0.05, 0.5, 0.95])
    left_over = figure(
        points(
            one.predicted,
            wrong,
            f"Residuals{name}: nine of ten lie between {number(low)} and {number(high)}, median {number(middle)}.",
            "predicted",
            "observed less predicted",
        ),
        f"What is left over: nine of ten residuals lie between {number(low)} and {number(high)}. A bend or a funnel "
        "here means that the model misses something.",
        numbers=table(
            ("share of rows below", "residual"),
            [(percent(q, 0), number(float(np.quantile(wrong, q)))) for q in (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)],
            numbers=(1,),
        ),
    )
    return row(against, left_over)
