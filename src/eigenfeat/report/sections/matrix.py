"""A matrix of classes whose cells are buttons, each of which shows what tells its two classes apart."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import numpy as np

from eigenfeat.report.drawing.svg import number
from eigenfeat.report.sections.html import percent
from eigenfeat.report.values.evaluation import Classification

MOST_CLASSES = 24
"""Classes of a matrix; of more, those with most mistakes."""

THOUSANDS = 10_000
"""Counts from here on are in thousands: a cell has room for four figures."""


def pair_key(i: int, j: int) -> str:
    """The same for both orders."""
    return f"{min(i, j)}-{max(i, j)}"


def confusion_matrix(result: Classification) -> str:
    """Rows by true and predicted class: right ones on the diagonal, shaded by their share of the true class."""
    chosen = most_confused(result)
    names = result.classes.astype(str)
    totals = np.maximum(result.counts.sum(axis=1, keepdims=True), 1)
    shares = result.counts / totals
    worst = max(float((shares - np.diag(np.diag(shares))).max()), 1e-12)

    def cell(i: int, j: int) -> tuple[str, float, str, str]:
        count = int(result.counts[i, j])
        kind = "right" if i == j else "wrong"
        shade = shares[i, j] if i == j else shares[i, j] / worst if count else 0.0
        what = f"about {names[i]}" if i == j else f"what tells {names[i]} and {names[j]} apart"
        words = f"true {names[i]}, predicted {names[j]}: {count:,} ({percent(shares[i, j])} of the class). Show {what}"
        return (_short(count) if count else "·"), shade, kind, words

    wrong = (
        f'<span class="scale wrong" aria-hidden="true"></span> wrong: 0 to {percent(worst)} of the true class. '
        if result.n_wrong
        else "No row is wrong. "
    )
    key = (
        '<p class="key"><span class="scale right" aria-hidden="true"></span> right: 0 to 100 % of the true class. '
        f"{wrong}The figure is the number of rows{' (k: thousands)' if result.counts.max() >= THOUSANDS else ''}.</p>"
    )
    return _grid(chosen, names, cell, "true class", "predicted class") + key


def eigenvalue_matrix(names: np.ndarray, values: np.ndarray) -> str:
    """Largest eigenvalue of one class (down) over another (across), shaded by its logarithm."""
    logs = np.log(np.where(values > 0, values, np.nan))
    low, high = (np.nanmin(logs), np.nanmax(logs)) if np.isfinite(logs).any() else (0.0, 1.0)

    def cell(i: int, j: int) -> tuple[str, float, str, str]:
        if i == j or not np.isfinite(logs[i, j]):
            return "·", 0.0, "right", f"{names[i]} over {names[j]}: not compared"
        shade = 0.1 + 0.9 * (logs[i, j] - low) / max(high - low, 1e-12)
        text = number(values[i, j])
        return (
            text,
            shade,
            "right",
            f"{names[i]} over {names[j]}: largest eigenvalue {text}. Show what tells them apart",
        )

    key = (
        '<p class="key"><span class="scale right" aria-hidden="true"></span> largest eigenvalue, '
        f"{number(float(np.exp(low)))} to {number(float(np.exp(high)))}: how many times more the class to the left "
        "varies along the best direction than the class above.</p>"
    )
    return _grid(list(range(min(len(names), MOST_CLASSES))), names, cell, "class", "over class") + key


def most_confused(result: Classification) -> list[int]:
    """Classes in their order: all of few, otherwise those with most mistakes."""
    wrong = result.counts.sum(axis=0) + result.counts.sum(axis=1) - 2 * np.diag(result.counts)
    return sorted(np.argsort(-wrong, kind="stable")[:MOST_CLASSES].tolist())


def _short(count: int) -> str:
    """A count that fits into a cell: 9999, 10k, 352k."""
    return f"{count}" if count < THOUSANDS else f"{count / 1000:.0f}k"


def _grid(
    chosen: list[int],
    names: np.ndarray,
    cell: Callable[[int, int], tuple[str, float, str, str]],
    down: str,
    across: str,
) -> str:
    tall = max(len(str(names[j])) for j in chosen) > 4
    heads = "".join(
        f'<th scope="col"{" class=tall" if tall else ""}><span>{escape(str(names[j]))}</span></th>' for j in chosen
    )
    lines = ""
    for i in chosen:
        cells = ""
        for j in chosen:
            text, shade, kind, words = cell(i, j)
            strong = " strong" if shade > 0.8 else ""
            cells += (
                f'<td><button type="button" class="cell {kind}{strong}" style="--s:{shade:.2f}" '
                f'data-pair="{pair_key(i, j)}" aria-pressed="false" aria-controls="pairs" '
                f'aria-label="{escape(words)}" title="{escape(words)}">{escape(text)}</button></td>'
            )
        lines += f'<tr><th scope="row">{escape(str(names[i]))}</th>{cells}</tr>'
    size = "small" if len(chosen) > 12 else ""
    return (
        f'<div class="scroll matrix-box"><table class="matrix {size}"><caption>{escape(down)} (down) and '
        f"{escape(across)} (across)</caption><thead><tr><td></td>{heads}</tr></thead><tbody>{lines}</tbody>"
        "</table></div>"
    )
