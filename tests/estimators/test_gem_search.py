"""Candidates, splits and merged moments of the search, as values."""

import numpy as np
import pytest

from eigenfeat.estimators.gem_search import Candidate, class_splits, common_rows, grid
from eigenfeat.features.layer import LayerSettings
from eigenfeat.features.stack import StackSettings
from eigenfeat.moments import collect_moments, merged_moments


def test_the_grid_begins_with_the_most_regularised():
    points = grid((0.1, 1.0), (2.0, 0.0), (10, 5), (1e-3, 1e-2, 1e-3))
    assert len(points) == 16
    assert points[0] == Candidate(1.0, 2.0, 5, 1e-2) and points[-1] == Candidate(0.1, 0.0, 10, 1e-3)
    with pytest.raises(ValueError, match="at least one candidate"):
        grid((), (0.0,), (1,), (1.0,))


def test_a_candidate_changes_a_copy_of_the_settings():
    base = StackSettings((LayerSettings(constant=True),))
    (layer,) = Candidate(0.3, 1.5, 4, 1.0).settings(base).layers
    assert (layer.regularisation.ridge, layer.min_eigenvalue, layer.n_components, layer.constant) == (0.3, 1.5, 4, True)
    assert base == StackSettings((LayerSettings(constant=True),))


def test_moments_of_common_rows_serve_every_split():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 3
    splits = class_splits(3, y, None, seed=0)
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
        class_splits(0.2, y, None, seed=0)
    with pytest.raises(ValueError, match="the smallest has 1"):
        class_splits(3, y, None, seed=0)
