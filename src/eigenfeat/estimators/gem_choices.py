"""What GEM settles by itself: settings tried on rows that took part in nothing, and the temperature of probabilities.

A trial leaves rows out of the moments, of the directions, of the fitted map and of the logit; their scores, at the
temperature that suits them best, have a log loss, and that decides. The same scores calibrate the model that is then
fitted to all rows. What the constants here are worth, ``benchmarks/gem_constants.py`` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eigenfeat._runtime.progress import report
from eigenfeat._runtime.threads import one_blas_thread
from eigenfeat.estimators.gem_trial_rows import Fold, Solved, TrialFit, TrialRows
from eigenfeat.estimators.gem_trials import Path, Recipe, Trial, vertex_of
from eigenfeat.stages import Chain

Candidates = dict[str, tuple]
"""Values to try by the name of the parameter, in the order they are varied; a search starts from the first of each."""

CANDIDATES: Candidates = {
    "ridge": (0.3, 1.0),
    "label_smoothing": (0.2, 0.0),
    "feature_map": ("soft-cubic",),
    "n_layers": (1, 2),
}
"""What "auto" stands for, besides the base map, which depends on the columns."""

PENALTIES = (100.0, 10.0, 1.0, 0.1, 0.01)
"""``alpha · rows`` that are tried, as far as it is downhill; what is best between two of them is interpolated."""

FIRST_PENALTY = 1
"""Place of the one that is tried first, and then the larger one before it, which is quicker to fit."""

NO_BETTER = 1.02
"""Products of columns are not tried when splines of single columns have this times the log loss of none."""

HOPELESS = 1.05
"""A recipe is given up when its log loss on the first split is this times the best recipe's there: on a third of a
thousand rows equals differ by some hundredths."""

TRIAL_COLUMNS = 1000
"""Columns a layer of a trial makes of its directions at most: a quarter of a fit's, where nobody says how many."""

SETTLED_COLUMNS = 4000
"""The same, where somebody does, of the recipe that is chosen: its penalty and temperature depend on the width, which
is nearer to what is asked for and still quick to fit with the rows of a trial."""

TRIAL_TOL = 0.1
"""Relative gap to the minimum at which the logit of a trial stops."""

SEPARABLE = 0.03
"""Left-out error below which plain labels are not tried: smoothed ones fit separable classes better and faster."""

FEW_NUMBERS = 1e6
"""Rows times columns of trials below which threads of BLAS cost more, in being woken, than they save."""


@dataclass(frozen=True, eq=False)
class Search:
    """Tries recipes one after the other and remembers.

    Attributes
    ----------
    rows : TrialRows
    bases : dict of Chain
        Base maps by name.
    fit : callable
        What a recipe means, with so many columns of directions that are asked for at most.
    penalties : sequence of float
        ``alpha`` times rows, descending.
    trials : list of Trial
    behind : dict of TrialRows
        The rows after base maps, by name.
    solved, folds : dict
        First layers, and features of narrow trials, by the part of a recipe that they depend on.
    paths : dict of Path
        By the keys of recipes, of those that may still win.
    """

    rows: TrialRows
    bases: dict[str | None, Chain]
    fit: Callable[[Recipe, int], TrialFit]
    penalties: Sequence[float]
    trials: list[Trial]
    behind: dict[str | None, TrialRows] = field(default_factory=dict)
    solved: dict[tuple, Callable[[int], Solved]] = field(default_factory=dict)
    folds: dict[tuple, Callable[[int], Fold]] = field(default_factory=dict)
    paths: dict[tuple, Path] = field(default_factory=dict)

    def best(self, free: Candidates, start: Recipe) -> Trial:
        """The trial of least log loss: one field of the recipe after the other is varied, in the order of ``free``."""
        with one_blas_thread() if self.rows.n_numbers < FEW_NUMBERS else nullcontext():
            return self._best(free, start)

    def _best(self, free: Candidates, start: Recipe) -> Trial:
        if not free:
            return self._settled(start, None)
        best = self._try(start, None)
        assert best is not None
        for name, values in free.items():
            for value in values:
                if value == getattr(start, name) or (name == "label_smoothing" and best.error < SEPARABLE):
                    continue
                tried = self._try(replace(best.recipe, **{name: value}), best)
                if value == "splines" and (tried is None or tried.log_loss > NO_BETTER * best.log_loss):
                    break  # curves of columns do not help: surfaces over pairs of them will not
                best = best if tried is None else min(best, tried, key=lambda trial: trial.log_loss)
            self._keep(best.recipe)
        return self._settled(best.recipe, best)

    def _try(self, recipe: Recipe, best: Trial | None) -> Trial | None:
        """A recipe on all splits, with the penalty that is best on the first; none for one that is hopeless there.

        With another ridge, map or smoothing that is no better at the best penalty so far, no other is tried.
        """
        self._report(best)
        fit = self.fit(recipe, TRIAL_COLUMNS)
        if recipe.features not in self.folds:
            self.folds[recipe.features] = self._folds(recipe, fit)
        path = self.paths[recipe.key] = self._path(recipe, self.folds[recipe.features], fit)
        n_splits, place = len(self.rows.splits), self._start(best)
        if best is None or recipe.unlike(best.recipe):
            place = path.downhill(place, 1) if len(self.penalties) > 1 else place
        if best is not None and n_splits > 1:
            rival = self.paths[best.recipe.key].loss(self._start(best), 1)
            if path.loss(place, 1) > HOPELESS * rival:
                return None
        if best is not None and path.loss(place, n_splits) < best.log_loss:
            place = path.downhill(place, 1)
        return path.trial(place, n_splits)

    def _folds(self, recipe: Recipe, fit: TrialFit) -> Callable[[int], Fold]:
        """Features of a recipe; its first layers are solved once, for the widest trial."""
        if recipe.base_map not in self.behind:
            self.behind[recipe.base_map] = self.rows.behind(self.bases[recipe.base_map])
        rows = self.behind[recipe.base_map]
        if recipe.features not in self.solved:
            self.solved[recipe.features] = rows.solved(self.fit(recipe, SETTLED_COLUMNS))
        return rows.folds(self.solved[recipe.features], fit)

    def _path(self, recipe: Recipe, folds: Callable[[int], Fold], fit: TrialFit) -> Path:
        return Path(recipe, self.rows.left_out(folds, fit), self.penalties, self.trials)

    def _settled(self, recipe: Recipe, best: Trial | None) -> Trial:
        """A recipe with the penalty that is best on all splits, nearer to the width that is asked for."""
        n_splits, place = len(self.rows.splits), self._start(best)
        if best is not None and not self.folds[recipe.features](0).cut:
            path = self.paths[recipe.key]
        else:
            self._report(best)
            fit = self.fit(recipe, SETTLED_COLUMNS)
            path = self._path(recipe, self._folds(recipe, fit), fit)
            place = path.downhill(place, 1) if len(self.penalties) > 1 else place
        path.downhill(place, n_splits)
        return vertex_of(path.of_all(n_splits))

    def _report(self, best: Trial | None) -> None:
        report(f"choices: trial {len(self.trials) + 1}", note="" if best is None else f"log loss {best.log_loss:.4f}")

    def _keep(self, recipe: Recipe) -> None:
        """Forget the features of other recipes."""
        needed: list[tuple[dict, Any]] = [
            (self.behind, recipe.base_map),
            (self.solved, recipe.features),
            (self.folds, recipe.features),
            (self.paths, recipe.key),
        ]
        for known, name in needed:
            for other in known.keys() - {name}:
                del known[other]

    def _start(self, best: Trial | None) -> int:
        if best is None or len(self.penalties) == 1:
            return min(FIRST_PENALTY, len(self.penalties) - 1)
        return int(np.argmin(np.abs(np.log(np.asarray(self.penalties) / best.penalty))))


def is_auto(value: Any) -> bool:
    """Whether a parameter, which may be an array, is left to us."""
    return isinstance(value, str) and value == "auto"
