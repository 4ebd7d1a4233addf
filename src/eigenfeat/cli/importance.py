"""Which columns of a table a fitted model depends on: what is lost when one is shuffled."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.metrics import log_loss

from eigenfeat._runtime.progress import report
from eigenfeat.cli.data import Rows

MOST_ROWS, MOST_COLUMNS = 1000, 100
REPEATS = 3
DOMINANT = 0.8
"""Share of all that is lost: a column that has more of it may well be the label in disguise."""


def importance(
    model: Any, rows: Rows, task: str, seed: int = 0, repeats: int = REPEATS, seconds: float | None = None
) -> dict[str, tuple[float, float]]:
    """Loss added by shuffling each column: mean and standard deviation, the largest first; none for sparse rows.

    Where ``seconds`` are given, none either if they would not suffice for all columns.
    """
    if not rows.is_table or rows.y is None:
        return {}
    rng = np.random.default_rng(seed)
    if len(rows) > MOST_ROWS:
        rows = rows.take(np.sort(rng.choice(len(rows), MOST_ROWS, replace=False)))
    y: Any = rows.y
    start = time.perf_counter()
    plain = _loss(model, rows.X, y, task)
    used = _used(model, rows.X.column_names)[:MOST_COLUMNS]
    if seconds is not None and (time.perf_counter() - start) * repeats * len(used) > seconds:
        return {}
    found = {}
    for k, name in enumerate(used):
        report("importance of columns", k, len(used))
        place = rows.X.column_names.index(name)
        losses = []
        for _ in range(repeats):
            shuffled = rows.X.column(name).take(pa.array(rng.permutation(len(rows))))
            losses.append(_loss(model, rows.X.set_column(place, name, shuffled), y, task) - plain)
        found[name] = (float(np.mean(losses)), float(np.std(losses)))
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))


def dominant(importances: dict[str, tuple[float, float]]) -> str | None:
    """The column that nearly everything depends on, where there is one among several."""
    gains = {name: max(0.0, mean) for name, (mean, _) in importances.items()}
    total = sum(gains.values())
    if len(gains) < 3 or total <= 0:
        return None
    name = max(gains, key=gains.__getitem__)
    return name if gains[name] / total > DOMINANT else None


def _used(model: Any, names: list[str]) -> list[str]:
    encoder = dict(getattr(model, "named_steps", {})).get("table")
    if encoder is None:
        return names
    return [column.name for column in encoder.columns_ if column.n_outputs]


def _loss(model: Any, X: Any, y: np.ndarray, task: str) -> float:
    if task == "classification" and hasattr(model, "predict_proba"):
        known = np.isin(y, model.classes_)
        p = np.clip(model.predict_proba(X)[known], 1e-9, 1)
        return float(log_loss(y[known], p, labels=list(model.classes_)))
    predicted = np.asarray(model.predict(X))
    if task == "classification":
        return float(np.mean(predicted != y))
    return float(np.mean((np.asarray(y, dtype=float) - predicted.reshape(np.shape(y))) ** 2) / max(np.var(y), 1e-300))
