"""What tells two classes apart: the directions found for them, or those of all that separate them best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from eigenfeat.report.values.columns import Columns
from eigenfeat.report.values.components import Components, Direction, Grouping

N_DIRECTIONS = 2
"""Directions that are shown of each problem of a pair."""

MOST_BOXES = 10
"""Classes up to which the boxes of a pair show all of them; beyond it, only the two."""

MOST_RANKS = 40
"""Eigenvalues of a spectrum that are drawn."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two classes.

    Attributes
    ----------
    first, second : str
    spectra : dict
        Name of a problem of this pair -> its eigenvalues, largest first; empty where all classes share one.
    separation : tuple of (str, float)
        Where all classes share one problem: each component, and the distance of the two classes' means along it in
        standard deviations within them, largest first.
    directions : tuple of Direction
    """

    first: str
    second: str
    spectra: dict[str, np.ndarray]
    separation: tuple[tuple[str, float], ...]
    directions: tuple[Direction, ...]


def pair(found: Components, first: str, second: str) -> Pair:
    """The two classes by name, as far as the components know them."""
    own = [_problems(found, first, second), _problems(found, second, first)]
    spectra = {
        f"{a} over {b}": np.sort(found.eigenvalues[index])[::-1][:MOST_RANKS]
        for (a, b), index in zip([(first, second), (second, first)], own)
        if len(index)
    }
    among, shown = _rows_of(found, first, second)
    if spectra:
        chosen = [int(i) for index in own for i in index[:N_DIRECTIONS]]
        return Pair(first, second, spectra, (), tuple(found.direction(i, among, shown) for i in chosen))
    separation = _separation(found, first, second)
    if separation is None:
        return Pair(first, second, {}, (), ())
    best = np.argsort(-separation, kind="stable")[:12]
    ranked = tuple((found.names[i], float(separation[i])) for i in best)
    return Pair(first, second, {}, ranked, tuple(found.direction(int(i), among, shown) for i in best[:N_DIRECTIONS]))


def strongest_value(found: Components, signal: str, noise: str) -> float:
    """The largest eigenvalue of one class over another; NaN where the two are not compared."""
    index = _problems(found, signal, noise)
    return float(found.eigenvalues[index].max()) if len(index) else np.nan


def _problems(found: Components, signal: str, noise: str) -> np.ndarray:
    """Components of "signal over noise", of any of their sub-classes."""
    index = [
        members
        for label, members in found.groups.items()
        if [_class(e) for e in label.split(" vs ")] == [signal, noise]
    ]
    exact = found.groups.get(f"{signal} vs {noise}")
    if exact is not None:
        return exact
    together = np.concatenate(index) if index else np.empty(0, dtype=int)
    return together[np.argsort(-found.eigenvalues[together], kind="stable")]


def _class(end: str) -> str:
    """The class of a sub-class, as 3 of 3/1."""
    return end.rsplit("/", 1)[0]


def _rows_of(found: Components, first: str, second: str) -> tuple[np.ndarray | None, list[int] | None]:
    grouping = found.grouping
    if grouping is None or first not in grouping.names or second not in grouping.names:
        return None, None
    codes = [grouping.names.index(first), grouping.names.index(second)]
    among = np.flatnonzero(np.isin(grouping.codes, codes))
    shown = codes + [c for c in range(len(grouping.names)) if c not in codes]
    return among, shown if len(shown) <= MOST_BOXES else codes


def _separation(found: Components, first: str, second: str) -> np.ndarray | None:
    """(m,): distance of class means in standard deviations within classes; None without rows of both."""
    _, shown = _rows_of(found, first, second)
    if shown is None or found.projections is None:
        return None
    a, b = (found.projections[found.grouping.codes == code] for code in shown[:2])  # type: ignore[union-attr]
    if min(len(a), len(b)) < 2:
        return None
    within = np.sqrt((a.var(axis=0) + b.var(axis=0)) / 2)
    return np.abs(a.mean(axis=0) - b.mean(axis=0)) / np.where(within > 0, within, np.inf)


def mean_differences(columns: Columns, grouping: Grouping, first: str, second: str) -> np.ndarray | None:
    """(d,): mean of the first class less that of the second, in standard deviations of the column among both."""
    if first not in grouping.names or second not in grouping.names or sparse.issparse(columns.values):
        return None
    codes = [grouping.names.index(name) for name in (first, second)]
    a, b = (columns.values[grouping.codes == code] for code in codes)
    if min(len(a), len(b)) < 2:
        return None
    deviation = np.nanstd(np.vstack([a, b]), axis=0)
    gap = np.nanmean(a, axis=0) - np.nanmean(b, axis=0)
    return np.divide(gap, deviation, out=np.zeros_like(gap), where=deviation > 0)
