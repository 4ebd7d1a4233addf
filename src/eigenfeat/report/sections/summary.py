"""The answer in front: how often the model is right, beside what it would be without looking, and what to beware of."""

from __future__ import annotations

from html import escape

from eigenfeat.report.drawing.svg import number
from eigenfeat.report.sections.html import Section, listed, paragraph, percent, several
from eigenfeat.report.values.evaluation import Classification, Regression
from eigenfeat.report.values.importance import Importance
from eigenfeat.report.values.intervals import Estimate
from eigenfeat.report.values.labels import Labels
from eigenfeat.report.values.measured import Measured

FEW_ROWS = 100
"""Unseen rows below which an interval is so wide that it has to be said."""


def summary(found: Measured) -> Section:
    """The figures that matter as cards, the sentence one would say aloud, and warnings."""
    if found.classification is not None:
        body = _classes(found.classification, found)
    elif found.labels is not None:
        body = _many(found.labels, found)
    elif found.regressions:
        body = "".join(_numbers(one, found) for one in found.regressions)
    else:
        body = paragraph(_nothing_measured(found), "lead")
    notes = warnings_of(found)
    if notes:
        items = "".join(f"<li>{escape(note)}</li>" for note in notes)
        body += f'<div class="warnings" role="note"><h3>Beware</h3><ul>{items}</ul></div>'
    return Section("summary", "In short", body)


def warnings_of(found: Measured) -> list[str]:
    """What a reader has to know before trusting the figures, in plain words."""
    notes = []
    said, result = found.predictions, found.classification
    if said is not None and said.seen:
        notes.append(
            "These figures are of the rows the model was fitted on. They say how well it remembers, not how well it "
            "will do: give rows that were held out."
        )
    if result is not None:
        if not result.better_than_majority:
            notes.append(
                f"The model is not clearly better than always saying “{result.majority}”, which is wrong for "
                f"{percent(result.baseline_error)} of the rows."
            )
        if result.never_predicted:
            notes.append(f"Never predicted, though there are rows of it: {listed(result.never_predicted)}.")
    if found.labels is not None:
        if found.labels.error.high >= found.labels.baseline_error:
            notes.append(
                "The model is not clearly better than always saying what most rows have, which is wrong for "
                f"{percent(found.labels.baseline_error)} of the labels."
            )
        if found.labels.never_said:
            notes.append(f"Never said, though there are rows that have it: {listed(found.labels.never_said)}.")
    for one in found.regressions:
        if one.r2.low <= 0:
            notes.append(f"{one.name or 'The model'}: not clearly better than always saying the mean.")
    if said is not None and len(said.truth) < FEW_ROWS:
        notes.append(
            f"Only {several(len(said.truth), 'row')} to judge by: the intervals are wide, so take them seriously."
        )
    if isinstance(found.importance, Importance) and found.importance.dominant:
        notes.append(
            f"Nearly everything rests on the column “{found.importance.dominant}”. Make sure that it will be known "
            "when the model is used, and that it is not the answer in disguise."
        )
    return notes


def _classes(result: Classification, found: Measured) -> str:
    assert found.predictions is not None
    right = result.n_rows - result.n_wrong
    words = (
        f"Of {several(result.n_rows, 'row')} ({found.predictions.how}), {right:,} were given their true class and "
        f"{result.n_wrong:,} another."
    )
    cards = [
        _card("Wrong", percent(result.error.value), _interval(result.error), "main"),
        _card("Without a model", percent(result.baseline_error), f"wrong when one always says “{result.majority}”"),
        _card(
            "Balanced accuracy",
            percent(result.balanced_accuracy.value),
            f"{_interval(result.balanced_accuracy)}; the share that is right, each class counting alike",
        ),
    ]
    if result.log_loss is not None:
        loss, base = result.log_loss, result.baseline_log_loss
        cards.append(
            _card(
                "Log loss",
                f"{loss.value:.3f}",
                f"{number(loss.low)} to {number(loss.high)}; class shares alone give {base:.3f}. 0 is sure and right",
            )
        )
    return paragraph(words, "lead") + f'<div class="cards">{"".join(cards)}</div>'


def _many(result: Labels, found: Measured) -> str:
    assert found.predictions is not None
    words = (
        f"Of {several(result.n_rows, 'row')} ({found.predictions.how}) with {several(len(result.names), 'label')} to "
        f"say of each, {percent(result.error.value)} of the labels were wrong, and {percent(result.all_right.value)} "
        "of the rows had all of them right."
    )
    cards = [
        _card("Wrong labels", percent(result.error.value), _interval(result.error), "main"),
        _card("Without a model", percent(result.baseline_error), "wrong when one always says what most rows have"),
        _card(
            "Rows all right",
            percent(result.all_right.value),
            f"{_interval(result.all_right)}; without a model {percent(result.baseline_all_right)}",
        ),
        _card(
            "F1",
            f"{result.micro_f1:.3f}",
            f"over all labels together; the mean over labels is {result.macro_f1:.3f}. 1: all found, none invented",
        ),
    ]
    return paragraph(words, "lead") + f'<div class="cards">{"".join(cards)}</div>'


def _numbers(one: Regression, found: Measured) -> str:
    assert found.predictions is not None
    lead = (
        f"{one.name + ': ' if one.name else ''}on {several(len(one.truth), 'row')} ({found.predictions.how}) "
        f"predictions are off by {number(one.absolute_error.value)} on average."
    )
    cards = [
        _card(
            "Off by",
            number(one.absolute_error.value),
            f"{number(one.absolute_error.low)} to {number(one.absolute_error.high)}; mean absolute error",
            "main",
        ),
        _card("Without a model", number(one.baseline_absolute_error), "off by, when one always says the median"),
        _card(
            "R²",
            f"{one.r2.value:.3f}",
            f"{one.r2.low:.3f} to {one.r2.high:.3f}; the share of the target's variance that is explained",
        ),
        _card(
            "Root mean square",
            number(one.root_mean_square.value),
            f"always saying the mean gives {number(one.baseline_root_mean_square)}",
        ),
    ]
    return paragraph(lead[0].upper() + lead[1:], "lead") + f'<div class="cards">{"".join(cards)}</div>'


def _card(title: str, value: str, words: str, kind: str = "") -> str:
    return (
        f'<div class="card {kind}"><p class="card-title">{escape(title)}</p><p class="card-value">{escape(value)}</p>'
        f'<p class="card-words">{escape(words)}</p></div>'
    )


def _interval(estimate: Estimate) -> str:
    return f"95 % interval {100 * estimate.low:.1f} to {100 * estimate.high:.1f} %"


def _nothing_measured(found: Measured) -> str:
    if found.subject.kind == "features":
        return (
            f"{found.subject.name} turns each row into features for something else to use. It predicts nothing itself, "
            "so there is no error to report; below are the directions it found."
        )
    return (
        "This page was given no rows with known answers, so it cannot say how good the predictions are. Give some that "
        "were held out of the fit."
    )
