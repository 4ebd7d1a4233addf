"""The directions of a model: what they are called, what they see of rows, what they look like in the user's columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.report.plots import component_groups, project
from eigenfeat.report.values.columns import Columns, column_names, original_columns
from eigenfeat.report.values.subject import Rows, Subject

MOST_ROWS = 3000
"""Rows that directions are looked at with: correlations are then known to 0.04."""

MOST_FEATURES = 3000
"""Columns up to which a covariance is formed to look at directions without rows."""

N_SLICES = 5
"""Groups of rows by a continuous target."""


@dataclass(frozen=True)
class Box:
    """One group of rows along a direction: 5, 25, 50, 75 and 95 % of them lie below these."""

    name: str
    marks: tuple[float, float, float, float, float]
    n_rows: int


@dataclass(frozen=True, eq=False)
class Direction:
    """One component in the user's terms.

    Attributes
    ----------
    index : int
        Its place in ``eigenvalues_``.
    name : str
    eigenvalue : float
    pattern : (d,) array or None
        By how many of its standard deviations a column is higher where the direction sees one of its own more.
    boxes : tuple of Box
        What it sees of each group of rows.
    """

    index: int
    name: str
    eigenvalue: float
    pattern: np.ndarray | None
    boxes: tuple[Box, ...]


@dataclass(frozen=True, eq=False)
class Grouping:
    """Rows in named groups: classes, or fifths of a continuous target."""

    names: tuple[str, ...]
    codes: np.ndarray
    kind: str


@dataclass(frozen=True, eq=False)
class Components:
    """All directions of a model, and some rows seen through them.

    Attributes
    ----------
    eigenvalues : (m,) array
    groups : dict
        Name of the problem -> its components, strongest first; one without a name where there is one problem.
    names : tuple of str
        Of every component.
    columns : Columns or None
        The user's columns of the rows.
    projections : (n, m) array or None
        The rows as the directions see them.
    grouping : Grouping or None
    fixed : (m, d) array or None
        Patterns that the model knows by itself.
    column_names : tuple of str
        Of the patterns' entries.
    meaning : str
        What an eigenvalue says, in words.
    """

    eigenvalues: np.ndarray
    groups: dict[str, np.ndarray]
    names: tuple[str, ...]
    columns: Columns | None
    projections: np.ndarray | None
    grouping: Grouping | None
    fixed: np.ndarray | None
    column_names: tuple[str, ...]
    meaning: str

    def strongest(self, count: int) -> list[int]:
        """The best component of each of the strongest problems, or the first ones of a single problem."""
        if len(self.groups) == 1:
            return list(range(min(count, len(self.eigenvalues))))
        best = [int(index[0]) for index in self.groups.values()]
        return sorted(best, key=lambda i: -self.eigenvalues[i])[:count]

    def direction(self, index: int, among: np.ndarray | None = None, shown: Sequence[int] | None = None) -> Direction:
        """One component: its pattern ``among`` some of the rows, its boxes of the groups that are ``shown``."""
        boxes: tuple[Box, ...] = ()
        if self.projections is not None and self.grouping is not None:
            z = self.projections[:, index]
            chosen = range(len(self.grouping.names)) if shown is None else shown
            boxes = tuple(box for code in chosen if (box := self._box(z, code)) is not None)
        return Direction(index, self.names[index], float(self.eigenvalues[index]), self._pattern(index, among), boxes)

    def _pattern(self, index: int, among: np.ndarray | None) -> np.ndarray | None:
        if self.fixed is not None:
            return self.fixed[index]
        if self.columns is None or self.projections is None:
            return None
        z = self.projections[:, index]
        if among is None:
            return self.columns.correlations(z)
        return Columns(self.columns.names, self.columns.values[among]).correlations(z[among])

    def _box(self, z: np.ndarray, code: int) -> Box | None:
        assert self.grouping is not None
        seen = z[self.grouping.codes == code]
        if not len(seen):
            return None
        marks = np.quantile(seen, [0.05, 0.25, 0.5, 0.75, 0.95])
        return Box(self.grouping.names[code], tuple(float(mark) for mark in marks), len(seen))  # type: ignore[arg-type]


def components(subject: Subject, random_state: int = 0) -> Components | str:
    """The directions of the last step that has any, or why there are none."""
    if subject.spectral is None:
        return _why_none(subject)
    step = subject.steps[subject.spectral]
    groups = {_named(label, subject): index for label, index in component_groups(step).items()}
    eigenvalues = np.asarray(step.eigenvalues_, dtype=np.float64)
    names = [""] * len(eigenvalues)
    for label, index in groups.items():
        for rank, i in enumerate(index, start=1):
            names[i] = f"{label.replace(' vs ', ' over ')}, no. {rank}" if label else f"component {i + 1}"
    rows = None if subject.rows is None else _few(subject.rows, random_state)
    columns = None if rows is None else original_columns(subject, rows.X)
    seen = None if rows is None else projections(subject, rows.X)
    fixed, fixed_names = _fixed_patterns(subject, step, rows)
    shown = fixed_names if fixed is not None else () if columns is None else columns.names
    into = None if rows is None else grouping(subject, rows)
    return Components(eigenvalues, groups, tuple(names), columns, seen, into, fixed, shown, _meaning(step, subject))


def projections(subject: Subject, X: Any) -> np.ndarray:
    """(n, m): rows on the components of the spectral step."""
    assert subject.spectral is not None
    step = subject.steps[subject.spectral]
    inner = subject.before(X, subject.spectral)
    count = len(step.eigenvalues_)
    if hasattr(step, "fitted_") and hasattr(step.fitted_.features, "projecting"):
        inner = np.ascontiguousarray(inner) if not sparse.issparse(inner) and not hasattr(inner, "to_numpy") else inner
        if getattr(inner, "dtype", np.dtype(object)).kind in "biu":
            inner = inner.astype(np.float64)
        return np.asarray(project(step, inner, range(count)), dtype=np.float64)
    return np.asarray(step.transform(inner), dtype=np.float64)[:, :count]


def grouping(subject: Subject, rows: Rows) -> Grouping | None:
    """Classes of the rows, or fifths of their target; nothing without one, or with several."""
    if rows.y is None or rows.y.ndim != 1:
        return None
    y = rows.y
    few = len(np.unique(y)) <= 30 and (y.dtype.kind != "f" or np.array_equal(y, np.round(y)))
    if subject.kind == "classifier" or (subject.kind != "regressor" and few) or y.dtype.kind not in "iuf":
        classes, codes = np.unique(y, return_inverse=True)
        return Grouping(tuple(str(c) for c in classes), codes, "class")
    edges = np.unique(np.quantile(y, np.linspace(0, 1, N_SLICES + 1)))
    codes = np.clip(np.searchsorted(edges, y, side="right") - 1, 0, len(edges) - 2)
    names = tuple(f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges))
    return Grouping(names, codes, "target")


def _few(rows: Rows, random_state: int) -> Rows:
    width = int(np.prod(rows.X.shape[1:]))
    return rows.sample(MOST_ROWS if width < 20_000 else 500, random_state)


def _fixed_patterns(subject: Subject, step: Any, rows: Rows | None) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Patterns read off the model: of channels, and of columns where there are no rows to look at."""
    if hasattr(step, "n_channels_in_") and hasattr(step, "patterns_"):
        patterns = np.asarray(step.patterns_, dtype=np.float64)
        X = None if rows is None else rows.X
        names = column_names(subject, X) if subject.spectral == 0 and X is not None else ()
        width = patterns.shape[1]
        names = names if len(names) == width else tuple(f"channel {j}" for j in range(width))
        return patterns / np.maximum(np.abs(patterns).max(axis=1, keepdims=True), 1e-300), names
    moments = getattr(step, "moments_", None)
    names = column_names(subject)
    plain = subject.spectral == 0 and hasattr(step, "components_") and len(names) == step.components_.shape[1]
    if rows is not None or moments is None or not plain or len(names) > MOST_FEATURES:
        return None, ()
    covariance = moments.covariance().toarray()[: len(names), : len(names)]
    V = np.asarray(step.components_, dtype=np.float64).T
    spread = covariance @ V
    scale = np.sqrt(np.outer(np.diag(covariance), np.maximum(np.einsum("ij,ij->j", V, spread), 0)))
    return np.divide(spread, scale, out=np.zeros_like(spread), where=scale > 0).T, names


def _named(label: str, subject: Subject) -> str:
    """A problem in the user's terms: the classes of a regressor are slices of the target."""
    if subject.kind != "regressor" or " vs " not in label:
        return label
    return " vs ".join(f"slice {end}" for end in label.split(" vs "))


def _meaning(step: Any, subject: Subject) -> str:
    """What λ says."""
    criterion = str(getattr(step, "criterion_", ""))
    if type(step).__name__ == "CommonSpatialPatterns":
        return "λ is the first class's share of the power of both: 0.5 tells nothing, near 1 or 0 tells much."
    if criterion in ("contrast", "centred_contrast"):
        slices = " Slices are equal parts of the rows by the target, 0 being the lowest."
        return "λ is how many times as much the first varies along the direction as the second." + (
            slices if subject.kind == "regressor" else ""
        )
    if criterion.startswith("fisher"):
        return "λ is the spread of the class means along the direction, over the spread within classes."
    return "λ is the signal a direction carries for its noise: the larger, the more it tells."


def _why_none(subject: Subject) -> str:
    kernel = "Kernel" in subject.name
    if kernel:
        return (
            f"{subject.name} compares each new row with stored ones instead of looking along a few directions, "
            "so it has none to show."
        )
    return f"{subject.name} finds no directions by eigenvalues, so it has none to show."
