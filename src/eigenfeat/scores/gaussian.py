"""Closed-form score tensors, of every order, of Gaussians and their mixtures.

A mixture ``p = Σ_k π_k N_k`` has ``S_m(x) = Σ_k γ_k(x) S_m^k(x)`` with the responsibilities γ, because ∇ᵐ is
linear in p. With ``g = Λ(x - μ)`` a Gaussian's tensors are Hermite's:

    S_m(b_1..b_m) = (g·b_m) S_{m-1}(b_1..b_{m-1}) - Σ_j (b_jᵀΛb_m) S_{m-2}(all but b_j, b_m).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from eigenfeat.scores.tensors import ScoreFunction, ScoreTensors, ScoreTensorsAlong, same_images


class Precision(ABC):
    """The inverse covariance Λ of one Gaussian."""

    log_det: float
    """``log det Λ``."""

    @abstractmethod
    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        """``Λ @ vectors`` for a (d, r) block, in the dtype of the block."""


class DensePrecision(Precision):
    """Λ as a d × d matrix, from the covariance; inverted in float64, kept in ``dtype``."""

    def __init__(self, covariance: np.ndarray, dtype: np.dtype | type = np.float64) -> None:
        factor = linalg.cholesky(covariance.astype(np.float64, copy=False), lower=True)
        half = linalg.solve_triangular(factor, np.eye(len(factor)), lower=True)
        self.matrix = (half.T @ half).astype(dtype, copy=False)
        self.log_det = -2.0 * float(np.log(np.diagonal(factor)).sum())

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        return self.matrix.astype(vectors.dtype, copy=False) @ vectors


class DiagonalPrecision(Precision):
    """Λ = diag(1 / variances)."""

    def __init__(self, variances: np.ndarray) -> None:
        self.diagonal = 1.0 / variances
        self.log_det = float(np.log(self.diagonal).sum())

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        return self.diagonal.astype(vectors.dtype, copy=False)[:, None] * vectors


class FactorPrecision(Precision):
    """Λ of the covariance ``diag(variances) + FᵀF`` with q factors in rows: O(d q) a product (Woodbury)."""

    def __init__(self, factors: np.ndarray, variances: np.ndarray) -> None:
        scaled = factors / variances  # F D⁻¹
        capacitance = np.eye(len(factors)) + scaled @ factors.T
        cholesky = linalg.cholesky(capacitance, lower=True)
        self.diagonal = 1.0 / variances
        self.low_rank = linalg.solve_triangular(cholesky, scaled, lower=True)
        self.log_det = float(np.log(self.diagonal).sum() - 2 * np.log(np.diagonal(cholesky)).sum())

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        low_rank = self.low_rank.astype(vectors.dtype, copy=False)
        diagonal = self.diagonal.astype(vectors.dtype, copy=False)
        return diagonal[:, None] * vectors - low_rank.T @ (low_rank @ vectors)


@dataclass(frozen=True, eq=False)
class GaussianMixtureDensity(ScoreFunction):
    """``Σ_k weights_k N(means_k, precisions_k⁻¹)``; tied covariances share one precision object."""

    weights: np.ndarray
    means: np.ndarray
    precisions: tuple[Precision, ...]

    def log_joint(self, X: np.ndarray) -> np.ndarray:
        """``log π_k N_k(x_i)``, (n, K)."""
        joint = np.empty((len(X), len(self.weights)))
        for k, (weight, mean, precision) in enumerate(zip(self.weights, self.means, self.precisions)):
            centred = X - mean.astype(X.dtype)
            squared = np.einsum("ij,ji->i", centred, precision @ centred.T, dtype=np.float64)
            constant = np.log(weight) + 0.5 * (precision.log_det - X.shape[1] * np.log(2 * np.pi))
            joint[:, k] = constant - 0.5 * squared
        return joint

    def log_density(self, X: np.ndarray) -> np.ndarray:
        return special.logsumexp(self.log_joint(X), axis=1)

    def responsibilities(self, X: np.ndarray) -> np.ndarray:
        """``γ_k(x_i)``, (n, K), in the dtype of X."""
        if len(self.weights) == 1:
            return np.ones((len(X), 1), dtype=X.dtype)
        return special.softmax(self.log_joint(X), axis=1).astype(X.dtype)

    def score1(self, X: np.ndarray) -> np.ndarray:
        gamma = self.responsibilities(X)
        score = np.zeros_like(X)
        for k, (mean, precision) in enumerate(zip(self.means, self.precisions)):
            centred = gamma[:, k, None] * (X - mean.astype(X.dtype))
            score += (precision @ centred.T).T
        return score

    def tensors_at(self, X: np.ndarray) -> GaussianMixtureTensors:
        return GaussianMixtureTensors(self, X, self.responsibilities(X))


@dataclass(frozen=True, eq=False)
class GaussianMixtureTensors(ScoreTensors):
    """O(n d) a vector and mixture component: ``g`` is never formed, Λ meets only vectors."""

    density: GaussianMixtureDensity
    X: np.ndarray
    responsibilities: np.ndarray

    def in_basis(self, basis: np.ndarray) -> ScoreTensors:
        if len(self.density.weights) > 1:
            return super().in_basis(basis)
        image = self.density.precisions[0] @ basis
        mean = self.density.means[0].astype(self.X.dtype)
        return HermiteTensors(self.X @ image - mean @ image, basis.T @ image)

    def form(self, *vectors: np.ndarray) -> np.ndarray:
        total = np.zeros((len(self.X), vectors[0].shape[1]), dtype=self.X.dtype)
        for k in range(len(self.density.weights)):
            total += self.responsibilities[:, k, None] * self._local(k, vectors).hermite(range(len(vectors)))
        return total

    def weighted_sum(self, weights: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        total = np.zeros((self.X.shape[1], weights.shape[1]), dtype=self.X.dtype)
        for k, (mean, precision) in enumerate(zip(self.density.means, self.density.precisions)):
            local = self._local(k, vectors)
            share = self.responsibilities[:, k, None] * weights
            along_g = share * local.hermite(range(len(vectors)))
            total += precision @ (self.X.T @ along_g - np.outer(mean.astype(self.X.dtype), along_g.sum(axis=0)))
            total -= local.contractions(share)
        return total

    def _local(self, k: int, vectors: Sequence[np.ndarray]) -> _LocalGaussian:
        images = same_images(self.density.precisions[k].__matmul__, vectors)
        mean = self.density.means[k].astype(self.X.dtype)
        return _LocalGaussian(vectors, images, same_images(lambda image: self.X @ image - mean @ image, images))


@dataclass(frozen=True, eq=False)
class HermiteTensors(ScoreTensors):
    """The tensors of one Gaussian in a basis B: ``BᵀΛ(x - μ)`` in rows and ``BᵀΛB``, formed once for many products."""

    rows: np.ndarray
    precision: np.ndarray

    def in_basis(self, basis: np.ndarray) -> HermiteTensors:
        return HermiteTensors(self.rows @ basis, basis.T @ self.precision @ basis)

    def form(self, *vectors: np.ndarray) -> np.ndarray:
        return self._local(vectors).hermite(range(len(vectors)))

    def weighted_sum(self, weights: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        local = self._local(vectors)
        return self.rows.T @ (weights * local.hermite(range(len(vectors)))) - local.contractions(weights)

    def _local(self, vectors: Sequence[np.ndarray]) -> _LocalGaussian:
        images, projections = (same_images(matrix.__matmul__, vectors) for matrix in (self.precision, self.rows))
        return _LocalGaussian(vectors, images, projections)

    def along(self, V: np.ndarray, order: int) -> HermiteAlong:
        return HermiteAlong(self, V, order)


class HermiteAlong(ScoreTensorsAlong):
    """Hermite polynomials of the projections: ``H_m = p H_{m-1} - (m-1) q H_{m-2}`` with p = g·v and q = vᵀΛv."""

    def __init__(self, tensors: HermiteTensors, V: np.ndarray, order: int) -> None:
        self.rows, self.image, self.order = tensors.rows, tensors.precision @ V, order
        self.p, self.q = tensors.rows @ V, np.einsum("ir,ir->r", V, self.image)
        self.lower, self.last = np.zeros((), V.dtype), np.ones((), V.dtype)  # H_{m-2} and H_{m-1}, in the end
        for m in range(1, order):
            self.lower, self.last = self.last, self._next(m)

    def _next(self, m: int) -> np.ndarray:
        if m == 1:
            return self.p
        following = self.p * self.last
        following -= ((m - 1) * self.q) * self.lower
        return following

    def form(self) -> np.ndarray:
        return self._next(self.order)

    def weighted_sum(self, weights: np.ndarray) -> np.ndarray:
        total = self.rows.T @ (weights * self.last)
        if self.order > 1:
            share = np.einsum("ir,ir->r", weights, np.broadcast_to(self.lower, weights.shape))
            total -= (self.order - 1) * share * self.image
        return total


@dataclass(frozen=True, eq=False)
class _LocalGaussian:
    """One Gaussian and the vectors b at hand: images ``Λb``, projections ``g·b``, and Hermite forms of them."""

    vectors: Sequence[np.ndarray]
    images: Sequence[np.ndarray]
    projections: Sequence[np.ndarray]

    def hermite(self, positions: Sequence[int]) -> np.ndarray:
        """The Hermite form of the vectors at these positions, (n, r)."""
        if not positions:
            return np.ones((), dtype=np.float32)  # widens nothing
        if all(self.vectors[i] is self.vectors[positions[0]] for i in positions):
            return self._hermite_polynomial(positions[0], len(positions))
        *rest, last = positions
        value = self.projections[last] * self.hermite(rest)
        for j in rest:
            value -= self._inner(last, j) * self.hermite([i for i in rest if i != j])
        return value

    def contractions(self, weights: np.ndarray) -> np.ndarray:
        """``Σ_j Λb_j Σ_i weights_ir H(x_i)(all but b_j)``, (d, r); nothing without vectors."""
        total = np.zeros((), dtype=weights.dtype)
        for j, image in enumerate(self.images):
            rest = self.hermite([i for i in range(len(self.images)) if i != j])
            total = total + image * np.einsum("ir,ir->r", weights, np.broadcast_to(rest, weights.shape))
        return total

    def _hermite_polynomial(self, position: int, degree: int) -> np.ndarray:
        """The form of one vector throughout: ``H_m = (g·b) H_{m-1} - (m-1) (bᵀΛb) H_{m-2}``."""
        p, q = self.projections[position], self._inner(position, position)
        if degree == 1:
            return p
        before, value = p, p * p
        value -= q
        for m in range(2, degree):
            before, value = value, p * value - (m * q) * before
        return value

    def _inner(self, i: int, j: int) -> np.ndarray:
        return np.einsum("ir,ir->r", self.vectors[i], self.images[j])
