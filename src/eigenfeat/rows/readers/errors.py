"""What is wrong with a file, in one message that names it."""

from __future__ import annotations

import lzma
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

MAX_PROBLEMS = 8
"""Problems that a message lists."""


class BadFile(ValueError):
    """A file that cannot be read as a table: everything that is wrong with it, in one message."""

    def __init__(self, place: str, problems: Sequence[str]) -> None:
        more = [f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else []
        lines = [*problems[:MAX_PROBLEMS], *more]
        super().__init__(
            f"{place}: {lines[0]}" if len(lines) == 1 else "\n  - ".join([f"{place} has problems:", *lines])
        )


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Turn what the readers of formats raise into a refusal that names the file."""
    try:
        yield
    except BadFile:
        raise
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {place}") from None
    except (ValueError, OSError, EOFError, LookupError, TypeError, ArithmeticError, NotImplementedError) as problem:
        _refuse(place, problem)
    except (zipfile.BadZipFile, lzma.LZMAError) as problem:
        _refuse(place, problem)


def _refuse(place: str, problem: Exception) -> None:
    words = str(problem) or type(problem).__name__
    if place in words:
        raise problem
    if "straddling" in words or "out of sync" in words:
        words = "a quote that is opened is never closed, or a cell is longer than 4 MB"
    raise ValueError(
        f"{place} cannot be read ({words}): it is damaged, cut short or of another format. Write it again"
    ) from problem


def listed(names: Collection[Any], limit: int = 8) -> str:
    """Return some names in words."""
    first = ", ".join(repr(name) for name in list(names)[:limit])
    return first if len(names) <= limit else f"{first} and {len(names) - limit} more"
