"""What the constants of GEMClassifier's search are worth: CPU time, log loss and error as each of them varies.

    python benchmarks/gem_constants.py [--only TRIAL_TOL ...] [--sets wine vowel] [--splits 1]

Every line is a geometric mean over sets, as a ratio to the present values of all constants. CPU seconds of one core,
which other load on the machine disturbs less than the clock. All of them take about 20 minutes, one a minute or two.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_wine, make_classification
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parent))
from datasets import load_multilabel, load_news20
from eigenfeat import GEMClassifier
from eigenfeat.estimators import gem_choices, gem_classifier, gem_columns, gem_trial_rows
from eigenfeat.features import column_basis, column_rules, interactions
from eigenfeat.linear import logit, preconditioner_table
from gem_defaults import SETS, Data, measured, split, warm_up

VARIED: dict[str, tuple[Any, ...]] = {
    "FOLDS": (((300, 5, 5), (2000, 3, 3), (np.inf, 4, 1)), ((300, 3, 3), (np.inf, 4, 1))),
    "SEARCH_ROWS": (1500, 6000),
    "TRIAL_COLUMNS": (500, 2000),
    "TRIAL_TOL": (0.03, 0.3),
    "HOPELESS": (1.02, 1.1),
    "NO_BETTER": (1.0, np.inf),
    "SEPARABLE": (0.0, 0.1),
    "MANY_NUMBERS": (0, np.inf),
    "BASIS_COLUMNS": (300, 1200),
    "FEWEST_BENT": (5,),
    "BEYOND_CHANCE": (2.0, 8.0, np.inf),
    "BINS": (2, 4),
    "FEWEST_OF_CHOSEN": (3, 7),
    "FAR_REACH": (np.inf,),
    "FEW_NUMBERS": (0, 1e9),
    "FREE_OPERATIONS": (0, 1e8),
    "classifier_tol": (1e-1, 1e-3, 1e-4),
    "ridge": ((0.3,), (0.3, 0.03, 1.0)),
    "feature_map": (("soft-cubic", "spline"),),
    "n_layers": ("auto",),
}
"""Values beside the present one: of a constant, of a parameter, or candidates of the search."""

MODULES = (
    gem_choices,
    gem_classifier,
    gem_trial_rows,
    gem_columns,
    column_basis,
    interactions,
    column_rules,
    logit,
    preconditioner_table,
)


def diabetes() -> Data:
    X, y = load_diabetes(return_X_y=True)
    return X, np.searchsorted(np.quantile(y, [1 / 3, 2 / 3]), y), None


def made(n: int, columns: int, classes: int) -> Callable[[], Data]:
    def load() -> Data:
        X, y = make_classification(n, columns, n_informative=8, n_classes=classes, random_state=1)
        return X, y, None

    return load


def codes() -> Data:
    """Sequences of four letters, as numbers, of three kinds, which letters at some places and pairs of them tell."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(6000, 30))
    score = np.stack([(X[:, k : k + 6] == rng.integers(0, 4, 6)).sum(axis=1) for k in (0, 10)], axis=1)
    score = 2.0 * score + 3 * (X[:, [3, 13]] == X[:, [4, 14]])
    noisy = np.column_stack([np.full(len(X), 6.0), score]) + rng.gumbel(size=(len(X), 3))
    return X.astype(np.float64), noisy.argmax(axis=1), None


def switches() -> Data:
    """Twelve numbers and six indicators, three of which say what a number means."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 18))
    X[:, 12:] = X[:, 12:] > 0
    turned = np.where(X[:, 12:15] > 0, np.sin(2 * X[:, :3]), -X[:, :3])
    return X, (3 * turned.sum(axis=1) + X[:, 5] + rng.logistic(size=6000) > 0).astype(int), None


def news(n_words: int, topics: tuple[int, ...]) -> Callable[[], Data]:
    """Articles on some topics: how often they have each of the words that most of them have."""

    def load() -> Data:
        X, y, _, _ = load_news20()
        X, y = X[np.isin(y, topics)], y[np.isin(y, topics)]
        commonest = np.argsort(np.asarray((X != 0).sum(axis=0)).ravel())[-n_words:]
        return X[:, commonest].toarray(), y, None

    return load


def arts() -> Data:
    """Pages on one of the two commonest subjects, and not on both."""
    X, Y = load_multilabel("yahoo-arts")
    of_two = Y.toarray()[:, np.argsort(np.asarray(Y.sum(axis=0)).ravel())[-2:]]
    one = of_two.sum(axis=1) == 1
    return X[one].toarray().astype(np.float64), of_two[one].argmax(axis=1), None


OWN_SETS: dict[str, tuple[Callable[[], Data], int, int]] = {
    "wine": (lambda: (*load_wine(return_X_y=True), None), 120, 58),
    "diabetes in thirds": (diabetes, 300, 142),
    "made, 20 columns, 2 classes": (made(6000, 20, 2), 3000, 3000),
    "made, 40 columns, 5 classes": (made(4500, 40, 5), 1500, 3000),
    "made, 10 columns, 8 classes": (made(9000, 10, 8), 5000, 4000),
    "made, codes": (codes, 3000, 3000),
    "made, switches": (switches, 3000, 3000),
}
WORDS: dict[str, tuple[Callable[[], Data], int, int]] = {
    "60 words of news": (news(60, (1, 5, 10)), 1000, 777),
    "300 words of news": (news(300, (1, 5, 10, 15)), 1400, 976),
    "words of arts": (arts, 1280, 859),
}
"""Where `FAR_REACH` matters."""

ALL = SETS | OWN_SETS | WORDS
USUAL = ("breast cancer", "german", "banana", "waveform", "vowel", "digits", *OWN_SETS)


def varied(name: str, value: Any) -> tuple[GEMClassifier, Callable[[], None]]:
    """A model with one value changed, and what changes it back."""
    if name in gem_choices.CANDIDATES and isinstance(value, tuple):
        before = gem_choices.CANDIDATES[name]
        gem_choices.CANDIDATES[name] = value
        return GEMClassifier(), lambda: gem_choices.CANDIDATES.update({name: before})
    if name in GEMClassifier().get_params():
        return GEMClassifier(**{name: value}), lambda: None
    places = [module for module in MODULES if hasattr(module, name)]
    before = getattr(places[0], name)

    def put(new: Any) -> None:
        for module in places:
            setattr(module, name, new)

    put(value)
    return GEMClassifier(), lambda: put(before)


def results(model: GEMClassifier, parts: list) -> np.ndarray:
    """(sets, 3): error with half a row added, log loss, CPU seconds, each the mean over splits."""
    found = []
    for splits in parts:
        error, loss, seconds = np.mean([measured(model, *part) for part in splits], axis=0)
        found.append((error + 0.5 / len(splits[0][3]), loss, seconds))
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(VARIED), choices=list(VARIED), metavar="NAME")
    parser.add_argument("--sets", nargs="+", default=USUAL, choices=list(ALL))
    parser.add_argument("--splits", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    loaded = [ALL[name] for name in options.sets]
    parts = [[split(load(), n, m, seed) for seed in range(options.splits)] for load, n, m in loaded]
    with threadpool_limits(1):
        warm_up()
        present = results(GEMClassifier(), parts)
        print(f"{'':<52}{'time':>7}{'log loss':>10}{'error':>8}   largest log loss", flush=True)
        for name in options.only:
            for value in VARIED[name]:
                model, restore = varied(name, value)
                ratio = results(model, parts) / present
                restore()
                error, loss, time = np.exp(np.log(ratio).mean(axis=0))
                worst = int(np.argmax(ratio[:, 1]))
                largest = f"{ratio[worst, 1]:.2f} ({options.sets[worst]})"
                print(f"{f'{name} = {value}':<52}{time:>7.2f}{loss:>10.3f}{error:>8.3f}   {largest}", flush=True)


if __name__ == "__main__":
    main()
