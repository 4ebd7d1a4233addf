"""A setting of GEM that is tried, the scores of rows it left out, and how it did on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax

from eigenfeat.linear.calibration import best_temperature
from eigenfeat.rows import RandomRows


@dataclass(frozen=True)
class Recipe:
    """What is chosen together: parameters of `GEMClassifier`."""

    base_map: str | None
    feature_map: Any
    label_smoothing: float
    ridge: Any

    @property
    def params(self) -> dict[str, Any]:
        return vars(self).copy()

    @property
    def layer(self) -> dict[str, Any]:
        """What of it the layers are made of."""
        return {"feature_map": self.feature_map, "ridge": self.ridge}

    @property
    def features(self) -> tuple:
        """What of it features depend on; parameters may be lists, one value a layer."""
        return (repr(self.base_map), repr(self.feature_map), repr(self.ridge))

    @property
    def key(self) -> tuple:
        """What it is remembered by."""
        return (*self.features, self.label_smoothing)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Scores of rows that took part in nothing.

    Attributes
    ----------
    penalty : float
        ``alpha`` times the training rows.
    scores : (n, k) array
    labels : (n,) array of int
    weights : (n,) array
        Summing to one.
    """

    penalty: float
    scores: np.ndarray
    labels: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, penalty: float, scores: np.ndarray, parts: Sequence[RandomRows]) -> LeftOut:
        """Scores of rows, part by part, with their labels and weights."""
        weights = np.concatenate([np.ones(rows.n_rows) if rows.weights is None else rows.weights for rows in parts])
        return cls(penalty, scores, np.concatenate([rows.labels for rows in parts]), weights / weights.sum())

    @property
    def temperature(self) -> float:
        return best_temperature(self.scores, self.labels, self.weights)

    @property
    def error(self) -> float:
        return float(self.weights @ (self.scores.argmax(axis=1) != self.labels))

    def log_loss(self, temperature: float) -> float:
        log_p = log_softmax(temperature * self.scores, axis=1)
        return -float(self.weights @ np.maximum(log_p[np.arange(len(log_p)), self.labels], np.log(1e-15)))


@dataclass(frozen=True)
class Trial:
    """A recipe with one penalty, and how it did on the rows that some splits left out."""

    recipe: Recipe
    splits: int
    penalty: float
    temperature: float
    log_loss: float
    error: float
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        return self.recipe.params | {k: v for k, v in vars(self).items() if k != "recipe"}
