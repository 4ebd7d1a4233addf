"""Whether more rows would help: the error of models fitted on fewer."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from eigenfeat.report.values.frozen_settings import with_settings_found
from eigenfeat.report.values.predictions import Predictions
from eigenfeat.report.values.subject import Rows, Subject

HALVINGS, N_DRAWS, MOST_TEST_ROWS = 5, 3, 5000


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Loss by number of training rows, the last point being the model itself.

    Attributes
    ----------
    sizes : (s,) array of int
    loss : (s,) array
        Mean over draws of rows: share of wrong rows, or of the target's variance that is not explained.
    low, high : (s,) arrays
        Smallest and largest of the draws.
    complete : bool
        Whether all sizes could be fitted in the time given.
    """

    sizes: np.ndarray
    loss: np.ndarray
    low: np.ndarray
    high: np.ndarray
    complete: bool


def learning_curve(
    subject: Subject, found: Predictions | None, seconds: float | None = None, random_state: int = 0
) -> LearningCurve | str:
    """Halves, quarters, ... of the training rows, judged on the same unseen rows; or why there is none.

    Models are fitted with the settings that were found on all training rows; small parts are drawn three times. The
    smallest come first, and no fit is begun that would probably end after the time given.
    """
    if subject.train is None or subject.train.y is None:
        return "It needs the rows the model was fitted on, and this page was not given them."
    if found is None or found.seen or subject.test is None:
        return "It needs rows that were held out of the fit, and this page was given none."
    train, test = subject.train, found.rows.sample(MOST_TEST_ROWS, random_state)
    model = with_settings_found(subject.model)
    sizes = _sizes(subject, train)
    if not sizes:
        return f"The {train.n_rows:,} training rows are too few to fit on a part of them."
    points: list[tuple[float, ...]] = []
    start, fit_seconds = time.perf_counter(), 0.0
    for i, size in enumerate(sizes):
        expected = N_DRAWS * fit_seconds * (size / sizes[i - 1] if i else 0)
        if seconds is not None and time.perf_counter() - start + expected > seconds:
            break
        began = time.perf_counter()
        tried = [_loss(clone(model), part, test, subject.kind) for part in _draws(train, size, subject, random_state)]
        fit_seconds = (time.perf_counter() - began) / N_DRAWS
        draws = [draw for draw in tried if draw is not None]
        if draws:
            points.append((size, float(np.mean(draws)), min(draws), max(draws)))
    complete = bool(points) and points[-1][0] == sizes[-1]
    whole = _measure(np.asarray(subject.model.predict(test.X)), test.y, subject.kind)
    points.append((subject.n_training or train.n_rows, whole, whole, whole))
    columns = np.array(points, dtype=np.float64).T
    return LearningCurve(columns[0].astype(int), columns[1], columns[2], columns[3], complete)


def _sizes(subject: Subject, train: Rows) -> list[int]:
    """A thirty-second to a half of the rows, as far as there remain four a class."""
    assert train.y is not None
    least = 4 * len(np.unique(train.y)) if subject.kind == "classifier" else 10
    sizes = [train.n_rows >> h for h in range(HALVINGS, 0, -1)]
    return [size for size in sizes if size >= max(20, least)]


def _draws(train: Rows, size: int, subject: Subject, random_state: int) -> list[Rows]:
    """Parts of the training rows; of classes in proportion, as far as whole rows go."""
    rng = np.random.default_rng(random_state)
    if subject.kind != "classifier":
        return [train.take(np.sort(rng.choice(train.n_rows, size, replace=False))) for _ in range(N_DRAWS)]
    groups = [np.flatnonzero(train.y == c) for c in np.unique(train.y)]  # type: ignore[arg-type]
    counts = [min(len(group), max(2, round(size * len(group) / train.n_rows))) for group in groups]
    return [
        train.take(np.sort(np.concatenate([rng.choice(g, n, replace=False) for g, n in zip(groups, counts)])))
        for _ in range(N_DRAWS)
    ]


def _loss(model: Any, part: Rows, test: Rows, kind: str) -> float | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer rows may well warn of being few
        try:
            return _measure(np.asarray(model.fit(part.X, part.y).predict(test.X)), test.y, kind)
        except (ValueError, np.linalg.LinAlgError):  # too few rows for these settings: no point here
            return None


def _measure(predicted: np.ndarray, truth: np.ndarray | None, kind: str) -> float:
    assert truth is not None
    if kind == "classifier":
        return float(np.mean(predicted != truth))
    wrong = truth - predicted.reshape(truth.shape)
    return float(np.mean(wrong**2) / max(float(np.mean((truth - truth.mean(axis=0)) ** 2)), 1e-300))
