"""The one-dimensional losses of the kernel problem, as values (table 2.1 of the thesis).

Each loss ℓ is described by its conjugate, ``ℓ*(t) = (s/q)|t|^q + ε|t|`` on ``|t| ≤ c`` with 1/p + 1/q = 1: four numbers
tell the losses apart, everything a solver asks follows from them, and no solver knows a loss by name.

=====================  =======  ===========  ========  ===========
loss                   power p  curvature s  tube ε    bound c
=====================  =======  ===========  ========  ===========
`Squared`              2        1            0         ∞
`Absolute`             2        0            0         1
`Huber`                2        σ            0         1
`EpsilonInsensitive`   2        0            ε         1
`Polynomial`           p        1            0         ∞
`PiecewisePolynomial`  p        σ            0         1
=====================  =======  ===========  ========  ===========

With row weights w the conjugate of w ℓ is ``½ (s/w) t² + ε|t|`` on ``|t| ≤ c w``, for p = 2, which all solvers but
"newton" ask for. A new loss is a class that says which of the numbers are its own; an entry of `LOSSES` gives it a
name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq


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
    def power(self) -> float:
        """p: the loss begins like ``|ξ|^p``."""
        return 2.0

    @property
    def is_parabolic(self) -> bool:
        """Parabolas and lines, and no other powers: what quadratic programs are made of."""
        return self.power == 2

    @property
    def is_quadratic(self) -> bool:
        """``ξ²/(2s)`` everywhere: the problem is a linear system."""
        return self.is_parabolic and self.tube == 0 and bool(np.isinf(self.bound))

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
        """No kink anywhere, so that Newton's method applies."""
        return self.curvature > 0 and self.tube == 0

    def values(self, residuals: np.ndarray) -> np.ndarray:
        """``ℓ(ξ)``: with t the slope there and e what is beyond the tube, ``t e - (s/q) t^q`` (Fenchel and Young)."""
        excess = self._excess(residuals)
        steepness = self._steepness(excess)
        if self.is_parabolic:
            return steepness * (excess - self.curvature / 2 * steepness)
        dual = self.power / (self.power - 1)
        return steepness * excess - self.curvature / dual * steepness**dual

    def slopes(self, residuals: np.ndarray) -> np.ndarray:
        """``ℓ'(ξ)``, zero at the kinks of the losses that have them."""
        return np.sign(residuals) * self._steepness(self._excess(residuals))

    def curvatures(self, residuals: np.ndarray) -> np.ndarray:
        """``ℓ''(ξ)`` of a smooth loss; zero where it is a line, and at zero where it begins flatter than a parabola."""
        excess = self._excess(residuals)
        inside = self._steepness(excess) < self.bound
        with np.errstate(divide="ignore"):
            bent = (self.power - 1) / self.curvature * (excess / self.curvature) ** (self.power - 2)
        return np.where(inside, bent, 0.0)

    def majorants(self, residuals: np.ndarray) -> np.ndarray:
        """``ℓ'(ξ)/ξ``: for p ≤ 2 a parabola of this curvature about zero lies above the loss and touches it at ξ."""
        size = np.abs(residuals)
        smallest = np.sqrt(np.finfo(np.float64).eps) * max(float(size.max(initial=0.0)), np.finfo(np.float64).tiny)
        size = np.maximum(size, smallest)
        return self._steepness(self._excess(size)) / size

    def _excess(self, residuals: np.ndarray) -> np.ndarray:
        return np.maximum(np.abs(residuals) - self.tube, 0.0)

    def _steepness(self, excess: np.ndarray) -> np.ndarray:
        if self.curvature == 0:
            return (excess > 0) * excess.dtype.type(self.bound)
        steep = excess / self.curvature
        return np.minimum(steep if self.is_parabolic else steep ** (self.power - 1), self.bound)

    def intercept(self, residuals: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The b that minimises ``Σ w ℓ(r - b)``, exactly, for every column of residuals."""
        if self.is_quadratic:
            return weights @ residuals / weights.sum()
        return np.array([self._best_shift(column, weights) for column in residuals.T])

    def _best_shift(self, r: np.ndarray, w: np.ndarray) -> float:
        if not self.is_parabolic:
            # A slope that grows: zero where the residuals at the two ends have opposite signs.
            low, high = float(r.min()), float(r.max())
            return low if low == high else float(brentq(lambda b: -w @ self.slopes(r - b), low, high, xtol=1e-14))
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


@dataclass(frozen=True)
class Polynomial(Loss):
    """``|ξ|^p / p``, p > 1: below two more robust than squares, above two closer to the largest residual."""

    p: float = 1.5

    @property
    def power(self) -> float:
        return self.p

    @property
    def curvature(self) -> float:
        return 1.0

    @property
    def bound(self) -> float:
        return np.inf


@dataclass(frozen=True)
class PiecewisePolynomial(Loss):
    """``|ξ|^p / (p σ^(p-1))`` up to ``|ξ| = σ``, ``|ξ| - σ(p-1)/p`` beyond, p > 1; `Huber` with p = 2."""

    p: float = 3.0
    sigma: float = 0.5

    @property
    def power(self) -> float:
        return self.p

    @property
    def curvature(self) -> float:
        return self.sigma


#: The losses that have a name: what an estimator's ``loss`` may be besides a value.
LOSSES: dict[str, type[Loss]] = {
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "epsilon": EpsilonInsensitive,
    "polynomial": Polynomial,
    "piecewise": PiecewisePolynomial,
}


def as_loss(loss: str | Loss) -> Loss:
    """The loss of a name, with its default numbers, or the loss given."""
    return LOSSES[loss]() if isinstance(loss, str) else loss


def named(loss: Loss) -> str:
    """A loss as a user may write it: ``'huber'``, ``Huber(sigma=0.3)``."""
    names = [name for name, kind in LOSSES.items() if type(loss) is kind and loss == kind()]
    return repr(names[0]) if names else repr(loss)
