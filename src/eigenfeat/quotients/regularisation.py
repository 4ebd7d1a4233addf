"""The one owner of ridge and shrinkage: what is added to a noise matrix before it is inverted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from eigenfeat.moments import Mixture, Moments, SymmetricForm, identity_like

NoiseKind = Literal["second_moment", "covariance", "within", "identity"]


@dataclass(frozen=True)
class Regularisation:
    """``N ← (1 - s) N + s μ I + ridge · shape``, with μ the mean diagonal of N.

    Only the noise is regularised: a signal that is shrunk too, or computed as a difference of two matrices that
    were shrunk by different amounts, is no longer a signal.

    Parameters
    ----------
    ridge : float
        Relative: times μ for ``shape="identity"`` (the papers' γ/d · Trace), times the diagonal of the pooled
        second moment for ``shape="diagonal"``, which leaves features invariant to the units of each column.
    shrinkage : None, "auto", "oas" or float in [0, 1]
        s. "auto" is Ledoit & Wolf (2004), "oas" Chen et al. (2010); one factor for each noise matrix, from the
        rows that make it, about the point it is centred on.
    shape : "identity" or "diagonal"
    """

    ridge: float = 0.0
    shrinkage: float | str | None = None
    shape: str = "identity"

    @property
    def needs_fourth_moment(self) -> bool:
        return self.shrinkage == "auto"

    def noise(self, moments: Moments, mixture: Mixture = None, kind: NoiseKind = "second_moment") -> SymmetricForm:
        """The regularised noise matrix of a mixture of classes."""
        if kind == "identity":
            return identity_like(moments.second_moment(mixture))
        if kind == "within":
            return self.of_moments(moments.within(mixture), moments, mixture, "class")
        center = mixture if kind == "covariance" else "origin"
        return self.of_moments(moments.second_moment(mixture, center), moments, mixture, center)

    def of_moments(
        self, form: SymmetricForm, moments: Moments, mixture: Mixture = None, center: Mixture | str = "origin"
    ) -> SymmetricForm:
        """The given second moment of a mixture about a center, regularised as a noise matrix."""
        factor = self.shrinkage
        if isinstance(factor, str):
            size, count = (form.squared_norm(), form.mean_diagonal(), form.shape[0]), moments.effective_count(mixture)
            if factor == "auto":
                factor = ledoit_wolf_factor(*size, count, moments.fourth_moment(mixture, center))
            else:
                factor = oas_factor(*size, count)
        return self.with_ridge(form if factor is None else shrunk(form, factor), moments)

    def with_ridge(self, form: SymmetricForm, moments: Moments | None = None) -> SymmetricForm:
        """The ridge alone."""
        if not self.ridge:
            return form
        if self.shape == "diagonal":
            diagonal = form.diagonal() if moments is None else moments.second_moment().diagonal()
            # A column that is always zero would get no ridge: give it the smallest of the others.
            floor = diagonal[diagonal > 0].min(initial=np.inf)
            return form.shifted(self.ridge * np.maximum(diagonal, floor if np.isfinite(floor) else 1.0))
        return form.shifted(self.ridge * form.mean_diagonal())

    def of_matrix(self, form: SymmetricForm) -> SymmetricForm:
        """A noise matrix that does not come from moments, regularised.

        Raises
        ------
        ValueError
            For data-driven shrinkage, which needs the rows a matrix came from.
        """
        if isinstance(self.shrinkage, str):
            raise ValueError(
                f"shrinkage={self.shrinkage!r} is estimated from the rows a noise matrix came from, and this matrix is "
                "given: use shrinkage=None or a number in [0, 1]. FisherLDA and GEMFeatures estimate it."
            )
        return self.with_ridge(shrunk(form, self.shrinkage) if self.shrinkage else form)


def shrunk(form: SymmetricForm, factor: float) -> SymmetricForm:
    """``(1 - s) N + s μ I``."""
    return form.scaled(1.0 - factor).shifted(factor * form.mean_diagonal())


def ledoit_wolf_factor(squared_norm: float, mean_diagonal: float, d: int, count: float, fourth: float) -> float:
    """``min(β, δ)/δ``, δ = ‖Σ - μI‖²/d and β = (E‖z‖⁴ - ‖Σ‖²)/(n d) (Ledoit & Wolf 2004, Lemma 3.2-3.4)."""
    delta = squared_norm / d - mean_diagonal**2
    beta = (fourth - squared_norm) / (count * d)
    return 0.0 if beta <= 0 or delta <= 0 else min(beta, delta) / delta


def oas_factor(squared_norm: float, mean_diagonal: float, d: int, count: float) -> float:
    """The oracle-approximating factor of Chen, Wiesel, Eldar & Hero (2010), eq. 23."""
    alpha, square = squared_norm / d**2, mean_diagonal**2
    below = (count + 1.0) * (alpha - square / d)
    return 1.0 if below <= 0 else min((alpha + square) / below, 1.0)
