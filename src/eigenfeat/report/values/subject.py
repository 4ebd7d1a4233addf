"""What a report is about: a fitted model, the rows it was fitted on, and rows it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from eigenfeat.report.values.tables import take


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows and, where known, what is to be predicted of each."""

    X: Any
    y: np.ndarray | None = None

    @classmethod
    def of(cls, X: Any, y: Any = None) -> Rows:
        """With targets as an array; rows stay what they are: arrays, sparse matrices, frames, trials."""
        X = X if hasattr(X, "shape") else np.asarray(X)
        X = X.tocsr() if sparse.issparse(X) else X
        targets = None if y is None else np.asarray(y)
        if targets is not None and len(targets) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and y has {len(targets)}: give one target a row")
        return cls(X, targets)

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    def take(self, index: np.ndarray) -> Rows:
        """Some of the rows."""
        return Rows(take(self.X, index), None if self.y is None else self.y[index])

    def sample(self, most: int, random_state: int = 0) -> Rows:
        """At most so many rows, drawn without replacement, in their order."""
        if self.n_rows <= most:
            return self
        chosen = np.random.default_rng(random_state).choice(self.n_rows, most, replace=False)
        return self.take(np.sort(chosen))


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model, taken apart, and rows.

    Attributes
    ----------
    model : fitted estimator
        As it was given: what predicts.
    steps : tuple of fitted estimators
        The steps of a pipeline, nested ones opened and the winner of a search in its place; a single one otherwise.
    test, train : Rows or None
        Rows to judge by, and the rows of the fit.
    target_names : tuple of str
        What targets are called, where there are several.
    n_fitted : int or None
        Rows of the fit, where ``train`` is a sample of them.
    """

    model: Any
    steps: tuple[Any, ...]
    test: Rows | None = None
    train: Rows | None = None
    target_names: tuple[str, ...] = ()
    n_fitted: int | None = None

    @classmethod
    def of(
        cls,
        model: Any,
        test: Rows | None = None,
        train: Rows | None = None,
        target_names: Sequence[str] = (),
        n_fitted: int | None = None,
    ) -> Subject:
        return cls(model, tuple(_opened(model)), test, train, tuple(map(str, target_names)), n_fitted)

    @property
    def n_training(self) -> int | None:
        """Rows of the fit, as far as they are known."""
        return self.n_fitted or (None if self.train is None else self.train.n_rows)

    @property
    def final(self) -> Any:
        """The last step: what predicts, or makes the features."""
        return self.steps[-1]

    @cached_property
    def spectral(self) -> int | None:
        """The step whose directions are shown: the first that looks at targets, nearest to the user's columns."""
        have = [i for i, step in enumerate(self.steps) if len(getattr(step, "eigenvalues_", ()))]
        supervised = [i for i in have if get_tags(self.steps[i]).target_tags.required]
        return next(iter(supervised or have[::-1]), None)

    @property
    def kind(self) -> str:
        """ "classifier", "regressor" or "features"."""
        if is_classifier(self.model):
            return "classifier"
        return "regressor" if is_regressor(self.model) else "features"

    @property
    def name(self) -> str:
        return type(self.final).__name__

    @property
    def rows(self) -> Rows | None:
        """Rows to describe the model with: those of the fit where they are known."""
        return self.train if self.train is not None else self.test

    def before(self, X: Any, step: int) -> Any:
        """Rows as a step of the pipeline sees them."""
        for earlier in self.steps[:step]:
            X = earlier.transform(X)
        return X


def _opened(model: Any) -> Iterator[Any]:
    model = getattr(model, "best_estimator_", model)
    if isinstance(model, Pipeline):
        for _, step in model.steps:
            if step is not None and step != "passthrough":
                yield from _opened(step)
    else:
        yield model
