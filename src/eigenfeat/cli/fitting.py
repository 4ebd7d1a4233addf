"""``eigenfeat fit``: a table in, a model and an honest answer out."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import eigenfeat
from eigenfeat.cli.budget import TRIAL_SIZES, Clock, TimeUp, cut_off, fitted_within, foreseen
from eigenfeat.cli.data import Reading, Rows, file_hash, read_rows, split, task_of
from eigenfeat.cli.evaluation import Result, evaluate
from eigenfeat.cli.importance import dominant, importance
from eigenfeat.cli.methods import AUTO, MANY_ROWS, METHODS, can_evaluate, for_rows, named, on_table
from eigenfeat.cli.paging import write_page
from eigenfeat.cli.selection import FEW_ROWS, choose, cross_validated, richer, simplest
from eigenfeat.cli.talk import Talk, timed
from eigenfeat.tables import Task

CHOOSING, FITTING, EVALUATING = 0.3, 0.65, 0.3
"""Shares, of the time that is left then, that a choice, a fit and the evaluation of what it led to may take."""

PAGE_SECONDS = 30.0
"""What the parts of a report that can do with less may take together."""


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
    clock = Clock(order.budget)
    outcome = _fitted(order, clock, talk)
    keep(order, outcome, talk)
    _tell(order, talk, outcome)
    if order.report is not None:
        left = PAGE_SECONDS if clock.left is None else min(PAGE_SECONDS, clock.left / 2)
        with talk.progress("writing the report"):
            write_page(outcome.model, order.report, outcome.test, outcome.train, seed=order.seed, seconds=left)
        talk.facts["report"] = str(order.report)
        talk.say(f"Report  {order.report}  (open it in a browser)")


def _fitted(order: Order, clock: Clock, talk: Talk) -> Outcome:
    seconds: dict[str, float] = {}
    with talk.progress("reading"), timed(seconds, "reading"):
        rows = read_rows(order.data, order.reading, task=order.task)
    for note in rows.notes:
        talk.warn(note)
    task = _task(order, rows, talk)
    train, test = _held_out(order, rows, task)
    with talk.progress("choosing a method"), timed(seconds, "choosing"):
        choice = _choice(order, train, task, clock.share(CHOOSING))
    for words in choice.warnings:
        talk.warn(words)
    with talk.progress(f"fitting {choice.method}"), timed(seconds, "fitting"):
        choice, model, fitted_on = _fit(order, choice, train, task, clock, talk)
    result, weights = None, {}
    if task is not None and can_evaluate(model):
        with talk.progress("evaluating"), timed(seconds, "evaluating"):
            result, test = _result(order, model, fitted_on, test, task, clock, talk)
            if result is not None:
                judged = fitted_on if test is None else test
                weights = importance(model, judged, task.name, order.seed, seconds=clock.share(EVALUATING))
    return Outcome(model, choice.method, choice.why, rows, fitted_on, test, task, result, weights, seconds)


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


@dataclass(frozen=True, eq=False)
class Choice:
    """A method, how rows become an unfitted model of it, why it was chosen, and what there is to say about that."""

    method: str
    make: Callable[[Rows], Any]
    why: str
    warnings: tuple[str, ...] = ()


def _choice(order: Order, train: Rows, task: Task | None, seconds: float | None) -> Choice:
    """The method that was asked for, or the one that does best on training rows left out."""

    def built(name: str, parameters: dict[str, Any], rows: Rows) -> Any:
        estimator = named(name, "classification" if task is None else task.name, parameters)
        n_classes = 0 if rows.y is None else len(np.unique(rows.y))
        estimator = for_rows(estimator, name, parameters, len(rows), n_classes)
        return on_table(estimator, int(np.prod(train.X.shape)), order.reading.kinds, not train.is_table)

    def choice(name: str, why: str, *notes: str, parameters: dict[str, Any] | None = None) -> Choice:
        return Choice(name, lambda rows: built(name, parameters or {}, rows), why, notes)

    if order.method != "auto":
        return choice(order.method, "as asked", parameters=order.parameters)
    assert task is not None
    names = AUTO[task.name]
    if order.parameters or not train.is_table:
        return choice(names[-1], "the default", parameters=order.parameters)
    if len(train) >= MANY_ROWS and task.name == "classification":
        return choice(*richer(built, train, ("gem", "gem-splines"), order.seed, seconds))
    if len(train) > FEW_ROWS:
        return choice(names[-1], "the default")
    scores, untried = choose({n: built(n, {}, train) for n in names}, train, task.name, order.seed, seconds)
    notes = [f"the time did not suffice to try {', '.join(untried)}"] if untried else []
    if not scores:
        return choice(names[0], "the simplest: there was no time to compare", *notes)
    others = ", ".join(f"{score.name} {score.result.error:.1%}" for score in scores)
    best = simplest(scores, names).name
    return choice(best, f"the simplest of about the smallest cross-validated error on its rows ({others})", *notes)


def _fit(
    order: Order, choice: Choice, train: Rows, task: Task | None, clock: Clock, talk: Talk
) -> tuple[Choice, Any, Rows]:
    """A fitted model and its rows; where time is short of fewer rows, or of a simpler method."""
    folds = 6 if order.holdout == "cv" else 1  # every fold is a fit of about as long
    done = fitted_within(choice.make, train, clock.share(FITTING / folds), order.seed)
    if done is None:
        assert task is not None
        simple = AUTO[task.name][0]
        few = train.take(np.sort(np.random.default_rng(order.seed).permutation(len(train))[: TRIAL_SIZES[0]]))
        talk.warn(f"{choice.method} could not be fitted to {len(few):,} rows in time: {simple} was fitted instead")
        why = f"{choice.method} would have taken too long"
        choice = _choice(replace(order, method=simple, parameters={}), few, task, None)
        done = fitted_within(choice.make, few, None, order.seed)
        assert done is not None
        choice = replace(choice, why=why)
    if len(done.rows) < len(train):
        talk.warn(f"fitted on {len(done.rows):,} of {len(train):,} rows, to keep within {order.budget:.0f} s")
    return choice, done.model, done.rows


def _result(
    order: Order, model: Any, train: Rows, test: Rows | None, task: Task, clock: Clock, talk: Talk
) -> tuple[Result | None, Rows | None]:
    """What rows that the model has not seen say of it, and those rows; fewer where time is short."""
    assert train.y is not None
    if order.holdout == "cv":
        try:
            with cut_off(clock.left):
                return cross_validated(order.method, model, train, task.name, 5, order.seed).result, None
        except TimeUp:
            talk.warn("not evaluated: there was no time left for cross-validation")
            return None, None
    if test is None or test.y is None:
        return None, test
    some = foreseen(lambda rows: model.predict(rows.X), test, clock.share(EVALUATING), order.seed)
    if len(some) < len(test):
        talk.warn(f"evaluated on {len(some):,} of {len(test):,} held-out rows, to keep within {order.budget:.0f} s")
    return evaluate(model, some.X, some.y, train.y, task.name), some  # type: ignore[arg-type]


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
