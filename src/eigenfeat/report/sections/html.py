"""Pieces of HTML that every section is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading of its own and an entry in the table of contents.

    Two ``half`` ones in a row stand side by side where there is room.
    """

    key: str
    title: str
    body: str
    half: bool = False

    def html(self) -> str:
        place = ' class="half"' if self.half else ""
        heading = f'<h2 id="h-{self.key}">{escape(self.title)}</h2>'
        return f'<section id="{self.key}"{place} aria-labelledby="h-{self.key}">{heading}\n{self.body}</section>\n'


def paragraph(text: str, kind: str = "") -> str:
    """Plain words; nothing in them is markup."""
    return f"<p{_class(kind)}>{escape(text)}</p>"


def missing(reason: str) -> str:
    """A sentence in the place of what cannot be shown."""
    return f'<p class="missing">{escape(reason)}</p>'


def table(headings: Sequence[str], lines: Iterable[Sequence[object]], numbers: Sequence[int] = ()) -> str:
    """A table whose first cell of each line names the line; columns of numbers are aligned to the right."""

    def cell(tag: str, j: int, value: object) -> str:
        scope = ' scope="col"' if tag == "th" else ""
        return f"<{tag}{scope}{_class('number' if j in numbers else '')}>{escape(str(value))}</{tag}>"

    head = "".join(cell("th", j, name) for j, name in enumerate(headings))
    body = ""
    for line in lines:
        first, *rest = line
        cells = "".join(cell("td", j, value) for j, value in enumerate(rest, start=1))
        body += f'<tr><th scope="row"{_class("number" if 0 in numbers else "")}>{escape(str(first))}</th>{cells}</tr>'
    top = f"<thead><tr>{head}</tr></thead>" if any(headings) else ""
    return f'<div class="scroll" tabindex="0"><table>{top}<tbody>{body}</tbody></table></div>'


def figure(picture: str, caption: str, kind: str = "", numbers: str = "") -> str:
    """A picture, words below it and, folded away, the table of what it shows."""
    folded = f"<details><summary>The numbers</summary>{numbers}</details>" if numbers else ""
    return f"<figure{_class(kind)}>{picture}<figcaption>{escape(caption)}</figcaption>{folded}</figure>"


def legend(entries: Iterable[tuple[str, str]]) -> str:
    """Names of series beside a swatch of their class."""
    items = "".join(f'<li><span class="swatch {kind}"></span>{escape(name)}</li>' for kind, name in entries)
    return f'<ul class="legend">{items}</ul>'


def details(summary: str, body: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def row(*parts: str) -> str:
    """Figures beside each other where there is room."""
    return f'<div class="row">{"".join(parts)}</div>'


def percent(value: float, digits: int = 1) -> str:
    """A share in per cent, as 1.6 %."""
    if value != value:
        return "–"
    return f"{100 * value:.{digits}f} %"


def several(count: int, one: str, many: str = "") -> str:
    """1 row, 2 rows, 3,000 rows."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(words: Sequence[str], limit: int = 12) -> str:
    """a, b and c; the first ones of many."""
    words = [str(word) for word in words]
    if len(words) > limit:
        return ", ".join(words[:limit]) + f" and {len(words) - limit:,} more"
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}" if words else "none"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
