"""Which pairs of columns tell classes apart beyond what each does."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from eigenfeat.features.interactions import (
    BEYOND_CHANCE,
    FEWEST_IN_CELL,
    MOST_TARGETS,
    binned,
    class_targets,
    telling_pairs,
)


def bins_of(X, count=3):
    return [binned(x, np.quantile(x, np.arange(1, count) / count)) for x in X.T]


def found(X, y, weights=None, count=3, additive=None):
    weights = np.ones(len(X)) if weights is None else weights
    targets = (np.asarray(y)[:, None] == np.unique(y)).astype(float)
    return telling_pairs(bins_of(X, count), X if additive is None else additive, targets, weights)


def crossed(n, d, pairs, seed):
    """Labels that are signs of products, and of single columns too."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = sum(X[:, i] * X[:, j] for i, j in pairs) + X[:, 0]
    return X, (score + rng.normal(size=n) > 0).astype(int)


def test_a_row_is_in_one_bin_and_an_edge_belongs_to_the_lower():
    expected = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_array_equal(binned(np.array([-5.0, 0.0, 0.1, 2.0, 9.0]), np.array([0.0, 2.0])), expected)


def test_strengths_are_those_of_sums_over_cells_written_out():
    """Against loops over pairs, classes and cells, with scikit-learn's ridge regression as the additive model."""
    rng = np.random.default_rng(0)
    n, weights = 400, rng.integers(1, 4, 400).astype(float)
    X = rng.normal(size=(n, 5))
    y = np.digitize(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] * X[:, 3] + 0.7 * rng.normal(size=n), [-0.5, 0.5])
    bins = bins_of(X)
    functions = np.hstack([X, *bins])
    centred = functions - np.average(functions, axis=0, weights=weights)
    alpha = 1e-3 * np.mean(weights @ centred**2)
    strengths = {}
    for i in range(5):
        for j in range(i + 1, 5):
            total = 0.0
            for c in range(3):
                target = (y == c).astype(float)
                model = Ridge(alpha=alpha).fit(functions, target, sample_weight=weights)
                residual = target - model.predict(functions)
                variance = np.average(residual**2, weights=weights)
                for a in range(3):
                    for b in range(3):
                        cell = bins[i][:, a] * bins[j][:, b]
                        if weights @ cell > FEWEST_IN_CELL:
                            total += (weights @ (cell * residual)) ** 2 / (variance * (weights @ cell)) / 3
            strengths[i, j] = (total - 4) / np.sqrt(8)
    expected = sorted((p for p in strengths if strengths[p] > BEYOND_CHANCE), key=lambda p: -strengths[p])
    assert expected[0] == (0, 1) and (2, 3) in expected
    assert found(X, y, weights) == expected


@pytest.mark.parametrize("seed", range(3))
def test_products_are_found_the_strongest_first_and_hardly_any_other(seed):
    pairs = [(1, 4), (2, 7), (5, 6)]
    X, y = crossed(3000, 12, pairs, seed)
    chosen = found(X, y)
    assert set(chosen[:3]) == set(pairs) and len(chosen) <= 5


def test_chance_finds_few_and_columns_that_tell_by_themselves_none():
    """Curves of correlated columns are no interactions where the additive model can follow them."""
    n_found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 10))
        X[:, 1] = 0.9 * X[:, 0] + 0.4 * rng.normal(size=1000)
        y = (np.abs(X[:, 0]) + X[:, 2] ** 2 + rng.normal(size=1000) > 1.5).astype(int)
        n_found += len(found(X, y, additive=np.hstack([X, X**2, np.abs(X), *bins_of(X, 8)])))
    assert n_found <= 0.01 * 20 * 45


def test_weights_are_repetitions_and_neither_order_of_columns_nor_names_of_classes_matter():
    X, y = crossed(600, 6, [(1, 4), (2, 3)], seed=5)
    weights = np.random.default_rng(0).integers(1, 4, len(X))
    bins, targets = bins_of(X), np.eye(2)[y]
    chosen = telling_pairs(bins, X, targets, weights.astype(float))
    repeated = [np.repeat(part, weights, axis=0) for part in (*bins, X, targets)]
    assert telling_pairs(repeated[:6], repeated[6], repeated[7], np.ones(weights.sum())) == chosen
    assert telling_pairs(bins, X, targets[:, ::-1], weights.astype(float)) == chosen
    order = np.array([3, 0, 5, 1, 4, 2])
    moved = telling_pairs([bins[j] for j in order], X[:, order], targets, weights.astype(float))
    assert [tuple(sorted((order[i], order[j]))) for i, j in moved] == chosen


def test_one_class_and_one_column_have_no_pair():
    X = np.random.default_rng(0).normal(size=(100, 3))
    assert telling_pairs(bins_of(X), X, np.ones((100, 1)), np.ones(100)) == []
    assert telling_pairs(bins_of(X[:, :1]), X[:, :1], np.eye(2)[np.arange(100) % 2], np.ones(100)) == []


def test_sums_of_many_classes_tell_the_pairs_that_their_indicators_tell():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 8))
    # Of 40 classes each has its own sign of two products.
    y = 2 * rng.integers(0, 20, 4000) + (X[:, 1] * X[:, 4] + X[:, 2] * X[:, 6] > 0)
    pairs = [telling_pairs(bins_of(X), X, targets, np.ones(4000)) for targets in (class_targets(y, 40), np.eye(40)[y])]
    assert set(pairs[0][:2]) == set(pairs[1][:2]) == {(1, 4), (2, 6)}
    assert class_targets(y, 40).shape == (4000, MOST_TARGETS)
    np.testing.assert_array_equal(class_targets(y % 3, 3), np.eye(3)[y % 3])
