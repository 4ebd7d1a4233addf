"""A setting of GEM that is tried, the scores of rows it left out, how it did on them, and along penalties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np
from scipy.special import log_softmax

from eigenfeat.linear.calibration import best_temperature
from eigenfeat.rows.rows import Rows


@dataclass(frozen=True)
class Recipe:
    """What is chosen together: parameters of `GEMClassifier`."""

    base_map: str | None
    feature_map: Any
    label_smoothing: float
    ridge: Any
    n_layers: int

    @property
    def params(self) -> dict[str, Any]:
        return vars(self).copy()

    @property
    def layers(self) -> dict[str, Any]:
        """What of it the layers are made of."""
        return {"n_layers": self.n_layers, "feature_map": self.feature_map, "ridge": self.ridge}

    @property
    def features(self) -> tuple:
        """What of it features depend on; parameters may be lists, one value a layer."""
        return (repr(self.base_map), repr(self.feature_map), repr(self.ridge), self.n_layers)

    def unlike(self, other: Recipe) -> bool:
        """Whether its features are of so other a kind that any penalty may serve."""
        return (self.base_map, self.n_layers) != (other.base_map, other.n_layers)

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
    def of(cls, penalty: float, scores: np.ndarray, parts: Sequence[Rows]) -> LeftOut:
        """Scores of rows, part by part, with their labels and weights."""
        weights = np.concatenate([np.ones(rows.n_rows) if rows.weight is None else rows.weight for rows in parts])
        return cls(penalty, scores, np.concatenate([rows.y for rows in parts]), weights / weights.sum())

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


@dataclass(frozen=True, eq=False)
class Path:
    """Trials of one recipe along the penalties, on the first split or on more.

    Attributes
    ----------
    recipe : Recipe
    left_out : callable
        As `TrialRows.left_out` returns it.
    penalties : sequence of float
        Descending.
    trials : list of Trial
        Added to.
    tried : dict
        Those of this path, by the place of the penalty and the number of splits.
    """

    recipe: Recipe
    left_out: Callable[[float, int], LeftOut]
    penalties: Sequence[float]
    trials: list[Trial]
    tried: dict[tuple[int, int], Trial] = field(default_factory=dict)

    def loss(self, place: int, n_splits: int) -> float:
        """Log loss on what the first splits leave out; infinite beyond the ends."""
        return self.trial(place, n_splits).log_loss if 0 <= place < len(self.penalties) else np.inf

    def trial(self, place: int, n_splits: int) -> Trial:
        """With the penalty at a place, on what the first splits leave out."""
        if (place, n_splits) not in self.tried:
            start = perf_counter()
            found = self.left_out(self.penalties[place], n_splits)
            temperature = found.temperature
            found_loss = found.log_loss(temperature)
            seconds = perf_counter() - start
            trial = Trial(self.recipe, n_splits, found.penalty, temperature, found_loss, found.error, seconds)
            self.tried[place, n_splits] = trial
            self.trials.append(trial)
        return self.tried[place, n_splits]

    def downhill(self, place: int, n_splits: int) -> int:
        """Where a walk ends that goes one way or, if that is up, the other."""
        step = -1 if self.loss(place - 1, n_splits) < self.loss(place, n_splits) else 1
        while self.loss(place + step, n_splits) < self.loss(place, n_splits):
            place += step
        return place

    def of_all(self, n_splits: int) -> list[Trial]:
        """Trials on so many splits, by descending penalty."""
        return [self.tried[place, n] for place, n in sorted(self.tried) if n == n_splits]


def vertex_of(path: Sequence[Trial]) -> Trial:
    """The best of a path, its penalty (and temperature) at the vertex of the parabola through it and its neighbours."""
    i = int(np.argmin([trial.log_loss for trial in path]))
    if i in (0, len(path) - 1):
        return path[i]
    x = np.log([trial.penalty for trial in path[i - 1 : i + 2]])
    curve = np.polyfit(x, [trial.log_loss for trial in path[i - 1 : i + 2]], 2)
    vertex = -curve[1] / (2 * curve[0]) if curve[0] > 0 else x[1]
    temperature = np.exp(np.interp(-vertex, -x, np.log([trial.temperature for trial in path[i - 1 : i + 2]])))
    return replace(path[i], penalty=float(np.exp(vertex)), temperature=float(temperature))
