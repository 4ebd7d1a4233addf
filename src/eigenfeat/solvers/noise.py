"""The noise matrix, factored once for every signal that is compared with it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, lapack, qr, solve_triangular

from eigenfeat.moments.forms import FactoredForm, SymmetricForm
from eigenfeat.solvers.conventions import INDEFINITE, rank_cutoff

#: Up to this many columns the whitening basis is kept as a matrix: small products beat triangular solves.
SMALL = 128


class NoiseFactor(ABC):
    """A map between the directions' space and one where the noise is the identity.

    Attributes
    ----------
    rank : int
        Dimension of the whitened space.
    restricted : bool
        Whether the noise was singular, so that directions are sought in its range only.
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

    The rank is decided after scaling to a unit diagonal, so that it does not depend on the units of the
    columns.

    Raises
    ------
    ValueError
        When the matrix is zero or indefinite.
    """
    matrix = noise.toarray()
    diagonal = np.diagonal(matrix).astype(np.float64)
    if not np.any(matrix):
        raise zero_noise(label)
    spread = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    lower, condition = _cholesky(matrix, spread, dtype)
    if lower is not None:
        if len(lower) > SMALL:
            return CholeskyNoise(lower, condition)
        identity = np.eye(len(lower), dtype=dtype)
        basis = solve_triangular(lower, identity, lower=True, trans="T", check_finite=False)
        return BasisNoise(basis, condition)
    values, vectors = eigh(matrix / spread[:, None] / spread, check_finite=False)
    if values[0] < -INDEFINITE * values[-1]:
        raise ValueError(
            f"The noise matrix{_of(label)} is indefinite (smallest eigenvalue {values[0]:.3g}, largest "
            f"{values[-1]:.3g} at unit diagonal): noise must be positive semi-definite. Use a covariance or "
            "second moment, or a larger ridge."
        )
    kept = values > rank_cutoff(values, np.dtype(noise.dtype))
    # N = D(UΛUᵀ)D with D = diag(spread): its range is that of DU = QR, and W = Q R⁻ᵀ Λ^-½ whitens it there.
    Q, R = qr(vectors[:, kept] * spread[:, None], mode="economic", check_finite=False)
    whitener = solve_triangular(R, np.diag(values[kept] ** -0.5), trans="T", check_finite=False)
    condition = float(values[-1] / values[kept][0])
    return BasisNoise(np.asarray(Q @ whitener, dtype=dtype), condition, restricted=True)


def noise_solver(noise: SymmetricForm, dtype: np.dtype, label: str) -> NoiseFactor | WoodburyNoise:
    """Whatever solves with a noise at least cost: by its rows where it has few of them and a ridge."""
    if isinstance(noise, FactoredForm) and not np.ndim(noise.shift) and noise.shift > 0:
        return WoodburyNoise(noise, dtype)
    return factor_noise(noise, dtype, label)


def _cholesky(matrix: np.ndarray, spread: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray | None, float]:
    """L and the condition number; no L when the matrix is singular to working precision."""
    scaled = np.asfortranarray(matrix / spread[:, None] / spread, dtype=dtype)
    norm = np.abs(scaled).sum(axis=0).max()
    try:
        lower = cholesky(scaled, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None, np.inf
    pocon = lapack.dpocon if dtype == np.float64 else lapack.spocon
    reciprocal, _ = pocon(lower, norm, uplo="L")
    if reciprocal < len(matrix) * np.finfo(np.result_type(matrix.dtype, dtype)).eps:
        return None, np.inf
    lower *= spread[:, None].astype(dtype)
    return lower, float(1 / reciprocal)


def zero_noise(label: str) -> ValueError:
    return ValueError(
        f"The noise matrix{_of(label)} is zero, so every quotient is infinite and a relative ridge adds "
        "nothing: give noise that varies, or add a constant to its diagonal."
    )


def _of(label: str) -> str:
    return f" of {label!r}" if label else ""
