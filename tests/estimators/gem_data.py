"""Rows that the tests of GEM share."""

from functools import cache

import numpy as np
from sklearn.datasets import load_digits

from eigenfeat import GEMClassifier

PLAIN = {"base_map": None, "feature_map": "soft-cubic", "ridge": 1.0, "label_smoothing": 0.2, "classifier_tol": 1e-5}
"""What a classifier is told so that it chooses nothing but, where it is not told that too, ``alpha``."""


def plain(n_components=None, **parameters):
    """A classifier that chooses nothing by itself."""
    return GEMClassifier(n_components, **PLAIN | parameters)


@cache
def digit_parts():
    """Training and test rows and labels of a few hundred digits."""
    X, y = load_digits(return_X_y=True)
    return X[:500] / 16, y[:500], X[1200:] / 16, y[1200:]


def echoes(n_sources, n_copies, seed=0):
    """Rows that come in groups of near copies, with the label of their source; the two classes overlap."""
    rng = np.random.default_rng(seed)
    X, label = rng.normal(size=(n_sources, 8)), rng.integers(0, 2, n_sources)
    X[:, 0] += label
    group = np.repeat(np.arange(n_sources), n_copies)
    return X[group] + 0.01 * rng.normal(size=(len(group), 8)), label[group], group.astype(str)


def bent(n, seed=0):
    """Two overlapping classes that a curve separates, and a column that says nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 1] + rng.normal(size=n) / 2 > X[:, 0] ** 2 - 0.7).astype(int)
