"""Probabilities from the outputs of discriminants."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from written_out import outputs

from eigenfeat.kernel.probabilities import output_moments, posterior_slope
from eigenfeat.stages import GaussianPosteriors, Softmax

RNG = np.random.RandomState(0)


def gaussian_posteriors(outputs, moments):
    return np.exp(GaussianPosteriors(moments, shift=np.zeros(len(moments))).apply(outputs))


def test_slope_is_the_logistic_maximum_likelihood():
    q, positive, weights = outputs(RNG, n=20_000)
    reference = LogisticRegression(C=1e9, fit_intercept=False, tol=1e-10).fit(q[:, None] - 1, positive, weights)
    slope = posterior_slope(q - 1, positive.astype(int), weights)
    # Ours gives each class one pseudo-count more than the reference has: one in some 10⁴ rows.
    assert slope == pytest.approx(reference.coef_[0, 0], rel=1e-3)
    ours = np.exp(Softmax(slope).apply(q[:, None] - 1))
    np.testing.assert_allclose(ours[:, 1], 1 / (1 + np.exp(-slope * (q - 1))))


def test_multi_class_slope_minimises_the_log_loss():
    codes = RNG.randint(3, size=3000)
    decision = RNG.randn(3000, 3) + 1.5 * np.eye(3)[codes]
    slope = posterior_slope(decision, codes, np.ones(3000))
    losses = lambda s: -Softmax(s).apply(decision)[np.arange(3000), codes].mean()  # noqa: E731
    # Ours gives each class one pseudo-count more: one in a thousand rows.
    assert slope == pytest.approx(minimize(lambda s: losses(s[0]), [1.0]).x[0], rel=1e-2)


def test_separable_classes_have_a_finite_slope():
    slope = posterior_slope(np.array([-1.0, -2, 1, 3]), np.array([0, 0, 1, 1]), np.ones(4))
    assert 0 < slope < 10


def test_gaussian_posteriors_are_bayes_theorem_with_weights_as_copies():
    q, positive, weights = outputs(RNG, n=500)
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
