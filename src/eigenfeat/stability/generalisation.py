r"""A bound on the error of kernel Fisher discriminants on new rows, from uniform stability.

The thesis (chapter 4) asks for a β of order 1/n with ``|ℓ(A_S, ·) - ℓ(A_(S without i), ·)| ≤ β`` for every sample S,
and leaves it open. For squared loss with the penalty on the function there is one. With f = g + b, ``½Σ(y - f)² +
½alpha‖g‖²``, λ = alpha/n, labels ±1, m the mean of the rows in feature space and C their scatter,

1. leaving row i out changes f at x by exactly ``G(x, xᵢ) (yᵢ - f₋ᵢ(xᵢ))``, with
   ``G(x, z) = 1/n + (Φ(x) - m)ᵀ(C + alpha)⁻¹(Φ(z) - m)`` (the intercept, eliminated), so that ``|G| ≤ (1 + ρ²/λ)/n``
   where rows are within ρ of any mean of rows;
2. ``f₋ᵢ(x) - ȳ = Σ aⱼ(x)(yⱼ - ȳ)`` with ``Σaⱼ² ≤ ρ² max_t t/(t + alpha)² = ρ²/4alpha``, and ``Σ(yⱼ - ȳ)² = 4np(1 - p)``
   for a share p of positive labels, so that ``|y - f₋ᵢ(x)| ≤ 2p + √(p(1 - p)) ρ/√λ`` for p ≥ ½, at most
   ``1 + √(1 + ρ²/4λ)``.

Together |f(x) - f₋ᵢ(x)| ≤ κ/n with the constant ``κ = (1 + ρ²/λ)(1 + √(1 + ρ²/4λ))``. The ramp loss of a margin γ,
``min(1, max(0, 1 - y f/γ))``, is 1/γ-Lipschitz, at most one, and never below the error of the sign of f, so theorem 12
of Bousquet and Elisseeff holds with β = κ/(nγ).

References
----------
O. Bousquet and A. Elisseeff, "Stability and generalization", JMLR 2, 2002; S. Mika, "Kernel Fisher Discriminants",
2002, chapter 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenfeat.kernel.losses import as_loss
from eigenfeat.kernel.margin_losses import MARGIN_LOSSES

#: Kernels whose values are between zero and that of a row with itself, the same for all rows.
NON_NEGATIVE_KERNELS = ("rbf", "inverse_multiquadric", "laplacian", "chi2")


def output_stability(n_samples: int, alpha: float, radius: float) -> float:
    """κ/n: no output of a kernel Fisher discriminant changes by more when any one of n rows is left out.

    Parameters
    ----------
    n_samples : int
    alpha : float
        Weight of ½‖w‖² against the sum ½Σξ², as in `KernelFisherClassifier`; the bound is of order 1/n while alpha/n
        is constant.
    radius : float
        ρ: rows in feature space are no farther from the mean of any rows.

    Examples
    --------
    >>> from eigenfeat.stability import output_stability
    >>> round(output_stability(10_000, alpha=10_000.0, radius=2**0.5), 6)
    0.000667
    """
    share = radius**2 * n_samples / alpha
    return float((1 + share) * (1 + np.sqrt(1 + share / 4)) / n_samples)


@dataclass(frozen=True)
class GeneralisationBound:
    """What the error of the sign of a discriminant on new rows exceeds with probability at most 1 - confidence.

    Attributes
    ----------
    n_samples, alpha, radius, margin, confidence
        What the bound was computed for.
    stability : float
        β, the largest change of the ramp loss when a row is left out.
    training_risk, left_out_risk : float; float or None
        Mean ramp loss at the rows, and at the rows left out where the model has those outputs.
    from_training, from_left_out : float; float or None
        The bounds; of one and above they say nothing.
    """

    n_samples: int
    alpha: float
    radius: float
    margin: float
    confidence: float
    stability: float
    training_risk: float
    left_out_risk: float | None
    from_training: float
    from_left_out: float | None

    def __str__(self) -> str:
        best = min(value for value in (self.from_training, self.from_left_out) if value is not None)
        verdict = f"at most {best:.1%}" if best < 1 else f"no bound below one ({best:.3g}): alpha is small for the rows"
        return (
            f"error of new rows at confidence {self.confidence:.0%}: {verdict} (stability {self.stability:.3g}, ramp "
            f"loss {self.training_risk:.3f} at the rows)"
        )


def kernel_fisher_bound(
    model: Any,
    X: Any,
    y: Any,
    *,
    radius: float | None = None,
    margin: float = 1.0,
    confidence: float = 0.95,
    n_candidates: int = 1,
) -> GeneralisationBound:
    """Bound the error of a fitted two-class kernel Fisher discriminant, cut at zero, on new rows.

    With probability ``confidence = 1 - δ``, D = ``(4nβ + 1) √(log(1/δ) / 2n)``: the error is at most the training ramp
    loss + 2β + D, and at most the left-out one + β + D.

    Parameters
    ----------
    model : fitted KernelFisherClassifier or KernelFisherClassifierCV
        Squared loss, penalty "function", all rows in the expansion, two classes, no weights.
    X, y
        The rows it was fitted to.
    radius : float, optional
        ρ of `output_stability`. √2 times the length of a row for kernels without negative values ("rbf",
        "inverse_multiquadric", "laplacian", "chi2"); of others it must be given (2 max √k(x, x) will do).
    margin : float
        γ, fixed beforehand.
    confidence : float
    n_candidates : int
        Pairs of alpha and gamma that were compared on the rows: their chances to fail are added up.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from eigenfeat import KernelFisherClassifier
    >>> from eigenfeat.stability import kernel_fisher_bound
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bound = kernel_fisher_bound(KernelFisherClassifier(alpha=500.0).fit(X, y), X, y, margin=0.5)
    >>> bound.training_risk < bound.from_training
    True
    """
    _check_model(model)
    rho = _known_radius(model) if radius is None else float(radius)
    n = len(model.dual_coef_)
    beta = output_stability(n, model.alpha_, rho) / margin
    deviation = (4 * n * beta + 1) * np.sqrt(np.log(n_candidates / (1 - confidence)) / (2 * n))
    signs = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0)
    training = _ramp(signs * (model.decision_function(X) + model.threshold_[0]), margin)
    left_out = None
    if model.loo_decision_ is not None:
        left_out = _ramp(signs * (model.loo_decision_ + model.threshold_[0]), margin)
    return GeneralisationBound(
        n,
        float(model.alpha_),
        rho,
        margin,
        confidence,
        beta,
        training,
        left_out,
        float(training + 2 * beta + deviation),
        None if left_out is None else float(left_out + beta + deviation),
    )


def _ramp(margins: np.ndarray, margin: float) -> float:
    return float(np.clip(1 - margins / margin, 0, 1).mean())


def _check_model(model: Any) -> None:
    parts = {
        "loss='squared'": model.loss not in MARGIN_LOSSES and as_loss(model.loss).is_half_square,
        "penalty='function'": model.penalty == "function",
        "two classes": len(model.classes_) == 2,
        "an expansion over all rows (solver 'linear' or 'qp', no centers and no invariances)": (
            model.solver_ in ("linear", "qp", "smo") and not model.invariances
        ),
        "no class_weight": model.class_weight is None,
    }
    for need in (need for need, met in parts.items() if not met):
        raise ValueError(f"The bound is for kernel Fisher discriminants with {need}; {type(model).__name__} has not.")


def _known_radius(model: Any) -> float:
    """√2 times the length of rows: ‖Φ(x) - m‖² = k(x, x) - 2 mean k(x, ·) + mean k(·, ·), no value negative."""
    if model.kernel not in NON_NEGATIVE_KERNELS:
        raise ValueError(
            f"kernel={model.kernel!r} needs a radius: how far rows can be from their mean in feature space, for "
            "instance twice the largest square root of k(x, x) that can occur."
        )
    square = model.coef0**-0.5 if model.kernel == "inverse_multiquadric" else 1.0
    return float(np.sqrt(2 * square))
