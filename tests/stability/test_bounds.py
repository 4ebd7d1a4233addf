"""Bounds with explicit constants hold over repeated draws, at every scale."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.stability import (
    eigenvalue_deviation,
    moment_deviation,
    radius,
    reconstruction_bound,
    subspace_bound,
)

SCALES = [1.0, 1e3, 1e6]
AXES = np.array([0.9, 0.35, 0.2, 0.1])
TRUE_MOMENT = np.diag(AXES**2 / len(AXES))
TRUE_RADIUS = AXES.max()


def rows(rng, n, scale=1.0):
    """Uniform on an ellipsoid: ‖x‖ <= 0.9 scale, E xxᵀ = scale² TRUE_MOMENT."""
    z = rng.standard_normal((n, len(AXES)))
    return scale * AXES * z / np.linalg.norm(z, axis=1, keepdims=True)


def sine(A, B):
    """Distance between the spans of two orthonormal bases: ‖P_A - P_B‖."""
    return np.linalg.norm(A @ A.T - B @ B.T, 2)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("constants", ["sharp", "thesis"])
def test_moment_deviation_holds(scale, constants):
    rng = np.random.default_rng(0)
    R = scale * TRUE_RADIUS
    bound = moment_deviation(500, R, constants=constants)
    errors = []
    for _ in range(100):
        X = rows(rng, 500, scale)
        errors.append(np.linalg.norm(X.T @ X / 500 - scale**2 * TRUE_MOMENT, 2))
    assert np.mean(np.array(errors) <= bound) >= 0.95
    # The units are right, so that how loose it is does not depend on the scale.
    assert bound <= {"sharp": 20, "thesis": 400}[constants] * np.mean(errors)


def test_covariance_deviation_holds():
    rng = np.random.default_rng(1)
    bound = moment_deviation(200, TRUE_RADIUS, centred=True)
    errors = [np.linalg.norm(np.cov(rows(rng, 200).T, bias=True) - TRUE_MOMENT, 2) for _ in range(100)]
    assert np.mean(np.array(errors) <= bound) >= 0.95


def test_without_the_factor_radius_the_printed_constant_fails_at_large_scale():
    rng = np.random.default_rng(2)
    n, scale = 200, 1e6
    X = rows(rng, n, scale)
    error = np.linalg.norm(X.T @ X / n - scale**2 * TRUE_MOMENT, 2)
    R = scale * TRUE_RADIUS
    printed = 16 / n * np.sqrt(np.sum(X**2)) + 17 * R * np.sqrt(2 / n * np.log(2 / 0.05))
    assert printed < error
    restored = moment_deviation(n, R, mean_square=np.sum(X**2) / n, constants="thesis")
    assert restored == pytest.approx(R * printed)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("constants", ["sharp", "thesis"])
@pytest.mark.parametrize("centred", [False, True])
def test_sums_of_eigenvalues_concentrate(scale, constants, centred):
    rng = np.random.default_rng(3)
    n, draws = 100, 400
    values = []
    for _ in range(draws):
        X = rows(rng, n, scale)
        moment = np.cov(X.T) if centred else X.T @ X / n
        values.append(np.linalg.eigvalsh(moment)[::-1])
    bound = eigenvalue_deviation(n, scale * TRUE_RADIUS, centred=centred, constants=constants)
    for index in ([0], [1, 2], [0, 1, 2, 3]):
        sums = np.array(values)[:, index].sum(axis=1)
        assert np.mean(np.abs(sums - sums.mean()) <= bound) >= 0.95


@pytest.mark.parametrize("scale", SCALES)
def test_reconstruction_error_on_new_rows_is_within_its_bound(scale):
    rng = np.random.default_rng(4)
    n, k, held = 300, 2, 0
    errors = []
    for _ in range(100):
        X = rows(rng, n, scale)
        moment = X.T @ X / n
        bound = reconstruction_bound(moment, k, n, scale * TRUE_RADIUS)
        P = np.linalg.eigh(moment)[1][:, -k:]
        residual = X - X @ P @ P.T
        assert bound.error == pytest.approx(np.mean(np.sum(residual**2, axis=1)), rel=1e-9)
        risk = scale**2 * (np.trace(TRUE_MOMENT) - np.trace(P.T @ TRUE_MOMENT @ P))
        held += abs(risk - bound.error) <= bound.risk_deviation
        errors.append(bound.error)
    assert held >= 95
    assert np.mean(np.abs(errors - np.mean(errors)) <= bound.deviation) >= 0.95


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("constants", "n"), [("sharp", 4_000), ("thesis", 3_000_000)])
@pytest.mark.parametrize("index", [0, [1, 2, 3]])
def test_subspace_bound_applies_and_holds(scale, constants, n, index):
    rng = np.random.default_rng(5)
    chosen = np.atleast_1d(index)
    for _ in range(1 if constants == "thesis" else 20):
        X = rows(rng, n, scale)
        moment = X.T @ X / n
        vectors = np.linalg.eigh(moment)[1][:, ::-1][:, chosen]
        bound = subspace_bound(moment, index, n, scale * TRUE_RADIUS, mean_square=np.sum(X**2) / n, constants=constants)
        assert bound.applies
        assert sine(vectors, np.eye(len(AXES))[:, chosen]) <= bound.distance < 1


@pytest.mark.parametrize("constants", ["sharp", "thesis"])
def test_angles_have_no_units_and_gaps_have_those_of_the_moment(constants):
    at = [subspace_bound(s**2 * TRUE_MOMENT, 0, 10**7, s * TRUE_RADIUS, constants=constants) for s in SCALES]
    np.testing.assert_allclose([b.distance for b in at], at[0].distance, rtol=1e-9)
    np.testing.assert_allclose([b.gap / s**2 for b, s in zip(at, SCALES)], at[0].gap, rtol=1e-9)
    np.testing.assert_allclose([b.needed / s**2 for b, s in zip(at, SCALES)], at[0].needed, rtol=1e-9)


def test_sharp_constants_are_sharper():
    for n in (10, 1000, 10**6):
        for confidence in (0.5, 0.95, 0.999):
            assert moment_deviation(n, 2.0, confidence) < moment_deviation(
                n, 2.0, confidence, mean_square=0.0, constants="thesis"
            )
            assert eigenvalue_deviation(n, 2.0, confidence) < eigenvalue_deviation(
                n, 2.0, confidence, constants="thesis"
            )


def test_small_gap_says_nothing_and_says_so():
    bound = subspace_bound(np.diag([0.5, 0.49]), 0, 100, 1.0)
    assert not bound.applies
    assert bound.distance == 1
    assert "nothing is certain" in str(bound)


def test_radius_of_dense_and_sparse_rows_about_a_centre():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((30, 4)) + 3
    centre = X.mean(axis=0)
    for rows_ in (X, sparse.csr_array(X)):
        assert radius(rows_) == pytest.approx(np.linalg.norm(X, axis=1).max())
        assert radius(rows_, centre) == pytest.approx(np.linalg.norm(X - centre, axis=1).max())


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_confidence_is_checked(confidence):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        moment_deviation(100, 1.0, confidence)
