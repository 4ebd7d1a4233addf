"""Cuts of one-dimensional outputs, and probabilities from them."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from eigenfeat.kernel.probabilities import gaussian_posteriors, output_moments, posterior_slope, posteriors
from eigenfeat.kernel.thresholds import gaussian_threshold, margin_threshold

RNG = np.random.RandomState(0)


def outputs(n=300, share=0.4, gap=2.0):
    positive = RNG.rand(n) < share
    return RNG.randn(n) + gap * positive, positive, RNG.randint(1, 4, size=n).astype(float)


@pytest.mark.parametrize("gap", [1.5, 3.0, 12.0])
def test_margin_is_the_cut_of_a_support_vector_machine(gap):
    q, positive, weights = outputs(gap=gap)
    centre = np.average(q, weights=weights)
    spread = np.sqrt(np.average((q - centre) ** 2, weights=weights))
    svm = SVC(kernel="linear", C=1.0, tol=1e-9).fit(((q - centre) / spread)[:, None], positive, weights)
    cut = centre - spread * svm.intercept_[0] / svm.coef_[0, 0]
    assert margin_threshold(q, positive, weights) == pytest.approx(cut, abs=1e-5)


def test_margin_halves_the_gap_of_separable_classes():
    q = np.array([-3.0, -1.0, 2.0, 5.0])
    assert margin_threshold(q, q > 0, np.full(4, 1e6)) == pytest.approx(0.5)


@pytest.mark.parametrize("rule", [margin_threshold, gaussian_threshold])
def test_weights_are_copies_and_the_order_does_not_matter(rule):
    q, positive, weights = outputs()
    copies = weights.astype(int)
    repeated = rule(np.repeat(q, copies), np.repeat(positive, copies), np.ones(copies.sum()))
    assert rule(q, positive, weights) == pytest.approx(repeated, rel=1e-11)
    assert rule(q[::-1], positive[::-1], weights[::-1]) == pytest.approx(repeated, rel=1e-11)


def test_gaussian_cut_is_bayes_optimal():
    positive = np.arange(400_000) % 4 == 0
    q = np.where(positive, 2 + 0.5 * RNG.randn(400_000), RNG.randn(400_000))
    cut = gaussian_threshold(q, positive, np.ones(len(q)))
    grid = np.linspace(0.5, 2, 301)
    errors = [np.mean((q > t) != positive) for t in grid]
    assert cut == pytest.approx(grid[np.argmin(errors)], abs=0.03)


@pytest.mark.parametrize("rule", [margin_threshold, gaussian_threshold])
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_constant_outputs_go_to_the_larger_class(rule, share):
    positive = np.arange(10) < 10 * share
    cut = rule(np.full(10, 0.3), positive, np.ones(10))
    assert (cut < 0.3) == (share > 0.5)


def test_overlapping_classes_still_get_a_cut_between_them():
    q, positive, weights = outputs(share=0.3, gap=0.0)
    assert np.isfinite(margin_threshold(q, positive, weights))


def test_slope_is_the_logistic_maximum_likelihood():
    q, positive, weights = outputs(n=20_000)
    reference = LogisticRegression(C=1e9, fit_intercept=False, tol=1e-10).fit(q[:, None] - 1, positive, weights)
    slope = posterior_slope(q - 1, positive.astype(int), weights)
    assert slope == pytest.approx(reference.coef_[0, 0], rel=2e-3)
    np.testing.assert_allclose(posteriors(q - 1, slope)[:, 1], 1 / (1 + np.exp(-slope * (q - 1))))


def test_multi_class_slope_minimises_the_log_loss():
    codes = RNG.randint(3, size=3000)
    decision = RNG.randn(3000, 3) + 1.5 * np.eye(3)[codes]
    slope = posterior_slope(decision, codes, np.ones(3000))
    losses = lambda s: -np.log(posteriors(decision, s)[np.arange(3000), codes]).mean()  # noqa: E731
    assert slope == pytest.approx(minimize(lambda s: losses(s[0]), [1.0]).x[0], rel=1e-2)


def test_separable_classes_have_a_finite_slope():
    slope = posterior_slope(np.array([-1.0, -2, 1, 3]), np.array([0, 0, 1, 1]), np.ones(4))
    assert 0 < slope < 10


def test_gaussian_posteriors_are_bayes_theorem_with_weights_as_copies():
    q, positive, weights = outputs(n=500)
    repeated, sides = np.repeat(q, weights.astype(int)), np.repeat(positive, weights.astype(int))
    grid = np.linspace(-4, 6, 50)
    joint = [
        np.mean(sides == s) * norm.pdf(grid, repeated[sides == s].mean(), repeated[sides == s].std()) for s in (0, 1)
    ]
    ours = gaussian_posteriors(grid[:, None], output_moments(q[:, None], positive[:, None], weights))
    np.testing.assert_allclose(ours[:, 1], joint[1] / (joint[0] + joint[1]), rtol=1e-9)


def test_gaussian_posteriors_of_several_outputs_are_scaled_odds():
    codes = np.arange(600) % 3
    q = RNG.randn(600, 3) + 2 * np.eye(3)[codes]
    moments = output_moments(q, np.eye(3, dtype=bool)[codes], np.ones(600))
    single = np.column_stack([gaussian_posteriors(q[:, [k]], moments[[k]])[:, 1] for k in range(3)])
    odds = single / (1 - single)
    np.testing.assert_allclose(gaussian_posteriors(q, moments), odds / odds.sum(axis=1, keepdims=True), rtol=1e-9)
