"""Finite-sample bounds on second moments, their eigenvalues and their eigenvectors, with explicit constants.

Throughout, x₁, ..., x_n are independent rows with ‖x‖ <= R, C = E xxᵀ, Ĉ = (1/n) Σ xᵢxᵢᵀ and E = C - Ĉ.
Every deviation of a second moment has the units of R². ``constants="thesis"`` gives the bounds of Mika,
*Kernel Fisher Discriminants*, 2002, chapter 4, with the missing factor R restored; ``constants="sharp"``
(the default) gives the same statements with the constants of a shorter proof. Both are derived in
``docs/guide/stability.md``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh
from sklearn.utils.extmath import row_norms

from eigenfeat.moments.forms import SymmetricForm, as_form

Constants = Literal["sharp", "thesis"]


def radius(X: Any, centre: np.ndarray | None = None) -> float:
    """Largest distance of a row of X from ``centre`` (the origin by default): the R of every bound here.

    The bounds want an R that holds for rows not yet seen: the radius of the rows at hand is the smallest
    candidate, so give a known one (pixels in [0, 1], unit-length documents) where there is one."""
    if centre is None:
        return float(row_norms(X).max())
    if sparse.issparse(X):
        squares = row_norms(X, squared=True) - 2 * (X @ centre) + centre @ centre
        return float(np.sqrt(max(0.0, squares.max())))
    return float(row_norms(X - centre).max())


def moment_deviation(
    n_samples: float,
    radius: float,
    confidence: float = 0.95,
    *,
    centred: bool = False,
    mean_square: float | None = None,
    constants: Constants = "sharp",
) -> float:
    """A number that ‖C - Ĉ‖ exceeds with probability at most ``1 - confidence``.

    "sharp": in the Frobenius norm E‖E‖² = (E‖x‖⁴ - ‖C‖²)/n <= R⁴/n, and changing one row moves Ĉ by at most
    √2 R²/n, so McDiarmid's inequality gives, with δ = 1 - confidence,

        ‖E‖ <= ‖E‖_F <= (R²/√n) (1 + sqrt(log 1/δ)).

    "thesis": the Rademacher route, for the spectral norm,

        ‖E‖ <= R (16/n) sqrt(Σ‖xᵢ‖²) + 17 R² sqrt((2/n) log 2/δ).

    Parameters
    ----------
    n_samples : float
        n, the number of rows (of the class).
    radius : float
        R.
    confidence : float
        1 - δ.
    centred : bool
        Bound the covariance (scatter / n) instead, R being about the mean: adds the error of the mean,
        squared.
    mean_square : float, optional
        (1/n) Σ‖xᵢ‖², which "thesis" can use; R² if not given.
    constants : {"sharp", "thesis"}

    Examples
    --------
    >>> from eigenfeat.stability import moment_deviation
    >>> round(moment_deviation(10_000, radius=1.0), 4)
    0.0273
    >>> round(moment_deviation(10_000, radius=1.0, constants="thesis"), 4)
    0.6218
    """
    delta = _delta(confidence)
    if centred:
        mean_error = radius / np.sqrt(n_samples) * (1 + np.sqrt(2 * np.log(2 / delta)))
        about_mean = moment_deviation(n_samples, radius, 1 - delta / 2, mean_square=mean_square, constants=constants)
        return float(about_mean + mean_error**2)
    if constants == "sharp":
        return float(radius**2 / np.sqrt(n_samples) * (1 + np.sqrt(np.log(1 / delta))))
    root_mean_square = radius if mean_square is None else np.sqrt(mean_square)
    complexity = 16 * radius * root_mean_square / np.sqrt(n_samples)
    return float(complexity + 17 * radius**2 * np.sqrt(2 / n_samples * np.log(2 / delta)))


def eigenvalue_deviation(
    n_samples: float,
    radius: float,
    confidence: float = 0.95,
    *,
    centred: bool = True,
    constants: Constants = "sharp",
) -> float:
    """How far any sum of sample eigenvalues is from its expectation over samples of this size (Theorem 4.2).

    For every fixed set I of indices, with probability ``confidence = 1 - δ``, ``|Σ_I λ_j(Ĉ) - E Σ_I λ_j(Ĉ)|
    <= t``. Replacing a row subtracts one rank-one matrix and adds another; each moves the eigenvalues one
    way, by its trace in total, so the sum over I changes by at most the larger of the two traces: 4R²/n for
    a covariance and R²/n for a second moment about the origin. McDiarmid's inequality turns a change k/n
    into ``t = k sqrt(log(2/δ) / 2n)``. The thesis adds the two traces instead of taking the larger: ``t =
    R² sqrt(32 n log(2/δ)) / (n - 2)``, for a covariance, twice as much.

    Sample eigenvalues are biased (the largest come out too large): for the distance to the *true*
    eigenvalues use ``moment_deviation``, which bounds each of them by Weyl's inequality."""
    delta = _delta(confidence)
    if constants == "sharp":
        change = (4 if centred else 1) * radius**2
        return float(change * np.sqrt(np.log(2 / delta) / (2 * n_samples)))
    return float(radius**2 * np.sqrt(32 * n_samples * np.log(2 / delta)) / (n_samples - 2))


@dataclass(frozen=True)
class ReconstructionBound:
    """Error of projecting on the first components, and how far it can be trusted.

    Attributes
    ----------
    n_components : int
    error : float
        Mean squared reconstruction error on the rows at hand: the sum of the dropped eigenvalues.
    deviation : float
        Bound on the distance of ``error`` from its expectation over samples of this size (Lemma 4.1).
    risk_deviation : float
        Bound on the distance of ``error`` from the error of the *same* projection on new rows.
    confidence : float
    """

    n_components: int
    error: float
    deviation: float
    risk_deviation: float
    confidence: float

    def __str__(self) -> str:
        return (
            f"{self.n_components} components leave a mean squared error of {self.error:.4g} "
            f"(± {self.deviation:.3g} over samples of this size; "
            f"on new rows within {self.risk_deviation:.3g}), at confidence {self.confidence:.0%}"
        )


def reconstruction_bound(
    moment: SymmetricForm | np.ndarray,
    n_components: int,
    n_samples: float,
    radius: float,
    confidence: float = 0.95,
    *,
    constants: Constants = "sharp",
) -> ReconstructionBound:
    """The reconstruction error of the top components of a second moment, with its bounds (Lemma 4.1).

    The error on the rows, Σ of the eigenvalues dropped, concentrates as any sum of eigenvalues does
    (``eigenvalue_deviation``). The thesis leaves open how far it is from the error on *new* rows; with P
    the projection, that difference is tr((I - P)E) = tr E - tr PE, and |tr PE| <= sqrt(n_components) ‖E‖_F
    whichever P the data chose, while tr E is a mean of n numbers in [0, R²] (Hoeffding). Each gets half of
    δ."""
    delta = _delta(confidence)
    values = eigvalsh(as_form(moment).toarray().astype(np.float64))
    deviation = eigenvalue_deviation(n_samples, radius, confidence, centred=False, constants=constants)
    trace_deviation = radius**2 * np.sqrt(np.log(4 / delta) / (2 * n_samples))
    kept_deviation = np.sqrt(n_components) * moment_deviation(n_samples, radius, 1 - delta / 2)
    return ReconstructionBound(
        n_components=n_components,
        error=float(values[: len(values) - n_components].sum()),
        deviation=deviation,
        risk_deviation=float(trace_deviation + kept_deviation),
        confidence=confidence,
    )


@dataclass(frozen=True)
class SubspaceBound:
    """How far the span of chosen eigenvectors of Ĉ is from the same span for C.

    Attributes
    ----------
    index : tuple of int
        Eigenvectors chosen, 0 for the largest eigenvalue.
    gap : float
        Smallest distance between a chosen eigenvalue and one not chosen.
    needed : float
        Gap from which on the bound says anything.
    distance : float
        Bound on ‖P̂ - P‖, the sine of the largest angle between the two spans; 1 when ``gap < needed``.
    confidence : float
    """

    index: tuple[int, ...]
    gap: float
    needed: float
    distance: float
    confidence: float

    @property
    def applies(self) -> bool:
        return self.gap >= self.needed

    def __str__(self) -> str:
        chosen = f"eigenvectors {', '.join(str(i + 1) for i in self.index)}"
        if len(self.index) == 1:
            chosen = chosen.replace("vectors", "vector")
        if not self.applies:
            return f"{chosen}: gap {self.gap:.3g} is below the {self.needed:.3g} needed, so nothing is certain"
        certain = f"sin(angle) ≤ {self.distance:.3g} at confidence {self.confidence:.0%}"
        return f"{chosen}: {certain} (gap {self.gap:.3g})"


def subspace_bound(
    moment: SymmetricForm | np.ndarray,
    index: int | Sequence[int],
    n_samples: float,
    radius: float,
    confidence: float = 0.95,
    *,
    mean_square: float | None = None,
    constants: Constants = "sharp",
) -> SubspaceBound:
    """Angle between empirical and true eigenvectors (Theorem 4.5 for one, Lemma 4.5 for several).

    Write d for the gap between the eigenvalues of Ĉ in ``index`` and the others, and ε for
    ``moment_deviation``.

    "sharp": with V̂ the eigenvectors not chosen and V the true ones with the same indices, entry (k, j) of
    V̂ᵀEV equals (λ_j(C) - λ̂_k) (V̂ᵀV)_kj, and |λ_j(C) - λ̂_k| >= d - ε by Weyl's inequality. In the
    Frobenius norm therefore

        distance <= ‖V̂ᵀV‖_F <= ε / (d - ε),  for d > 2ε,

    and the true eigenvectors meant are those of the same indices. "thesis": Stewart's theorem with its
    constants,

        distance <= ρ / d for d >= ρ,  ρ = m (16 (R/n) sqrt(Σ‖xᵢ‖²) + 17 R² sqrt((2/n) log 2/δ)),

    m = 4 for one eigenvector (so 64 and 68) and 5 for several (80 and 85). The thesis prints ρ without one
    factor R: a gap between eigenvalues has the units of R², and the missing R is lost where φ(a) = a²/R is
    said to map {u·x : ‖u‖ <= 1/R} onto {(u·x)² : ‖u‖ <= 1} (it takes a² R²) and in Lemma 4.10, whose
    bounded difference is 2R²/n.

    Parameters
    ----------
    moment : form or (d, d) array
        Ĉ.
    index : int or sequence of int
        Eigenvectors, 0 for the one of the largest eigenvalue.
    n_samples, radius, confidence, mean_square, constants
        As in ``moment_deviation``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.stability import subspace_bound
    >>> print(subspace_bound(np.diag([0.7, 0.2, 0.1]), 0, n_samples=10_000, radius=1.0))
    eigenvector 1: sin(angle) ≤ 0.0578 at confidence 95% (gap 0.5)
    """
    chosen = (index,) if isinstance(index, (int, np.integer)) else tuple(index)
    values = eigvalsh(as_form(moment).toarray().astype(np.float64))[::-1]
    kept = np.isin(np.arange(len(values)), chosen)
    gap = float(np.abs(values[kept][:, None] - values[~kept][None, :]).min(initial=np.inf))
    epsilon = moment_deviation(n_samples, radius, confidence, mean_square=mean_square, constants=constants)
    if constants == "sharp":
        needed = 2 * epsilon
        distance = epsilon / (gap - epsilon) if gap > needed else 1.0
    else:
        needed = (4 if len(chosen) == 1 else 5) * epsilon
        distance = needed / gap if gap >= needed else 1.0
    return SubspaceBound(tuple(int(i) for i in chosen), gap, needed, float(distance), confidence)


def _delta(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must lie strictly between 0 and 1, as 0.95 does")
    return 1 - confidence
