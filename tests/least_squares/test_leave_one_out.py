"""Leave-one-out errors against refits without each row, and the grid they are searched on."""

import numpy as np
import pytest
from ls_problems import factor, inputs
from scipy import sparse

from eigenfeat.least_squares.leave_one_out import LeaveOneOut, decades, generalized_cross_validation, search
from eigenfeat.least_squares.quotient import pose
from eigenfeat.least_squares.rows import append_differences, centre, centre_kernel
from eigenfeat.least_squares.spectrum import decompose
from eigenfeat.least_squares.targets import reduce

KINDS = ("dense", "sparse", "kernel")


def posed(kind, X, H, project, weight=None, more=None):
    given = sparse.csr_array(X) if kind == "sparse" else X
    rows = centre_kernel(X @ X.T, weight) if kind == "kernel" else centre(given, weight)
    one = pose(rows, reduce(H, rows.root, project=project))
    if more is None:
        return one
    return one.over(append_differences(rows, sparse.csr_array(more) if kind == "sparse" else more))


def refits(X, T, ridge, weight, more=None):
    """Weighted mean of squared errors, each row (or one copy of it) left out of a regression with a mean."""
    d = X.shape[1]
    penalty = ridge * np.eye(d) + (0 if more is None else more.T @ more)
    total = 0.0
    for i in np.flatnonzero(weight):
        rest = weight.copy()
        rest[i] -= min(weight[i], 1)
        x_mean, t_mean = (np.average(block, axis=0, weights=rest) for block in (X, T))
        A = X - x_mean
        W = np.linalg.solve(A.T @ (rest[:, None] * A) + penalty, A.T @ (rest[:, None] * (T - t_mean)))
        total += weight[i] * np.sum((T[i] - t_mean - (X[i] - x_mean) @ W) ** 2)
    return total / weight.sum()


def unweighted(one, weight):
    return one.targets.factor[: len(weight)] / np.sqrt(np.where(weight > 0, weight, 1))[:, None]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d"), [(30, 6), (12, 25), (12, 11), (13, 11)], ids=["tall", "wide", "n - 1", "n - 2"])
@pytest.mark.parametrize("model", ["lda", "cca", "opls", "star"])
def test_errors_are_those_of_refits(kind, n, d, model):
    rng = np.random.default_rng(0)
    X, (H, project), weight = inputs(rng, n, d), factor(model, rng, n), np.ones(n)
    one = posed(kind, X, H, project)
    alphas = np.array([1e-3, 1.0, 50.0])
    expected = [refits(X, unweighted(one, weight), alpha, weight) for alpha in alphas]
    np.testing.assert_allclose(LeaveOneOut(one, decompose(one.rows)).errors(alphas), expected, rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_one_copy_of_a_weight_is_left_out(kind):
    rng = np.random.default_rng(1)
    X, H, weight = inputs(rng, 20, 5), rng.normal(size=(20, 3)), rng.choice([0.0, 0.4, 1.0, 2.0, 3.0], size=20)
    one = posed(kind, X, H, False, weight)
    errors = LeaveOneOut(one, decompose(one.rows)).errors(np.array([0.5]))
    np.testing.assert_allclose(errors, refits(X, unweighted(one, weight), 0.5, weight), rtol=1e-8)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rows_without_targets_are_never_left_out(kind):
    rng = np.random.default_rng(2)
    X, H, more = inputs(rng, 15, 6), rng.normal(size=(15, 2)), rng.normal(size=(9, 6))
    one = posed(kind, X, H, False, more=more)
    errors = LeaveOneOut(one, decompose(one.rows)).errors(np.array([0.5]))
    np.testing.assert_allclose(errors, refits(X, unweighted(one, np.ones(15)), 0.5, np.ones(15), more), rtol=1e-8)


def test_more_targets_than_directions_are_all_counted():
    rng = np.random.default_rng(3)
    X, H, weight = inputs(rng, 160, 4), rng.normal(size=(160, 130)), np.ones(160)
    for project in (False, True):
        one = posed("dense", X, H, project)
        errors = LeaveOneOut(one, decompose(one.rows)).errors(np.array([2.0]))
        np.testing.assert_allclose(errors, refits(X, unweighted(one, weight), 2.0, weight), rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_a_vanishing_ridge_on_independent_rows_has_the_error_of_interpolation(kind):
    """Residuals and 1 - h both vanish there: as differences they would leave 0 / 0, or anything at all."""
    rng = np.random.default_rng(4)
    X, H = rng.normal(size=(15, 40)), rng.normal(size=(15, 2))
    one = posed(kind, X, H, False)
    T, expected = one.targets.factor, 0.0
    for i in range(15):
        rest = np.delete(np.arange(15), i)
        A, t_mean = X[rest] - X[rest].mean(axis=0), T[rest].mean(axis=0)
        W = np.linalg.lstsq(A, T[rest] - t_mean, rcond=None)[0]
        expected += np.sum((T[i] - t_mean - (X[i] - X[rest].mean(axis=0)) @ W) ** 2) / 15
    errors = LeaveOneOut(one, decompose(one.rows)).errors(np.array([0.0, 1e-30, 1e-12, 1e-9]))
    np.testing.assert_allclose(errors, expected, rtol=1e-6)


def test_some_rows_estimate_the_error_of_all():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2000, 5))
    one = posed("dense", X, X[:, :2] + rng.normal(size=(2000, 2)), False)
    spectrum = decompose(one.rows)
    drawn = rng.permutation(2000)[:400]
    every, some = (LeaveOneOut(one, spectrum, few).errors(np.array([1.0])) for few in (None, drawn))
    assert every != some
    np.testing.assert_allclose(some, every, rtol=0.1)


def test_the_grid_goes_from_nothing_left_to_nothing_shrunk_in_the_unit_of_the_rows():
    squares = np.array([300.0, 20.0, 0.5])
    grid = decades(squares)
    assert grid[0] <= 0.005 and grid[-1] >= 10 * squares.sum() * (1 - 1e-12)
    np.testing.assert_allclose(decades(squares * 4.0), 4 * grid)
    np.testing.assert_allclose(grid[1:] / grid[:-1], 10)
    assert decades(np.array([1.0, 1e-40]))[0] == pytest.approx(1e-12)
    assert len(decades(np.zeros(0))) == 1


def test_the_search_looks_closer_beside_the_best():
    alphas, errors = search(lambda a: (np.log10(a) - 0.3) ** 2, np.array([0.01, 0.1, 1.0, 10.0]))
    assert alphas[np.argmin(errors)] == pytest.approx(10 ** (1 / 3))
    assert len(alphas) == 8 and np.all(np.diff(alphas) > 0)
    edge, _ = search(lambda a: a, np.array([1.0, 10.0]))
    np.testing.assert_allclose(edge, [1, 10 ** (1 / 3), 10 ** (2 / 3), 10])


def test_generalized_cross_validation_is_its_definition():
    rng = np.random.default_rng(16)
    n, d = 50, 8
    X, Y, ridges = inputs(rng, n, d), rng.normal(size=(n, 3)), np.array([0.01, 1.0, 30.0])
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    power = np.sum((U.T @ B) ** 2, axis=1)
    expected = []
    for ridge in ridges:
        hat = A @ np.linalg.solve(A.T @ A + ridge * np.eye(d), A.T) + np.full((n, n), 1 / n)
        expected.append(np.sum((B - hat @ B) ** 2) / (n - np.trace(hat)) ** 2)
    found = generalized_cross_validation(s**2, power, np.sum(B**2) - power.sum(), n, ridges)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
