"""Outputs at rows left out of the fit, exactly, from the fit with all rows (thesis 4.4).

The quadratic problems minimise ½Σ wᵢ(yᵢ - θᵀkᵢ)² + a quadratic penalty over θ = (α, b), with kᵢ = (K eᵢ, 1) and
Hessian H. Without row i, H loses wᵢ kᵢkᵢᵀ, so that the residual there becomes ``r / (1 - h)`` with the influence
``h = wᵢ kᵢᵀH⁻¹kᵢ``. A row that stands for several copies loses one of them: the share ``ρ = 1/copies``.
"""

from __future__ import annotations

import numpy as np


def left_out_share(copies: np.ndarray | None, n_rows: int) -> np.ndarray:
    """The part of a row's weight that leaving one copy out takes away."""
    return np.ones(n_rows) if copies is None else 1 / np.maximum(copies, 1)


def without_row(targets: np.ndarray, outputs: np.ndarray, slack: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Outputs at rows left out; ``slack`` is 1 - h, given itself because it is small where a fit is close."""
    return targets - (targets - outputs) / ((1 - share) + share * slack)[:, None]


def without_row_and_basis(
    targets: np.ndarray,
    outputs: np.ndarray,
    slack: np.ndarray,
    share: np.ndarray,
    *,
    weights: np.ndarray,
    coefficients: np.ndarray,
    gain: np.ndarray,
    variance: np.ndarray,
) -> np.ndarray:
    """Outputs at rows left out together with the basis function k(xᵢ, ·) they brought.

    For ‖α‖² this is not the same as leaving the row out alone, as (4.28) of the thesis does: the spare function
    would still be fitted. αᵢ = 0 is a further downdate: with G = H⁻¹ without the row,
    f(xᵢ) loses ``kᵢᵀG eᵢ · αᵢ / eᵢᵀG eᵢ``. Rows with copies left keep their function.

    Parameters
    ----------
    gain : (n,) array
        ``eᵢᵀH⁻¹kᵢ``.
    variance : (n,) array
        ``eᵢᵀH⁻¹eᵢ``.
    """
    out = without_row(targets, outputs, slack, share)
    residuals = targets - outputs
    alone = share == 1
    coefficient = coefficients - (weights * gain / slack)[:, None] * residuals
    pull = gain / slack / (variance + weights * gain**2 / slack)
    out[alone] -= (pull[:, None] * coefficient)[alone]
    return out
