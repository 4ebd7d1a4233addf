"""Where to cut the outputs of a two-class discriminant."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

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


def margin_threshold(outputs: np.ndarray, positive: np.ndarray, weights: np.ndarray, cost: float = 1.0) -> float:
    """The cut of a one-dimensional soft-margin SVM on the outputs (thesis 5.3.2).

    Minimises ½v² + cost · Σ w max(0, 1 - y(v q + b)) over v > 0 and b, with the outputs scaled to unit spread. For
    given v the best b is a weighted quantile of the margins' ends; v is where the derivative along these changes
    sign. Both are found to machine precision, so that the cut does not depend on the order of the rows.
    """
    used = weights > 0
    q, w, side = outputs[used].astype(np.float64), weights[used].astype(np.float64), positive[used]
    centre = np.average(q, weights=w)
    scale = np.sqrt(np.average((q - centre) ** 2, weights=w))
    if scale == 0:
        return float(centre)
    program = _Margin((q - centre) / scale, w, side, cost)
    low, high = -12.0, 20.0
    if program.at(np.exp(low))[0] >= 0:
        # Classes overlap so much that the best margin is infinite and all rows go to the larger class.
        return gaussian_threshold(outputs, positive, weights)
    root = brentq(lambda log_v: program.at(np.exp(log_v))[0], low, high, xtol=1e-13)
    v = np.exp(root)
    return float(centre - scale * program.at(v)[1] / v)


class _Margin:
    """The derivative along v, at the best offset, of a one-dimensional soft-margin problem."""

    def __init__(self, q: np.ndarray, w: np.ndarray, positive: np.ndarray, cost: float) -> None:
        # Two sorted runs, which a stable sort merges in linear time.
        order = np.lexsort((q, ~positive))
        self.q, self.w = q[order], w[order]
        self.sign = np.where(positive[order], 1.0, -1.0)
        self.cost = cost

    def at(self, v: float) -> tuple[float, float]:
        """Derivative and offset. A row violates its margin left (positive) or right of its end ``y - v q``."""
        ends = self.sign - v * self.q
        order = np.argsort(ends, kind="stable")
        ends, q, w, sign = ends[order], self.q[order], self.w[order], self.sign[order]
        total = w[sign > 0].sum()
        below = np.cumsum(w)
        k = min(int(np.searchsorted(below, total * (1 - 1e-12))), len(w) - 1)
        balanced = abs(below[k] - total) <= 1e-9 * total and k + 1 < len(w)
        place = np.arange(len(w))
        violating = np.where(sign > 0, place > k, place < k + balanced)
        pull = -(sign * w * q)[violating].sum()
        if balanced:
            return v + self.cost * pull, (ends[k] + ends[k + 1]) / 2
        # The row at the kink violates in part: as much as balances the two classes.
        share = -(sign * w)[violating].sum()
        return v + self.cost * (pull - q[k] * share), ends[k]
