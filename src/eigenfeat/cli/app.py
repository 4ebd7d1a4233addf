"""The commands as one application, and how their problems are told."""

from __future__ import annotations

import inspect
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

from eigenfeat.cli.commands import demo, fit, predict, report, transform


def app() -> typer.Typer:
    """The application that `eigenfeat.cli.main` runs."""
    commands = typer.Typer(
        help="Discriminative features from generalized eigenvectors.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command in (demo, fit, predict, transform, report):
        commands.command()(explained(command))
    return commands


def _silence() -> None:
    """What is still waiting for a standard output that takes nothing any more goes nowhere."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def explained(command: Callable[..., None]) -> Callable[..., None]:
    """Problems with the input end in their message, not in a traceback."""

    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with warnings.catch_warnings():
                # Columns are matched by name before they become arrays.
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                command(*args, **kwargs)
                if sys.stdout is not None:
                    sys.stdout.flush()  # here: at the end of the process nobody could be told
        except BrokenPipeError:  # the reader of our output, as `head`, has seen enough
            _silence()
            raise typer.Exit(128 + signal.SIGPIPE) from None
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as problem:
            _silence()
            Console(stderr=True).print(f"[red bold]error[/]: {escape(str(problem))}", soft_wrap=True)
            raise typer.Exit(1) from None

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.signature(command, eval_str=True)  # type: ignore[attr-defined]
    run.__annotations__ = inspect.get_annotations(command, eval_str=True)
    return run
