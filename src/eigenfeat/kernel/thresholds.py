"""Where to cut the outputs of a two-class discriminant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from eigenfeat._runtime.jit import jit

THRESHOLDS = ("least-squares", "gaussian", "margin", "least-error", "auto")
#: Rules that "auto" compares, the first of equals. "least-error" is none of them: at the rows it was found on it is
#: always the best.
COMPARED = ("margin", "least-squares", "gaussian")
#: Outputs that differ by less than this share of their size are the same.
SAME = 1e-12


def one_vs_rest(codes: np.ndarray) -> np.ndarray:
    """±1 targets: one column for two classes, one a class for more."""
    n_classes = codes.max() + 1
    of_interest = np.array([1]) if n_classes == 2 else np.arange(n_classes)
    return np.where(codes[:, None] == of_interest, 1.0, -1.0)


def thresholds(outputs: np.ndarray, codes: np.ndarray, weights: np.ndarray, name: str | float) -> np.ndarray:
    """The cut of every column of outputs, one a class against the rest.

    "auto" is the rule with the least error at these outputs, which should be those of rows left out.
    """
    if name == "auto":
        return min(
            (thresholds(outputs, codes, weights, rule) for rule in COMPARED), key=error_at(outputs, codes, weights)
        )
    sides = (one_vs_rest(codes) > 0).T
    cuts = [threshold_of(name, q, side, weights) for q, side in zip(outputs.T, sides)]
    return np.array(cuts, dtype=outputs.dtype)


def error_at(outputs: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> Callable[[np.ndarray], float]:
    """The share of wrong rows as a function of the cuts."""

    def error(cuts: np.ndarray) -> float:
        decision = outputs - cuts
        chosen = (decision[:, 0] > 0).astype(int) if decision.shape[1] == 1 else np.argmax(decision, axis=1)
        return float(np.average(chosen != codes, weights=weights))

    return error


def threshold_of(name: str | float, outputs: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """The cut for one column of outputs; "least-squares" is zero because the intercept is already in them."""
    if not isinstance(name, str):
        return float(name)
    if name == "least-squares":
        return 0.0
    rules = {"gaussian": gaussian_threshold, "margin": margin_threshold, "least-error": least_error_threshold}
    return rules[name](outputs, positive, weights)


def gaussian_threshold(outputs: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """Where two Gaussians fitted to the classes are equally likely, with their priors (thesis 3.2.2).

    The thesis' (3.3) defines scatter where a variance is needed here. The cut is the crossing between the two
    means; where priors leave none there, that of Gaussians with the pooled variance.
    """
    (m1, v1, p1), (m0, v0, p0) = (class_moments(outputs, weights, side) for side in (positive, ~positive))
    if m1 - m0 <= _rounding(outputs):
        return _larger_class_wins(outputs, p1, p0)
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
    if scale <= _rounding(outputs):
        return _larger_class_wins(q, w[side].sum(), w[~side].sum())
    above, below = (_descending((q[rows] - centre) / scale, w[rows]) for rows in (side, ~side))

    def at(log_v: float) -> tuple[float, float]:
        return _derivative_and_offset(*above, *below, np.exp(log_v), cost)

    low, high = -12.0, 20.0
    if at(low)[0] >= 0:
        # Classes overlap so much that the best margin is infinite and all rows go to the larger class.
        return gaussian_threshold(outputs, positive, weights)
    root = brentq(lambda log_v: at(log_v)[0], low, high, xtol=1e-13)
    return float(centre - scale * at(root)[1] / np.exp(root))


def least_error_threshold(outputs: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> float:
    """The cut with the least error at these outputs; of several that in the middle of the widest gap (thesis 5.3.1)."""
    used = weights > 0
    order = np.argsort(outputs[used], kind="stable")
    q, w = outputs[used][order].astype(np.float64), weights[used][order].astype(np.float64)
    side = positive[used][order]
    same = _rounding(outputs)
    if q[-1] - q[0] <= same:
        return _larger_class_wins(q, w[side].sum(), w[~side].sum())
    # Cut after row i: positive rows up to there and negative rows beyond are wrong.
    wrong = np.cumsum(np.where(side, w, -w)) + w[~side].sum()
    gaps = np.diff(q)
    ends = np.array([w[~side].sum(), w[side].sum()])  # all rows above the cut, none
    best = min(wrong[:-1][gaps > same].min(), ends.min())
    tolerance = best + 1e-9 * w.sum()
    between = np.flatnonzero((wrong[:-1] <= tolerance) & (gaps > same))
    if not len(between):
        return _larger_class_wins(q, w[side].sum(), w[~side].sum())
    at = between[np.argmax(gaps[between])]
    return float((q[at] + q[at + 1]) / 2)


def _rounding(outputs: np.ndarray) -> float:
    """Differences up to this are rounding: averages of equal numbers come out an ulp apart."""
    return float(max(SAME, 16 * np.finfo(outputs.dtype).eps) * np.abs(outputs).max(initial=0.0))


def _larger_class_wins(outputs: np.ndarray, positive: float, negative: float) -> float:
    """A cut beside all outputs, for those that tell the classes apart in no way or in the wrong one.

    Equal outputs get the decision value that least squares gives a constant, the difference of the two shares: of
    several classes without a term the largest wins, and logistic probabilities are the shares.
    """
    share = (positive - negative) / (positive + negative)
    return float((outputs.min() if share > 0 else outputs.max()) - share)


def _descending(q: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(-q)
    return q[order], w[order]


@jit()
def _derivative_and_offset(
    above: np.ndarray, above_weights: np.ndarray, below: np.ndarray, below_weights: np.ndarray, v: float, cost: float
) -> tuple[float, float]:
    """The derivative along v at the best offset, and that offset, for outputs of the two classes in descending order.

    The margin of a row ends at the offset ``y - v q``: positive rows violate it left of their end, negative ones
    right of theirs. Walking over the ends in order, the best offset is where the violating weights balance.
    """
    total = above_weights.sum()
    weight_above, pull_above = total, np.sum(above_weights * above)
    weight_below, pull_below = 0.0, 0.0
    i, j = 0, 0
    q, end, excess = 0.0, 0.0, -total
    while i + j < len(above) + len(below) and not excess > -1e-9 * total:
        positive = j == len(below) or (i < len(above) and 1 - v * above[i] <= -1 - v * below[j])
        if positive:
            q, w, end = above[i], above_weights[i], 1 - v * above[i]
            weight_above -= w
            pull_above -= w * q
            i += 1
        else:
            q, w, end = below[j], below_weights[j], -1 - v * below[j]
            weight_below += w
            pull_below += w * q
            j += 1
        excess = weight_below - weight_above
    if excess <= 1e-9 * total:
        following = np.inf
        if i < len(above):
            following = 1 - v * above[i]
        if j < len(below):
            following = min(following, -1 - v * below[j])
        offset = (end + following) / 2 if np.isfinite(following) else end
        return v + cost * (pull_below - pull_above), offset
    # The row at the kink violates in part: as much as balances the two classes.
    return v + cost * (pull_below - pull_above - q * excess), end
