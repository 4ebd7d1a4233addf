"""Leading axes: against scikit-learn's PCA, for weights, sparse rows and many columns."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA

from eigenfeat.scores import axes as module
from eigenfeat.scores.axes import LeadingAxes, leading_axes


def rows(n=400, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * 2.0 ** -np.arange(d) @ rng.normal(size=(d, d)) + rng.normal(size=d)


@pytest.mark.parametrize("formed", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_coordinates_are_those_of_whitened_principal_axes(formed, kind, monkeypatch):
    if not formed:
        monkeypatch.setattr(module, "FORMED_COLUMNS", 1)
    X = rows()
    found = leading_axes(kind(X), np.ones(len(X)), 4)
    reference = PCA(4, whiten=True).fit(X)
    ours, theirs = found.coordinates(kind(X)), reference.transform(X) * np.sqrt(len(X) / (len(X) - 1))
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.share, reference.explained_variance_ratio_.sum(), rtol=1e-6)


def test_as_many_axes_as_have_the_variance_and_rows_can_tell():
    X = rows()
    found = leading_axes(X, np.ones(len(X)))
    shares = PCA().fit(X).explained_variance_ratio_.cumsum()
    assert found.n_leading == np.searchsorted(shares, module.VARIANCE_SHARE) + 1 < found.count == X.shape[1]
    np.testing.assert_allclose(found.share, shares[found.n_leading - 1])
    assert leading_axes(X[:8], np.ones(8)).count <= 2
    wide = np.random.default_rng(0).normal(size=(1000, 80))
    assert leading_axes(wide, np.ones(1000)).count == module.MOST_AXES


def test_weights_are_repetitions():
    X = rows(60)
    weight = np.random.default_rng(1).integers(3, size=60)
    weighted, repeated = (
        leading_axes(A, w, 3) for A, w in ((X, weight), (np.repeat(X, weight, axis=0), np.ones(weight.sum())))
    )
    np.testing.assert_allclose(weighted.coordinates(X), repeated.coordinates(X), atol=1e-10)


def test_rows_that_do_not_vary_have_one_axis():
    found = leading_axes(np.ones((10, 3)), np.ones(10))
    assert found.count == 1
    np.testing.assert_array_equal(found.coordinates(np.ones((2, 3))), 0)


def test_the_columns_themselves():
    X = rows(5, 3)
    np.testing.assert_array_equal(LeadingAxes.identity(3).coordinates(X), X)
