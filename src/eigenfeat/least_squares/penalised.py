"""Directions with few weights: each eigenvector's own target, regressed under a penalty that makes zeros."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from eigenfeat.least_squares.coordinate_descent import Descent, PenalisedFit
from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.solution import Solution, finish


def aligned_targets(quotient: LeastSquaresQuotient, exact: Solution) -> np.ndarray:
    """(n, k) unit targets: the combination of H's columns that each eigenvector regresses on.

    The LS paper penalises the regression on T = Q U_R. That is the eigenvectors' own target matrix when rank(X) = n -
    1, but neither below that rank nor, up to a rotation that a 1-norm notices, in LDA and CCA, where every rotation of
    T is as good. ``S A w`` is the target whose unpenalised regression is w at any rank, and equals T in the paper's
    case.
    """
    targets = quotient.targets.times(quotient.targets.transpose_times(exact.scores))
    norms = np.linalg.norm(targets, axis=0)
    return targets / np.where(norms > 0, norms, 1)


def penalised_solution(quotient: LeastSquaresQuotient, fit: PenalisedFit, exact_solver: str, tol: float) -> Solution:
    """The minimisers as directions, unscaled, with the quotient each of them attains for a value."""
    scores = quotient.rows.times(fit.vectors)
    signal = np.sum(quotient.targets.transpose_times(scores) ** 2, axis=0)
    noise = np.sum(scores**2, axis=0) + scores.dtype.type(quotient.shift) * np.sum(fit.vectors**2, axis=0)
    values = np.divide(signal, noise, out=np.zeros_like(signal), where=noise > 0)
    return finish(quotient, fit.vectors, scores, values, exact_solver, fit.n_iter, fit.gaps <= tol)


def default_alphas(descent: Descent, group: bool, n_alphas: int, ratio: float = 1e-3) -> np.ndarray:
    """A grid from the smallest alpha that leaves nothing, downwards."""
    return np.geomspace(1, ratio, n_alphas) * descent.largest_alpha(group)


def warn_of_gaps(converged: np.ndarray, max_iter: int, tol: float) -> None:
    if not converged.all():
        warnings.warn(
            f"{np.count_nonzero(~converged)} of {len(converged)} penalised targets did not reach a duality gap of "
            f"tol={tol:g} in max_iter={max_iter} sweeps: raise max_iter or alpha, or standardise the inputs.",
            ConvergenceWarning,
            stacklevel=2,
        )
