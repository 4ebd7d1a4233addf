"""How far a pair of matrices is from singular, and what an error in it can do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from eigenfeat.moments.forms import FactoredForm, SymmetricForm, as_form
from eigenfeat.stability.rank import largest_eigenvalue
from eigenfeat.stability.tables import table


@dataclass(frozen=True)
class CrawfordNumber:
    """``min over unit v of sqrt((vᵀSv)² + (vᵀNv)²)``, with the angle where it is attained.

    Attributes
    ----------
    value : float
        A certified lower bound, equal to the minimum up to rounding: safe to use in a bound.
    angle : float
        θ with ``value = λ_min(cos θ S + sin θ N)``.
    scale : float
        ``sqrt(‖S‖² + ‖N‖²)`` in the spectral norm: ``value / scale`` has no units.
    """

    value: float
    angle: float
    scale: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        relative = self.value / self.scale if self.scale else 0.0
        return f"Crawford number {self.value:.4g} ({relative:.2g} of the size of the pair)"


def crawford_number(signal: SymmetricForm | np.ndarray, noise: SymmetricForm | np.ndarray) -> CrawfordNumber:
    """Distance of a pair (S, N) from the pairs that have no well-defined eigenvalues.

    The points ``w(v) = (vᵀSv, vᵀNv)``, v of unit length, fill a convex set W of the plane, and the Crawford
    number is its distance c from the origin. Each half plane through the nearest point gives the dual form

        c = max over θ of f(θ),  f(θ) = λ_min(cos θ S + sin θ N),

    where it is positive. f'(θ) = 0 exactly where w(v), v the eigenvector of λ_min, points along θ, and the
    sign of ``angle(w) - θ`` changes once on [0, π] when N is positive semi-definite: a bracketing root
    search on it cannot be trapped, whatever kinks f has. Any f(θ) is a lower bound on c, so what is
    returned is one.

    Parameters
    ----------
    signal, noise : form or (d, d) array
        S symmetric, N symmetric positive semi-definite.

    Returns
    -------
    CrawfordNumber
        ``value`` is zero when S and N share a direction in which both vanish.

    References
    ----------
    G. W. Stewart, *Perturbation bounds for the definite generalized eigenvalue problem*, 1979.
    Karampatziakis & Mineiro, *Discriminative Features via Generalized Eigenvectors*, 2014, section 2.2
    (which states the square).

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.stability import crawford_number
    >>> print(crawford_number(np.diag([3.0, 0.0]), np.diag([4.0, 1.0])))
    Crawford number 1 (0.2 of the size of the pair)
    """
    signal, noise = as_form(signal), as_form(noise)
    scale = float(np.hypot(largest_eigenvalue(signal), largest_eigenvalue(noise)))
    if _leaves_a_null_space(signal, noise):
        # Orthogonal to every row of both factors, v sees the two shifts only; and nothing sees less.
        value = float(np.hypot(signal.shift, noise.shift))
        angle = float(np.arctan2(noise.shift, signal.shift))
        return CrawfordNumber(value, angle, scale)

    S = signal.toarray().astype(np.float64, copy=False)
    N = noise.toarray().astype(np.float64, copy=False)
    best = (-np.inf, 0.0)

    def turn(theta: float) -> float:
        """angle(w) - θ at the minimising direction; remembers the largest f seen."""
        nonlocal best
        values, vectors = eigh(np.cos(theta) * S + np.sin(theta) * N, subset_by_index=[0, 0])
        v = vectors[:, 0]
        best = max(best, (float(values[0]), theta))
        return float(np.arctan2(v @ N @ v, v @ S @ v)) - theta

    start, stop = 0.0, np.pi
    if turn(start) > 0 > turn(stop):
        brentq(turn, start, stop, xtol=1e-14, maxiter=200)
    value, angle = best
    rounding = S.shape[0] * np.finfo(np.float64).eps * scale
    return CrawfordNumber(value if value > rounding else 0.0, angle, scale)


@dataclass(frozen=True, eq=False)
class Perturbation:
    """What an error of size ε in a pair can do to its eigenvalues and directions.

    Attributes
    ----------
    crawford : float
        c of the pair at hand.
    epsilon : float
        ``sqrt(‖ΔS‖² + ‖ΔN‖²)`` assumed.
    angle : float
        ``arcsin(ε / c)``: no ``atan λ`` moves further. π/2 (nothing is known) when ε ≥ c.
    values : (d,) array
        Eigenvalues, largest first; infinite where the noise vanishes.
    lower, upper : (d,) array
        Interval that holds the q-th eigenvalue of every pair within ε.
    gaps : (d,) array
        Chordal distance of each eigenvalue to the nearest other one: sin of the difference of their ``atan``.
    sines : (d,) array
        Bound on the sine of the angle between each direction and its perturbed self; 1 when nothing is known.
    """

    crawford: float
    epsilon: float
    angle: float
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    gaps: np.ndarray
    sines: np.ndarray

    def __str__(self) -> str:
        head = f"Crawford number c = {self.crawford:.4g}, error ε = {self.epsilon:.4g}: "
        if self.epsilon >= self.crawford:
            return head + "ε ≥ c, so no eigenvalue is certain. More rows or a ridge on the noise would help."
        rows = [
            (q + 1, f"{v:.4g}", f"[{lo:.4g}, {hi:.4g}]", f"{gap:.2g}", f"{sine:.2g}")
            for q, (v, lo, hi, gap, sine) in enumerate(zip(self.values, self.lower, self.upper, self.gaps, self.sines))
        ]
        head += f"|Δ atan λ| ≤ {self.angle:.3g}\n"
        return head + table(("", "eigenvalue", "lies in", "gap", "sin(angle) ≤"), rows, limit=10)


def perturbation(signal: SymmetricForm | np.ndarray, noise: SymmetricForm | np.ndarray, epsilon: float) -> Perturbation:
    r"""Bounds on eigenvalues and directions of every pair within ``epsilon`` of (S, N).

    Let S' = S + E, N' = N + F, ``ε² = ‖E‖² + ‖F‖²`` (spectral norms) and c the Crawford number of (S, N).

    *Eigenvalues.* w(v) = (vᵀSv, vᵀNv) moves by at most ε and is at least c long, so its direction turns by at
    most arcsin(ε/c), for every v at once; ``atan λ_q`` is a min-max of that direction, hence

        |atan λ'_q - atan λ_q| <= arcsin(ε / c).

    *Directions.* Let x_k be the eigenvectors of (S, N) scaled to α_k² + β_k² = 1, α_k = x_kᵀSx_k, β_k =
    x_kᵀNx_k, and X the matrix of them. With B = cos θ S + sin θ N at the Crawford angle, XᵀBX is diagonal
    with entries at most 1 and B >= cI, so ‖X‖² <= 1/c. A unit eigenvector v' = Xy of the perturbed pair,
    with (α', β') likewise scaled, leaves the residual r = β'Sv' - α'Nv' = α'Fv' - β'Ev', of norm at most ε.
    Row k of Xᵀr reads (β'α_k - α'β_k) y_k = x_kᵀr, and |β'α_k - α'β_k| is the chordal distance χ(λ_k, λ'),
    so the part of v' outside x_q is at most ‖X‖ · ‖X‖ ε / min χ:

        sin∠(v', x_q) <= ε / (c · min over k ≠ q of χ(λ_k, λ'_q)).

    λ'_q is unknown but within arcsin(ε/c) of λ_q, and the smallest χ over that range is used.

    Parameters
    ----------
    signal, noise : form or (d, d) array
        S and N, any ridge included in N.
    epsilon : float
        Size of the error, in the units of the matrices. ``moment_deviation`` gives one for class moments.

    Returns
    -------
    Perturbation

    References
    ----------
    Stewart 1979 and Stewart & Sun, *Matrix Perturbation Theory*, 1990, chapter VI; Golub & Van Loan,
    section 8.7.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.stability import perturbation
    >>> print(perturbation(np.diag([9.0, 1.0]), np.eye(2), epsilon=0.05))
    Crawford number c = 1.414, error ε = 0.05: |Δ atan λ| ≤ 0.0354
       eigenvalue  lies in          gap   sin(angle) ≤
    1  9           [6.8, 13.26]     0.62  0.059
    2  1           [0.9317, 1.073]  0.62  0.059
    """
    signal, noise = as_form(signal), as_form(noise)
    crawford = crawford_number(signal, noise)
    if crawford.value == 0:
        raise ValueError(
            "signal and noise vanish together in some direction (their Crawford number is zero), so their "
            "eigenvalues are not defined there; add a ridge to the noise, or restrict both to its range"
        )
    phi = _eigenvalue_angles(signal, noise, crawford.angle)
    c = crawford.value
    turn = float(np.arcsin(min(1.0, epsilon / c)))
    apart = np.abs(phi[:, None] - phi[None, :])
    np.fill_diagonal(apart, np.pi / 2)
    gaps = np.sin(apart).min(axis=1, initial=1.0)
    worst = np.minimum(np.sin(np.clip(apart - turn, 0, np.pi)), np.sin(np.clip(apart + turn, 0, np.pi)))
    np.fill_diagonal(worst, 1.0)
    nearest = worst.min(axis=1, initial=1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        sines = np.where(nearest > 0, np.minimum(1.0, epsilon / (c * nearest)), float(epsilon > 0))
    return Perturbation(
        crawford=c,
        epsilon=float(epsilon),
        angle=turn,
        values=_tangent(phi),
        lower=_tangent(phi - turn),
        upper=_tangent(phi + turn),
        gaps=gaps,
        sines=sines,
    )


def _eigenvalue_angles(signal: SymmetricForm, noise: SymmetricForm, theta: float) -> np.ndarray:
    """``atan λ`` of every eigenvalue, largest first, from a pencil turned so that its noise is definite."""
    S = signal.toarray().astype(np.float64, copy=False)
    N = noise.toarray().astype(np.float64, copy=False)
    turned = eigh(np.sin(theta) * S - np.cos(theta) * N, np.cos(theta) * S + np.sin(theta) * N, eigvals_only=True)
    return np.pi / 2 - theta + np.arctan(turned[::-1])


def _tangent(phi: np.ndarray) -> np.ndarray:
    """tan φ, infinite from π/2 on (up to rounding) and minus infinite from -π/2 down."""
    limit = np.pi / 2 - 1e-14
    inside = np.tan(np.clip(phi, -limit, limit))
    return np.where(phi >= limit, np.inf, np.where(phi <= -limit, -np.inf, inside))


def _leaves_a_null_space(signal: SymmetricForm, noise: SymmetricForm) -> bool:
    """Whether fewer rows than columns stand behind both matrices together, with a plain ridge on each."""
    return (
        isinstance(signal, FactoredForm)
        and isinstance(noise, FactoredForm)
        and signal.rank + noise.rank < signal.shape[0]
        and np.ndim(signal.shift) == 0
        and np.ndim(noise.shift) == 0
    )
