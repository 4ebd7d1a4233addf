"""``eigenfeat fit``: a table in, a model and an honest answer out."""

from __future__ import annotations

import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone

import eigenfeat
from eigenfeat.cli.data import Reading, Rows, file_hash, read_rows, split, task_of
from eigenfeat.cli.evaluation import Result, evaluate
from eigenfeat.cli.importance import dominant, importance
from eigenfeat.cli.methods import AUTO, METHODS, can_evaluate, named, on_table
from eigenfeat.cli.paging import write_page
from eigenfeat.cli.selection import FEW_ROWS, choose, cross_validated, rows_within, simplest
from eigenfeat.cli.talk import Talk, timed
from eigenfeat.tables import Task


@dataclass(frozen=True)
class Order:
    """What is to be fitted, how it is to be evaluated, and where it goes."""

    data: str
    reading: Reading
    method: str
    parameters: dict[str, Any]
    holdout: str
    task: str | None
    budget: float | None
    seed: int
    output: Path
    report: Path | None
    command: str


@dataclass(frozen=True)
class Outcome:
    """What came of an order."""

    model: Any
    method: str
    chosen_by: str
    rows: Rows
    train: Rows
    test: Rows | None
    task: Task | None
    result: Result | None
    weights: dict[str, tuple[float, float]]
    seconds: dict[str, float]


def run_fit(order: Order, talk: Talk) -> None:
    """Read, choose, fit, evaluate, save, tell."""
    outcome = _fitted(order, talk)
    keep(order, outcome, talk)
    _tell(order, talk, outcome)
    if order.report is not None:
        with talk.progress("writing the report"):
            write_page(outcome.model, order.report, outcome.test, outcome.train, seed=order.seed)
        talk.facts["report"] = str(order.report)
        talk.say(f"Report  {order.report}  (open it in a browser)")


def _fitted(order: Order, talk: Talk) -> Outcome:
    seconds: dict[str, float] = {}
    start = time.perf_counter()
    with talk.progress("reading"), timed(seconds, "reading"):
        rows = read_rows(order.data, order.reading, task=order.task)
    for note in rows.notes:
        talk.warn(note)
    task = _task(order, rows, talk)
    train, test = _held_out(order, rows, task)
    budget = None if order.budget is None else order.budget - (time.perf_counter() - start)
    with talk.progress("choosing a method"), timed(seconds, "choosing"):
        method, model, chosen_by = _model(order, train, task, budget)
    if order.budget is not None:
        with talk.progress("finding how many rows the time allows"), timed(seconds, "choosing"):
            whole, left = train, order.budget - (time.perf_counter() - start)
            train = rows_within(lambda some: _seconds(clone(model), some), whole, max(left, 1.0), order.seed)
        if len(train) < len(whole):
            talk.warn(f"fitted on {len(train):,} of {len(whole):,} rows, to keep within {order.budget:.0f} s")
    with talk.progress(f"fitting {method}"), timed(seconds, "fitting"):
        model.fit(train.X, train.y)
    result, weights = None, {}
    if task is not None and can_evaluate(model):
        with talk.progress("evaluating"), timed(seconds, "evaluating"):
            result = _result(order, model, train, test, task)
            if result is not None:
                weights = importance(model, train if test is None else test, task.name, order.seed)
    return Outcome(model, method, chosen_by, rows, train, test, task, result, weights, seconds)


def _task(order: Order, rows: Rows, talk: Talk) -> Task | None:
    if rows.y is None:
        if order.method in ("auto", *METHODS["classification"]):
            raise ValueError(
                f"{order.method} needs labels: name their column with --label. {rows.place} has the columns "
                f"{', '.join(rows.X.column_names[:12])}"
            )
        return None
    task = task_of(rows, order.task)
    if task.reason:
        talk.warn(f"{task.reason}. If that is wrong, say --task")
    return task


def _held_out(order: Order, rows: Rows, task: Task | None) -> tuple[Rows, Rows | None]:
    """Rows to fit on and rows to evaluate on, where they are to be apart."""
    if task is None or order.holdout in ("cv", "0", "none"):
        return rows, None
    if Path(order.holdout).is_file():
        other = read_rows(order.holdout, order.reading, rows.X.column_names if rows.is_table else None, task.name)
        if other.y is None:
            raise ValueError(f"--holdout {order.holdout} has no labels to compare with")
        return rows, other
    try:
        share = float(order.holdout)
    except ValueError:
        raise ValueError(
            f"--holdout {order.holdout} is no file; it must be a share between 0 and 1, as 0.2; a file; or cv"
        ) from None
    return split(rows, share, order.seed, task)


def _model(order: Order, train: Rows, task: Task | None, budget: float | None) -> tuple[str, Any, str]:
    """An unfitted model, what it is called, and how it was chosen."""
    n_cells = int(np.prod(train.X.shape))

    def built(name: str, parameters: dict[str, Any]) -> Any:
        estimator = named(name, "classification" if task is None else task.name, parameters)
        return on_table(estimator, n_cells, order.reading.kinds, not train.is_table)

    if order.method != "auto":
        return order.method, built(order.method, order.parameters), "as asked"
    assert task is not None
    names = AUTO[task.name]
    if order.parameters or len(train) > FEW_ROWS or not train.is_table:
        return names[-1], built(names[-1], order.parameters), "the default"
    scores = choose({name: built(name, {}) for name in names}, train, task.name, order.seed, budget and budget / 3)
    best = simplest(scores, names).name
    others = ", ".join(f"{score.name} {score.result.error:.1%}" for score in scores)
    return best, built(best, {}), f"the simplest of about the smallest cross-validated error on its rows ({others})"


def _seconds(model: Any, rows: Rows) -> float:
    start = time.perf_counter()
    model.fit(rows.X, rows.y)
    return time.perf_counter() - start


def _result(order: Order, model: Any, train: Rows, test: Rows | None, task: Task) -> Result | None:
    assert train.y is not None
    if order.holdout == "cv":
        return cross_validated(order.method, model, train, task.name, 5, order.seed).result
    if test is None or test.y is None:
        return None
    return evaluate(model, test.X, test.y, train.y, task.name)


def keep(order: Order, outcome: Outcome, talk: Talk) -> None:
    """Save a model, with a card that says what it is."""
    outcome.model.card_ = _card(order, outcome)
    eigenfeat.save(outcome.model, order.output)
    talk.facts |= {"model": str(order.output), **outcome.model.card_}


def _card(order: Order, outcome: Outcome) -> dict[str, Any]:
    """What the model was fitted on, and what came of it: saved with it, and what a report begins with."""
    rows = outcome.rows
    return {
        "method": outcome.method,
        "chosen by": outcome.chosen_by,
        "task": "" if outcome.task is None else outcome.task.name,
        "label": list(rows.labels),
        "file": rows.place,
        "sha256": file_hash(rows.place),
        "rows": len(rows),
        "rows fitted": len(outcome.train),
        "columns": int(rows.X.shape[1]),
        "holdout": order.holdout,
        "seed": order.seed,
        "command": order.command,
        "result": {} if outcome.result is None else _listed(outcome.result.as_dict()),
        "importance": {name: list(values) for name, values in outcome.weights.items()},
        "seconds": {name: round(value, 3) for name, value in outcome.seconds.items()},
        "versions": {
            "eigenfeat": eigenfeat.__version__,
            "scikit-learn": sklearn.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }


def _listed(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()}


def _tell(order: Order, talk: Talk, outcome: Outcome) -> None:
    rows, result = outcome.rows, outcome.result
    talk.say(
        f"[bold]{outcome.method}[/] on {len(outcome.train):,} rows of {rows.place}, {rows.X.shape[1]} columns. "
        f"Chosen: {outcome.chosen_by}."
    )
    encoder = dict(outcome.model.named_steps).get("table")
    left_out = {} if encoder is None else encoder.columns_.left_out()
    if left_out:
        shown = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:8])
        talk.say(f"Left out  {shown}" + (f"; and {len(left_out) - 8} more" if len(left_out) > 8 else ""))
    tell_result(talk, result, order.holdout, sum(outcome.seconds.values()))
    for words in () if result is None else result.warnings:
        talk.warn(words)
    name = dominant(outcome.weights)
    if name is not None:
        talk.warn(
            f"nearly everything depends on the column {name!r}: if it is not known when you predict, or says what the "
            f"label says, leave it out (--drop {name!r})"
        )
    talk.say(f"Model   {order.output}")


def tell_result(talk: Talk, result: Result | None, holdout: str, seconds: float) -> None:
    """A grid of what held-out rows say; never what training rows say."""
    if result is None:
        talk.grid([["seconds", f"{seconds:.1f}"], ["result", "not evaluated: no rows were held out"]])
        return
    which = "cross-validated rows" if holdout == "cv" else "held-out rows"
    low, high = result.interval
    lines = [[which, f"{result.rows:,}"]]
    if result.task == "regression":
        lines.append(["R²", f"[bold green]{1 - result.error:.4f}[/]  (95 % interval {1 - high:.4f} to {1 - low:.4f})"])
        lines.append(["always the mean", "0"])
        lines += [[name, f"{value:.4g}"] for name, value in result.extra.items() if name != "R²"]
    else:
        what = "wrong labels" if result.task == "multilabel" else "wrong"
        lines.append([what, f"[bold green]{result.error:.2%}[/]  (95 % interval {low:.2%} to {high:.2%})"])
        lines.append([f"{result.baseline_words}", f"{result.baseline:.2%} wrong"])
        lines += [[name, f"{value:.4f}"] for name, value in result.extra.items()]
    talk.grid([*lines, ["seconds", f"{seconds:.1f}"]])


def command_line() -> str:
    """The command as it was typed."""
    return " ".join(["eigenfeat", *sys.argv[1:]])
