"""Class probabilities from the outputs of discriminants (thesis 3.2.2, 3.6.2)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, log_softmax, softmax

from eigenfeat.kernel.thresholds import class_moments

PROBABILITIES = ("logistic", "gaussian")


def posterior_slope(decision: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """The slope s of ``P(class | decision) = softmax(s · decision)``.

    Where the outputs of the classes are Gaussians of one variance, Fisher's own model, the log odds are linear in
    the outputs: (m₁ - m₀)/σ² times the distance to the cut. The slope is estimated by maximum likelihood of the
    labels rather than from the two moments, which tails mislead, and the cut is the classifier's, so that the most
    probable class is the predicted one. Best estimated on outputs at rows left out of the fit. Labels count as
    certain only up to one pseudo-count a class, so that separable classes have a finite slope.
    """
    D = decision.astype(np.float64)
    if D.ndim == 1:
        D = np.column_stack([np.zeros(len(D)), D])
    w = weights.astype(np.float64)
    n_classes = D.shape[1]
    totals = np.bincount(codes, w, minlength=n_classes)
    sure = ((totals + 1) / (totals + 2))[codes]
    target = np.repeat(((1 - sure) / (n_classes - 1))[:, None], n_classes, axis=1)
    target[np.arange(len(D)), codes] = sure
    scale = np.abs(D).max() or 1.0

    def gradient(slope: float) -> float:
        return float(w @ np.einsum("ij,ij->i", softmax(slope * D, axis=1) - target, D)) / scale

    if gradient(0.0) >= 0:
        return 0.0
    high = 1 / scale
    while gradient(high) < 0:
        high *= 4
    return float(brentq(gradient, 0.0, high, xtol=1e-14 * high, rtol=1e-13))


def posteriors(decision: np.ndarray, slope: float) -> np.ndarray:
    """(n, n_classes) probabilities."""
    if decision.ndim == 1:
        positive = expit(slope * decision.astype(np.float64))
        return np.column_stack([1 - positive, positive])
    return np.exp(log_softmax(slope * decision.astype(np.float64), axis=1))


def output_moments(outputs: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(n_outputs, 2, 3): mean, variance and prior of every output on its negative and on its positive side."""
    sides = [(~side, side) for side in positive.T]
    return np.array([[class_moments(q, weights, side) for side in pair] for q, pair in zip(outputs.T, sides)])


def gaussian_posteriors(outputs: np.ndarray, moments: np.ndarray) -> np.ndarray:
    r"""(n, n_classes) probabilities by Bayes' theorem with a Gaussian density an output and side (thesis 3.2.2).

    .. math:: P(+ | q) = \frac{\pi_+ N(q; \mu_+, \sigma_+^2)}{\pi_+ N(q; \mu_+, \sigma_+^2) +
              \pi_- N(q; \mu_-, \sigma_-^2)}

    Of several outputs, one against the rest each, the odds are scaled to probabilities that sum to one.
    """
    mean, variance, prior = (moments[..., k] for k in range(3))
    q = outputs.astype(np.float64)[:, :, None]
    log_joint = np.log(prior) - np.log(variance) / 2 - (q - mean) ** 2 / (2 * variance)
    log_odds = log_joint[..., 1] - log_joint[..., 0]
    return posteriors(log_odds[:, 0] if log_odds.shape[1] == 1 else log_odds, 1.0)
