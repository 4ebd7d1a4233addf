"""Which inputs matter: how much worse predictions get when one column of the user's is shuffled."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenfeat.report.values.columns import column_names
from eigenfeat.report.values.evaluation import true_probabilities
from eigenfeat.report.values.predictions import Predictions
from eigenfeat.report.values.subject import Rows, Subject
from eigenfeat.report.values.tables import with_shuffled

MOST_ROWS, N_REPEATS = 2000, 10


@dataclass(frozen=True, eq=False)
class Importance:
    """Loss of shuffled columns less the loss as it is, over several shuffles.

    Attributes
    ----------
    names : tuple of str
        The columns as the user gave them.
    rise, spread : (d,) arrays
        Mean and standard deviation of the rise over the shuffles.
    error_rise : (d,) array or None
        The same in wrong rows, as a share.
    loss : str
        What rises, in words.
    n_rows, n_repeats : int
    """

    names: tuple[str, ...]
    rise: np.ndarray
    spread: np.ndarray
    error_rise: np.ndarray | None
    loss: str
    n_rows: int
    n_repeats: int

    @property
    def order(self) -> np.ndarray:
        """Columns, most important first."""
        return np.argsort(-self.rise, kind="stable")

    @property
    def dominant(self) -> str | None:
        """The column without which nothing works, where there is one: five times the next, most of the whole."""
        rise = np.maximum(self.rise[self.order], 0)
        if len(rise) < 3 or rise[0] <= 3 * self.spread[self.order[0]]:
            return None
        return self.names[self.order[0]] if rise[0] > 5 * rise[1] and rise[0] > 0.6 * rise.sum() else None


def importance(
    subject: Subject, found: Predictions, seconds: float | None = None, random_state: int = 0
) -> Importance | str:
    """Permutation importance in the original columns, or why there is none.

    Parameters
    ----------
    subject, found
        The model, and its predictions of the rows to judge by.
    seconds : float, optional
        What it may take: fewer shuffles, then fewer rows where columns are many.
    """
    if found.seen or subject.test is None:
        return "Importance is measured on rows the model has not seen, and this page was given none."
    rows = found.rows.sample(MOST_ROWS, random_state)
    start = time.perf_counter()
    before = _losses(subject.model, found, rows)
    one = time.perf_counter() - start
    names = column_names(subject, rows.X)
    repeats = N_REPEATS
    if seconds is not None:
        affordable = seconds / max(one, 1e-4) / len(names)
        repeats = min(N_REPEATS, int(affordable))
        if affordable < 2:
            rows, repeats = rows.sample(max(100, int(rows.n_rows * affordable / 2)), random_state), 2
            if affordable * rows.n_rows < 40:
                return f"Shuffling each of {len(names):,} columns in turn would have taken longer than this page may."
            before = _losses(subject.model, found, rows)
    rng = np.random.default_rng(random_state)
    losses = np.array(
        [
            [_losses(subject.model, found, shuffled(rows, j, rng.permutation(rows.n_rows))) for _ in range(repeats)]
            for j in range(len(names))
        ]
    )
    rises = losses - before
    has_errors = subject.kind == "classifier"
    return Importance(
        names,
        rises[:, :, 0].mean(axis=1),
        rises[:, :, 0].std(axis=1, ddof=1),
        rises[:, :, 1].mean(axis=1) if has_errors else None,
        _loss_name(subject, found),
        rows.n_rows,
        repeats,
    )


def shuffled(rows: Rows, column: int, order: np.ndarray) -> Rows:
    """Rows with one column in another order, in a table of the same kind."""
    return Rows(with_shuffled(rows.X, column, order), rows.y)


def _losses(model: Any, found: Predictions, rows: Rows) -> tuple[float, float]:
    """The loss, and the share of wrong rows."""
    assert rows.y is not None
    if found.classes is None:
        wrong = np.asarray(rows.y, dtype=np.float64) - np.asarray(model.predict(rows.X)).reshape(rows.y.shape)
        return float(np.mean(wrong**2) / max(float(np.var(rows.y)), 1e-300)), 0.0
    if found.probabilities is None:
        error = float(np.mean(np.asarray(model.predict(rows.X)) != rows.y))
        return error, error
    answer = replace(found, rows=rows, probabilities=np.asarray(model.predict_proba(rows.X)))
    given = true_probabilities(answer)
    assert given is not None
    surprise = -np.log(np.maximum(given, 1e-15))
    chosen = np.asarray(found.classes)[answer.probabilities.argmax(axis=1)]  # type: ignore[union-attr]
    return float(surprise.mean()), float(np.mean(chosen != rows.y))


def _loss_name(subject: Subject, found: Predictions) -> str:
    if subject.kind == "regressor":
        return "squared error, as a share of the target's variance"
    return "share of wrong rows" if found.probabilities is None else "log loss"
