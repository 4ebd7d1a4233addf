"""The spline map against scipy's B-splines."""

import numpy as np
import pytest
from scipy.interpolate import BSpline
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from eigenfeat import GEMClassifier
from eigenfeat.features.maps import as_feature_map
from eigenfeat.features.splines import SmoothSplineMap, SplineMap


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


@pytest.mark.parametrize("penalty", [0.0, 0.3, 50.0])
def test_a_ridge_on_smooth_splines_is_a_penalised_fit_of_splines(penalty):
    """Against the normal equations of Σ (y - Bc)² + α (‖c‖² + penalty Σ (second differences of c)²)."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=(150, 1))
    y = np.sin(3 * x[:, 0]) + 0.3 * rng.normal(size=150)
    splines, alpha = SplineMap(n_knots=12), 0.05
    B = splines.fit(x)(x)
    D = np.diff(np.eye(B.shape[1]), 2, axis=0)
    direct = B @ np.linalg.solve(B.T @ B + alpha * (np.eye(B.shape[1]) + penalty * D.T @ D), B.T @ y)
    Z = SmoothSplineMap(splines, penalty).fit(x)(x)
    theta = np.linalg.solve(Z.T @ Z + alpha * np.eye(Z.shape[1]), Z.T @ y)
    np.testing.assert_allclose(Z @ theta, direct, atol=1e-10)


def test_the_more_roughness_costs_the_straighter_the_fit():
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(-1, 1, size=(200, 1)), axis=0)
    y = np.sin(6 * x[:, 0])
    rough = []
    for penalty in (0.0, 1.0, 100.0, 1e6):
        fitted = SmoothSplineMap(SplineMap(n_knots=12), penalty).fit(x)
        Z = fitted(x)
        c = fitted._smoothing @ np.linalg.solve(Z.T @ Z + 0.1 * np.eye(Z.shape[1]), Z.T @ y)
        rough.append(np.sum(np.diff(c, 2) ** 2))
    assert rough == sorted(rough, reverse=True)
    assert rough[-1] < 1e-6 * rough[0]


def test_smooth_splines_of_no_penalty_are_splines_and_projections_do_not_mix():
    P = np.random.default_rng(2).normal(size=(60, 3))
    np.testing.assert_allclose(SmoothSplineMap(SplineMap(), 0.0).fit(P)(P), SplineMap().fit(P)(P), atol=1e-12)
    smooth = SmoothSplineMap(SplineMap(), 2.0)
    together = smooth.fit(P)(P).reshape(60, -1, 3)
    for j in range(3):
        np.testing.assert_allclose(together[:, :, j], smooth.fit(P[:, [j]])(P[:, [j]]), atol=1e-12)
    assert smooth.learns
    assert smooth.feature_names(["a", "b"])[:2] == ["a_smooth0", "b_smooth0"]


def test_gem_takes_smooth_splines():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = GEMClassifier(2, feature_map=SmoothSplineMap(SplineMap(10), 5.0)).fit(X, y)
    assert model.score(X, y) > 0.97
