"""The spline map against scipy's B-splines."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from eigenfeat.features.maps import as_feature_map
from eigenfeat.features.splines import SplineMap


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_spline_is_scipys_basis(degree):
    rng = np.random.default_rng(degree)
    train, fresh = rng.normal(size=(200, 3)), rng.normal(size=(50, 3))
    fitted = SplineMap(n_knots=6, degree=degree).fit(train)
    features = fitted(fresh).reshape(50, -1, 3)
    np.testing.assert_allclose(features.sum(axis=1), 1)
    for j in range(3):
        low, high = train[:, j].min(), train[:, j].max()
        inside = np.clip(fresh[:, j], low, high)
        expected = BSpline.design_matrix(inside, fitted.knots[j], degree).toarray()
        np.testing.assert_allclose(features[:, :, j], expected, atol=1e-12)


def test_spline_of_tied_and_constant_projections_is_a_partition_of_unity():
    P = np.column_stack([np.zeros(40), np.repeat([0.0, 0.0, 0.0, 1.0], 10)])
    features = SplineMap().fit(P)(P).reshape(40, -1, 2)
    assert np.isfinite(features).all()
    np.testing.assert_allclose(features.sum(axis=1), 1)


def test_unfitted_spline_says_so():
    with pytest.raises(ValueError, match="call fit with training projections"):
        as_feature_map("spline")(np.zeros((2, 2)))
