"""Plain-text tables for the summaries of this package."""

from __future__ import annotations

from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[object]], limit: int | None = None) -> str:
    """Left-aligned columns; rows beyond ``limit`` are counted, not shown."""
    shown = rows if limit is None else rows[:limit]
    cells = [list(map(str, header))] + [list(map(str, row)) for row in shown]
    widths = [max(len(row[j]) for row in cells) for j in range(len(header))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
    if len(shown) < len(rows):
        lines.append(f"... and {len(rows) - len(shown)} more")
    return "\n".join(lines)
