"""Which components are more than noise: the model's eigenvalues against those of shuffled labels."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from eigenfeat.estimators.gem_features import GEMFeatures
from eigenfeat.report.values.subject import Rows, Subject
from eigenfeat.stability import Distinguishable, permutation_test

LEVEL = 0.05
MOST_ROWS = 5000
COUNTS = (99, 39, 19)
"""Shuffles, as many as the time allows; 19 is the least that can tell at a level of 5 %."""


@dataclass(frozen=True, eq=False)
class AgainstNoise:
    """The verdict, and what it rests on.

    Attributes
    ----------
    found : Distinguishable
        In the order of the model's ``eigenvalues_``.
    n_shuffles, n_rows : int
    fewer_rows : bool
        Whether fewer rows were shuffled than the model was fitted on, which puts the bar higher than it need be.
    """

    found: Distinguishable
    n_shuffles: int
    n_rows: int
    fewer_rows: bool


def against_noise(
    subject: Subject, seconds: float | None = None, random_state: int = 0, n_jobs: int | None = None
) -> AgainstNoise | str:
    """Run the permutation test for the model's own eigenvalues, or say why it cannot be."""
    if subject.spectral is None:
        return f"{subject.name} has no eigenvalues to test."
    step = subject.steps[subject.spectral]
    if not get_tags(step).target_tags.required:
        return f"{type(step).__name__} does not look at labels, so there are none to shuffle."
    if subject.rows is None or subject.rows.y is None:
        return "The test shuffles labels, and this page was given no labelled rows."
    rows = subject.rows.sample(MOST_ROWS, random_state)
    inner, spectrum = _spectrum_of(step, Rows(subject.before(rows.X, subject.spectral), rows.y))
    labels = np.asarray(inner.y)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = _seconds(lambda: spectrum(inner.X, labels))
            if seconds is not None and COUNTS[0] * one > seconds:
                one = min(one, _seconds(lambda: spectrum(inner.X, labels)))  # the first may have had to compile
    except (ValueError, np.linalg.LinAlgError) as problem:
        return f"The labels of these rows cannot be shuffled: {problem}"
    affordable = [count for count in COUNTS if seconds is None or count * one <= seconds]
    if not affordable:
        return (
            f"A fit takes {one:.1f} s: {COUNTS[-1]} fits to shuffled labels would have taken longer than this page may."
        )
    values = two_sided(step, np.asarray(step.eigenvalues_, dtype=np.float64))
    found = permutation_test(
        spectrum,
        inner.X,
        labels,
        observed=values,
        n_permutations=affordable[0],
        level=LEVEL,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    fewer = subject.n_training is None or rows.n_rows < subject.n_training
    return AgainstNoise(found, affordable[0], rows.n_rows, fewer)


def _seconds(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def two_sided(step: Any, values: np.ndarray) -> np.ndarray:
    """Eigenvalues for which larger tells more: shares of power tell at both ends, the others at the upper one."""
    return np.maximum(values, 1 - values) if type(step).__name__ == "CommonSpatialPatterns" else np.abs(values)


def _spectrum_of(step: Any, rows: Rows) -> tuple[Rows, Callable[[Any, np.ndarray], np.ndarray]]:
    """Rows to shuffle the labels of, and the eigenvalues of a fit to them with the settings of the step."""
    if hasattr(step, "stacks_") and hasattr(step, "classes_"):
        # Of GEM only the first layer's problem counts; its columns and base map do not look at labels.
        X = rows.X.to_numpy() if hasattr(rows.X, "to_numpy") else rows.X
        X = step._inputs.at(X) if step._inputs.stages else X
        rows, step = Rows(X, rows.y), _first_layer(step)
    else:
        best = getattr(step, "best_params_", {})
        step = clone(step)
        step.set_params(**{name: value for name, value in best.items() if name in step.get_params(deep=False)})

    def spectrum(X: Any, y: np.ndarray) -> np.ndarray:
        return two_sided(step, np.asarray(clone(step).fit(X, y).eigenvalues_))

    return rows, spectrum


def _first_layer(model: Any) -> GEMFeatures:
    """A transformer that poses the problem of a GEM model's first layer, without its columns' treatment and maps."""
    found = {**getattr(model, "choices_", {}), **getattr(model, "best_params_", {})}
    chosen = {}
    for name in GEMFeatures().get_params():
        value = found.get(name, getattr(model, name, None))
        chosen[name] = value[0] if isinstance(value, list) and name != "invariances" else value
    chosen.update(columns=None, feature_map="identity", invariances=None)
    return GEMFeatures(**chosen)
