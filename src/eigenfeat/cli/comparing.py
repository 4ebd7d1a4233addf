"""``eigenfeat compare``: a leaderboard over our methods and baselines, and the best of them as a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eigenfeat._runtime.progress import report
from eigenfeat.cli.budget import Clock, TimeUp, cut_off, fitted_within
from eigenfeat.cli.data import Rows, read_rows, task_of
from eigenfeat.cli.fitting import Order, Outcome, keep
from eigenfeat.cli.methods import BASELINES, METHODS, MOST_KERNEL_ROWS, on_table
from eigenfeat.cli.selection import Score, cross_validated
from eigenfeat.cli.talk import Talk

COMPARING = 0.6
"""Share of the time that a comparison may take; the rest is for the fit of the best to all rows."""

SLOW = ("feast",)
"""Left to those who ask for it."""


def run_compare(order: Order, methods: list[str], most_rows: int, talk: Talk) -> None:
    """Cross-validate, rank, fit the best again on all rows and save it."""
    with talk.progress("reading"):
        rows = read_rows(order.data, order.reading, task=order.task)
    for note in rows.notes:
        talk.warn(note)
    if rows.y is None:
        raise ValueError(f"compare needs labels: name their column with --label. {rows.place} has none of a usual name")
    task = task_of(rows, order.task)
    if task.reason:
        talk.warn(f"{task.reason}. If that is wrong, say --task")
    few = rows
    if len(rows) > most_rows:
        few = rows.take(np.sort(np.random.default_rng(order.seed).choice(len(rows), most_rows, replace=False)))
        talk.warn(f"compared on {most_rows:,} of {len(rows):,} rows (--rows); the best is fitted to all of them")
    clock = Clock(order.budget)
    scores, failed = _scores(order, few, task.name, methods, clock.share(COMPARING), talk)
    for name, why in failed.items():
        talk.warn(f"{name} could not be fitted: {why}")
    best = _best(scores, task.name)
    _tell(talk, scores, task.name, best)
    with talk.progress(f"fitting {best.name} to all rows"):
        done = fitted_within(lambda some: _built(best.name, task.name, some, order), rows, clock.left, order.seed)
    if done is None:
        raise ValueError(
            f"there was no time left to fit {best.name}: give more than {order.budget:.0f} s, or fewer --method"
        )
    if len(done.rows) < len(rows):
        talk.warn(f"fitted on {len(done.rows):,} of {len(rows):,} rows, to keep within {order.budget:.0f} s")
    chosen_by, seconds = "the best of a comparison by cross-validation", {"fitting": done.seconds}
    outcome = Outcome(done.model, best.name, chosen_by, rows, done.rows, None, task, best.result, {}, seconds)
    keep(replace(order, holdout="cv"), outcome, talk)
    talk.facts["leaderboard"] = [
        {"method": s.name, "loss": s.loss, "seconds": s.seconds, **s.result.as_dict()} for s in scores
    ]
    talk.say(f"Model   {order.output}  ({best.name}, fitted to {len(done.rows):,} rows)")


def _candidates(task: str, asked: list[str], n_rows: int) -> list[str]:
    everything = [*METHODS[task], *BASELINES[task]]
    unknown = [name for name in asked if name not in everything]
    if unknown:
        raise ValueError(f"there is no method {', '.join(unknown)} for {task}; there are {', '.join(everything)}")
    if asked:
        return asked
    return [
        name for name in everything if name not in SLOW and not (name == "kernel-fisher" and n_rows > MOST_KERNEL_ROWS)
    ]


def _built(name: str, task: str, rows: Rows, order: Order) -> Any:
    estimator = (METHODS[task] | BASELINES[task])[name]()
    return on_table(estimator, int(np.prod(rows.X.shape)), order.reading.kinds, not rows.is_table)


def _scores(
    order: Order, rows: Rows, task: str, methods: list[str], seconds: float | None, talk: Talk
) -> tuple[list[Score], dict[str, str]]:
    """Scores, the best first, and what could not be fitted."""
    scores: list[Score] = []
    failed: dict[str, str] = {}
    names = _candidates(task, methods, len(rows))
    clock = Clock(seconds)
    with talk.progress("comparing"):
        for k, name in enumerate(names):
            best = min(scores, key=lambda s: s.loss).name if scores else ""
            report(f"method {name},", k, len(names), f"best so far {best}" if best else "")
            try:
                with cut_off(clock.left):
                    scores.append(cross_validated(name, _built(name, task, rows, order), rows, task, 5, order.seed))
            except TimeUp:
                talk.warn(f"the time did not suffice to try {', '.join(names[k:])}")
                break
            except ValueError as problem:
                failed[name] = str(problem).splitlines()[0]
    if not scores:
        why = next(iter(failed.values()), f"{names[0]} takes longer than {order.budget or 0:.0f} s")
        raise ValueError(f"nothing could be fitted to {rows.place}: {why}")
    return sorted(scores, key=lambda score: score.loss), failed


def _best(scores: list[Score], task: str) -> Score:
    """The best that can be saved: trees of scikit-learn have no place in a safe model file."""
    return next(score for score in scores if score.name != "hist gradient boosting")


def _tell(talk: Talk, scores: list[Score], task: str, best: Score) -> None:
    loss = "log loss" if task == "classification" else "1 - R²" if task == "regression" else "wrong labels"
    lines = []
    for score in scores:
        low, high = score.result.interval
        mark = " *" if score is best else ""
        lines.append(
            [
                f"{score.name}{mark}",
                f"{score.result.error:.2%}",
                f"{low:.2%} to {high:.2%}",
                f"{score.loss:.4f}",
                f"{score.seconds:.2f}",
            ]
        )
    talk.grid(lines, ["method", "error", "95 % interval", loss, "seconds a fit"])
    if scores[0] is not best:
        talk.say(f"{scores[0].name} is a yardstick and cannot be saved; * is kept.")
