"""The objective's derivatives, and that neither blocks, threads nor storage change it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp

from eigenfeat.linear.objective import LogitObjective
from eigenfeat.linear.passes import Passes
from eigenfeat.rows import as_rows


def make_objective(constant=True, dtype=np.float64, storage=np.asarray, **how):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(101, 4)).astype(dtype)
    labels = rng.integers(0, 3, 101)
    weights = rng.uniform(0.5, 2, 101)
    passes = Passes(as_rows(storage(X)), constant, **how)
    return LogitObjective(passes, labels, weights / weights.sum(), 3, alpha=0.1), X


def a_point(objective, seed=1):
    return np.random.default_rng(seed).normal(size=objective.shape)


@pytest.mark.parametrize("constant", [True, False])
def test_value_is_the_written_objective(constant):
    objective, X = make_objective(constant)
    C = a_point(objective)
    W = C[:4]
    scores = X @ W + (C[4] if constant else 0)
    losses = logsumexp(scores, axis=1) - scores[np.arange(101), objective.labels]
    expected = objective.weights @ losses + 0.05 * np.sum(W**2)
    assert objective.at(C).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("constant", [True, False])
def test_gradient_and_curvature_are_derivatives(constant):
    objective, _ = make_objective(constant)
    C, V, h = a_point(objective), a_point(objective, 2), 1e-5
    ahead, behind, here = objective.at(C + h * V), objective.at(C - h * V), objective.at(C)
    assert np.vdot(here.gradient, V) == pytest.approx((ahead.value - behind.value) / (2 * h), rel=1e-7)
    np.testing.assert_allclose(objective.curvature(here) @ V, (ahead.gradient - behind.gradient) / (2 * h), atol=1e-8)


def test_value_along_needs_no_pass():
    objective, _ = make_objective()
    start, end = objective.at(a_point(objective)), objective.at(a_point(objective, 3))
    middle = objective.at(0.75 * start.coefficients + 0.25 * end.coefficients)
    assert objective.value_along(start, end, 0.25) == pytest.approx(middle.value, rel=1e-12)


@pytest.mark.parametrize("how", [{"batch_size": 7}, {"batch_size": 7, "n_jobs": 3}, {"storage": sparse.csr_array}])
def test_blocks_threads_and_storage_do_not_matter(how):
    objective, X = make_objective(n_jobs=1)
    other, _ = make_objective(**how)
    C = a_point(objective)
    np.testing.assert_allclose(other.at(C).gradient, objective.at(C).gradient, rtol=1e-12, atol=1e-15)
    weights = np.arange(101.0)
    np.testing.assert_allclose(other.passes.gram(weights), objective.passes.gram(weights), rtol=1e-12)
    np.testing.assert_allclose(
        other.passes.weighted_squares(weights), np.diag(objective.passes.gram(weights)), rtol=1e-12
    )
    np.testing.assert_allclose(other.passes.scores(C), X @ C[:4] + C[4], rtol=1e-12)


def test_the_number_of_threads_changes_no_bit():
    gradients = [
        (objective := make_objective(batch_size=5, n_jobs=n)[0]).at(a_point(objective)).gradient for n in (1, 2, 4)
    ]
    np.testing.assert_array_equal(gradients[0], gradients[1])
    np.testing.assert_array_equal(gradients[0], gradients[2])


def test_confident_rows_are_left_out_of_the_curvature_without_harm():
    objective, _ = make_objective()
    C = a_point(objective) * 40  # most rows far from every boundary
    here = objective.at(C)
    curvature = objective.curvature(here)
    assert curvature.passes.n_rows < 101
    V = a_point(objective, 5)
    everything = objective.curvature(here, share=0.0) @ V
    assert np.linalg.norm(curvature @ V - everything) <= 1e-2 * np.linalg.norm(everything)


def test_extreme_scores_stay_finite_in_float32():
    objective, _ = make_objective(dtype=np.float32)
    here = objective.at(a_point(objective) * 1e30)
    assert np.isfinite(here.value) and np.isfinite(here.gradient).all()
    assert here.scores.dtype == np.float32 and here.gradient.dtype == np.float64


def test_smoothed_labels_are_a_mixture_of_plain_ones():
    """With smoothing ε, F is (1 - ε) F of the labels + ε times its mean over one label for all; so its gradient."""
    rng = np.random.default_rng(3)
    X, y, k, smoothing = rng.normal(size=(40, 5)), rng.integers(0, 3, 40), 3, 0.3
    C = rng.normal(size=(6, k))

    def at(labels, smoothing=0.0):
        passes = Passes(as_rows(X))
        return LogitObjective(passes, labels, np.full(40, 1 / 40), k, 0.1, smoothing).at(C)

    plain, everyone = at(y), [at(np.full(40, c)) for c in range(k)]
    smoothed = at(y, smoothing)
    mixed = (1 - smoothing) * plain.value + smoothing * np.mean([point.value for point in everyone])
    gradient = (1 - smoothing) * plain.gradient + smoothing * np.mean([point.gradient for point in everyone], axis=0)
    np.testing.assert_allclose(smoothed.value, mixed, rtol=1e-12)
    np.testing.assert_allclose(smoothed.gradient, gradient, rtol=1e-9, atol=1e-12)
