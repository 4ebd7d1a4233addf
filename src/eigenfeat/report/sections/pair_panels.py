"""What the cells of a matrix of classes show: one hidden panel a pair, one a class."""

from __future__ import annotations

from html import escape

import numpy as np

from eigenfeat.report.drawing.charts import Series, bars, boxes, lines
from eigenfeat.report.drawing.patterns import N_BARS, PatternStyle, largest
from eigenfeat.report.drawing.svg import number
from eigenfeat.report.sections.html import figure, legend, listed, missing, paragraph, percent, several, table
from eigenfeat.report.sections.matrix import pair_key
from eigenfeat.report.values.components import Components, Direction
from eigenfeat.report.values.evaluation import Classification
from eigenfeat.report.values.measured import Measured
from eigenfeat.report.values.pairs import Pair, mean_differences, pair

MOST_CHARACTERS = 1_100_000
"""What all panels together may take of the two megabytes a page may have."""


def panels(found: Measured, chosen: list[int], names: np.ndarray, style: PatternStyle) -> str:
    """A panel for every pair of the chosen classes, most confused first while there is room, and for every class."""
    result = found.classification
    pairs = [(i, j) for a, i in enumerate(chosen) for j in chosen[a + 1 :]]
    if result is not None:
        pairs.sort(key=lambda p: -int(result.counts[p] + result.counts[p[::-1]]))
    text, size = [], 0
    for number_of_pair, (i, j) in enumerate(pairs):
        if size > MOST_CHARACTERS:
            body = missing("Left out to keep this page small: pairs that are confused more often are shown.")
        else:
            body = _pair(found, str(names[i]), str(names[j]), style)
        said = "" if result is None else paragraph(_confusions(result, i, j))
        shown = "" if number_of_pair == 0 else " hidden"
        text.append(_panel(pair_key(i, j), f"{names[i]} and {names[j]}", said + body, shown))
        size += len(text[-1])
    if result is not None:
        text += [_panel(pair_key(i, i), str(names[i]), _class(result, i), " hidden") for i in chosen]
    return f'<div id="pairs" class="pairs" aria-live="polite">{"".join(text)}</div>'


def direction_card(one: Direction, names: tuple[str, ...], style: PatternStyle, marked: tuple[str, ...] = ()) -> str:
    """One direction: what it looks like in the columns, and what it sees of each group of rows."""
    parts = []
    if one.pattern is not None:
        kind = "picture" if style.is_picture else ""
        words = f"{one.name}, λ = {number(one.eigenvalue)}. Most telling: {largest(one.pattern, names)}."
        parts.append(figure(style.draw(one.pattern, names, one.name), words, kind))
    if one.boxes:
        marks = ", ".join(f"{box.name} {number(box.marks[2])}" for box in one.boxes)
        parts.append(
            figure(
                boxes(one.boxes, f"What {one.name} sees of each group; medians: {marks}", marked),
                f"What {one.name} sees of the rows of each group.",
            )
        )
    return f'<div class="direction">{"".join(parts)}</div>'


def _panel(key: str, title: str, body: str, hidden: str) -> str:
    heading = f'<h3 tabindex="-1">{escape(title)}</h3>'
    return f'<div class="pair" id="pair-{key}" data-pair="{key}"{hidden}>{heading}{body}</div>'


def _pair(found: Measured, first: str, second: str, style: PatternStyle) -> str:
    if isinstance(found.components, str):
        return _without_directions(found, first, second)
    known = pair(found.components, first, second)
    if not known.directions:
        return missing("No direction was found for these two classes, and no rows of both are here to compare them by.")
    body = _spectrum(known, found.components)
    cards = (direction_card(one, found.components.column_names, style, (first, second)) for one in known.directions)
    return body + f'<div class="directions">{"".join(cards)}</div>'


def _spectrum(known: Pair, components: Components) -> str:
    if not known.spectra:
        names, values = zip(*known.separation)
        words = "; ".join(f"{name} {number(value)}" for name, value in known.separation[:4])
        return figure(
            bars(names[:8], values[:8], f"Distance of the two classes along each component: {words}"),
            "All classes share one set of components. Distance of the means of these two along each, in standard "
            "deviations within them: above 3 they hardly overlap.",
        )
    series = [Series(name, np.arange(1, len(v) + 1), v) for name, v in known.spectra.items()]
    low = min(float(v.min()) for v in known.spectra.values())
    high = max(float(v.max()) for v in known.spectra.values())
    picture = lines(
        series,
        "Eigenvalues by rank. "
        + "; ".join(f"{name}: largest {number(float(v[0]))}" for name, v in known.spectra.items()),
        "rank",
        "eigenvalue λ",
        log_y=low > 0 and high > 10 * low,
        whole_x=True,
        height=190,
    )
    numbers = table(
        ("rank", *known.spectra),
        [
            (r + 1, *(number(float(v[r])) if r < len(v) else "" for v in known.spectra.values()))
            for r in range(max(len(v) for v in known.spectra.values()))
        ],
        numbers=tuple(range(1 + len(known.spectra))),
    )
    return legend([(f"l{k}", name) for k, name in enumerate(known.spectra, start=1)]) + figure(
        picture,
        f"The pair's spectrum. {components.meaning}",
        numbers=numbers,
    )


def _without_directions(found: Measured, first: str, second: str) -> str:
    """For a model that has no directions: in which columns the two classes differ."""
    reason = missing(str(found.components))
    if found.columns is None or found.grouping is None:
        return reason
    gaps = mean_differences(found.columns, found.grouping, first, second)
    if gaps is None:
        return reason
    top = np.argsort(-np.abs(gaps), kind="stable")[:N_BARS]
    words = ", ".join(f"{found.columns.names[j]} {number(gaps[j])}" for j in top[:4])
    return reason + figure(
        bars([found.columns.names[j] for j in top], gaps[top], f"Difference of means by column: {words}"),
        f"Columns in which the two differ most: mean of {first} less mean of {second}, in standard deviations.",
    )


def _confusions(result: Classification, i: int, j: int) -> str:
    names, totals = result.classes.astype(str), result.counts.sum(axis=1)
    return (
        f"{result.counts[i, j]:,} of {several(int(totals[i]), 'row')} of {names[i]} were taken for {names[j]}, and "
        f"{result.counts[j, i]:,} of {totals[j]:,} of {names[j]} for {names[i]}."
    )


def _class(result: Classification, i: int) -> str:
    names, counts = result.classes.astype(str), result.counts
    lost = [(int(counts[i, j]), names[j]) for j in np.argsort(-counts[i], kind="stable") if j != i and counts[i, j]]
    taken = [(int(counts[j, i]), names[j]) for j in np.argsort(-counts[:, i], kind="stable") if j != i and counts[j, i]]
    total, right = int(counts[i].sum()), int(counts[i, i])
    words = f"{right} of {several(total, 'row')} of {names[i]} were found (recall {percent(result.recall[i])}). "
    words += f"Taken for something else: {listed([f'{n} as {name}' for n, name in lost])}. "
    words += f"Wrongly called {names[i]}: {listed([f'{n} of {name}' for n, name in taken])}."
    return paragraph(words)
