"""Scores by cross-validation, and the choice of a method."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from eigenfeat._runtime.progress import report
from eigenfeat.cli.budget import Clock, TimeUp, cut_off
from eigenfeat.cli.data import Rows
from eigenfeat.cli.evaluation import Result, classification, multilabel, regression

FEW_ROWS = 3000
"""Up to so many rows "auto" compares methods; beyond, the first of them is taken."""


@dataclass(frozen=True)
class Score:
    """A method's cross-validated result, the loss it is ranked by, the error of every row, and the seconds a fit took.

    The loss is the log loss, or the share of the variance that is left; a row of a class is right or wrong.
    """

    name: str
    result: Result
    loss: float
    row_errors: np.ndarray
    seconds: float


def folds_of(rows: Rows, task: str, n_folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows to fit on and rows to predict, a pair a fold; classes in proportion where every fold can have them."""
    if len(rows) < 2 * n_folds:
        raise ValueError(f"{rows.place} has {len(rows)} rows: too few for {n_folds} folds")
    if task == "classification":
        assert rows.y is not None
        counts = np.unique(rows.y, return_counts=True)[1]
        if counts.min() >= 2:
            n = int(min(n_folds, counts.min()))
            cut = StratifiedKFold(n, shuffle=True, random_state=seed)
            return list(cut.split(np.zeros(len(rows)), rows.y))
    return list(KFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(rows))))


def cross_validated(name: str, model: Any, rows: Rows, task: str, n_folds: int, seed: int) -> Score:
    """Every row predicted by a model that was fitted without it."""
    assert rows.y is not None
    y, seconds = rows.y, 0.0
    classes = np.unique(y) if task == "classification" else np.empty(0)
    predicted: Any = np.empty(y.shape, dtype=y.dtype if task == "classification" else np.float64)
    probabilities: np.ndarray | None = np.zeros((len(y), len(classes)))
    folds = folds_of(rows, task, n_folds, seed)
    for k, (kept, held) in enumerate(folds):
        report(f"{name}, fold", k, len(folds))
        train, test = rows.take(kept), rows.take(held)
        start = time.perf_counter()
        fitted = clone(model).fit(train.X, train.y)
        seconds += time.perf_counter() - start
        predicted[held] = np.asarray(fitted.predict(test.X)).reshape(y[held].shape)
        if task == "classification" and probabilities is not None and hasattr(fitted, "predict_proba"):
            probabilities[np.ix_(held, np.searchsorted(classes, fitted.classes_))] = fitted.predict_proba(test.X)
        else:
            probabilities = None
    if task == "classification":
        result = classification(y, predicted, probabilities, classes, y)
        row_errors = (predicted != y).astype(np.float64)
        loss = result.extra.get("log loss", 10 * result.error)
    else:
        result = (multilabel if task == "multilabel" else regression)(y, predicted, y)
        about = np.asarray(y, dtype=float).reshape(len(y), -1)
        row_errors = ((about - predicted.reshape(about.shape)) ** 2).sum(axis=1) / max(about.var(axis=0).sum(), 1e-300)
        loss = result.error
    return Score(name, result, float(loss), row_errors, seconds / len(folds))


def simplest(scores: list[Score], order: tuple[str, ...]) -> Score:
    """The simplest method whose error is within one standard error of the smallest.

    The standard error is that of the mean difference of the two over the rows. Of methods that rows cannot tell
    apart the simpler one is the safer guess (Breiman et al., 1984, Classification and Regression Trees, section 3.4.3).
    """
    best = min(scores, key=lambda score: (score.row_errors.mean(), score.loss))
    for name in order:
        for score in scores:
            difference = score.row_errors - best.row_errors
            if score.name == name and difference.mean() <= difference.std(ddof=1) / np.sqrt(len(difference)):
                return score
    return best


def choose(
    candidates: dict[str, Any], rows: Rows, task: str, seed: int, seconds: float | None
) -> tuple[list[Score], list[str]]:
    """Cross-validated scores, best first, and the names of those for which the time did not suffice."""
    clock = Clock(seconds)
    scores: list[Score] = []
    for k, (name, model) in enumerate(candidates.items()):
        best = f"best so far {min(scores, key=lambda s: s.loss).name}" if scores else ""
        report(f"candidate {name}", k, len(candidates), best)
        try:
            with warnings.catch_warnings(), cut_off(clock.left):
                warnings.simplefilter("ignore")  # what concerns the one that is chosen, its own fit will say
                scores.append(cross_validated(name, model, rows, task, 5, seed))
        except TimeUp:
            return sorted(scores, key=lambda score: score.loss), list(candidates)[k:]
        except ValueError:
            continue  # a method that these rows are not for
    if not scores:
        raise ValueError(f"no method could be fitted to {rows.place}: it has {len(rows)} rows. Name one with --method")
    return sorted(scores, key=lambda score: score.loss), []


TRIAL_ROWS, HELD_ROWS = 30_000, 10_000
"""Of very many rows: how many methods are tried on, and how many more they are judged by."""


def richer(
    built: Callable[..., Any], rows: Rows, names: tuple[str, ...], seed: int, seconds: float | None = None
) -> tuple[str, str]:
    """The method of fewest errors on rows left out of a sample, and that in words; of equals the last, the richest.

    Parameters
    ----------
    built : callable
        From a name, parameters and rows to an unfitted model.
    """
    assert rows.y is not None
    order = np.random.default_rng(seed).permutation(len(rows))
    some, held = (rows.take(np.sort(part)) for part in (order[:TRIAL_ROWS], order[TRIAL_ROWS:][:HELD_ROWS]))
    errors = {}
    try:
        with warnings.catch_warnings(), cut_off(seconds):
            warnings.simplefilter("ignore")  # what concerns the one that is chosen, its own fit will say
            for k, name in enumerate(names):
                report(f"candidate {name}", k, len(names))
                fitted = built(name, {}, some).fit(some.X, some.y)
                errors[name] = float(np.mean(np.asarray(fitted.predict(held.X)) != held.y))
    except TimeUp:
        return names[0], "the default: there was no time to compare it with others"
    best = min(reversed(names), key=errors.__getitem__)
    others = ", ".join(f"{name} {error:.1%}" for name, error in errors.items())
    return best, f"fewest errors on {HELD_ROWS:,} training rows left out of a sample of {TRIAL_ROWS:,} ({others})"
