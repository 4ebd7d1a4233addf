"""What the number of rows says about the covariance behind a fitted model, in its input or its kernel space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh

from eigenfeat.stability.bounds import SubspaceBound, eigenvalue_deviation, moment_deviation, radius, subspace_bound
from eigenfeat.stages import Chain, Fitted, KernelExpansion

#: Rows looked at in a kernel space, evenly spaced: the spectrum of their kernel matrix is wanted.
KERNEL_ROWS = 1500


@dataclass(frozen=True)
class SampleBounds:
    """The finite-sample bounds of chapter 4 of the thesis, with its constants and with ours.

    Attributes
    ----------
    space : str
        "input" or "kernel": whose covariance C is meant.
    n_samples : int
    radius : float
        R, the largest distance of a row from the mean.
    largest, trace : float
        Largest eigenvalue of the covariance, and the sum of all.
    moment : (float, float)
        Bounds on ‖C - Ĉ‖, with sharp constants and with the thesis' (Lemma 4.10, Theorem 4.5).
    eigenvalues : (float, float)
        The same for how far sums of eigenvalues are from their expectation (Theorem 4.2).
    subspace : (SubspaceBound, SubspaceBound)
        Of the leading eigenvector, sharp and the thesis' (Theorem 4.5).
    confidence : float
    """

    space: str
    n_samples: int
    radius: float
    largest: float
    trace: float
    moment: tuple[float, float]
    eigenvalues: tuple[float, float]
    subspace: tuple[SubspaceBound, SubspaceBound]
    confidence: float

    def __str__(self) -> str:
        return "\n".join(
            [
                f"covariance in {self.space} space, {self.n_samples} rows within R = {self.radius:.4g}: largest "
                f"eigenvalue {self.largest:.4g} of {self.trace:.4g} in all; at confidence {self.confidence:.0%}",
                f"  its error is at most {self.moment[0]:.4g} (constants of the thesis: {self.moment[1]:.4g}), sums of "
                f"its eigenvalues are {self.eigenvalues[0]:.4g} ({self.eigenvalues[1]:.4g}) from their expectation",
                f"  {self.subspace[0]}",
                f"  constants of the thesis: {self.subspace[1]}",
            ]
        )


def sample_bounds(estimator: Any, X: Any, confidence: float = 0.95) -> SampleBounds | None:
    """The bounds for the rows X as a fitted model sees them; None where rows are not points of one space (trials).

    Parameters
    ----------
    estimator : fitted estimator
        One with a kernel expansion is judged in the space of its kernel, on 1,500 evenly spaced rows at most.
    X : (n, d) array or sparse matrix
    confidence : float

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenfeat import OrientedKernelPCA
    >>> from eigenfeat.stability import sample_bounds
    >>> X, _ = load_iris(return_X_y=True)
    >>> print(sample_bounds(OrientedKernelPCA(2).fit(X), X))
    covariance in kernel space, 150 rows within R = 0.8709: largest eigenvalue ...
    """
    if not sparse.issparse(X):
        X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        return None
    expansion = _kernel_part(estimator)
    if expansion is not None:
        rows = X[np.unique(np.linspace(0, X.shape[0] - 1, KERNEL_ROWS).astype(int))]
        space, values, farthest = "kernel", *_kernel_spectrum(*expansion, rows)
        n = rows.shape[0]
    else:
        space, n = "input", X.shape[0]
        mean = np.asarray(X.mean(axis=0)).ravel()
        second = np.asarray((X.T @ X).todense()) if sparse.issparse(X) else X.T @ X
        values, farthest = eigvalsh(second / n - np.outer(mean, mean)), radius(X, mean)
    values = np.maximum(values, 0.0)
    moment, sums, angles = zip(
        *(
            (
                moment_deviation(n, farthest, confidence, centred=True, mean_square=values.sum(), constants=constants),
                eigenvalue_deviation(n, farthest, confidence, constants=constants),
                subspace_bound(
                    np.diag(values), 0, n, farthest, confidence, mean_square=values.sum(), constants=constants
                ),
            )
            for constants in ("sharp", "thesis")
        )
    )
    return SampleBounds(space, n, farthest, float(values.max()), float(values.sum()), moment, sums, angles, confidence)


def _kernel_part(estimator: Any) -> tuple[Chain, KernelExpansion] | None:
    """The kernel expansion of a fitted model and what its rows pass through before."""
    fitted = getattr(estimator, "fitted_", None)
    if not isinstance(fitted, Fitted):
        return None
    for chain in filter(None, (fitted.scores, fitted.features, fitted.predictions)):
        for i, stage in enumerate(chain.stages):
            if isinstance(stage, KernelExpansion):
                return Chain(chain.stages[:i]), stage
    return None


def _kernel_spectrum(before: Chain, expansion: KernelExpansion, rows: Any) -> tuple[np.ndarray, float]:
    """Eigenvalues of the covariance in kernel space, and the largest distance of a row from the mean there."""
    if expansion.points.ndim == 1:
        K = np.asarray(rows, dtype=np.float64)[:, : rows.shape[0]]
    else:
        seen = before.at(rows) if before.stages else rows
        K = expansion.kernel(seen, seen).astype(np.float64)
    K = (K + K.T) / 2
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    return eigvalsh(K / len(K)), float(np.sqrt(np.maximum(np.diagonal(K), 0).max()))
