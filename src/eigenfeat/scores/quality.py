"""How well components fit a cross-moment that is known by its products only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from eigenfeat.scores.components import Components, unit_columns
from eigenfeat.scores.cross_tensor import CrossTensor

EXACT_PROBES, RANDOM_PROBES, PROBE_BLOCK = 2048, 512, 256


@dataclass(frozen=True, eq=False)
class Quality:
    """Fit of components T̂ to a tensor T.

    Attributes
    ----------
    residuals : (r,) array
        ``‖(T - T̂)(u_r, I, w_r, ...)‖ / ‖T(u_r, I, w_r, ...)‖``: zero at a stationary point.
    squared_norm : float
        ``‖T‖²``.
    relative_error : float
        ``‖T - T̂‖ / ‖T‖``.
    """

    residuals: np.ndarray
    squared_norm: float
    relative_error: float


def fit_quality(tensor: CrossTensor, found: Components, rng: np.random.Generator) -> Quality:
    """Residuals of the components, exactly; the error by probing ``T - T̂``, exactly where few probes do.

    ``‖T‖² = ‖T - T̂‖² + 2⟨T, T̂⟩ - ‖T̂‖²`` needs probes for its first term only.
    """
    m, U, W = tensor.order, unit_columns(found.label_factors), found.vectors
    products = tensor.vector_products(U, *[W] * (m - 1))
    gaps = np.linalg.norm(products - found.vector_products(U, *[W] * (m - 1)), axis=0)
    sizes = np.linalg.norm(products, axis=0)
    inner = np.einsum("ir,ir,r->", products, W, found.weights, dtype=np.float64)
    remainder = 0.0
    for V, vectors, weight in probes(tensor, rng):
        R = tensor.vector_products(V, *vectors) - found.vector_products(V, *vectors)
        remainder += weight * float(np.vdot(R, R))
    # No product with unit vectors is longer than T; probes of few rows may say less, even less than nothing.
    least = max(float(sizes.max(initial=0.0)) ** 2, np.finfo(float).tiny)
    squared_norm = max(remainder + 2 * float(inner) - found.squared_norm(), least)
    residuals = np.divide(gaps, sizes, out=np.zeros_like(gaps), where=sizes > 0)
    return Quality(residuals, squared_norm, float(np.sqrt(remainder / squared_norm)))


def probes(tensor: CrossTensor, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, list[np.ndarray], float]]:
    """Blocks of label and vector probes, with a weight such that ``Σ weight · ‖T(u, I, b, ...)‖² = ‖T‖²``.

    All pairs of coordinates where they are few (the sum is then exact), Gaussian vectors else (in the mean).
    """
    k, d, m = tensor.n_labels, tensor.n_features, tensor.order
    if k * d ** (m - 1) <= EXACT_PROBES:
        index = np.indices((k,) + (d,) * (m - 1)).reshape(m, -1)
        all_probes = [np.eye(size)[:, i] for size, i in zip((k,) + (d,) * (m - 1), index)]
        weight = 1.0
    else:
        all_probes = [rng.standard_normal((size, RANDOM_PROBES)) for size in (k,) + (d,) * (m - 1)]
        weight = 1.0 / RANDOM_PROBES
    for start in range(0, all_probes[0].shape[1], PROBE_BLOCK):
        U, *vectors = (p[:, start : start + PROBE_BLOCK].astype(tensor.dtype) for p in all_probes)
        yield U, vectors, weight
