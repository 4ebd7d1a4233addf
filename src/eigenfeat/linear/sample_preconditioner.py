"""A preconditioner of a sample of rows: for so many columns that their Gram matrix costs more than it saves.

References
----------
Frangella, Rathore, Zhao & Udell, *PROMISE: Preconditioned stochastic optimization methods by incorporating scalable
curvature estimates*, JMLR 25, 2024.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigenfeat.linear.damped_gram import DampedGram
from eigenfeat.linear.objective import LogitObjective
from eigenfeat.linear.preconditioners import OPTIMISM, PreconditionerRequest
from eigenfeat.linear.sample_rows import SampleRows, sample_rows

#: The least ρ, in roundings of the trace: with an eigenvalue of half the trace, what is subtracted is right to 5 %.
ROUNDED = 10
#: Random signs, and factorisations at most, that find ρ.
N_PROBES, MAX_TRIES = 8, 6
#: What is left to gain was found up to twice as much as it seemed with a damping of four penalties.
LEAST_OPTIMISM = 3.0
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class SamplePreconditioner:
    """``(SᵀS + ρ)⁻¹`` for every class, from r rows S of ``diag(curvature)^½ Φ``.

    By Woodbury's identity, ``(SᵀS + ρ)⁻¹ g = (g - Sᵀ (SSᵀ + ρ)⁻¹ S g) / ρ``. Where columns are many that takes a
    fraction of the work, and of the memory, of their Gram matrix.

    Of fewer rows than columns some directions are not seen at all, and others are by chance: ρ is the penalty or, if
    larger, what makes half of the sample count, ``Σ λ / (λ + ρ) = r / 2`` over the eigenvalues λ of SSᵀ. Steps along
    what is not seen are then too short rather than too long, which pairs of past steps mend sooner.

    Attributes
    ----------
    rows : SampleRows
        S.
    gram : DampedGram
        SSᵀ, and a factor of it with ρ.
    least : float
        The least ρ.
    damping : float
        ρ.
    alpha : float
        The penalty.
    """

    rows: SampleRows
    gram: DampedGram
    least: float
    damping: float
    alpha: float

    @classmethod
    def build(cls, objective: LogitObjective, request: PreconditionerRequest) -> SamplePreconditioner:
        """From about ``n_rows`` rows, drawn by what they would add to a Gram matrix and reweighted."""
        scale = request.scale() if request.n_rows < objective.passes.n_rows else None
        passes, weights = objective.curved_sample(request.point, request.n_rows, request.seed, scale)
        rows = sample_rows(passes, np.sqrt(weights), objective.n_classes)
        gram = DampedGram.of(rows.gram(), lower=True)
        least, gram = _half_counts(gram, objective.alpha, request.seed)
        return cls(rows, gram, least, least, objective.alpha).with_alpha(objective.alpha)

    @property
    def optimism(self) -> float:
        """Along what the sample does not see, the damping stands for the penalty."""
        return float(np.clip(self.damping / max(self.alpha, TINY), LEAST_OPTIMISM, OPTIMISM))

    def with_alpha(self, alpha: float) -> SamplePreconditioner:
        """Factored again where another damping follows, in the array of this one, which is then spent."""
        damping = max(self.least, alpha)
        gram = self.gram if damping == self.damping else self.gram.damped(damping)
        return replace(self, damping=damping, gram=gram, alpha=alpha)

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        seen = self.gram.solve(self.rows.times(gradient))
        return (gradient - self.rows.back(seen)) / self.damping


def _half_counts(gram: DampedGram, alpha: float, seed: int) -> tuple[float, DampedGram]:
    """ρ with ``Σ λ / (λ + ρ) = r / 2`` to a tenth, by secants of its logit in log ρ; alpha where that has fewer.

    With the matrix so damped. Never so small that rounding would spoil what `SamplePreconditioner.solve` subtracts.
    """
    dtype, r, total = gram.diagonal.dtype, len(gram.diagonal), float(gram.diagonal.sum())
    low = np.log(max(alpha, ROUNDED * float(np.finfo(dtype).eps) * total, np.finfo(dtype).tiny))
    high = np.log(max(total, 2 * np.exp(low)))
    probes = np.random.RandomState(seed).choice(np.array([-1, 1], dtype), (r, N_PROBES))
    log_damping, first = low, True
    for _ in range(MAX_TRIES):
        damping = max(alpha, float(np.exp(log_damping)))  # which may be alpha but for rounding
        gram = gram.damped(damping)
        share = _share_that_counts(gram, damping, probes)
        if abs(share - 0.5) < 0.05 or (first and share < 0.5):
            return damping, gram
        low, high, first = (log_damping, high, False) if share > 0.5 else (low, log_damping, False)
        step = np.log(share / (1 - share)) if 0 < share < 1 else np.inf * (share - 0.5)
        margin = 0.1 * (high - low)
        log_damping = float(np.clip(log_damping + 1.5 * step, low + margin, high - margin))
    damping = float(np.exp(log_damping))
    return damping, gram.damped(damping)


def _share_that_counts(gram: DampedGram, damping: float, probes: np.ndarray) -> float:
    """``1 - ρ tr (SSᵀ + ρ)⁻¹ / r``, the trace from random signs (Hutchinson 1990)."""
    return 1.0 - damping * float(np.vdot(probes, gram.solve(probes))) / probes.size
