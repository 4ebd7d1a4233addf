"""A sum of rank-one tensors ``Σ_r u_r ⊗ w_r ⊗ ... ⊗ w_r`` as a value, and its joint least-squares fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, optimize

from eigenfeat.scores.cross_moment import Moment

# Weight of Σ‖u_r‖² in the fit. Without it the best approximation of a given rank need not exist: two components
# may run towards one another with ever larger, opposite weights.
LABEL_RIDGE = 1e-3
HISTORY = 20


@dataclass(frozen=True, eq=False)
class Components:
    """``T̂ = Σ_r u_r ⊗ w_r^{⊗m}``: unit columns ``w_r`` in ``vectors``, weighted columns ``u_r`` in ``labels``."""

    vectors: np.ndarray
    labels: np.ndarray
    order: int

    @classmethod
    def none(cls, moment: Moment) -> Components:
        """The empty sum."""
        vectors = np.empty((moment.n_features, 0), dtype=moment.dtype)
        return cls(vectors, np.empty((moment.n_labels, 0), dtype=moment.dtype), moment.order)

    @property
    def count(self) -> int:
        return self.vectors.shape[1]

    @property
    def weights(self) -> np.ndarray:
        """Frobenius norms of the rank-one tensors."""
        return np.linalg.norm(self.labels, axis=0)

    def take(self, index: np.ndarray) -> Components:
        return Components(self.vectors[:, index], self.labels[:, index], self.order)

    def strongest_first(self) -> Components:
        return self.take(np.argsort(-self.weights, kind="stable"))

    def label_products(self, V: np.ndarray) -> np.ndarray:
        """``T̂(:, v_r, ..., v_r)``."""
        return self.labels @ (self.vectors.T @ V) ** self.order

    def vector_products(self, U: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        """``T̂(u_r, I, b_r, ...)``."""
        inner = self.labels.T @ U
        for V in vectors:
            inner = inner * (self.vectors.T @ V)
        return self.vectors @ inner

    def squared_norm(self) -> float:
        gram = (self.labels.T @ self.labels) * (self.vectors.T @ self.vectors) ** self.order
        return float(gram.sum(dtype=np.float64))


def unit_columns(V: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(V, axis=0)
    return V / np.where(norms > 0, norms, 1).astype(V.dtype)


@dataclass(frozen=True, eq=False)
class Fit:
    """Components and their error, ``‖T - T̂‖² + LABEL_RIDGE · Σ‖u_r‖²`` less the constant ``‖T‖²``."""

    components: Components
    error: float = 0.0
    n_iter: int = 0


def fit_labels(moment: Moment, vectors: np.ndarray) -> Fit:
    """The best labels for given unit vectors."""
    B = moment.label_products(*[vectors] * moment.order).astype(np.float64)
    gram = (vectors.T @ vectors).astype(np.float64) ** moment.order
    gram[np.diag_indices_from(gram)] += LABEL_RIDGE
    labels = linalg.solve(gram, B.T, assume_a="pos").T
    return Fit(Components(vectors, labels.astype(moment.dtype), moment.order), -float(np.vdot(B, labels)))


def refine(moment: Moment, components: Components, max_iter: int, tol: float) -> Fit:
    """Lower the error of :func:`fit_labels` over all vectors at once, by L-BFGS.

    The labels are the best ones at every trial (variable projection), so the gradient in ``w_r`` is
    ``-2m (T - T̂)(u_r, I, w_r, ..., w_r)``, tangent to the sphere. The variables are the vectors times the weights
    they start with, which makes the curvature about equal for all components. It ends when a step gains less than
    ``tol`` of the squared norm explained.
    """
    if not components.count:
        return Fit(components, 0.0)
    m, shape = moment.order, components.vectors.shape
    weights = components.weights.astype(np.float64)
    scale = np.maximum(weights, LABEL_RIDGE * weights.max() or 1.0)

    def error_and_gradient(flat: np.ndarray) -> tuple[float, np.ndarray]:
        V = flat.reshape(shape) / scale
        lengths = np.linalg.norm(V, axis=0)
        fit = fit_labels(moment, (V / lengths).astype(moment.dtype))
        U, W = fit.components.labels, fit.components.vectors
        gradient = fit.components.vector_products(U, *[W] * (m - 1)) - moment.vector_products(U, *[W] * (m - 1))
        tangent = gradient - W * np.einsum("ir,ir->r", gradient, W)
        return fit.error, (2 * m * tangent / (lengths * scale)).ravel().astype(np.float64)

    start = (components.vectors * scale).ravel()
    options = {"maxiter": max_iter, "ftol": tol, "gtol": 0.0, "maxcor": HISTORY}
    solution = optimize.minimize(error_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
    best = fit_labels(moment, unit_columns(solution.x.reshape(shape) / scale).astype(moment.dtype))
    return replace(best, n_iter=solution.nit)
