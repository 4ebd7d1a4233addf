"""The kinds of figures a page has, from numbers to SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eigenfeat.report.drawing.svg import WIDTH, Canvas, clipped, number
from eigenfeat.report.values.components import Box

MOST_POINTS = 1200
"""Points of a scatter: more cannot be told apart and only make the page large."""


@dataclass(frozen=True, eq=False)
class Series:
    """One line: places, values, and how far they may be off."""

    name: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None


def bars(
    names: Sequence[str],
    values: ArrayLike,
    words: str,
    spread: ArrayLike | None = None,
    title: str = "",
    limit: float | None = None,
) -> str:
    """Horizontal bars, to the left where values are below zero; whiskers of ``spread`` to both sides.

    ``limit`` fixes the ends of the scale, so that figures side by side can be compared.
    """
    about = np.zeros(len(names)) if spread is None else np.asarray(spread)
    lengths = np.asarray(values, dtype=np.float64)
    longest = max((len(name) for name in names), default=1)
    canvas = Canvas(20 * len(names) + (38 if title else 22), left=min(155, 12 + 6.6 * min(longest, 21)), top=4)
    canvas.bottom = 34 if title else 18
    top = limit or max(float(np.max(lengths + about, initial=0)), 1e-12)
    bottom = -limit if limit and lengths.min(initial=0) < 0 else min(float(np.min(lengths - about, initial=0)), 0)
    if limit is None and bottom < 0 and lengths.min(initial=0) >= 0:
        bottom = max(bottom, -0.15 * top)  # whiskers alone may not squeeze the bars
    scale = canvas.x_scale(bottom, top)
    canvas.x_axis(scale, title, count=4)
    for i, (name, value, off) in enumerate(zip(names, lengths, about)):
        y = canvas.top + 20 * i
        tip = f"{name}: {number(value)}" + (f" ± {number(off)}" if spread is not None else "")
        start, end = sorted((scale(0), scale(value)))
        canvas.rect(start, y + 3, end - start, 14, "bar up" if value >= 0 else "bar down", tip)
        if off:
            canvas.line(scale(max(value - off, bottom)), y + 10, scale(min(value + off, top)), y + 10, "whisker")
        canvas.words(canvas.left - 5, y + 14, clipped(name, 21), "end")
    if bottom < 0:
        canvas.line(scale(0), canvas.top, scale(0), canvas.height - canvas.bottom, "axis")
    return canvas.text(words)


def boxes(groups: Sequence[Box], words: str, marked: Sequence[str] = ()) -> str:
    """A box a group: the middle half of its rows, its median, whiskers to 5 and 95 %; marked groups stand out."""
    longest = max(len(box.name) for box in groups)
    canvas = Canvas(20 * len(groups) + 22, left=min(130, 12 + 6.6 * min(longest, 18)), top=4, bottom=18)
    low, high = min(box.marks[0] for box in groups), max(box.marks[4] for box in groups)
    pad = 0.03 * (high - low) or 1.0
    scale = canvas.x_scale(low - pad, high + pad)
    canvas.x_axis(scale, "", count=4)
    for i, box in enumerate(groups):
        y = canvas.top + 20 * i
        a, b, c, d, e = (scale(mark) for mark in box.marks)
        kind = f"box b{marked.index(box.name) + 1}" if box.name in marked else "box" if marked else "box b1"
        canvas.line(a, y + 10, b, y + 10, f"reach {kind}")
        canvas.line(d, y + 10, e, y + 10, f"reach {kind}")
        canvas.rect(b, y + 3, d - b, 14, kind, f"{box.name}: median {number(box.marks[2])}, {box.n_rows} rows")
        canvas.line(c, y + 3, c, y + 17, "median")
        canvas.words(canvas.left - 5, y + 14, clipped(box.name, 18), "end")
    return canvas.text(words)


def lines(
    series: Sequence[Series],
    words: str,
    x_title: str,
    y_title: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
    percent: bool = False,
    percent_x: bool = False,
    from_zero: bool = True,
    level: float | None = None,
    diagonal: bool = False,
    dots: bool = True,
    height: float = 230,
    whole_x: bool = False,
) -> str:
    """Lines over a common axis; ``level`` is a dashed line across, a ``diagonal`` is where both axes agree."""
    canvas = Canvas(height, left=52)
    xs = np.concatenate([one.x for one in series])
    all_y = [one.y for one in series] + [part for one in series for part in (one.low, one.high) if part is not None]
    ys = np.concatenate([*all_y, [] if level is None else [level]])
    low, high = float(ys.min()), float(ys.max())
    if log_y:
        low, high = low / 1.15, high * 1.15
    else:
        low = min(0.0, low) if from_zero else low - 0.05 * (high - low)
        high = high + 0.06 * (high - low) if high > low else low + (0.05 if percent else 1.0)
        high = min(high, 1.0) if percent else high
    x_low, x_high = float(xs.min()), float(xs.max())
    if diagonal:
        x_low = low = min(x_low, low)
        x_high = high = max(x_high, high)
    if x_low == x_high:
        x_low, x_high = x_low - 1, x_high + 1
    x, y = canvas.x_scale(x_low, x_high, log_x), canvas.y_scale(low, high, log_y)
    canvas.y_axis(y, y_title, percent)
    canvas.x_axis(x, x_title, percent_x, min(5, int(x_high - x_low)) if whole_x else 5)
    if diagonal:
        canvas.line(x(x_low), y(low), x(x_high), y(high), "level")
    if level is not None:
        canvas.line(canvas.left, y(level), WIDTH - canvas.right, y(level), "level")
    for k, one in enumerate(series, start=1):
        _line(canvas, one, k, x, y, dots)
    return canvas.text(words)


def points(x: np.ndarray, y: np.ndarray, words: str, x_title: str, y_title: str, *, diagonal: bool = False) -> str:
    """A dot a row, of at most 1200; a line where both are equal, or at zero."""
    if len(x) > MOST_POINTS:
        chosen = np.random.default_rng(0).choice(len(x), MOST_POINTS, replace=False)
        x, y = x[chosen], y[chosen]
    canvas = Canvas(270, left=56)
    if diagonal:
        low, high = float(min(x.min(), y.min())), float(max(x.max(), y.max()))
        ends = ((low, high), (low, high))
    else:
        ends = ((float(x.min()), float(x.max())), (float(min(y.min(), 0)), float(max(y.max(), 0))))
    widened = [(a - 0.03 * (b - a), b + 0.03 * (b - a)) if b > a else (a - 1, b + 1) for a, b in ends]
    across, up = canvas.x_scale(*widened[0]), canvas.y_scale(*widened[1])
    canvas.y_axis(up, y_title)
    canvas.x_axis(across, x_title)
    path = "".join(f"M{across(a):.1f} {up(b):.1f}h0" for a, b in zip(x, y))
    canvas.add(f'<path class="cloud" d="{path}"/>')
    if diagonal:
        low, high = widened[0][0], widened[0][1]
        canvas.line(across(low), up(low), across(high), up(high), "level strong")
    else:
        canvas.line(canvas.left, up(0), WIDTH - canvas.right, up(0), "level strong")
    return canvas.text(words)


def curve(values: np.ndarray, axis: np.ndarray, words: str, title: str = "", limit: float | None = None) -> str:
    """A pattern over an axis of time, frequency or wavelength."""
    canvas = Canvas(130, left=34, bottom=34 if title else 20)
    limit = 1.08 * (limit or float(np.abs(values).max()) or 1.0)
    x, y = canvas.x_scale(float(axis.min()), float(axis.max())), canvas.y_scale(-limit, limit)
    canvas.y_axis(y, "", count=3)
    canvas.x_axis(x, title)
    canvas.line(canvas.left, y(0), WIDTH - canvas.right, y(0), "axis")
    order = np.argsort(axis, kind="stable")
    canvas.path([x(axis[j]) for j in order], [y(values[j]) for j in order], "line l1")
    return canvas.text(words)


def _line(canvas: Canvas, one: Series, k: int, x: object, y: object, dots: bool) -> None:
    xs = [x(value) for value in one.x]  # type: ignore[operator]
    ys = [y(value) for value in one.y]  # type: ignore[operator]
    if one.low is not None and one.high is not None and len(xs) > 1:
        upper, lower = [y(v) for v in one.high], [y(v) for v in one.low]  # type: ignore[operator]
        canvas.path(xs + xs[::-1], upper + lower[::-1], f"band l{k}", closed=True)
    canvas.path(xs, ys, f"line l{k}")
    if dots:
        for at, height, value in zip(xs, ys, one.y):
            canvas.dot(at, height, 3, f"dot l{k}", f"{one.name}: {number(value)}")
