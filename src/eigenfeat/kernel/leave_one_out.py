"""Outputs at rows left out of the fit, exactly, from the fit with all rows (thesis 4.4).

The quadratic problems minimise ½Σ wᵢ(yᵢ - θᵀkᵢ)² + a quadratic penalty over θ = (α, b), with kᵢ = (K eᵢ, 1) and
Hessian H. Without row i, H loses wᵢ kᵢkᵢᵀ, so that the residual there becomes ``r / (1 - h)`` with the influence
``h = wᵢ kᵢᵀH⁻¹kᵢ``. A row that stands for several copies loses one of them: the share ``ρ = 1/copies``. With
invariances a row has further terms, rows of target zero, that go with it: a downdate of rank 1 + transformations.
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


def without_row_and_tangents(
    targets: np.ndarray,
    outputs: np.ndarray,
    share: np.ndarray,
    *,
    weights: np.ndarray,
    halves: np.ndarray,
    changes: np.ndarray,
) -> np.ndarray:
    """Outputs at rows left out together with their terms ½ w Σ_L (f(x) - f(Lx))².

    Residuals r of the group become ``(I - S)⁻¹ r``, S = BᵀH⁻¹B over the group's rows B.

    Parameters
    ----------
    halves : (1 + L, n, p) array
        ``H^(-1/2)`` of every row and of its tangents: inner products are those of S.
    changes : (L, n, m) array
        f(x) - f(Lx), in the units of the tangents.
    """
    taken = (share * weights).astype(halves.dtype)
    S = np.einsum("anp,bnp->nab", halves, halves) * taken[:, None, None]
    residuals = np.concatenate([(targets - outputs)[None], -changes]).transpose(1, 0, 2)
    return targets - np.linalg.solve(np.eye(len(halves)) - S, residuals)[:, 0]


def without_row_of_its_class(
    halves: np.ndarray,
    half_means: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    totals: np.ndarray,
    half_basis: np.ndarray | None = None,
) -> np.ndarray:
    """Scores of `eigenfeat.kernel.eigen` for classes told apart jointly, at every row fitted without it.

    They are those of Gaussians with means m_c and the covariance N / (n - classes), N the within-class scatter with
    its penalty: without a row x of weight w in class c, of total n_c, the mean m_c moves to m_c - w u / (n_c - w),
    u = x - m_c, and N loses ``β uuᵀ``, β = w n_c / (n_c - w).

    Parameters
    ----------
    halves : (1 + L, n, p) array
        ``N^(-1/2)`` times the rows, and times their tangents, which N loses too.
    half_means : (classes, p) array
        The same of the class means.
    weights : (n,) array
        What leaving out takes away of every row.
    totals : (classes,) array
        Weights of the classes.
    half_basis : (n, p) array, optional
        ``N^(-1/2)`` times the coordinate that leaves with each row.
    """
    row, own = np.arange(len(codes)), totals[codes]
    n_left = totals.sum() - weights
    # A class whose only row is left out has no mean; it is as far as the rest, and improbable.
    alone = own - weights <= 1e-9 * own
    left = np.where(alone, own, own - weights)
    means = np.vstack([half_means, totals @ half_means / totals.sum()])
    lengths = np.einsum("anp,bnp->nab", halves, halves)
    to_means = np.einsum("anp,kp->nak", halves, means)
    between = means @ means.T
    # Inner products of x - m_k with u = x - m_c, then with the tangents; of these with each other.
    across = lengths[:, :, :1] - to_means
    across[:, 0] += between[codes] - to_means[row, 0, codes][:, None]
    S = lengths.copy()
    S[:, 0, :] = S[:, :, 0] = across[row, :, codes]
    root = np.sqrt(np.where(alone, 0, weights))[:, None].repeat(len(halves), axis=1)
    root[:, 0] *= np.sqrt(own / left)
    S *= root[:, :, None] * root[:, None, :]
    across *= root[:, :, None]
    distances = lengths[:, 0, 0][:, None] - 2 * to_means[:, 0] + np.diagonal(between)
    gained = np.linalg.solve(np.eye(len(halves)) - S, across)
    distances += np.einsum("nak,nak->nk", across, gained)
    if half_basis is not None:
        # A coordinate e that leaves takes (eᵀGv)² / eᵀGe of every vᵀGv, G the inverse without the row.
        to_rows, to_centres = np.einsum("anp,np->na", halves, half_basis), half_basis @ means.T
        lost = to_rows.copy()
        lost[:, 0] -= to_centres[row, codes]
        lost *= root
        size = np.einsum("np,np->n", half_basis, half_basis)
        size += np.einsum("na,na->n", lost, np.linalg.solve(np.eye(len(halves)) - S, lost[..., None])[..., 0])
        along = to_rows[:, :1] - to_centres + np.einsum("na,nak->nk", lost, gained)
        distances -= np.divide(along**2, size[:, None], out=np.zeros_like(along), where=size[:, None] > 0)
    distances[row, codes] *= (own / left) ** 2
    distances[:, -1] *= (totals.sum() / n_left) ** 2
    distances[alone, codes[alone]] = distances[alone, -1]
    counts = np.tile(totals, (len(codes), 1))
    counts[row, codes] = np.where(alone, 1e-9 * own, left)
    scale = np.maximum(n_left - len(totals), 1)[:, None] / 2
    return scale * (distances[:, -1:] - distances[:, :-1]) + np.log(counts / n_left[:, None])
