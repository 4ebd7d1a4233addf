"""Words on the command line: the options that several commands have, and what is meant by them."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Annotated, Any

import typer

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}

Model = Annotated[Path, typer.Argument(help="A model that fit, compare or demo saved.")]
Data = Annotated[
    str, typer.Argument(help="A table: .csv (.gz), .tsv, .parquet, .arrow, .xlsx, .npz, .svmlight; - is the input.")
]
Rows = Annotated[str, typer.Argument(help="A table; columns are matched by name. - is the standard input.")]
Label = Annotated[
    list[str] | None, typer.Option(help="Column to predict (label, target, class or y by default); several: labels.")
]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")]
Kind = Annotated[
    list[str] | None,
    typer.Option(help="What a column is, as age=number (or boolean, category, date, drop); may be repeated."),
]
Task = Annotated[str | None, typer.Option(help="classification, regression or multilabel; found by default.")]
Delimiter = Annotated[str | None, typer.Option(help="Between the cells of a text file; found by default.")]
Encoding = Annotated[str | None, typer.Option(help="Of a text file; found by default.")]
Keep = Annotated[list[str] | None, typer.Option("--id", help="Column to copy to the output; may be repeated.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File; the standard output by default.")]
ModelOutput = Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")]
Budget = Annotated[str | None, typer.Option("--time-budget", help="Time to keep within, as 90s, 2m or 1h.")]
Seed = Annotated[int, typer.Option(help="Chooses the rows held out.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that are there.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but warnings and errors.")]
Json = Annotated[bool, typer.Option("--json", help="Results as one JSON object on the standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]


def parse_parameter(text: str) -> tuple[str, Any]:
    """``ridge=0.1`` as a name and a value."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text!r} must have the form name=value, as ridge=0.1")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # a plain word, as shrinkage=auto


def parse_kinds(texts: list[str] | None) -> dict[str, str]:
    """``age=number`` as a name and a kind."""
    kinds = {}
    for text in texts or ():
        name, equals, kind = text.rpartition("=")
        if not equals or kind not in ("number", "boolean", "category", "date", "drop"):
            raise ValueError(
                f"--kind {text!r} must have the form column=kind, of number, boolean, category, date, drop"
            )
        kinds[name] = kind
    return kinds


def parse_shape(text: str | None) -> tuple[int, int] | None:
    """``28x28`` as two numbers."""
    if text is None:
        return None
    rows, _, columns = text.partition("x")
    if not (rows.isdigit() and columns.isdigit()):
        raise ValueError(f"--image-shape {text!r} must have the form ROWSxCOLUMNS, as 28x28")
    return int(rows), int(columns)


def parse_seconds(text: str | None) -> float | None:
    """``2m`` as seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip().lower())
    if found is None or float(found[1]) <= 0:
        raise ValueError(f"--time-budget {text!r} must be a time, as 90s, 2m or 1h")
    return float(found[1]) * UNITS[found[2]]


def parse_task(text: str | None) -> str | None:
    """One of the tasks, or None where it is to be found."""
    if text in (None, "auto"):
        return None
    if text not in ("classification", "regression", "multilabel"):
        raise ValueError(f"--task {text!r} must be classification, regression or multilabel")
    return text


def free_place(path: Path | None, force: bool) -> None:
    """Refuses a place that cannot be written to, or that holds something, before any work is done."""
    from eigenfeat._runtime.files import check_destination

    if path is None:
        return
    check_destination(path)
    if path.exists() and not force:
        raise ValueError(f"{path} is there already: say --force to replace it, or -o for another place")
