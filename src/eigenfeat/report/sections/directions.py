"""The directions of the model: their spectrum, which of them are more than noise, what the strongest look like."""

from __future__ import annotations

import numpy as np

from eigenfeat.report.drawing.charts import Series, lines
from eigenfeat.report.drawing.patterns import PatternStyle
from eigenfeat.report.drawing.svg import number
from eigenfeat.report.sections.confusions import pattern_words
from eigenfeat.report.sections.html import Section, details, figure, legend, missing, paragraph, several, table
from eigenfeat.report.sections.pair_panels import direction_card
from eigenfeat.report.values.components import Components
from eigenfeat.report.values.measured import Measured
from eigenfeat.report.values.noise import AgainstNoise

N_SHOWN, N_LISTED, MOST_RANKS = 3, 60, 200


def directions(found: Measured, style: PatternStyle) -> Section:
    """Spectrum and strongest directions."""
    known = found.components
    if isinstance(known, str):
        return Section("directions", "Directions", missing(known))
    shown = known.strongest(N_SHOWN)
    body = paragraph(f"A direction is a weighted sum of the columns, and has an eigenvalue λ. {known.meaning}")
    body += _spectrum(known, found.noise)
    body += "<h3>The strongest</h3>" + paragraph(pattern_words(known, style), "note")
    cards = (direction_card(known.direction(i), known.column_names, style) for i in shown)
    body += f'<div class="directions">{"".join(cards)}</div>'
    return Section("directions", "Directions", body)


def noise(found: Measured) -> Section:
    """Which components labels that mean nothing would not have given."""
    title, verdict = "Signal or noise", found.noise
    if isinstance(verdict, str):
        return Section("noise", title, missing(verdict))
    known, judged = found.components, verdict.found
    assert isinstance(known, Components)
    edge = judged.interval[1]
    words = (
        f"The labels of {several(verdict.n_rows, 'row')} were shuffled {verdict.n_shuffles} times and the directions "
        f"sought again: where labels mean nothing, the largest λ stays below {number(edge)} in 95 of 100 shuffles. "
        f"{several(judged.n_distinguishable, 'component')} of {len(judged.values):,} "
        f"{'is' if judged.n_distinguishable == 1 else 'are'} beyond what noise gives."
    )
    if verdict.fewer_rows:
        words += " Fewer rows were shuffled than the model was fitted on, so the bar is rather too high than too low."
    top = np.argsort(judged.p_values - 1e-9 * judged.values, kind="stable")
    rows = [
        (
            known.names[i],
            number(float(known.eigenvalues[i])),
            f"{judged.p_values[i]:.3f}",
            "yes" if judged.mask[i] else "no",
        )
        for i in top[:N_LISTED]
    ]
    shown = table(("component", "λ", "p-value", "more than noise"), rows, numbers=(1, 2))
    if len(top) > N_LISTED:
        shown += paragraph(f"The first {N_LISTED} of {len(top):,} components.", "note")
    listed = shown if len(rows) <= 10 else details(f"Component by component ({len(rows)})", shown)
    reading = paragraph(
        "The p-value is the chance that shuffled labels reach such a λ anywhere in the model; below 0.05 counts as "
        "more than noise.",
        "note",
    )
    return Section("noise", title, paragraph(words) + reading + listed)


def _spectrum(known: Components, verdict: AgainstNoise | str) -> str:
    values = known.eigenvalues
    labels = sorted(known.groups, key=lambda label: -float(values[known.groups[label]].max()))
    series = []
    for label in labels[:4]:
        ranked = np.sort(values[known.groups[label]])[::-1][:MOST_RANKS]
        series.append(Series(label.replace(" vs ", " over ") or "λ", np.arange(1, len(ranked) + 1), ranked))
    drawn = np.concatenate([one.y for one in series])
    log = bool(drawn.min() > 0 and drawn.max() > 10 * drawn.min())
    edge = verdict.found.interval[1] if isinstance(verdict, AgainstNoise) else None
    edge = edge if edge is not None and edge <= 1.5 * drawn.max() and (not log or edge > 0) else None
    picture = lines(
        series,
        "Eigenvalues by rank. "
        + "; ".join(
            f"{one.name}: largest {number(float(one.y[0]))}, smallest {number(float(one.y[-1]))}" for one in series
        ),
        "rank",
        "eigenvalue λ",
        log_y=log,
        level=edge,
        dots=max(len(one.y) for one in series) <= 60,
        whole_x=True,
    )
    many = len(labels) > len(series)
    words = f"The {len(series)} strongest of {len(labels)} problems." if many else "All eigenvalues, largest first."
    words += "" if edge is None else f" Dashed: what noise alone reaches, {number(edge)}."
    numbers = table(
        ("rank", *(one.name for one in series)),
        [
            (r + 1, *(number(float(one.y[r])) if r < len(one.y) else "" for one in series))
            for r in range(min(30, max(len(one.y) for one in series)))
        ],
        numbers=tuple(range(1 + len(series))),
    )
    key = legend([(f"l{k}", one.name) for k, one in enumerate(series, start=1)]) if len(series) > 1 else ""
    return key + figure(picture, words, numbers=numbers)
