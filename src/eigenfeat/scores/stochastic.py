"""Components of a cross-moment found one after the other, each from a few mini-batches of rows.

The paper's stochastic form (appendix B.3): rank-one updates by alternating least squares on a mini-batch at a time,
warm-started from one batch to the next, with the components found before taken off implicitly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenfeat.scores.components import Components, Fit
from eigenfeat.scores.cross_tensor import StreamedTensor
from eigenfeat.scores.decomposition import Deflated, Search, complete, distinct, power_method


@dataclass(frozen=True)
class Batches:
    """Rows a mini-batch, mini-batches a component, updates a mini-batch (the paper: 1, 20, 4); starts on the first."""

    size: int = 64
    n_batches: int = 20
    n_updates: int = 4
    n_starts: int = 8


def decompose_stochastically(
    tensor: StreamedTensor, n_components: int, rng: np.random.Generator, batches: Batches, search: Search
) -> Fit:
    """Components by stochastic alternating least squares with deflation, then fitted jointly on all rows.

    Without steps of the joint fit (``search.max_iter`` zero) they stay as the mini-batches found them, as in the paper.
    """
    vectors = np.zeros((tensor.n_features, n_components), dtype=tensor.dtype)
    factors = np.zeros((tensor.n_labels, n_components), dtype=tensor.dtype)
    for r in range(n_components):
        found = Components(vectors[:, :r], factors[:, :r], tensor.order)
        vectors[:, r], factors[:, r] = _next_component(tensor, found, rng, batches)
    found = Components(vectors, factors, tensor.order)
    if not search.max_iter:
        return Fit(found.take(distinct(found.vectors)).strongest_first())
    return complete(tensor, found, n_components, rng, search)


def _next_component(
    tensor: StreamedTensor, found: Components, rng: np.random.Generator, batches: Batches
) -> tuple[np.ndarray, np.ndarray]:
    """One more unit vector, and its label factor averaged over the mini-batches that it was found on."""
    V = rng.standard_normal((tensor.n_features, batches.n_starts)).astype(tensor.dtype)
    factors = np.zeros((tensor.n_labels, 1), dtype=tensor.dtype)
    size = min(batches.size, len(tensor.X))
    for _ in range(batches.n_batches):
        batch = Deflated(tensor.batch(rng.choice(len(tensor.X), size, replace=False)), found)
        V, values = power_method(batch, V, batches.n_updates, tol=0.0)
        V = V[:, [np.argmax(values)]]
        factors += batch.along(V).label_products() / tensor.dtype.type(batches.n_batches)
    return V[:, 0], factors[:, 0]
