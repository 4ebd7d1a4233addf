"""What several commands do: hold rows out, fit, find a model's columns in a file, print, write a report."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Grid
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import train_test_split

from eigenfeat.export import load
from eigenfeat.report import write_report
from eigenfeat.rows import Table, read_table


def split(table: Table, holdout: float, seed: int, stratify: bool) -> tuple[Table, Table]:
    """Rows to fit on, and a share of them to evaluate on."""
    if not 0 < holdout < 1:
        raise ValueError(f"--holdout {holdout} must be a share between 0 and 1, as 0.2")
    if table.y is None:
        raise ValueError("--holdout evaluates predictions, so it needs labels: name their column with --label")
    groups = table.y if stratify else None
    X, X_test, y, y_test = train_test_split(table.X, table.y, test_size=holdout, random_state=seed, stratify=groups)
    return Table(X, y, table.names), Table(X_test, y_test, table.names)


def fit_on(model: Any, table: Table) -> float:
    """Fit a model, which then knows the names of its columns; seconds."""
    start = time.perf_counter()
    model.fit(table.X, table.y)
    if table.names is not None:
        # As a dataframe would have left it, without needing a dataframe library.
        model.feature_names_in_ = np.array(table.names, dtype=object)
    return time.perf_counter() - start


def model_and_rows(model: Path, data: Path, label: str | None, drop: list[str] | None) -> tuple[Any, Table]:
    """A saved model, and the rows of a file with the columns that it knows."""
    fitted = load(model)
    names = getattr(fitted, "feature_names_in_", None)
    table = read_table(data, label, drop or (), features=None if names is None else list(names))
    return fitted, table


def write_page(model: Any, path: Path, table: Table | None, rows: str, shape: tuple[int, int] | None) -> None:
    """The report of a model, evaluated on a table where there is one."""
    title = type(model).__name__ if table is None else f"{type(model).__name__} on {rows}"
    X, y = (None, None) if table is None else (table.X, table.y)
    write_report(model, path, X, y, title=title, image_shape=shape)


def print_result(console: Console, model: Any, test: Table | None, seconds: float) -> None:
    """A grid of what a fit took and gave."""
    grid = Grid(show_header=False, box=SIMPLE)
    grid.add_row("fitted in", f"{seconds:.2f} s")
    if hasattr(model, "eigenvalues_") and len(model.eigenvalues_):
        largest = ", ".join(f"{value:.3g}" for value in np.sort(model.eigenvalues_)[::-1][:5])
        grid.add_row("components", f"{len(model.eigenvalues_)} (largest eigenvalues {largest})")
    if test is not None and test.y is not None and is_classifier(model):
        wrong, n_rows = int(np.sum(model.predict(test.X) != test.y)), len(test.y)
        grid.add_row("held-out rows", f"[bold green]{1 - wrong / n_rows:.2%} correct[/] ({wrong} of {n_rows:,} wrong)")
    elif test is not None and test.y is not None and is_regressor(model):
        score = model.score(test.X, test.y)
        grid.add_row("held-out rows", f"[bold green]R² = {score:.3f}[/] on {len(test.y):,} rows")
    console.print(grid)
