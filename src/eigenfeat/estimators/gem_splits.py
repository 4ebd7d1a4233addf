"""One split of `GEMClassifierCV`: rows to train on, and those whose scores judge a candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from eigenfeat.estimators.gem_trial_rows import class_scores
from eigenfeat.estimators.gem_trials import LeftOut
from eigenfeat.estimators.multinomial_logit import MultinomialLogit
from eigenfeat.features.stack import Seconds, Stack, StackSettings, fit_stack
from eigenfeat.moments import Moments
from eigenfeat.rows.accumulators import Accumulator
from eigenfeat.rows.block import Block
from eigenfeat.rows.rows import Rows
from eigenfeat.stages import Chain


@dataclass(frozen=True, eq=False)
class SplitRows:
    """What the candidates of a split are tried on.

    Attributes
    ----------
    train : TrainingRows or StreamedTraining
    held_out : Rows
        Behind the treatment of columns and the base map, labelled with indices into the classes.
    moments : Moments
        Of the rows to train on.
    """

    train: Any
    held_out: Rows
    moments: Moments

    def fit(self, settings: StackSettings, seed: Any, seconds: Seconds) -> Stack:
        rows, events = self.train.rows, self.train.events
        return fit_stack(self.moments, rows, settings, check_random_state(seed), seconds, events)

    def left_out(self, features: Chain, fits: Sequence[MultinomialLogit]) -> list[LeftOut]:
        """The held-out rows as each of some logits on the same features scores them."""
        rows = self.held_out
        if rows.random_access:
            X = features.at(rows)
            return [LeftOut.of(fitted.alpha, class_scores(fitted, X), [rows]) for fitted in fits]
        found = rows.reduce(HeldOutScores(features, list(fits)), "scores of rows held out")
        labels, weights = np.concatenate(found.labels), np.concatenate(found.weights)
        scores = np.concatenate(found.scores, axis=1)
        return [LeftOut(fitted.alpha, own, labels, weights / weights.sum()) for fitted, own in zip(fits, scores)]


@dataclass(eq=False)
class HeldOutScores(Accumulator):
    """Scores of rows by several logits on the same features, with the labels and weights of the rows."""

    features: Chain
    fits: list[MultinomialLogit]
    scores: list[np.ndarray] = field(default_factory=list)
    labels: list[np.ndarray] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)

    def update(self, block: Block) -> None:
        X = self.features.at(block.X)
        self.scores.append(np.stack([class_scores(fitted, X) for fitted in self.fits]))
        self.labels.append(np.asarray(block.y))
        self.weights.append(np.ones(block.n_rows) if block.weight is None else block.weight)

    def merge(self, other: HeldOutScores) -> None:
        self.scores = [*self.scores, *other.scores]
        self.labels, self.weights = [*self.labels, *other.labels], [*self.weights, *other.weights]
