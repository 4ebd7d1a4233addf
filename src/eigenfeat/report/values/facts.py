"""What was fitted on what: rows, columns and their treatment, stages, settings, versions."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import scipy
import sklearn

from eigenfeat.report.values.columns import column_names
from eigenfeat.report.values.subject import Subject

STAGES = {
    "TreatedColumns": "every column brought to a comparable size",
    "BaseMap": "columns passed through a transformer first",
    "WithConstant": "a constant added to the columns",
    "Affine": "weighted sums of the columns",
    "FeatureLayer": "weighted sums of the columns (directions), and curved functions of each",
    "KernelExpansion": "similarity to stored rows, weighted",
    "Softmax": "scores turned into probabilities that sum to one",
    "GaussianPosteriors": "scores turned into probabilities by Bayes' theorem",
    "HuberPosteriors": "scores turned into probabilities by Bayes' theorem, tails included",
    "GeometricMean": "the probabilities of several models combined",
    "Beside": "results side by side",
    "EstimatorScores": "a classifier of scikit-learn",
    "SignalPower": "power of the signal behind each spatial filter",
    "FilterBank": "power behind spatial filters in several frequency bands",
    "BandPass": "signals filtered in time",
    "UnitPower": "trials brought to one power",
    "HiddenLayer": "a hidden layer of a neural network",
}
"""Stages of fitted chains in words."""

PACKAGES = ("eigenfeat", "numpy", "scipy", "scikit-learn", "pandas", "polars", "pyarrow")


@dataclass(frozen=True)
class StageFact:
    """One step on the way from a row to the answer."""

    name: str
    words: str
    n_inputs: int | None
    n_outputs: int | None


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """What was done to each column: a heading a field, a line a column."""

    step: str
    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of a fit without any rows.

    Attributes
    ----------
    estimator : str
        The last step.
    steps : tuple of str
        The steps of a pipeline.
    n_features : int
        Columns given.
    classes : tuple of str
    settings : tuple of (str, str)
        Parameters that are not at their defaults.
    choices : tuple of (str, str)
        What a search found.
    columns : tuple of ColumnFacts
    stages : tuple of StageFact
    seconds : tuple of (str, float)
        Parts of the fit.
    versions : tuple of (str, str)
    code : str
        The model as an expression of Python.
    """

    estimator: str
    steps: tuple[str, ...]
    n_features: int
    classes: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    choices: tuple[tuple[str, str], ...]
    columns: tuple[ColumnFacts, ...]
    stages: tuple[StageFact, ...]
    seconds: tuple[tuple[str, float], ...]
    versions: tuple[tuple[str, str], ...]
    code: str


def facts(subject: Subject) -> Facts:
    """Read off the fitted steps and their chains."""
    final = subject.final
    rows = subject.rows
    seconds = {name: s for step in subject.steps for name, s in (getattr(step, "stage_seconds_", None) or {}).items()}
    found = {**getattr(final, "choices_", {}), **getattr(final, "best_params_", {})}
    if pairs := getattr(final, "column_pairs_", None):
        found["column pairs"] = ", ".join(f"{a} x {b}" for a, b in pairs)
    return Facts(
        subject.name,
        tuple(type(step).__name__ for step in subject.steps),
        len(column_names(subject, None if rows is None else rows.X)),
        tuple(str(c) for c in getattr(subject.model, "classes_", getattr(final, "classes_", ()))),
        tuple(setting for step in subject.steps for setting in _changed(step, len(subject.steps) > 1)),
        tuple((name, _short(value)) for name, value in found.items()),
        tuple(table for step in subject.steps if (table := _column_facts(step)) is not None),
        tuple(_stages(subject)),
        tuple((str(name), float(value)) for name, value in seconds.items()),
        versions(),
        " | ".join(repr(step) for step in subject.steps),
    )


def versions() -> tuple[tuple[str, str], ...]:
    """Of what a fit rests on, as far as it is installed."""
    known = {"numpy": np.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__}
    found = [("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            found.append((name, known.get(name) or version(name)))
        except PackageNotFoundError:
            continue
    return tuple(found)


def _changed(step: Any, named: bool) -> list[tuple[str, str]]:
    try:
        defaults = type(step)().get_params(deep=False)
    except TypeError:  # a step with required parameters
        defaults = {}
    before = f"{type(step).__name__}: " if named else ""
    given = step.get_params(deep=False) if hasattr(step, "get_params") else {}
    return [(before + k, _short(v)) for k, v in given.items() if repr(v) != repr(defaults.get(k))]


def _column_facts(step: Any) -> ColumnFacts | None:
    """A ``columns_`` table in any form: with ``as_dict``, a frame, a list of records."""
    table = getattr(step, "columns_", None)
    if table is None:
        return None
    if hasattr(table, "as_dict"):
        fields = table.as_dict()
    elif hasattr(table, "to_dict"):
        fields = table.to_dict("list") if hasattr(table, "iloc") else table.to_dict(as_series=False)
    elif isinstance(table, Sequence) and table and isinstance(table[0], dict):
        fields = {name: [record.get(name, "") for record in table] for name in table[0]}
    else:
        return None
    telling = {name: values for name, values in fields.items() if any(value not in ("", None, 0) for value in values)}
    lines = tuple(tuple(_cell(value) for value in line) for line in zip(*telling.values()))
    return ColumnFacts(type(step).__name__, tuple(name.replace("_", " ") for name in telling), lines)


def _stages(subject: Subject) -> list[StageFact]:
    """The steps before the last by their names, then the stages of its longest chain."""
    stages = [
        StageFact(type(step).__name__, _first_line(step), _n_in(step), _n_in(after))
        for step, after in zip(subject.steps, subject.steps[1:])
    ]
    fitted = getattr(subject.final, "fitted_", None)
    chains = [getattr(fitted, name, None) for name in ("predictions", "scores", "features")]
    chain = next((chain for chain in chains if chain is not None), None)
    if fitted is None or chain is None or not hasattr(chain, "stages"):
        return [*stages, StageFact(subject.name, _first_line(subject.final), _n_in(subject.final), None)]
    width = _n_in(subject.final) or 0
    last = [*chain.stages, *([fitted.probabilities] if chain is fitted.scores and fitted.probabilities else [])]
    for stage in last:
        name = type(stage).__name__
        if stages and name == stages[-1].name == "Softmax":
            continue
        after = stage.n_columns(width)
        stages.append(StageFact(name, STAGES.get(name, _first_line(stage)), width, after))
        width = after
    return stages


def _n_in(step: Any) -> int | None:
    found = getattr(step, "n_features_in_", None)
    return None if found is None else int(found)


def _first_line(thing: Any) -> str:
    return (type(thing).__doc__ or "").strip().split("\n")[0].rstrip(".")


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _short(value: Any, limit: int = 120) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else repr(value) if not isinstance(value, str) else value
    return text if len(text) <= limit else text[: limit - 3] + "..."
