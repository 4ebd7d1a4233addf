"""The commands: what each takes, checked before anything is done. What they do is in a module each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from eigenfeat.cli.arguments import (
    Budget,
    Data,
    Debug,
    Delimiter,
    Drop,
    Encoding,
    Force,
    Json,
    Keep,
    Kind,
    Label,
    Model,
    ModelOutput,
    Output,
    Quiet,
    Rows,
    Seed,
    Task,
    free_place,
    parse_kinds,
    parse_parameter,
    parse_seconds,
    parse_shape,
    parse_task,
)

MODEL = Path("model.skops")
HOLDOUT = "0.2"


def fit(
    data: Data,
    label: Label = None,
    method: Annotated[str, typer.Option("--method", "-m", help="auto, or one of eigenfeat list.")] = "auto",
    parameter: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="A parameter, as ridge=0.1; may be repeated.")
    ] = None,
    holdout: Annotated[
        str, typer.Option(help="Rows to evaluate on: a share, a file, cv (cross-validation) or 0.")
    ] = HOLDOUT,
    task: Task = None,
    time_budget: Budget = None,
    drop: Drop = None,
    kind: Kind = None,
    output: ModelOutput = MODEL,
    report: Annotated[Path | None, typer.Option("--report", help="Also write a report here.")] = None,
    seed: Seed = 0,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Fit a model to a table, evaluate it on rows held out, and save it."""
    for place in (output, report):
        free_place(place, force)
    from eigenfeat.cli.data import Reading
    from eigenfeat.cli.fitting import Order, command_line, run_fit
    from eigenfeat.cli.talk import Talk

    talk = Talk(quiet, json)
    reading = Reading(tuple(label or ()), tuple(drop or ()), delimiter, encoding, parse_kinds(kind))
    parameters = dict(map(parse_parameter, parameter or ()))
    budget = parse_seconds(time_budget)
    order = Order(
        *(data, reading, method, parameters, holdout, parse_task(task), budget, seed, output, report, command_line())
    )
    run_fit(order, talk)
    talk.finish()


def compare(
    data: Data,
    label: Label = None,
    method: Annotated[list[str] | None, typer.Option("--method", "-m", help="Only these; may be repeated.")] = None,
    task: Task = None,
    time_budget: Budget = None,
    rows: Annotated[int, typer.Option("--rows", help="Compare on so many rows at most.")] = 20_000,
    drop: Drop = None,
    kind: Kind = None,
    output: ModelOutput = MODEL,
    seed: Seed = 0,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Cross-validate our methods beside baselines; the best is fitted to all rows and saved."""
    free_place(output, force)
    from eigenfeat.cli.comparing import run_compare
    from eigenfeat.cli.data import Reading
    from eigenfeat.cli.fitting import Order, command_line
    from eigenfeat.cli.talk import Talk

    talk = Talk(quiet, json)
    reading = Reading(tuple(label or ()), tuple(drop or ()), delimiter, encoding, parse_kinds(kind))
    budget = parse_seconds(time_budget)
    order = Order(data, reading, "compare", {}, "cv", parse_task(task), budget, seed, output, None, command_line())
    run_compare(order, method or [], rows, talk)
    talk.finish()


def predict(
    model: Model,
    data: Rows,
    label: Annotated[list[str] | None, typer.Option(help="Label column, to compare with.")] = None,
    keep: Keep = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write class probabilities.")] = False,
    output: Output = None,
    drop: Drop = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Predict the label of every row, as they are read."""
    _check_table_output(output, force, json)
    from eigenfeat.cli.data import Reading
    from eigenfeat.cli.predicting import run_predict
    from eigenfeat.cli.talk import Talk

    talk = Talk(quiet, json)
    reading = Reading(tuple(label or ()), tuple(drop or ()), delimiter, encoding)
    run_predict(model, data, reading, keep or [], proba, output, talk)
    talk.finish()


def transform(
    model: Model,
    data: Rows,
    label: Annotated[list[str] | None, typer.Option(help="Label column, copied to the output.")] = None,
    keep: Keep = None,
    output: Output = None,
    drop: Drop = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Write the features of every row, as they are read."""
    _check_table_output(output, force, json)
    from eigenfeat.cli.data import Reading
    from eigenfeat.cli.predicting import run_transform
    from eigenfeat.cli.talk import Talk

    talk = Talk(quiet, json)
    reading = Reading(tuple(label or ()), tuple(drop or ()), delimiter, encoding)
    run_transform(model, data, reading, keep or [], output, talk)
    talk.finish()


def _check_table_output(output: Path | None, force: bool, json: bool) -> None:
    from eigenfeat.rows.writers import check_output

    if output is not None:
        check_output(output)
    elif json:
        raise ValueError("--json leaves no standard output for the rows: name a file with -o")
    free_place(output, force)


def report(
    model: Model,
    data: Annotated[str | None, typer.Argument(help="Rows to evaluate on, best ones the model has not seen.")] = None,
    label: Label = None,
    image_shape: Annotated[str | None, typer.Option(help="Draw directions as images, as 28x28.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
    drop: Drop = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Write a page about a saved model."""
    free_place(output, force)
    shape = parse_shape(image_shape)
    from eigenfeat.cli.data import Reading
    from eigenfeat.cli.paging import run_report
    from eigenfeat.cli.talk import Talk

    talk = Talk(quiet, json)
    reading = Reading(tuple(label or ()), tuple(drop or ()), delimiter, encoding)
    run_report(model, data, reading, output, shape, talk)
    talk.finish()


def explain(
    model: Model,
    data: Annotated[str | None, typer.Argument(help="Rows with labels; without, what fit found is shown.")] = None,
    label: Label = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Show which columns a model depends on, by their own names."""
    from eigenfeat.cli.data import Reading
    from eigenfeat.cli.explaining import run_explain
    from eigenfeat.cli.talk import Talk

    talk = Talk(quiet, json)
    run_explain(model, data, Reading(tuple(label or ()), (), delimiter, encoding), talk)
    talk.finish()


def info(model: Model, quiet: Quiet = False, json: Json = False, debug: Debug = False) -> None:
    """Show what a model was fitted on, what was done to its columns, and what it was worth."""
    from eigenfeat.cli.explaining import run_info
    from eigenfeat.cli.talk import Talk

    talk = Talk(quiet, json)
    run_info(model, talk)
    talk.finish()


def list_methods(json: Json = False, debug: Debug = False) -> None:
    """List what can be fitted."""
    from eigenfeat.cli.explaining import run_list
    from eigenfeat.cli.talk import Talk

    talk = Talk(False, json)
    run_list(talk)
    talk.finish()


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for what is made.")] = Path("demo"),
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Fit on handwritten digits that come with scikit-learn: a model, a report, and held-out rows to go on with."""
    from eigenfeat.cli.demonstration import run_demo
    from eigenfeat.cli.talk import Talk

    talk = Talk(quiet, json)
    run_demo(output, force, talk)
    talk.finish()
