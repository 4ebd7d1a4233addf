"""The noise matrix, factored once for every signal that is compared with it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, lapack, qr, solve_triangular

from eigenfeat.moments.forms import FactoredForm, SymmetricForm
from eigenfeat.solvers.canonical import INDEFINITE, rank_cutoff
from eigenfeat.solvers.contract import is_rows_and_ridge

#: Up to this many columns the whitening basis is kept as a matrix: small products beat triangular solves.
SMALL = 128


class NoiseFactor(ABC):
    """A map between the directions' space and one where the noise is the identity.

    Attributes
    ----------
    rank : int
        Dimension of the whitened space.
    restricted : bool
        True if the noise was singular: directions are sought in its range only.
    condition : float
        Estimated condition number, at unit diagonal and in that range.
    """

    rank: int
    condition: float
    restricted: bool = False

    @abstractmethod
    def whiten(self, block: np.ndarray) -> np.ndarray:
        """``Wᵀ block``, with ``WᵀNW = I``."""

    @abstractmethod
    def unwhiten(self, block: np.ndarray) -> np.ndarray:
        """``W block``: whitened coordinates to directions."""

    def solve(self, block: np.ndarray) -> np.ndarray:
        """``N⁻¹ block``, in the noise's range."""
        return self.unwhiten(self.whiten(block))

    @abstractmethod
    def congruence(self, signal: np.ndarray) -> np.ndarray:
        """``WᵀSW``, as a new symmetric array."""


class CholeskyNoise(NoiseFactor):
    """``N = LLᵀ``, W = L⁻ᵀ applied by triangular solves."""

    def __init__(self, lower: np.ndarray, condition: float) -> None:
        self.lower = lower
        self.condition = condition
        self.rank = len(lower)

    def whiten(self, block: np.ndarray) -> np.ndarray:
        return solve_triangular(self.lower, block, lower=True, check_finite=False)

    def unwhiten(self, block: np.ndarray) -> np.ndarray:
        return solve_triangular(self.lower, block, lower=True, trans="T", check_finite=False)

    def congruence(self, signal: np.ndarray) -> np.ndarray:
        sygst = lapack.dsygst if self.lower.dtype == np.float64 else lapack.ssygst
        whitened, _ = sygst(np.asfortranarray(signal, dtype=self.lower.dtype), self.lower, lower=1)
        # LAPACK writes the lower triangle only.
        upper = np.triu_indices(self.rank, 1)
        whitened[upper] = whitened.T[upper]
        return whitened


class BasisNoise(NoiseFactor):
    """W kept as a (d, rank) matrix: small problems, and singular noise restricted to its range."""

    def __init__(self, basis: np.ndarray, condition: float, restricted: bool = False) -> None:
        self.basis = basis
        self.condition = condition
        self.rank = basis.shape[1]
        self.restricted = restricted

    def whiten(self, block: np.ndarray) -> np.ndarray:
        return self.basis.T @ block

    def unwhiten(self, block: np.ndarray) -> np.ndarray:
        return self.basis @ block

    def congruence(self, signal: np.ndarray) -> np.ndarray:
        return self.basis.T @ signal @ self.basis


class WoodburyNoise:
    """``N = GGᵀ + tI`` with few columns in G: ``N⁻¹ = (I - G(tI + GᵀG)⁻¹Gᵀ) / t``."""

    restricted = False

    def __init__(self, noise: FactoredForm, dtype: np.dtype) -> None:
        self.noise = noise
        self.rank = noise.shape[0]
        self.dtype = dtype
        core = noise.inner(noise).astype(dtype, copy=False)
        core[np.diag_indices_from(core)] += dtype.type(noise.shift)
        self._core = cho_factor(core, lower=True, overwrite_a=True, check_finite=False) if core.size else None

    def solve(self, block: np.ndarray) -> np.ndarray:
        t = self.dtype.type(self.noise.shift)
        if self._core is None:
            return block / t
        inner = cho_solve(self._core, self.noise.factor_transpose_times(block), check_finite=False)
        return (block - self.noise.factor_times(inner)) / t


def factor_noise(noise: SymmetricForm, dtype: np.dtype, label: str) -> NoiseFactor:
    """Factor a dense noise matrix, or restrict it to its range when it is singular.

    In float64, whatever the type of the factor: it is the one place where a small ridge meets large eigenvalues.
    The rank is decided after scaling to a unit diagonal, so that it does not depend on the units of the
    columns.

    Raises
    ------
    ValueError
        When the matrix is zero or indefinite.
    """
    spread = np.sqrt(np.maximum(noise.diagonal().astype(np.float64), 0.0))
    spread[spread == 0] = 1.0
    lower, condition = _cholesky(_at_unit_diagonal(noise, spread), np.dtype(noise.dtype))
    if lower is not None:
        lower *= spread[:, None]
        if len(lower) > SMALL:
            return CholeskyNoise(lower.astype(dtype, copy=False), condition)
        basis = solve_triangular(lower, np.eye(len(lower)), lower=True, trans="T", check_finite=False)
        return BasisNoise(basis.astype(dtype, copy=False), condition)
    values, vectors = eigh(_at_unit_diagonal(noise, spread), overwrite_a=True, check_finite=False)
    if values[0] == values[-1] == 0:
        raise zero_noise(label)
    if values[0] < -INDEFINITE * values[-1]:
        raise ValueError(
            f"The noise matrix{_of(label)} is indefinite (smallest eigenvalue {values[0]:.3g}, largest "
            f"{values[-1]:.3g} at unit diagonal): noise must be positive semi-definite. Use a covariance or "
            "second moment, or a larger ridge."
        )
    kept = values > rank_cutoff(values, np.dtype(noise.dtype))
    if not kept.any():
        raise zero_noise(label)
    # N = D(UΛUᵀ)D with D = diag(spread): its range is that of DU = QR, and W = Q R⁻ᵀ Λ^-½ whitens it there.
    Q, R = qr(vectors[:, kept] * spread[:, None], mode="economic", check_finite=False)
    whitener = solve_triangular(R, np.diag(values[kept] ** -0.5), trans="T", check_finite=False)
    condition = float(values[-1] / values[kept][0])
    return BasisNoise(np.asarray(Q @ whitener, dtype=dtype), condition, restricted=True)


def noise_solver(noise: SymmetricForm, dtype: np.dtype, label: str) -> NoiseFactor | WoodburyNoise:
    """The cheapest way to solve with a noise: by its rows where it has few of them and a ridge."""
    if is_rows_and_ridge(noise):
        return WoodburyNoise(noise, dtype)  # type: ignore[arg-type]
    return factor_noise(noise, dtype, label)


def _at_unit_diagonal(noise: SymmetricForm, spread: np.ndarray) -> np.ndarray:
    """A new array in the order LAPACK works on in place."""
    matrix = noise.toarray().astype(np.float64, copy=False).T
    matrix /= spread[:, None]
    matrix /= spread
    return matrix


def _cholesky(matrix: np.ndarray, given: np.dtype) -> tuple[np.ndarray | None, float]:
    """L, in place, and the condition number; no L when the matrix is singular to the precision it was given in."""
    norm = lapack.dlange("1", matrix)
    try:
        lower = cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None, np.inf
    reciprocal, _ = lapack.dpocon(lower, norm, uplo="L")
    if reciprocal < np.sqrt(len(lower)) * np.finfo(given).eps:
        return None, np.inf
    return lower, float(1 / reciprocal)


def zero_noise(label: str) -> ValueError:
    return ValueError(
        f"The noise matrix{_of(label)} is zero, so every quotient is infinite and a relative ridge adds "
        "nothing: give noise that varies, or add a constant to its diagonal."
    )


def _of(label: str) -> str:
    return f" of {label!r}" if label else ""
