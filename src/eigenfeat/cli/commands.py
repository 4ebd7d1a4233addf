"""The five commands: what each reads, does, prints and writes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from sklearn.base import is_classifier, is_regressor
from sklearn.datasets import load_digits

from eigenfeat._destination import check_destination
from eigenfeat.cli.arguments import estimator_named, parse_parameter, parse_shape
from eigenfeat.cli.steps import fit_on, model_and_rows, print_result, split, write_page
from eigenfeat.export import load, save
from eigenfeat.rows import Table, read_table, write_table
from eigenfeat.rows.files import check_output

DEFAULT_ESTIMATOR = "GEMClassifier"
DEMO_ESTIMATOR, DEMO_PARAMETERS = "GEMClassifier", {"n_components": 2, "alpha": 1e-3}

# Arguments that several commands have.
Model = Annotated[Path, typer.Argument(help="A model that fit or demo saved.")]
Rows = Annotated[Path, typer.Argument(help="Rows; columns are matched by name.")]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File; the screen by default.")]


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the model, the report and the held-out rows.")] = Path(
        "demo"
    ),
) -> None:
    """Fit on handwritten digits that come with scikit-learn, evaluate on held-out rows, write a model and a report."""
    output.mkdir(parents=True, exist_ok=True)
    for name in ("held_out.csv", "model.skops", "report.html"):
        check_destination(output / name)
    digits = load_digits()
    table = Table(digits.data / 16, digits.target, tuple(digits.feature_names))
    train, test = split(table, 0.25, seed=0, stratify=True)
    model = estimator_named(DEMO_ESTIMATOR, DEMO_PARAMETERS)
    console = Console()
    console.print(
        f"Handwritten digits, {train.X.shape[1]} pixels, {len(digits.target_names)} classes: "
        f"fitting [bold]{DEMO_ESTIMATOR}[/] on {len(train.X):,} rows, {len(test.X):,} held out."
    )
    print_result(console, model, test, fit_on(model, train))

    write_table(output / "held_out.csv", dict(zip(digits.feature_names, test.X.T)) | {"label": test.y})
    save(model, output / "model.skops")
    write_page(model, output / "report.html", test, "handwritten digits", None)
    console.print(f"\nModel   {output / 'model.skops'}\nReport  {output / 'report.html'}  (open it in a browser)")
    console.print(f"Rows    {output / 'held_out.csv'}  (the held-out ones)")
    console.print(
        f"\nNext: [bold]eigenfeat predict {output / 'model.skops'} {output / 'held_out.csv'} -o predictions.csv[/]\n"
        "      [bold]eigenfeat fit your_data.csv --label your_column --holdout 0.2 --report report.html[/]",
        soft_wrap=True,
    )


def fit(
    data: Annotated[Path, typer.Argument(help="Rows: .csv, .tsv, .parquet or .npz.")],
    label: Annotated[str | None, typer.Option(help="Label column; label, target, class or y by default.")] = None,
    drop: Drop = None,
    estimator: Annotated[str, typer.Option("--estimator", "-e", help="An estimator of eigenfeat.")] = DEFAULT_ESTIMATOR,
    parameter: Annotated[
        list[str] | None, typer.Option("--set", "-s", help="A parameter, as ridge=0.1; may be repeated.")
    ] = None,
    holdout: Annotated[float, typer.Option(help="Share of the rows to keep aside and evaluate on.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Chooses the rows held out.")] = 0,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the model goes.")] = Path("model.skops"),
    report_path: Annotated[Path | None, typer.Option("--report", help="Also write a report here.")] = None,
) -> None:
    """Fit a model on a file and save it."""
    for place in (output, report_path):
        if place is not None:
            check_destination(place)
    table = read_table(data, label, drop or ())
    model = estimator_named(estimator, dict(map(parse_parameter, parameter or ())))
    if table.y is None and (is_classifier(model) or is_regressor(model)):
        raise ValueError(f"{estimator} needs labels: name their column with --label. {data} has {_columns(table)}")
    train, test = split(table, holdout, seed, stratify=not is_regressor(model)) if holdout else (table, None)
    seconds = fit_on(model, train)
    console = Console()
    console.print(f"[bold]{estimator}[/] on {len(train.X):,} rows of {data}, {train.X.shape[1]} features.")
    print_result(console, model, test, seconds)
    console.print(f"Model   {save(model, output)}", soft_wrap=True)
    if report_path is not None:
        rows = f"{'held-out' if test else 'training'} rows of {data.name}"
        write_page(model, report_path, test or train, rows, None)
        console.print(f"Report  {report_path}", soft_wrap=True)


def predict(
    model: Model,
    data: Rows,
    label: Annotated[str | None, typer.Option(help="Label column, to compare with.")] = None,
    drop: Drop = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write class probabilities.")] = False,
    output: Output = None,
) -> None:
    """Predict the label of every row."""
    if output is not None:
        check_output(output)
    fitted, table = model_and_rows(model, data, label, drop)
    if not hasattr(fitted, "predict"):
        raise ValueError(f"{type(fitted).__name__} does not predict; use: eigenfeat transform {model} {data}")
    predicted = np.asarray(fitted.predict(table.X))
    columns = {"prediction": predicted}
    if proba:
        if not hasattr(fitted, "predict_proba"):
            raise ValueError(f"{type(fitted).__name__} gives no probabilities; leave out --proba")
        columns |= {f"p({c})": p for c, p in zip(fitted.classes_, fitted.predict_proba(table.X).T)}
    write_table(output, columns)
    console = Console(stderr=True)
    if table.y is not None and is_classifier(fitted):
        wrong = int(np.sum(predicted.astype(str) != table.y.astype(str)))
        console.print(f"{1 - wrong / len(predicted):.2%} correct ({wrong:,} of {len(predicted):,} rows wrong)")
    if output is not None:
        console.print(f"Predictions  {output}", soft_wrap=True)


def transform(
    model: Model,
    data: Rows,
    label: Annotated[str | None, typer.Option(help="Label column, copied to the output.")] = None,
    drop: Drop = None,
    output: Output = None,
) -> None:
    """Write the features of every row."""
    if output is not None:
        check_output(output)
    fitted, table = model_and_rows(model, data, label, drop)
    if not hasattr(fitted, "transform"):
        raise ValueError(f"{type(fitted).__name__} makes no features; use: eigenfeat predict {model} {data}")
    features = np.asarray(fitted.transform(table.X))
    if output is not None and output.suffix == ".npz":
        columns = {"X": features}
    else:
        columns = dict(zip(map(str, fitted.get_feature_names_out()), features.T))
    write_table(output, columns if table.y is None else columns | {"label": table.y})
    if output is not None:
        Console(stderr=True).print(f"{features.shape[1]} features of {len(features):,} rows  {output}", soft_wrap=True)


def report(
    model: Model,
    data: Annotated[Path | None, typer.Argument(help="Rows to evaluate on, best ones the model has not seen.")] = None,
    label: Annotated[str | None, typer.Option(help="Label column.")] = None,
    drop: Drop = None,
    image_shape: Annotated[str | None, typer.Option(help="Draw directions as images, as 28x28.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
) -> None:
    """Write a page about a saved model."""
    check_destination(output)
    fitted, table = model_and_rows(model, data, label, drop) if data else (load(model), None)
    write_page(fitted, output, table, str(data), parse_shape(image_shape))
    Console().print(f"Report  {output}  (open it in a browser)", soft_wrap=True)


def _columns(table: Table) -> str:
    return "no column names" if table.names is None else f"the columns {', '.join(table.names[:12])}"
