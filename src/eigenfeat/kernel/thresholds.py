"""Where to cut the outputs of a two-class discriminant."""

from __future__ import annotations

import numpy as np

THRESHOLDS = ("least-squares", "gaussian", "margin")


def threshold_of(name: str | float, outputs: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """The cut for one column of outputs; "least-squares" is zero because the intercept is already in them."""
    if not isinstance(name, str):
        return float(name)
    if name == "least-squares":
        return 0.0
    rule = gaussian_threshold if name == "gaussian" else margin_threshold
    return rule(outputs, positive, weights)


def gaussian_threshold(outputs: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """Where two Gaussians fitted to the classes are equally likely, with their priors (thesis 3.2.2).

    The thesis' (3.3) defines scatter where a variance is needed here. The cut is the crossing between the two
    means; where priors leave none there, that of Gaussians with the pooled variance.
    """
    (m1, v1, p1), (m0, v0, p0) = (class_moments(outputs, weights, side) for side in (positive, ~positive))
    if m1 == m0:
        return m1
    # log p1 N(q; m1, v1) - log p0 N(q; m0, v0) = a q² + b q + c
    a = (1 / v0 - 1 / v1) / 2
    b = m1 / v1 - m0 / v0
    c = (m0**2 / v0 - m1**2 / v1 + np.log(v0 / v1)) / 2 + np.log(p1 / p0)
    roots = np.roots([a, b, c])
    between = [q.real for q in roots if abs(q.imag) < 1e-12 and min(m0, m1) <= q.real <= max(m0, m1)]
    if between:
        return float(between[0])
    pooled = p1 * v1 + p0 * v0
    return float((m1 + m0) / 2 - pooled * np.log(p1 / p0) / (m1 - m0))


def class_moments(outputs: np.ndarray, weights: np.ndarray, side: np.ndarray) -> tuple[float, float, float]:
    """Weighted mean, variance and prior of the outputs of one class."""
    q, w = outputs[side].astype(np.float64), weights[side]
    mean = np.average(q, weights=w)
    spread = np.ptp(outputs) or 1.0
    variance = max(np.average((q - mean) ** 2, weights=w), (1e-6 * spread) ** 2)
    return float(mean), float(variance), float(w.sum() / weights.sum())


def margin_threshold(
    outputs: np.ndarray, positive: np.ndarray, weights: np.ndarray, cost: float = 1.0
) -> float:
    """The cut of a one-dimensional soft-margin SVM on the outputs (thesis 5.3.2).

    Minimises ½v² + cost · Σ w max(0, 1 - y(v q + b)) over v ≥ 0 and b, with the outputs scaled to unit spread
    and the weights to mean one. For given v the best b balances the margin violations of the two classes;
    with outputs sorted once, each evaluation is two searches in prefix sums.
    """
    centre, scale = np.average(outputs, weights=weights), max(float(np.std(outputs)), 1e-300)
    q = (outputs.astype(np.float64) - centre) / scale
    w = weights / np.average(weights)
    above = _Side(-q[positive], w[positive])
    below = _Side(q[~positive], w[~positive])

    def best_offset(v: float) -> float:
        low, high = -2 - v * np.abs(q).max(), 2 + v * np.abs(q).max()
        for _ in range(60):
            b = (low + high) / 2
            # violations: 1 - vq - b > 0 above, 1 + vq + b > 0 below
            if above.weight_over(v, 1 - b) > below.weight_over(v, 1 + b):
                low = b
            else:
                high = b
        return (low + high) / 2

    def objective(v: float) -> float:
        b = best_offset(v)
        return v * v / 2 + cost * (above.violation(v, 1 - b) + below.violation(v, 1 + b))

    low, high = 1e-3, 1e3
    golden = (np.sqrt(5) - 1) / 2
    for _ in range(40):
        ratio = (high / low) ** golden
        left, right = high / ratio, low * ratio
        if objective(left) < objective(right):
            high = right
        else:
            low = left
    v = np.sqrt(low * high)
    return float(centre - scale * best_offset(v) / v)


class _Side:
    """One class' sorted values t, for sums of ``max(0, offset + v t)``."""

    def __init__(self, values: np.ndarray, weights: np.ndarray) -> None:
        order = np.argsort(values)
        self.values = values[order]
        self.weight_sums = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
        self.value_sums = np.append(np.cumsum((weights * values)[order][::-1])[::-1], 0.0)

    def weight_over(self, v: float, offset: float) -> float:
        return self.weight_sums[np.searchsorted(self.values, -offset / v, side="right")]

    def violation(self, v: float, offset: float) -> float:
        start = np.searchsorted(self.values, -offset / v, side="right")
        return offset * self.weight_sums[start] + v * self.value_sums[start]
