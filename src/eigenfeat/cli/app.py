"""The commands as one application, and how their problems are told.

Nothing heavy is imported here: a command imports what it needs when it runs, so that help is there at once.
"""

from __future__ import annotations

import inspect
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

import eigenfeat
from eigenfeat.cli.commands import compare, demo, explain, fit, info, list_methods, predict, report, transform

BAD_INPUT, UNEXPECTED, INTERRUPTED = 1, 3, 128 + signal.SIGINT
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)


def app() -> typer.Typer:
    """The application that `eigenfeat.cli.main` runs."""
    commands = typer.Typer(
        help="A table in, an honest answer out: discriminative features from generalized eigenvectors.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    commands.callback()(_root)
    for command in (fit, compare, predict, transform, report, explain, info, demo):
        commands.command()(explained(command))
    commands.command("list")(explained(list_methods))
    return commands


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"eigenfeat {eigenfeat.__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


def _silence() -> None:
    """What is still waiting for a standard output that takes nothing any more goes nowhere."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(kind: str, words: str) -> None:
    colour = "red" if kind == "error" else "yellow"
    Console(stderr=True).print(f"[{colour} bold]{kind}[/]: {escape(words)}", soft_wrap=True, highlight=False)


def _shown_once() -> Callable[..., None]:
    """Warnings of libraries in one line each, and each once."""
    seen: set[str] = set()

    def show(message: Any, category: type, *_: Any, **__: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            _say("warning", str(message))

    return show


def explained(command: Callable[..., None]) -> Callable[..., None]:
    """Problems end in their message and an exit code; in a traceback only where ``--debug`` asks for one."""

    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
                    warnings.simplefilter("ignore", kind)
                # Columns are matched by name before they become arrays.
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                warnings.showwarning = _shown_once()
                command(*args, **kwargs)
                if sys.stdout is not None:
                    sys.stdout.flush()  # here: at the end of the process nobody could be told
        except BrokenPipeError:  # the reader of our output, as `head`, has seen enough
            _silence()
            raise typer.Exit(128 + signal.SIGPIPE) from None
        except KeyboardInterrupt:
            _say("error", "interrupted: nothing was written")
            raise typer.Exit(INTERRUPTED) from None
        except Exception as problem:
            if isinstance(problem, typer.Exit):
                raise
            _silence()
            if kwargs.get("debug"):
                traceback.print_exc()
            expected = isinstance(problem, EXPECTED)
            words = str(problem) or type(problem).__name__
            more = "" if expected else f" ({type(problem).__name__}, not foreseen: --debug shows where it comes from)"
            _say("error", words + more)
            raise typer.Exit(BAD_INPUT if expected else UNEXPECTED) from None

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.signature(command, eval_str=True)  # type: ignore[attr-defined]
    run.__annotations__ = inspect.get_annotations(command, eval_str=True)
    return run
