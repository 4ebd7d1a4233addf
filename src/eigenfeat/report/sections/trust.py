"""Whether probabilities can be believed, which inputs matter, whether more rows would help."""

from __future__ import annotations

import numpy as np

from eigenfeat.report.drawing.charts import Series, bars, lines
from eigenfeat.report.drawing.patterns import PatternStyle
from eigenfeat.report.drawing.svg import number
from eigenfeat.report.sections.html import Section, figure, legend, missing, paragraph, percent, several, table
from eigenfeat.report.values.calibration import Calibration
from eigenfeat.report.values.importance import Importance
from eigenfeat.report.values.learning import LearningCurve
from eigenfeat.report.values.measured import Measured

N_BARS, N_LISTED = 15, 200


def probabilities(found: Measured) -> Section | None:
    """The calibration curve; nothing for models that are no classifiers."""
    if found.subject.kind != "classifier":
        return None
    title, known = "Can the probabilities be believed?", found.calibration
    if known is None:
        why = (
            f"{found.subject.name} gives classes without probabilities."
            if found.predictions is not None
            else "It takes rows with known classes to tell, and this page was given none."
        )
        return Section("probabilities", title, missing(why), half=True)
    return Section("probabilities", title, _calibration(known), half=True)


def inputs(found: Measured, style: PatternStyle) -> Section:
    """Permutation importance in the user's columns."""
    title, known = "Which inputs matter", found.importance
    if isinstance(known, str):
        return Section("inputs", title, missing(known), half=True)
    top = known.order[:N_BARS]
    words = (
        f"Each column in turn was shuffled among {several(known.n_rows, 'row')} the model had not seen, "
        f"{known.n_repeats} times: the bar is how much the {known.loss} rises, the line one standard deviation over "
        "the shuffles to each side. Columns that say the same can stand in for each other, then both look unimportant."
    )
    names = [known.names[j] for j in top]
    first = ", ".join(f"{known.names[j]} {number(known.rise[j])}" for j in top[:3])
    picture = bars(
        names,
        known.rise[top],
        f"Rise of the {known.loss} when a column is shuffled, largest first: {first}",
        known.spread[top],
        f"rise of the {_short(known.loss)}",
    )
    caption = f"The {len(top)} most important of {several(len(known.names), 'column')}."
    body = paragraph(words) + figure(picture, caption, numbers=_importance_table(known))
    if style.is_picture or style.time_axis is not None:
        drawn = style.draw(known.rise, known.names, "the importance of each column")
        caption = "The same for all columns, where they are: the stronger, the more important."
        body += figure(drawn, caption, "picture" if style.is_picture else "")
    return Section("inputs", title, body, half=True)


def learning(found: Measured) -> Section:
    """The learning curve."""
    title, known = "Would more rows help?", found.learning
    if isinstance(known, str):
        return Section("learning", title, missing(known), half=True)
    errors = found.subject.kind == "classifier"
    what = "wrong rows" if errors else "unexplained variance"
    shown = [percent(loss) if errors else number(loss) for loss in known.loss]
    words = f"{what} by number of training rows: " + ", ".join(f"{n:,}: {s}" for n, s in zip(known.sizes, shown))
    picture = lines(
        [Series(what, known.sizes.astype(float), known.loss, known.low, known.high)],
        words,
        "training rows",
        what,
        log_x=True,
        percent=errors,
    )
    numbers = table(
        ("training rows", what, "of the draws, from", "to"),
        [
            (f"{n:,}", s, *(percent(v) if errors else number(v) for v in (low, high)))
            for n, s, low, high in zip(known.sizes, shown, known.low, known.high)
        ],
        numbers=(0, 1, 2, 3),
    )
    body = paragraph(
        _tendency(known, errors) + " Models were fitted on parts of the training rows, three draws of each size, "
        "with the settings found on all of them, and judged on the same unseen rows."
    )
    if not known.complete:
        body += paragraph(
            "Larger parts were left out, as their fits would have taken longer than this page may.", "note"
        )
    return Section(
        "learning", title, body + figure(picture, "The band is the range of the draws.", numbers=numbers), half=True
    )


def _calibration(known: Calibration) -> str:
    shares = np.array([bin.value for bin in known.right])
    sure = known.too_sure
    verdict = "neither too sure nor too timid" if abs(sure) < 0.02 else "too sure" if sure > 0 else "too timid"
    words = (
        "Where the model says 80 %, it should be right eight times of ten. On average what it says and what is right "
        f"are {percent(known.gap)} apart; over all it is {verdict}."
    )
    series = Series(
        "right", known.said, shares, np.array([e.low for e in known.right]), np.array([e.high for e in known.right])
    )
    spoken = ", ".join(f"{percent(said, 0)}: {percent(right, 0)}" for said, right in zip(known.said, shares))
    picture = lines(
        [series],
        f"Share of right rows by probability said: {spoken}",
        "probability of the class given",
        "share that is right",
        percent=True,
        percent_x=True,
        diagonal=True,
        from_zero=False,
    )
    numbers = table(
        ("said", "right", "95 % interval", "rows"),
        [
            (percent(said), percent(e.value), f"{100 * e.low:.1f} to {100 * e.high:.1f} %", n)
            for said, e, n in zip(known.said, known.right, known.n_rows)
        ],
        numbers=(0, 1, 2, 3),
    )
    key = legend([("l1", "share that is right, with its 95 % interval"), ("dashed", "what it should be")])
    caption = f"Rows in {len(shares)} groups of equal size, by the probability of the class they were given."
    return paragraph(words) + key + figure(picture, caption, numbers=numbers)


def _importance_table(known: Importance) -> str:
    has_errors = known.error_rise is not None and known.loss == "log loss"
    headings = (
        "column",
        f"rise of the {_short(known.loss)}",
        "spread",
        *(("wrong rows, points",) if has_errors else ()),
    )
    lines_ = [
        (
            known.names[j],
            number(known.rise[j]),
            number(known.spread[j]),
            *((f"{100 * known.error_rise[j]:+.2f}",) if has_errors else ()),  # type: ignore[index]
        )
        for j in known.order[:N_LISTED]
    ]
    return table(headings, lines_, numbers=(1, 2, 3))


def _short(loss: str) -> str:
    return loss.split(",")[0]


def _tendency(known: LearningCurve, errors: bool) -> str:
    if len(known.loss) < 2:
        return "Only one size could be fitted."
    half, whole = known.loss[-2], known.loss[-1]
    if whole < 0.9 * half and half - whole > 0.5 * (known.high[-2] - known.low[-2]):
        before, after = (percent(half), percent(whole)) if errors else (number(half), number(whole))
        few, all_rows = known.sizes[-2:]
        return f"Probably: from {few:,} to {all_rows:,} training rows the error fell from {before} to {after}."
    return "Probably not much: the curve is flat at its end, within the range of the draws."
