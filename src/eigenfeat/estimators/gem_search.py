"""The search of `GEMClassifierCV` as functions of values: candidates, splits, and moments that serve all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, StratifiedShuffleSplit, check_cv

from eigenfeat.rows.sampling import Split, splits_in_order


@dataclass(frozen=True)
class Candidate:
    """One point of the grid."""

    n_layers: int
    subclasses: int
    ridge: float
    min_eigenvalue: float
    n_components: int
    feature_map: Any
    label_smoothing: float
    alpha: float

    @property
    def params(self) -> dict[str, Any]:
        return vars(self).copy()


Grid = dict[str, tuple]
"""Values to try, by the name of the parameter, in the order of the fields of `Candidate`."""


def grid(values: Grid) -> list[Candidate]:
    """All candidates from the most to the least regularised: of equals the first is taken.

    Fewer layers and sub-classes, a larger ridge and threshold, fewer components, the map that is named first, more
    smoothing and a larger alpha regularise more, in this order.
    """
    empty = [name for name, choices in values.items() if not len(choices)]
    if empty:
        raise ValueError(f"Every grid needs at least one candidate; there is none for {', '.join(empty)}.")
    ascending = {"n_layers", "subclasses", "n_components"}
    ordered = [
        list(choices) if name == "feature_map" else sorted(set(choices), reverse=name not in ascending)
        for name, choices in values.items()
    ]
    return [Candidate(*point) for point in product(*ordered)]


def class_splits(cv: Any, codes: np.ndarray, groups: np.ndarray | None, seed: int, order: np.ndarray) -> list[Split]:
    """Training and held-out rows of each trial, with rows of every class to train on.

    Parameters
    ----------
    cv : float, int, splitter or iterable of splits
        As in `GEMClassifierCV`.
    codes : (n,) array of int
        Class of every row.
    groups : (n,) array or None
        Rows of equal value are held out together.
    seed : int
    order : (n,) array of int
        That rows are drawn in where ``cv`` is a number; a splitter of the user's sees them as they are.

    Raises
    ------
    ValueError
        Where a class has too few rows, or is held out whole.
    """
    splitter = _splitter(cv, codes, groups is not None, seed)
    order = order if isinstance(cv, float | int | np.integer) else np.arange(len(codes))
    splits = list(splits_in_order(splitter, order, codes, groups))
    splits = splits[:1] if isinstance(cv, float) else splits
    if any(len(np.unique(codes[train])) < codes.max() + 1 for train, _ in splits):
        raise ValueError(
            f"cv={cv!r} holds out every row of some class. Leave some of every class to train on: with "
            "groups, each class needs rows in at least two of them."
        )
    return splits


def _splitter(cv: Any, codes: np.ndarray, grouped: bool, seed: int) -> Any:
    smallest = int(np.bincount(codes).min())
    if grouped and isinstance(cv, float | int | np.integer):
        n_folds = max(2, round(1 / cv)) if isinstance(cv, float) else cv
        return StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    if isinstance(cv, float):
        if smallest < 2:
            raise ValueError("Holding rows out needs at least two of every class; the smallest class has 1 row.")
        n_test = max(len(np.unique(codes)), round(cv * len(codes)))
        return StratifiedShuffleSplit(1, test_size=n_test, random_state=seed)
    if isinstance(cv, int | np.integer):
        if smallest < cv:
            raise ValueError(f"cv={cv} folds need as many rows of every class; the smallest has {smallest}.")
        return StratifiedKFold(cv, shuffle=True, random_state=seed)
    return check_cv(cv)


def common_rows(splits: Sequence[Split], n_rows: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Groups of rows that are in the same training parts, each with the trials that train on it.

    Every training part is a union of groups, and so is the whole: moments of the groups, merged, serve all.
    """
    trains = np.zeros((n_rows, len(splits)), dtype=bool)
    for s, (train, _) in enumerate(splits):
        trains[train, s] = True
    patterns, group = np.unique(trains, axis=0, return_inverse=True)
    return [(np.flatnonzero(group.ravel() == g), pattern) for g, pattern in enumerate(patterns)]
