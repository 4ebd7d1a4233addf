"""The command: ``eigenfeat demo | fit | predict | transform | report``."""

from __future__ import annotations

import ast
import inspect
import sys
import time
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import eigenfeat
from eigenfeat.data import Table, read_table, write_table
from eigenfeat.persistence import load, save

if find_spec("typer") and find_spec("rich"):  # `main` explains their absence
    import typer
    from rich.box import SIMPLE
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table as Grid

DEFAULT_ESTIMATOR = "GEMClassifier"
DEMO_ESTIMATOR, DEMO_PARAMETERS = "GEMClassifier", {"n_components": 2, "alpha": 1e-3}


def main() -> None:
    """Run the command line."""
    missing = [name for name in ("typer", "rich", "skops", "matplotlib") if find_spec(name) is None]
    if missing:
        sys.exit(f"The eigenfeat command needs {', '.join(missing)}: pip install 'eigenfeat[all]'")
    _app()()


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the model, the report and the held-out rows.")] = Path(
        "demo"
    ),
) -> None:
    """Fit on handwritten digits that come with scikit-learn, evaluate on held-out rows, write a model and a report."""
    from eigenfeat.report import write_report

    digits = load_digits()
    X, X_test, y, y_test = train_test_split(
        digits.data / 16, digits.target, test_size=0.25, random_state=0, stratify=digits.target
    )
    model = _estimator(DEMO_ESTIMATOR, DEMO_PARAMETERS)
    console = Console()
    console.print(
        f"Handwritten digits, {X.shape[1]} pixels, {len(np.unique(y))} classes: "
        f"fitting [bold]{DEMO_ESTIMATOR}[/] on {len(X):,} rows, {len(X_test):,} held out."
    )
    seconds = _fit(model, Table(X, y, tuple(digits.feature_names)))
    _print_result(console, model, X_test, y_test, seconds)

    output.mkdir(parents=True, exist_ok=True)
    columns = dict(zip(digits.feature_names, X_test.T)) | {"label": y_test}
    write_table(output / "held_out.csv", columns)
    save(model, output / "model.skops")
    write_report(model, output / "report.html", X_test, y_test, title=f"{DEMO_ESTIMATOR} on handwritten digits")
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
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
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
    table = read_table(data, label, drop or ())
    model = _estimator(estimator, dict(map(_parse_parameter, parameter or ())))
    if table.y is None and (is_classifier(model) or is_regressor(model)):
        raise ValueError(f"{estimator} needs labels: name their column with --label. {data} has {_columns(table)}")
    train, test = _split(table, holdout, seed, stratify=not is_regressor(model))
    seconds = _fit(model, train)
    console = Console()
    console.print(f"[bold]{estimator}[/] on {len(train.X):,} rows of {data}, {train.X.shape[1]} features.")
    _print_result(console, model, test.X if test else None, test.y if test else None, seconds)
    console.print(f"Model   {save(model, output)}", soft_wrap=True)
    if report_path is not None:
        _write_report(
            model, report_path, test or train, f"{'held-out' if test else 'training'} rows of {data.name}", None
        )
        console.print(f"Report  {report_path}", soft_wrap=True)


def predict(
    model: Annotated[Path, typer.Argument(help="A model that fit or demo saved.")],
    data: Annotated[Path, typer.Argument(help="Rows; columns are matched by name.")],
    label: Annotated[str | None, typer.Option(help="Label column, to compare with.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write class probabilities.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; the screen by default.")] = None,
) -> None:
    """Predict the label of every row."""
    fitted, table = _model_and_rows(model, data, label, drop)
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
    model: Annotated[Path, typer.Argument(help="A model that fit or demo saved.")],
    data: Annotated[Path, typer.Argument(help="Rows; columns are matched by name.")],
    label: Annotated[str | None, typer.Option(help="Label column, copied to the output.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; the screen by default.")] = None,
) -> None:
    """Write the features of every row."""
    fitted, table = _model_and_rows(model, data, label, drop)
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
    model: Annotated[Path, typer.Argument(help="A model that fit or demo saved.")],
    data: Annotated[Path | None, typer.Argument(help="Rows to evaluate on, best ones the model has not seen.")] = None,
    label: Annotated[str | None, typer.Option(help="Label column.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")] = None,
    image_shape: Annotated[str | None, typer.Option(help="Draw directions as images, as 28x28.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path("report.html"),
) -> None:
    """Write a page about a saved model."""
    fitted, table = _model_and_rows(model, data, label, drop) if data else (load(model), None)
    _write_report(fitted, output, table, str(data), _parse_shape(image_shape))
    Console().print(f"Report  {output}  (open it in a browser)", soft_wrap=True)


def _app() -> typer.Typer:
    app = typer.Typer(
        help="Discriminative features from generalized eigenvectors.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command in (demo, fit, predict, transform, report):
        app.command()(_explained(command))
    return app


def _explained(command: Callable[..., None]) -> Callable[..., None]:
    """Problems with the input end in their message, not in a traceback."""

    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with warnings.catch_warnings():
                # Columns are matched by name before they become arrays.
                warnings.filterwarnings("ignore", message="X does not have valid feature names")
                command(*args, **kwargs)
        except BrokenPipeError:  # the reader of our output, as `head`, has seen enough
            sys.stderr.close()
        except (ValueError, OSError, ImportError) as problem:
            Console(stderr=True).print(f"[red bold]error[/]: {escape(str(problem))}", soft_wrap=True)
            raise typer.Exit(1) from None

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = inspect.signature(command, eval_str=True)  # type: ignore[attr-defined]
    run.__annotations__ = inspect.get_annotations(command, eval_str=True)
    return run


def _estimator(name: str, parameters: dict[str, Any]) -> Any:
    public: dict[str, Any] = {
        k: v for k, v in vars(eigenfeat).items() if inspect.isclass(v) and issubclass(v, BaseEstimator)
    }
    if name not in public:
        raise ValueError(f"eigenfeat has no estimator {name!r}; it has {', '.join(sorted(public))}")
    allowed = public[name]().get_params(deep=False)
    unknown = sorted(set(parameters) - set(allowed))
    if unknown:
        raise ValueError(f"{name} has no parameter {', '.join(unknown)}; it has {', '.join(sorted(allowed))}")
    return public[name](**parameters)


def _parse_parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text!r} must have the form name=value, as ridge=0.1")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # a plain word, as shrinkage=auto


def _parse_shape(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    rows, _, columns = text.partition("x")
    if not (rows.isdigit() and columns.isdigit()):
        raise ValueError(f"--image-shape {text!r} must have the form ROWSxCOLUMNS, as 28x28")
    return int(rows), int(columns)


def _split(table: Table, holdout: float, seed: int, stratify: bool) -> tuple[Table, Table | None]:
    if holdout == 0:
        return table, None
    if not 0 < holdout < 1:
        raise ValueError(f"--holdout {holdout} must be a share between 0 and 1, as 0.2")
    if table.y is None:
        raise ValueError("--holdout evaluates predictions, so it needs labels: name their column with --label")
    groups = table.y if stratify else None
    X, X_test, y, y_test = train_test_split(table.X, table.y, test_size=holdout, random_state=seed, stratify=groups)
    return Table(X, y, table.names), Table(X_test, y_test, table.names)


def _fit(model: Any, table: Table) -> float:
    start = time.perf_counter()
    model.fit(table.X, table.y)
    if table.names is not None:
        # As a dataframe would have left it, without needing a dataframe library.
        model.feature_names_in_ = np.array(table.names, dtype=object)
    return time.perf_counter() - start


def _model_and_rows(model: Path, data: Path, label: str | None, drop: list[str] | None) -> tuple[Any, Table]:
    fitted = load(model)
    names = getattr(fitted, "feature_names_in_", None)
    table = read_table(data, label, drop or (), features=None if names is None else list(names))
    return fitted, table


def _write_report(model: Any, path: Path, table: Table | None, rows: str, shape: tuple[int, int] | None) -> None:
    from eigenfeat.report import write_report

    title = type(model).__name__ if table is None else f"{type(model).__name__} on {rows}"
    X, y = (None, None) if table is None else (table.X, table.y)
    write_report(model, path, X, y, title=title, image_shape=shape)


def _print_result(console: Console, model: Any, X: Any, y: Any, seconds: float) -> None:
    grid = Grid(show_header=False, box=SIMPLE)
    grid.add_row("fitted in", f"{seconds:.2f} s")
    if hasattr(model, "eigenvalues_") and len(model.eigenvalues_):
        largest = ", ".join(f"{value:.3g}" for value in np.sort(model.eigenvalues_)[::-1][:5])
        grid.add_row("components", f"{len(model.eigenvalues_)} (largest eigenvalues {largest})")
    if X is not None and is_classifier(model):
        wrong = int(np.sum(model.predict(X) != y))
        grid.add_row("held-out rows", f"[bold green]{1 - wrong / len(y):.2%} correct[/] ({wrong} of {len(y):,} wrong)")
    elif X is not None and is_regressor(model):
        grid.add_row("held-out rows", f"[bold green]R² = {model.score(X, y):.3f}[/] on {len(y):,} rows")
    console.print(grid)


def _columns(table: Table) -> str:
    return "no column names" if table.names is None else f"the columns {', '.join(table.names[:12])}"


if __name__ == "__main__":
    main()
