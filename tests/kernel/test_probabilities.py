"""Probabilities from the outputs of discriminants."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from written_out import outputs

from eigenfeat.kernel.probabilities import (
    huber_density,
    laplace_density,
    output_densities,
    output_moments,
    posterior_slope,
)
from eigenfeat.stages import GaussianPosteriors, HuberPosteriors, Softmax

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


def huber_log_density(q, m, s, sigma):
    """Table 2.1, normalised by quadrature."""

    def loss(xi):
        return np.where(np.abs(xi) <= sigma, xi**2 / (2 * sigma), np.abs(xi) - sigma / 2)

    total, _ = quad(lambda xi: np.exp(-loss(xi)), -60, 60, points=[-sigma, sigma], limit=400)
    return -loss((q - m) / s) - np.log(s * total)


@pytest.mark.parametrize("tails", ["gaussian", "laplace", "between"])
def test_densities_have_the_greatest_likelihood(tails):
    """Against a general optimiser on the density as the thesis writes it."""
    rng = np.random.RandomState(3)
    q = {"gaussian": rng.randn(400), "laplace": rng.laplace(size=400), "between": rng.standard_t(5, size=400)}[tails]
    q, weights = 0.3 * q + 1, rng.uniform(0.2, 2, size=400)
    m, s, sigma = huber_density(q, weights, 1e-9)
    ours = weights @ huber_log_density(q, m, s, sigma)

    def negative(at):
        return -(
            weights @ huber_log_density(q, at[0], np.exp(at[1]), np.exp(np.clip(at[2], np.log(0.01), np.log(100))))
        )

    found = minimize(negative, [np.median(q), -1.5, 0.0], method="Nelder-Mead", options={"maxiter": 4000})
    assert ours >= -found.fun - 1e-3
    middle, scale, bend = laplace_density(q, weights, 1e-9)
    likelihoods = [-(weights @ np.abs(q - c)) / scale for c in np.linspace(middle - 0.2, middle + 0.2, 41)]
    assert np.argmax(likelihoods) == 20 and bend == 0
    assert scale == pytest.approx(np.average(np.abs(q - middle), weights=weights))


def test_posteriors_are_bayes_theorem():
    rng = np.random.RandomState(0)
    side = np.arange(300) % 3 == 0
    outputs = np.where(side, 1.0, -1.0)[:, None] + 0.4 * rng.laplace(size=(300, 1))
    weights = np.ones(300)
    for kind in ("laplace", "huber"):
        densities = output_densities(outputs, side[:, None], weights, kind)
        posterior = np.exp(HuberPosteriors(densities, np.zeros(1)).apply(outputs))[:, 1]
        joint = [
            prior * np.exp(huber_log_density(outputs[:, 0], m, s, max(sigma, 1e-8)))
            for m, s, sigma, prior in densities[0]
        ]
        np.testing.assert_allclose(posterior, joint[1] / (joint[0] + joint[1]), atol=1e-6)
        assert densities[0, :, 3].tolist() == [2 / 3, 1 / 3]


def test_a_weight_counts_as_copies_of_an_output():
    q, copies = np.random.RandomState(1).randn(40), np.arange(40) % 3 + 1
    for fitted in (laplace_density, huber_density):
        repeated = fitted(np.repeat(q, copies), np.ones(copies.sum()), 1e-9)
        np.testing.assert_allclose(fitted(q, copies.astype(float), 1e-9), repeated, rtol=1e-4)
