"""What a command says: results to the standard output, progress and warnings to the screen, or everything as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table as Grid

from eigenfeat._runtime.config import runtime
from eigenfeat._runtime.progress import Event


@dataclass
class Talk:
    """How a command talks: not at all but for results (``quiet``), or as one JSON object (``as_json``)."""

    quiet: bool = False
    as_json: bool = False
    facts: dict[str, Any] = field(default_factory=dict)
    _moving: Console | None = None

    @property
    def console(self) -> Console:
        return Console()

    @property
    def screen(self) -> Console:
        """The one on which a line moves, where one does: others would write across it."""
        return self._moving or Console(stderr=True)

    def say(self, words: str = "", *, to_screen: bool = False) -> None:
        """A line for people."""
        if not (self.quiet or self.as_json):
            (self.screen if to_screen else self.console).print(words, soft_wrap=True, highlight=False)

    def grid(self, rows: list[list[str]], head: list[str] | None = None) -> None:
        """Rows of words, under a head where there is one."""
        if self.quiet or self.as_json:
            return
        table = Grid(*(head or []), show_header=head is not None, box=SIMPLE)
        for row in rows:
            table.add_row(*row)
        self.console.print(table)

    def warn(self, words: str) -> None:
        """A warning in plain words; in JSON it is one of the facts."""
        self.facts.setdefault("warnings", []).append(words)
        if not self.as_json:
            self.screen.print(f"[yellow bold]warning[/]: {escape(words)}", soft_wrap=True, highlight=False)

    def finish(self) -> None:
        """The facts, where they were asked for."""
        if self.as_json:
            sys.stdout.write(json.dumps(self.facts, ensure_ascii=False, default=_plain) + "\n")

    @contextmanager
    def progress(self, words: str) -> Iterator[None]:
        """A line that moves while something is done, on a terminal; it shows the stages that are reported."""
        if self.quiet or self.as_json or not sys.stderr.isatty():
            yield
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.screen, transient=True) as bar:
            task = bar.add_task(words, total=None)

            def listen(event: Event) -> None:
                bar.update(task, description=f"{words}: {event}", completed=event.done or 0, total=event.total)

            self._moving = bar.console
            try:
                with runtime(progress=listen):
                    yield
            finally:
                self._moving = None


@contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """What a stage took, added to a table."""
    start = time.perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
