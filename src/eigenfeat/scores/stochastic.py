"""Components of a cross-moment found one after the other, each from a few mini-batches of rows.

The paper's stochastic form (appendix B.3): rank-one updates by alternating least squares on a mini-batch at a time,
warm-started from one batch to the next, with the components found before taken off implicitly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenfeat.scores.components import Components, Fit
from eigenfeat.scores.cross_moment import CrossMoment
from eigenfeat.scores.decomposition import Deflated, Search, complete, power_method


@dataclass(frozen=True)
class Batches:
    """Rows a mini-batch, mini-batches a component, updates a mini-batch (the paper: 1, 20, 4); starts on the first."""

    size: int = 64
    n_batches: int = 20
    n_updates: int = 4
    n_starts: int = 8


def decompose_stochastically(
    moment: CrossMoment, n_components: int, rng: np.random.Generator, batches: Batches, search: Search
) -> Fit:
    """Components by stochastic alternating least squares with deflation, then fitted jointly on all rows."""
    vectors = np.zeros((moment.n_features, n_components), dtype=moment.dtype)
    labels = np.zeros((moment.n_labels, n_components), dtype=moment.dtype)
    for r in range(n_components):
        found = Components(vectors[:, :r], labels[:, :r], moment.order)
        vectors[:, r], labels[:, r] = _next_component(moment, found, rng, batches)
    return complete(moment, Components(vectors, labels, moment.order), n_components, rng, search)


def _next_component(
    moment: CrossMoment, found: Components, rng: np.random.Generator, batches: Batches
) -> tuple[np.ndarray, np.ndarray]:
    """One more unit vector, and its labels averaged over the mini-batches that it was found on."""
    V = rng.standard_normal((moment.n_features, batches.n_starts)).astype(moment.dtype)
    labels = np.zeros((moment.n_labels, 1), dtype=moment.dtype)
    size = min(batches.size, len(moment.X))
    for _ in range(batches.n_batches):
        batch = Deflated(moment.batch(rng.choice(len(moment.X), size, replace=False)), found)
        V, values = power_method(batch, V, batches.n_updates, tol=0.0)
        V = V[:, [np.argmax(values)]]
        labels += batch.along(V).label_products() / moment.dtype.type(batches.n_batches)
    return V[:, 0], labels[:, 0]
