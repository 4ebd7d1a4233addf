"""Signs that means leave open are settled by rows, and do not depend on the basis of the inputs."""

import numpy as np
import pytest

from eigenfeat import GEMFeatures
from eigenfeat.features import orientation


def skewed_classes(seed, k=4, n=150, d=5):
    """Classes of mean zero, to rounding, each skewed along axes of its own."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n)
    X = np.empty((k * n, d))
    for c in range(k):
        Z = rng.exponential(size=(n, d)) @ (rng.normal(size=(d, d)) + 2 * np.diag(rng.uniform(1, 2, d)))
        X[y == c] = Z - Z.mean(axis=0)
    return X, y


def projections(X, y, **parameters):
    model = GEMFeatures(
        d_all := X.shape[1], ridge=0.0, feature_map="identity", keep_inputs=False, columns=None, **parameters
    )
    assert d_all == model.n_components
    return model.fit(X, y).transform(X)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("parameters", [{}, {"class_pairs": "one-vs-rest"}])
def test_zero_mean_skewed_classes_keep_their_signs_under_any_change_of_basis(seed, parameters):
    X, y = skewed_classes(seed)
    rng = np.random.default_rng(100 + seed)
    before = projections(X, y, **parameters)
    for _ in range(5):
        T = rng.normal(size=(5, 5)) + 2 * np.eye(5)
        np.testing.assert_allclose(projections(X @ T.T, y, **parameters), before, atol=1e-5 * np.abs(before).max())


def test_the_long_tail_of_the_numerator_is_positive():
    X, y = skewed_classes(7)
    model = GEMFeatures(3, ridge=0.1, feature_map="identity", keep_inputs=False, columns=None).fit(X, y)
    Z = model.transform(X)
    for column, (above, _) in enumerate(model.pairs_):
        p = Z[y == above, column]
        assert np.sum((p - p.mean()) ** 3) > 0


def test_a_mean_that_says_something_decides_alone(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 100)
    X = rng.normal(size=(300, 4)) + 3 * rng.normal(size=(3, 4))[y]

    def never(*arguments):
        raise AssertionError("rows were asked")

    monkeypatch.setattr(orientation, "class_samples", never)
    model = GEMFeatures(2, feature_map="identity", keep_inputs=False, columns=None).fit(X, y)
    for column, (above, _) in enumerate(model.pairs_):
        assert model.transform(X)[y == above, column].mean() > 0
