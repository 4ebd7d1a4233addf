"""A sum of rank-one tensors ``Σ_r u_r ⊗ w_r ⊗ ... ⊗ w_r`` as a value, and its joint least-squares fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, optimize

from eigenfeat.scores.cross_tensor import CrossTensor

# Weight of Σ‖u_r‖² in the fit. Without it the best approximation of a given rank need not exist: two components
# may run towards one another with ever larger, opposite weights.
FACTOR_RIDGE = 1e-3
HISTORY = 20


@dataclass(frozen=True, eq=False)
class Components:
    """``T̂ = Σ_r u_r ⊗ w_r^{⊗m}``: unit columns ``w_r`` in ``vectors``, weighted ``u_r`` in ``label_factors``."""

    vectors: np.ndarray
    label_factors: np.ndarray
    order: int

    @classmethod
    def none(cls, tensor: CrossTensor) -> Components:
        """The empty sum."""
        vectors = np.empty((tensor.n_features, 0), dtype=tensor.dtype)
        return cls(vectors, np.empty((tensor.n_labels, 0), dtype=tensor.dtype), tensor.order)

    @property
    def count(self) -> int:
        return self.vectors.shape[1]

    @property
    def weights(self) -> np.ndarray:
        """Frobenius norms of the rank-one tensors."""
        return np.linalg.norm(self.label_factors, axis=0)

    def take(self, index: np.ndarray) -> Components:
        return Components(self.vectors[:, index], self.label_factors[:, index], self.order)

    def strongest_first(self) -> Components:
        return self.take(np.argsort(-self.weights, kind="stable"))

    def along(self, V: np.ndarray) -> ComponentsAlong:
        """Products with the same vectors in every mode."""
        return ComponentsAlong(self, self.vectors.T @ V)

    def vector_products(self, U: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        """``T̂(u_r, I, b_r, ...)``."""
        inner = self.label_factors.T @ U
        for V in vectors:
            inner = inner * (self.vectors.T @ V)
        return self.vectors @ inner

    def squared_norm(self) -> float:
        gram = (self.label_factors.T @ self.label_factors) * powers(self.vectors.T @ self.vectors, self.order)
        return float(gram.sum(dtype=np.float64))


@dataclass(frozen=True, eq=False)
class ComponentsAlong:
    """``T̂(:, v_r, ..., v_r)`` and ``T̂(u_r, I, v_r, ..., v_r)`` from the inner products ``w_s·v_r``."""

    components: Components
    inner: np.ndarray

    def label_products(self) -> np.ndarray:
        return self.components.label_factors @ powers(self.inner, self.components.order)

    def vector_products(self, U: np.ndarray) -> np.ndarray:
        c = self.components
        return c.vectors @ ((c.label_factors.T @ U) * powers(self.inner, c.order - 1))


def powers(A: np.ndarray, exponent: int) -> np.ndarray:
    """``A ** exponent`` by multiplications, which is many times faster than ``pow``."""
    result = A
    for _ in range(exponent - 1):
        result = result * A
    return result


def unit_columns(V: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(V, axis=0)
    return V / np.where(norms > 0, norms, 1).astype(V.dtype)


@dataclass(frozen=True, eq=False)
class Fit:
    """Components and their error, ``‖T - T̂‖² + FACTOR_RIDGE · Σ‖u_r‖²`` less the constant ``‖T‖²``."""

    components: Components
    error: float = 0.0
    n_iter: int = 0


def best_label_factors(products: np.ndarray, cosines: np.ndarray, order: int) -> tuple[np.ndarray, float]:
    """Label factors ``u_r`` that minimise the error for given unit vectors, and that error.

    Parameters
    ----------
    products : (k, r) array
        ``T(:, w_r, ..., w_r)``.
    cosines : (r, r) array
        ``w_r·w_s``.
    order : int
    """
    B = products.astype(np.float64)
    gram = powers(cosines.astype(np.float64), order)
    gram[np.diag_indices_from(gram)] += FACTOR_RIDGE
    factors = linalg.solve(gram, B.T, assume_a="pos").T
    return factors.astype(products.dtype), -float(np.vdot(B, factors))


def fit_label_factors(tensor: CrossTensor, vectors: np.ndarray) -> Fit:
    """The best label factors for given unit vectors."""
    factors, error = best_label_factors(tensor.along(vectors).label_products(), vectors.T @ vectors, tensor.order)
    return Fit(Components(vectors, factors, tensor.order), error)


def refine(tensor: CrossTensor, components: Components, max_iter: int, tol: float) -> Fit:
    """Lower the error of :func:`fit_label_factors` over all vectors at once, by L-BFGS.

    The label factors are the best ones at every trial (variable projection), so the gradient in ``w_r`` is
    ``-2m (T - T̂)(u_r, I, w_r, ..., w_r)``, tangent to the sphere. The variables are the vectors times the weights
    they start with, which makes the curvature about equal for all components, and the error is counted in units of its
    start, which makes the fit indifferent to the unit of the labels. It ends when a step gains less than ``tol`` of
    the squared norm explained.
    """
    if not components.count:
        return Fit(components, 0.0)
    m, shape = tensor.order, components.vectors.shape
    unit = -fit_label_factors(tensor, components.vectors).error or 1.0
    weights = components.weights.astype(np.float64) / np.sqrt(unit)
    scale = np.maximum(weights, FACTOR_RIDGE * weights.max() or 1.0)

    def error_and_gradient(flat: np.ndarray) -> tuple[float, np.ndarray]:
        V = flat.reshape(shape) / scale
        lengths = np.linalg.norm(V, axis=0)
        W = (V / lengths).astype(tensor.dtype)
        along, cosines = tensor.along(W), W.T @ W
        U, error = best_label_factors(along.label_products(), cosines, m)
        fitted = ComponentsAlong(Components(W, U, m), cosines)
        gradient = fitted.vector_products(U) - along.vector_products(U)
        tangent = gradient - W * np.einsum("ir,ir->r", gradient, W)
        return error / unit, (2 * m / unit * tangent / (lengths * scale)).ravel().astype(np.float64)

    start = (components.vectors * scale).ravel()
    options = {"maxiter": max_iter, "ftol": tol, "gtol": 0.0, "maxcor": HISTORY}
    solution = optimize.minimize(error_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
    best = fit_label_factors(tensor, unit_columns(solution.x.reshape(shape) / scale).astype(tensor.dtype))
    return replace(best, n_iter=solution.nit)
