"""What eigenvalues look like when signal and noise are drawn from the same distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from eigenfeat.stability.tables import table

# The Tracy-Widom law of order 1 as a shifted gamma law, accurate to about 1e-3 in probability
# (Chiani, "Distribution of the largest eigenvalue for real Wishart and Gaussian random matrices", 2014).
_TRACY_WIDOM = stats.gamma(46.446, loc=-9.84801, scale=0.186054)


@dataclass(frozen=True)
class NullPair:
    """The spectrum of S over N when both are second moments of the same centred Gaussian rows, without a
    ridge.

    With c1 = d/n1, c2 = d/n2 < 1 and h = sqrt(c1 + c2 - c1 c2), the eigenvalues fill the interval between
    the ``edges`` ((1 ∓ h)/(1 - c2))² (Wachter 1980). The extreme eigenvalues of a finite pair fluctuate
    about the edges on a scale of n^(-2/3): log λ_max is approximately μ + σ W with W of the Tracy-Widom law
    (Johnstone 2008), which ``upper`` and ``p_values`` use; the smallest one is the largest of the swapped
    pair.

    The edges hold beyond Gaussian rows (independent entries after some linear map, four moments). Rows with
    heavy tails, or rows that depend on one another, spread further: use ``permutation_test`` there, and
    wherever there is a ridge.

    Parameters
    ----------
    n_features : int
        d.
    n_signal, n_noise : float
        Rows (degrees of freedom) behind S and N; one less each for covariances about their own means. With
        sample weights, the effective numbers (Σw)² / Σw².

    Examples
    --------
    >>> from eigenfeat.stability import NullPair
    >>> null = NullPair(n_features=20, n_signal=200, n_noise=400)
    >>> null.edges
    (0.4248..., 2.1125...)
    >>> null.p_values([4.0, 2.0, 1.0]).round(3)
    array([0.  , 0.76, 1.  ])
    """

    n_features: int
    n_signal: float
    n_noise: float

    def __post_init__(self) -> None:
        if self.n_features >= self.n_noise:
            raise ValueError(
                f"the noise has {self.n_noise:g} rows for {self.n_features} features: without a ridge it is "
                "singular and the null spectrum unbounded. Use a ridge and permutation_test, or fewer features"
            )

    @property
    def edges(self) -> tuple[float, float]:
        c1, c2 = self.n_features / self.n_signal, self.n_features / self.n_noise
        h = np.sqrt(c1 + c2 - c1 * c2)
        return float(((1 - h) / (1 - c2)) ** 2), float(((1 + h) / (1 - c2)) ** 2)

    def upper(self, level: float = 0.05) -> float:
        """Value that the largest eigenvalue of a null pair exceeds with probability ``level``."""
        location, scale = self._log_largest()
        return float(np.exp(location + scale * _TRACY_WIDOM.isf(level)))

    def lower(self, level: float = 0.05) -> float:
        """Value that the smallest eigenvalue falls below with probability ``level``; 0 if S is singular."""
        if self.n_signal <= self.n_features:
            return 0.0
        return 1 / NullPair(self.n_features, self.n_noise, self.n_signal).upper(level)

    def p_values(self, values: np.ndarray) -> np.ndarray:
        """Two-sided: probability that some eigenvalue of a null pair is as far out as this one.

        Right for the extreme eigenvalues and on the safe side for the others.
        """
        logs = np.log(np.maximum(values, np.finfo(np.float64).tiny))
        location, scale = self._log_largest()
        above = _TRACY_WIDOM.sf((logs - location) / scale)
        if self.n_signal <= self.n_features:
            return above
        location, scale = NullPair(self.n_features, self.n_noise, self.n_signal)._log_largest()
        below = _TRACY_WIDOM.sf((-logs - location) / scale)
        return np.minimum(1.0, 2 * np.minimum(above, below))

    def _log_largest(self) -> tuple[float, float]:
        # Johnstone's p, m, n are n_features, n_noise, n_signal; his root is of n1 S over n1 S + n2 N, so that
        # its logit is log λ + log(n1 / n2).
        p, m, n = self.n_features, self.n_noise, self.n_signal
        total = m + n - 1
        gamma = 2 * np.arcsin(np.sqrt((min(p, n) - 0.5) / total))
        phi = 2 * np.arcsin(np.sqrt((max(p, n) - 0.5) / total))
        location = 2 * np.log(np.tan((phi + gamma) / 2))
        spread = 16 / total**2 / (np.sin(phi + gamma) ** 2 * np.sin(phi) * np.sin(gamma))
        return float(location + np.log(m / n)), float(np.cbrt(spread))


@dataclass(frozen=True, eq=False)
class Distinguishable:
    """Which eigenvalues noise alone would not have given.

    Attributes
    ----------
    values : (r,) array
        Eigenvalues in the order they came.
    p_values : (r,) array
        Probability under noise alone of any eigenvalue as far out.
    level : float
        p-value below which a component counts as distinguishable.
    interval : (float, float)
        Eigenvalues inside could be noise.
    method : str
        "random-matrix edges" or "label permutation".
    label : str
        The quotient, where there are several.
    """

    values: np.ndarray
    p_values: np.ndarray
    level: float
    interval: tuple[float, float]
    method: str
    label: str = ""

    @property
    def mask(self) -> np.ndarray:
        return self.p_values <= self.level

    @property
    def n_distinguishable(self) -> int:
        return int(self.mask.sum())

    def __str__(self) -> str:
        name = f"{self.label}: " if self.label else ""
        low, high = self.interval
        head = (
            f"{name}{self.n_distinguishable} of {len(self.values)} components stand out "
            f"({self.method}, level {self.level:.2g}; noise reaches from {low:.4g} to {high:.4g})\n"
        )
        rows = [
            (i + 1, f"{value:.4g}", f"{p:.2g}", "yes" if keep else "no")
            for i, (value, p, keep) in enumerate(zip(self.values, self.p_values, self.mask))
        ]
        return head + table(("", "eigenvalue", "p-value", "stands out"), rows, limit=10)


def distinguishable(
    values: np.ndarray,
    n_features: int,
    n_signal: float,
    n_noise: float,
    *,
    level: float = 0.05,
    label: str = "",
) -> Distinguishable:
    """Eigenvalues of a pair without ridge that lie outside what a null pair gives (see ``NullPair``).

    Parameters
    ----------
    values : (r,) array
        Eigenvalues of S over N, S and N being means over ``n_signal`` and ``n_noise`` rows.
    n_features, n_signal, n_noise
        As in ``NullPair``.
    level : float
        Probability of calling anything distinguishable when nothing is.
    label : str
        Shown in the summary.

    Examples
    --------
    >>> from eigenfeat.stability import distinguishable
    >>> print(distinguishable([4.0, 2.0, 1.0], n_features=20, n_signal=200, n_noise=400))
    1 of 3 components stand out (random-matrix edges, level 0.05; noise reaches from 0.3926 to 2.253)
       eigenvalue  p-value  stands out
    1  4           5.6e-15  yes
    2  2           0.76     no
    3  1           1        no
    """
    null = NullPair(n_features, n_signal, n_noise)
    values = np.asarray(values, dtype=np.float64)
    tail = level / 2 if n_signal > n_features else level  # of a singular signal only the upper end can tell
    interval = (null.lower(tail), null.upper(tail))
    return Distinguishable(values, null.p_values(values), level, interval, "random-matrix edges", label)
