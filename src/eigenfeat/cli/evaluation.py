"""How good predictions are, beside what could be had for nothing, with what chance leaves open."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, log_loss

Z = 1.959964
"""Of a two-sided interval of 95 %."""


@dataclass(frozen=True)
class Result:
    """What held-out rows say of a model.

    Attributes
    ----------
    task, rows : str, int
        How many rows it was evaluated on.
    error : float
        Share of rows that are wrong; of numbers, the share of the variance that is left (1 - R²).
    interval : tuple of two floats
        95 % for that error.
    baseline : float
        The error of always predicting the most frequent class of the training rows, or their mean.
    baseline_words : str
    extra : dict
        Further figures by name: balanced accuracy, log loss; or mean absolute error, root mean square.
    warnings : tuple of str
    """

    task: str
    rows: int
    error: float
    interval: tuple[float, float]
    baseline: float
    baseline_words: str
    extra: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def wilson(wrong: int, n: int) -> tuple[float, float]:
    """Wilson's interval of a share."""
    p = wrong / n
    middle = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def classification(
    y: np.ndarray, predicted: np.ndarray, probabilities: np.ndarray | None, classes: np.ndarray, y_train: np.ndarray
) -> Result:
    """Errors of classes; rows whose class the model does not know are wrong."""
    n, wrong = len(y), int(np.sum(predicted != y))
    values, counts = np.unique(y_train, return_counts=True)
    frequent = values[np.argmax(counts)]
    baseline = float(np.mean(y != frequent))
    extra = {"balanced accuracy": float(_balanced(y, predicted))}
    known = np.isin(y, classes)
    if probabilities is not None and known.any():
        extra["log loss"] = float(log_loss(y[known], np.clip(probabilities[known], 1e-15, 1), labels=list(classes)))
    interval = wilson(wrong, n)
    never = [str(c) for c in np.unique(y_train) if c not in set(np.unique(predicted)) and np.any(y == c)]
    warnings = []
    if never:
        warnings.append(f"never predicted: {', '.join(never[:8])}. Rows of these classes are always wrong")
    if wrong / n >= baseline - (interval[1] - interval[0]) / 2 and baseline > 0:
        warnings.append(
            f"no better than always saying {frequent!s} ({baseline:.1%} wrong), as far as {n:,} rows can tell: the "
            "columns may say nothing about the label"
        )
    if not known.all():
        warnings.append(f"{int((~known).sum()):,} rows are of classes that were not in the training rows")
    return Result("classification", n, wrong / n, interval, baseline, f"always {frequent!s}", extra, tuple(warnings))


def _balanced(y: np.ndarray, predicted: np.ndarray) -> float:
    import warnings as standard

    with standard.catch_warnings():
        standard.simplefilter("ignore")  # of predicted classes that no row has
        return balanced_accuracy_score(y, predicted)


def regression(y: np.ndarray, predicted: np.ndarray, y_train: np.ndarray) -> Result:
    """Errors of numbers, as the share of the variance about the mean of the training rows that is left."""
    y, predicted = np.asarray(y, dtype=float), np.asarray(predicted, dtype=float).reshape(np.shape(y))
    squares = (y - predicted) ** 2
    plain = (y - y_train.mean(axis=0)) ** 2
    squares, plain = (a.reshape(len(y), -1).sum(axis=1) for a in (squares, plain))
    total = plain.sum() or 1.0
    drawn = np.random.default_rng(0).integers(len(y), size=(400, len(y))) if len(y) <= 20_000 else None
    if drawn is not None:
        shares = squares[drawn].sum(axis=1) / np.maximum(plain[drawn].sum(axis=1), 1e-300)
        low, high = np.quantile(shares, [0.025, 0.975])
    else:
        ratio = squares - squares.sum() / total * plain
        spread = Z * ratio.std() / (math.sqrt(len(y)) * plain.mean())
        low, high = squares.sum() / total - spread, squares.sum() / total + spread
    error = float(squares.sum() / total)
    extra = {
        "R²": 1 - error,
        "mean absolute error": float(np.mean(np.abs(y - predicted))),
        "root mean square error": float(np.sqrt(np.mean((y - predicted) ** 2))),
    }
    warnings = []
    if high >= 1:
        warnings.append("no better than always saying the mean, as far as these rows can tell")
    return Result(
        "regression", len(y), error, (float(low), float(high)), 1.0, "always the mean", extra, tuple(warnings)
    )


def multilabel(y: np.ndarray, scores: np.ndarray, y_train: np.ndarray) -> Result:
    """Errors of labels, each said where its score is above a half."""
    y, said = np.asarray(y) > 0.5, np.asarray(scores) > 0.5
    n_cells, wrong = y.size, int(np.sum(y != said))
    baseline = float(np.mean(y != (y_train.mean(axis=0) > 0.5)))
    both = (y & said).sum()
    extra = {
        "micro F1": float(2 * both / max(1, y.sum() + said.sum())),
        "rows with all labels right": float(np.mean((y == said).all(axis=1))),
    }
    by_row = (y != said).mean(axis=1)  # labels of a row are not independent of each other: rows are
    spread = Z * float(by_row.std()) / math.sqrt(len(y))
    interval = max(0.0, wrong / n_cells - spread), min(1.0, wrong / n_cells + spread)
    warnings = ["no better than always saying the usual labels"] if wrong / n_cells >= baseline else []
    return Result(
        "multilabel", len(y), wrong / n_cells, interval, baseline, "always the usual labels", extra, tuple(warnings)
    )


def evaluate(model: Any, X: Any, y: np.ndarray, y_train: np.ndarray, task: str) -> Result:
    """What a fitted model makes of rows it has not seen."""
    predicted = np.asarray(model.predict(X))
    if task == "multilabel":
        return multilabel(y, predicted, y_train)
    if task == "regression":
        return regression(y, predicted, y_train)
    probabilities = model.predict_proba(X) if hasattr(model, "predict_proba") else None
    return classification(y, predicted, probabilities, np.asarray(model.classes_), y_train)
