"""Inline SVG by hand: scales, ticks, axes and marks, coloured by classes of the page's style sheet.

Figures are drawn at the width of a telephone (360 units), so that words can be read there, and grow with the page.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

import numpy as np

WIDTH = 360


@dataclass(frozen=True)
class Scale:
    """Numbers to places: linear, or by logarithms."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high = (np.log10([self.low, self.high])) if self.log else (self.low, self.high)
        at = np.log10(max(value, 1e-300)) if self.log else value
        share = 0.5 if high == low else (at - low) / (high - low)
        return float(self.start + share * (self.end - self.start))

    def ticks(self, count: int = 5) -> list[float]:
        """Round numbers within the scale."""
        return log_ticks(self.low, self.high, count) if self.log else nice_ticks(self.low, self.high, count)


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """At most about ``count`` multiples of 1, 2 or 5 times a power of ten between two numbers.

    Examples
    --------
    >>> from eigenfeat.report.drawing.svg import nice_ticks
    >>> nice_ticks(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high > low:
        return [float(low)]
    rough = (high - low) / count
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough * 0.999)
    first = np.ceil(low / step - 1e-9)
    last = np.floor(high / step + 1e-9)
    return [float(np.round(i * step, 12)) for i in range(int(first), int(last) + 1)]


def log_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Powers of ten; with 2 and 5 times them where there are few."""
    powers = np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    powers = powers[:: max(1, len(powers) // (count + 1))]
    for steps in ((1,), (1, 3), (1, 2, 5)):
        ticks = [float(step * 10.0**p) for p in powers for step in steps]
        inside = [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]
        if len(inside) >= 3:
            return inside
    return nice_ticks(low, high, count)


def number(value: float) -> str:
    """A number in few characters: 0.25, 12,000, 3e-06."""
    if value == 0 or not np.isfinite(value):
        return "0" if value == 0 else "–"
    size = abs(value)
    if size >= 1e6 or size < 1e-4:
        return f"{value:.1e}".replace(".0e", "e").replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return f"{value:,.0f}" if size >= 1000 else f"{value:.3g}"


def place(value: float) -> str:
    """A coordinate: one decimal is a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def clipped(text: str, limit: int) -> str:
    """Text that fits, with its middle missing where it does not: ends of long names tell them apart."""
    if len(text) <= limit:
        return text
    end = (limit - 1) // 2
    return f"{text[: limit - 1 - end]}…{text[len(text) - end :]}"


@dataclass
class Canvas:
    """Marks one after the other; ``text`` makes the picture of them.

    Parameters
    ----------
    height : float
    left, right, top, bottom : float
        Margins that axes stand in.
    """

    height: float
    left: float = 52
    right: float = 14
    top: float = 8
    bottom: float = 36
    width: float = WIDTH
    marks: list[str] = field(default_factory=list)

    def x_scale(self, low: float, high: float, log: bool = False) -> Scale:
        return Scale(low, high, self.left, self.width - self.right, log)

    def y_scale(self, low: float, high: float, log: bool = False) -> Scale:
        return Scale(low, high, self.height - self.bottom, self.top, log)

    def add(self, mark: str) -> None:
        self.marks.append(mark)

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        self.add(f'<path class="{kind}" d="M{place(x1)} {place(y1)}L{place(x2)} {place(y2)}"/>')

    def rect(self, x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> None:
        inside = f"><title>{escape(tip)}</title></rect>" if tip else "/>"
        size = f'width="{place(max(width, 0))}" height="{place(max(height, 0))}"'
        self.add(f'<rect class="{kind}" x="{place(x)}" y="{place(y)}" {size}{inside}')

    def dot(self, x: float, y: float, radius: float, kind: str, tip: str = "") -> None:
        inside = f"><title>{escape(tip)}</title></circle>" if tip else "/>"
        self.add(f'<circle class="{kind}" cx="{place(x)}" cy="{place(y)}" r="{place(radius)}"{inside}')

    def path(self, xs: list[float], ys: list[float], kind: str, closed: bool = False) -> None:
        points = "L".join(f"{place(x)} {place(y)}" for x, y in zip(xs, ys))
        self.add(f'<path class="{kind}" d="M{points}{"Z" if closed else ""}"/>')

    def words(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> None:
        style = f' class="{kind}"' if kind else ""
        self.add(f'<text{style} x="{place(x)}" y="{place(y)}" text-anchor="{anchor}">{escape(text)}</text>')

    def x_axis(self, scale: Scale, title: str, percent: bool = False, count: int = 5) -> None:
        base = self.height - self.bottom
        self.line(self.left, base, self.width - self.right, base, "axis")
        for tick in scale.ticks(count):
            self.line(scale(tick), self.top, scale(tick), base, "grid")
            self.words(scale(tick), base + 14, _label(tick, percent), "middle")
        self.words((self.left + self.width - self.right) / 2, self.height - 5, title, "middle", "title")

    def y_axis(self, scale: Scale, title: str, percent: bool = False, count: int = 5) -> None:
        for tick in scale.ticks(count):
            self.line(self.left, scale(tick), self.width - self.right, scale(tick), "grid")
            self.words(self.left - 5, scale(tick) + 4, _label(tick, percent), "end")
        middle = (self.top + self.height - self.bottom) / 2
        self.add(
            f'<text class="title" x="11" y="{place(middle)}" text-anchor="middle" '
            f'transform="rotate(-90 11 {place(middle)})">{escape(title)}</text>'
        )

    def text(self, words: str) -> str:
        """The picture, described by ``words`` to those who do not see it."""
        return (
            f'<svg viewBox="0 0 {place(self.width)} {place(self.height)}" role="img" aria-label="{escape(words)}">'
            f"{''.join(self.marks)}</svg>"
        )


def _label(tick: float, percent: bool) -> str:
    return f"{number(100 * tick)} %" if percent else number(tick)
