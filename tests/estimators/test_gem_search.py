"""Candidates, splits and merged moments of the search, as values."""

import numpy as np
import pytest

from eigenfeat.estimators.gem_search import Candidate, class_splits, common_rows, grid
from eigenfeat.moments import collect_moments, merged_moments


def test_the_grid_begins_with_the_most_regularised():
    values = {
        "n_layers": (2, 1),
        "subclasses": (3, 1),
        "ridge": (0.1, 1.0),
        "min_eigenvalue": (2.0, 0.0),
        "n_components": (10, 5),
        "feature_map": ("spline", "cubic"),
        "label_smoothing": (0.0, 0.2),
        "alpha": (1e-3, 1e-2, 1e-3),
    }
    points = grid(values)
    assert len(points) == len(set(points)) == 2**8
    assert points[0] == Candidate(1, 1, 1.0, 2.0, 5, "spline", 0.2, 1e-2)
    assert points[-1] == Candidate(2, 3, 0.1, 0.0, 10, "cubic", 0.0, 1e-3)
    assert points[0].params.keys() == values.keys()
    with pytest.raises(ValueError, match="at least one candidate; there is none for ridge, alpha"):
        grid(values | {"ridge": (), "alpha": ()})


def test_moments_of_common_rows_serve_every_split():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 3
    splits = class_splits(3, y, None, 0, np.arange(len(y)))
    patterns = common_rows(splits, 90)
    np.testing.assert_array_equal(np.sort(np.concatenate([rows for rows, _ in patterns])), np.arange(90))
    parts = [collect_moments(X[rows], y[rows], n_rows=90) for rows, _ in patterns]
    for s, (train, held_out) in enumerate(splits):
        assert len(held_out) == 30
        together = merged_moments([part for part, (_, trains) in zip(parts, patterns) if trains[s]])
        np.testing.assert_allclose(together.means, collect_moments(X[train], y[train]).means, atol=1e-12)
    assert merged_moments(parts).counts.tolist() == [30, 30, 30]
    assert parts[0].counts.sum() == 30  # the parts are as they were


def test_splits_that_cannot_be_are_refused():
    y = np.array([0] * 9 + [1])
    with pytest.raises(ValueError, match="at least two of every class"):
        class_splits(0.2, y, None, 0, np.arange(len(y)))
    with pytest.raises(ValueError, match="the smallest has 1"):
        class_splits(3, y, None, 0, np.arange(len(y)))
