"""Which classes are taken for which, and what tells two of them apart."""

from __future__ import annotations

import numpy as np

from eigenfeat.report.drawing.patterns import PatternStyle
from eigenfeat.report.sections.html import Section, missing, paragraph
from eigenfeat.report.sections.matrix import MOST_CLASSES, confusion_matrix, eigenvalue_matrix, most_confused
from eigenfeat.report.sections.pair_panels import panels
from eigenfeat.report.values.components import Components
from eigenfeat.report.values.evaluation import Classification
from eigenfeat.report.values.measured import Measured
from eigenfeat.report.values.pairs import strongest_value

HOW = "Choose a cell with the mouse, or with Tab, the arrow keys and Enter, to see the two classes."


def confusions(found: Measured, style: PatternStyle) -> Section | None:
    """The matrix of a classifier, or that of the class pairs of a transformer; nothing where there are no classes."""
    if found.classification is not None:
        return Section("confusions", "Which classes are confused", _confused(found, found.classification, style))
    if found.subject.kind == "classifier":
        reason = "The confusion matrix needs rows with known classes, and this page was given none."
        compared = _compared(found, style)
        return Section("confusions", "Which classes are confused", missing(reason) + (compared or ""))
    compared = _compared(found, style)
    return None if compared is None else Section("pairs-of-classes", "Which classes are told apart", compared)


def _confused(found: Measured, result: Classification, style: PatternStyle) -> str:
    chosen = most_confused(result)
    words = f"Each row of the table is a true class, each column what the model said. {HOW}"
    if len(result.classes) > MOST_CLASSES:
        words += f" Of {len(result.classes)} classes the {MOST_CLASSES} with most mistakes are shown."
    return (
        paragraph(words)
        + _explanation(found, style)
        + f'<div class="explorer"><div>{confusion_matrix(result)}</div>'
        + panels(found, chosen, result.classes, style)
        + "</div>"
    )


def _compared(found: Measured, style: PatternStyle) -> str | None:
    """Class pairs by their largest eigenvalue, where the model compares classes two by two."""
    names = np.array(found.facts.classes)
    if isinstance(found.components, str) or len(names) < 2:
        return None
    values = np.array([[strongest_value(found.components, a, b) for b in names] for a in names])
    if not np.isfinite(values).any():
        return None
    chosen = list(range(min(len(names), MOST_CLASSES)))
    return (
        paragraph(HOW)
        + _explanation(found, style)
        + f'<div class="explorer"><div>{eigenvalue_matrix(names, values)}</div>'
        + panels(found, chosen, names, style)
        + "</div>"
    )


def _explanation(found: Measured, style: PatternStyle) -> str:
    if not isinstance(found.components, Components):
        return ""
    return paragraph(pattern_words(found.components, style), "note")


def pattern_words(known: Components, style: PatternStyle) -> str:
    """How to read a pattern and a box."""
    if known.fixed is not None and known.projections is not None:
        pattern = "A pattern is what a component looks like at the sensors, scaled to at most 1."
    else:
        pattern = (
            "A pattern shows each of your columns in standardised units: by how many of its standard deviations it is "
            "higher (positive) or lower (negative), on average, where the direction sees one standard deviation more."
        )
    if style.is_picture:
        pattern += " Orange is higher, blue lower, the more the stronger."
    boxes = " A box holds the middle half of a group's rows, its line the median, the whiskers nine of ten rows."
    return pattern + (boxes if known.grouping is not None else "")
