"""What class probabilities need to know of the outputs of discriminants (thesis 3.2.2, 3.6.2).

The probabilities themselves are `eigenfeat.stages.Softmax`, `eigenfeat.stages.GaussianPosteriors` and
`eigenfeat.stages.HuberPosteriors`.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import log_softmax, softmax

from eigenfeat.kernel.thresholds import class_moments
from eigenfeat.stages.outputs import both_classes, huber_normaliser

PROBABILITIES = ("multinomial", "logistic", "gaussian", "laplace", "huber")
#: Decision values below this are all the same.
SMALLEST_OUTPUT = 1e-100
#: Above this many a logit on their outputs is as exact as quasi-Newton steps get it.
MANY_CLASSES = 30


def posterior_slope(decision: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """The slope s of ``P(class | decision) = softmax(s · decision)``.

    Where the outputs of the classes are Gaussians of one variance, Fisher's own model, the log odds are linear in
    the outputs: (m₁ - m₀)/σ² times the distance to the cut. The slope is estimated by maximum likelihood of the
    labels rather than from the two moments, which tails mislead, and the cut is the classifier's, so that the most
    probable class is the predicted one. Best estimated on outputs at rows left out of the fit. Labels count as
    certain only up to one pseudo-count a class, so that separable classes have a finite slope.
    """
    D = both_classes(decision.astype(np.float64).reshape(len(decision), -1))
    w = weights.astype(np.float64)
    n_classes = D.shape[1]
    totals = np.bincount(codes, w, minlength=n_classes)
    sure = ((totals + 1) / (totals + 2))[codes]
    target = np.repeat(((1 - sure) / (n_classes - 1))[:, None], n_classes, axis=1)
    target[np.arange(len(D)), codes] = sure
    scale = np.abs(D).max()
    if scale < SMALLEST_OUTPUT:
        return 0.0

    def gradient(slope: float) -> float:
        return float(w @ np.einsum("ij,ij->i", softmax(slope * D, axis=1) - target, D)) / scale

    if gradient(0.0) >= 0:
        return 0.0
    high = 1 / scale
    while gradient(high) < 0:
        high *= 4
    return float(brentq(gradient, 0.0, high, xtol=1e-14 * high, rtol=1e-13))


def multinomial_logit(
    decision: np.ndarray, codes: np.ndarray, weights: np.ndarray, slope: float
) -> tuple[np.ndarray, np.ndarray]:
    """W and b of ``P(class | decision) = softmax(decision @ W + b)``, by maximum likelihood at rows left out.

    The outputs of one class against the rest say something of the others too: rows between two classes have both of
    these outputs raised. W is held at ``slope`` times the identity (`posterior_slope`) by a penalty that weighs as much
    as one row, ½‖W - slope·I‖².

    Parameters
    ----------
    decision : (n, k) array
        Of rows left out of the fit; of more than two classes.
    codes : (n,) array
    weights : (n,) array
    slope : float
    """
    D, w = decision.astype(np.float64), weights.astype(np.float64)
    row, k = np.arange(len(D)), D.shape[1]
    start = np.vstack([slope * np.eye(k), np.zeros(k)])
    design = np.column_stack([D, np.ones(len(D))])

    def value_and_gradient(flat: np.ndarray) -> tuple[float, np.ndarray]:
        W = flat.reshape(start.shape)
        log_p = log_softmax(design @ W, axis=1)
        excess = np.exp(log_p)
        excess[row, codes] -= 1
        away = W - start
        away[-1] = 0
        gradient = design.T @ (w[:, None] * excess) + away
        return float(np.sum(away**2) / 2 - w @ log_p[row, codes]), gradient.ravel()

    def curved(flat: np.ndarray, change: np.ndarray) -> np.ndarray:
        p, V = softmax(design @ flat.reshape(start.shape), axis=1), change.reshape(start.shape)
        moved = p * (design @ V)
        moved -= p * moved.sum(axis=1, keepdims=True)
        product = design.T @ (w[:, None] * moved)
        product[:-1] += V[:-1]
        return product.ravel()

    found = minimize(value_and_gradient, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    if k <= MANY_CLASSES:  # to the last digits, so that the order of the rows leaves no trace
        options = {"xtol": 1e-13, "maxiter": 30}
        found = minimize(value_and_gradient, found, jac=True, hessp=curved, method="Newton-CG", options=options).x
    W = found.reshape(start.shape)
    return W[:-1], W[-1]


def output_moments(outputs: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(n_outputs, 2, 3): mean, variance and prior of every output on its negative and on its positive side."""
    sides = [(~side, side) for side in positive.T]
    return np.array([[class_moments(q, weights, side) for side in pair] for q, pair in zip(outputs.T, sides)])


def output_densities(outputs: np.ndarray, positive: np.ndarray, weights: np.ndarray, kind: str) -> np.ndarray:
    """(n_outputs, 2, 4): m, s, σ and prior of a density of maximum likelihood an output and side.

    ``kind`` is "laplace", σ = 0, or "huber", where σ is found too: the noise models of absolute and of Huber's loss
    (table 2.1), tails of which are those of the outputs of their discriminants (thesis 5.1).
    """
    fitted = laplace_density if kind == "laplace" else huber_density
    densities = []
    for q, side in zip(outputs.T.astype(np.float64), positive.T):
        smallest = 1e-6 * (float(np.ptp(q)) or 1.0)
        shares = [float(weights[part].sum() / weights.sum()) for part in (~side, side)]
        pair = [fitted(q[part], weights[part].astype(np.float64), smallest) for part in (~side, side)]
        densities.append([[*density, share] for density, share in zip(pair, shares)])
    return np.array(densities)


def laplace_density(q: np.ndarray, weights: np.ndarray, smallest: float) -> tuple[float, float, float]:
    """Weighted median and mean distance from it: the maximum of the likelihood; σ = 0."""
    order = np.argsort(q, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    at = int(np.searchsorted(below, 0.5 - 1e-12))
    middle = q[order[at]]
    if abs(below[at] - 0.5) < 1e-12 and at + 1 < len(q):  # anywhere between the two is as likely
        middle = (middle + q[order[at + 1]]) / 2
    return float(middle), max(float(np.average(np.abs(q - middle), weights=weights)), smallest), 0.0


def huber_density(q: np.ndarray, weights: np.ndarray, smallest: float) -> tuple[float, float, float]:
    """m, s and σ of maximum likelihood; σ between Laplace's density (0.01) and nearly a Gaussian (100)."""
    middle, scale, _ = laplace_density(q, weights, smallest)
    shares = weights / weights.sum()

    def value_and_gradient(at: np.ndarray) -> tuple[float, np.ndarray]:
        s, bend = scale * np.exp(at[1]), np.exp(at[2])
        xi = (q - middle - scale * at[0]) / s
        inside = np.minimum(np.abs(xi), bend)
        slope = np.sign(xi) * inside / bend
        normaliser = huber_normaliser(bend)
        value = at[1] + np.log(normaliser) + shares @ (np.abs(xi) - inside + inside**2 / (2 * bend))
        # Z' = (Z - 2 exp(-σ/2)) / 2σ: what the ends gain at σ they lose beyond it.
        of_bend = (1 - 2 * np.exp(-bend / 2) / normaliser) / 2 - shares @ inside**2 / (2 * bend)
        return float(value), np.array([-(shares @ slope) * scale / s, 1 - shares @ (slope * xi), of_bend])

    bounds = [(None, None), (np.log(smallest / scale), 5.0), (np.log(0.01), np.log(100.0))]
    found = minimize(value_and_gradient, np.zeros(3), jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-13).x
    return float(middle + scale * found[0]), float(scale * np.exp(found[1])), float(np.exp(found[2]))
