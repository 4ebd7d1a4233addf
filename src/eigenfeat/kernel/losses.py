"""The one-dimensional losses of the kernel problem, as values.

Each loss ℓ is described by its conjugate, ``ℓ*(t) = ½ s t² + ε|t|`` on ``|t| ≤ c``: three numbers tell the losses
apart, everything a solver asks follows from them, and no solver knows a loss by name.

====================  ===========  ========  ===========
loss                  curvature s  tube ε    bound c
====================  ===========  ========  ===========
`Squared`             1            0         ∞
`Absolute`            0            0         1
`Huber`               σ            0         1
`EpsilonInsensitive`  0            ε         1
====================  ===========  ========  ===========

With row weights w the conjugate of w ℓ is ``½ (s/w) t² + ε|t|`` on ``|t| ≤ c w``. A new loss is a class that says which
of the three numbers are its own; an entry of `LOSSES` gives it a name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Loss:
    """A convex loss of one residual, zero at zero and symmetric.

    Examples
    --------
    A loss with a tube and a rounded kink:

    >>> from dataclasses import dataclass
    >>> from eigenfeat.kernel import Loss
    >>> @dataclass(frozen=True)
    ... class RoundedTube(Loss):
    ...     curvature = 0.5
    ...     tube = 0.1
    >>> RoundedTube().values(np.array([0.0, 0.1, 0.6, 1.6]))
    array([0.  , 0.  , 0.25, 1.25])
    """

    @property
    def curvature(self) -> float:
        """s: how wide the parabola at the bottom is; zero for a kink."""
        return 0.0

    @property
    def tube(self) -> float:
        """ε: residuals up to this cost nothing."""
        return 0.0

    @property
    def bound(self) -> float:
        """c: the steepest slope, which rows far off have."""
        return 1.0

    @property
    def is_quadratic(self) -> bool:
        """``ξ²/(2s)`` everywhere: the problem is a linear system."""
        return self.tube == 0 and bool(np.isinf(self.bound))

    @property
    def is_half_square(self) -> bool:
        """``½ξ²``, whose problem is Fisher's discriminant."""
        return self.is_quadratic and self.curvature == 1

    @property
    def is_piecewise_linear(self) -> bool:
        """With the sparse penalty the problem is a linear program."""
        return self.curvature == 0

    @property
    def is_smooth(self) -> bool:
        """No kink anywhere: the loss is the smallest sum of a parabola in ξ - u and of ``c|u|``."""
        return self.curvature > 0 and self.tube == 0

    def values(self, residuals: np.ndarray) -> np.ndarray:
        """``ℓ(ξ)``: with t the slope there and e what is beyond the tube, ``t e - ½ s t²`` (Fenchel and Young)."""
        excess = self._excess(residuals)
        steepness = self._steepness(excess)
        return steepness * (excess - self.curvature / 2 * steepness)

    def slopes(self, residuals: np.ndarray) -> np.ndarray:
        """``ℓ'(ξ)``, zero at the kinks of the losses that have them."""
        return np.sign(residuals) * self._steepness(self._excess(residuals))

    def _excess(self, residuals: np.ndarray) -> np.ndarray:
        return np.maximum(np.abs(residuals) - self.tube, 0.0)

    def _steepness(self, excess: np.ndarray) -> np.ndarray:
        if self.curvature == 0:
            return (excess > 0) * excess.dtype.type(self.bound)
        return np.minimum(excess / self.curvature, self.bound)

    def intercept(self, residuals: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The b that minimises ``Σ w ℓ(r - b)``, exactly, for every column of residuals."""
        if self.is_quadratic:
            return weights @ residuals / weights.sum()
        return np.array([self._best_shift(column, weights) for column in residuals.T])

    def _best_shift(self, r: np.ndarray, w: np.ndarray) -> float:
        knots = np.array([self.tube, self.tube + self.curvature * self.bound])
        knots = knots[np.isfinite(knots)]
        points = np.unique(np.concatenate([r - knots[:, None], r + knots[:, None]]))

        def slope(b: float) -> float:
            return float(-w @ self.slopes(r - b))

        # The objective is convex, with a slope that is linear between neighbouring points: bisect for the
        # interval in which it changes sign. Midpoints, because at the points themselves it may jump.
        middles = (points[1:] + points[:-1]) / 2
        low, high = 0, len(middles)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if slope(middles[middle]) >= 0 else (middle + 1, high)
        if self.curvature == 0:
            flat = low < len(middles) and abs(slope(middles[low])) <= 1e-12 * w.sum()
            return float(middles[low] if flat else points[low])
        # Continuous slope: the root lies within half an interval of points[low].
        left, right = points[max(low - 1, 0)], points[min(low + 1, len(points) - 1)]
        centre = points[low]
        left, right = (left, centre) if slope(centre) >= 0 else (centre, right)
        below, above = slope(left), slope(right)
        return float(left if above == below else left - below * (right - left) / (above - below))


@dataclass(frozen=True)
class Squared(Loss):
    """``½ξ²``."""

    @property
    def curvature(self) -> float:
        return 1.0

    @property
    def bound(self) -> float:
        return np.inf


@dataclass(frozen=True)
class Absolute(Loss):
    """``|ξ|``."""


@dataclass(frozen=True)
class Huber(Loss):
    """``ξ²/(2σ)`` up to ``|ξ| = σ``, ``|ξ| - σ/2`` beyond (thesis 3.52)."""

    sigma: float = 0.5

    @property
    def curvature(self) -> float:
        return self.sigma


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """``max(0, |ξ| - ε)``, the loss of support vector regression."""

    epsilon: float = 0.1

    @property
    def tube(self) -> float:
        return self.epsilon


#: The losses that have a name: what an estimator's ``loss`` may be besides a value.
LOSSES: dict[str, type[Loss]] = {
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "epsilon": EpsilonInsensitive,
}


def as_loss(loss: str | Loss) -> Loss:
    """The loss of a name, with its default numbers, or the loss given."""
    return LOSSES[loss]() if isinstance(loss, str) else loss


def named(loss: Loss) -> str:
    """A loss as a user may write it: ``'huber'``, ``Huber(sigma=0.3)``."""
    names = [name for name, kind in LOSSES.items() if type(loss) is kind and loss == kind()]
    return repr(names[0]) if names else repr(loss)
