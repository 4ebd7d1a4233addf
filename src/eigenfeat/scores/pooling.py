"""Components of several orders side by side, each measured against what labels that say nothing would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from eigenfeat.scores.components import Components, unit_columns
from eigenfeat.scores.cross_tensor import PREPARED_BYTES, CrossTensor, StreamedTensor
from eigenfeat.scores.decomposition import Deflated, distinct, power_method
from eigenfeat.scores.quality import Quality

N_PERMUTATIONS, NULL_STARTS, NULL_STEPS, NULL_TOL = 5, 16, 20, 0.02
MOST_POOLED = 2000


def noise_level(tensor: StreamedTensor, rng: np.random.Generator) -> float:
    """The largest ``T(u, v, ..., v)`` over unit u and v that shuffled labels lead one to expect.

    It is how large a component may be without meaning anything: permuting the labels keeps the rows, the score and
    its misfit, and takes away what the labels have to do with them.
    """
    shuffles = [tensor.labels[rng.permutation(len(tensor.labels))] for _ in range(N_PERMUTATIONS)]
    if tensor.order == 2:
        return float(np.mean([largest_eigenvalue(replace(tensor, labels=labels)) for labels in shuffles]))
    prepared = tensor.prepared() if tensor.X.nbytes <= PREPARED_BYTES else None
    largest = []
    for labels in shuffles:
        shuffled = replace(tensor, labels=labels) if prepared is None else prepared.with_labels(labels)
        V = rng.standard_normal((tensor.n_features, NULL_STARTS)).astype(tensor.dtype)
        values = power_method(Deflated(shuffled, Components.none(shuffled)), V, NULL_STEPS, NULL_TOL)[1]
        largest.append(float(values.max()))
    return float(np.mean(largest))


def largest_eigenvalue(tensor: StreamedTensor) -> float:
    """The largest ``|T(u, v, v)|`` of a second-order tensor over labels u and unit v: components are of one label."""
    matrices = (tensor.matrix(label) for label in np.eye(tensor.n_labels, dtype=tensor.dtype))
    return max(float(np.linalg.norm(matrix, ord=2)) for matrix in matrices)


@dataclass(frozen=True, eq=False)
class OrderFit:
    """What one order of derivatives had to say.

    Parameters
    ----------
    components : Components
        Where the noise of the score is the identity.
    strengths : (r,) array
        ``T(u_r, w_r, ..., w_r)`` over the noise level: what is above one would be a rare accident.
    directions : (q, r) array
        The same components as unit directions of the rows.
    quality : Quality
    """

    components: Components
    strengths: np.ndarray
    directions: np.ndarray
    quality: Quality

    @property
    def order(self) -> int:
        return self.components.order


def strengths(tensor: CrossTensor, found: Components, level: float) -> np.ndarray:
    """``T(u_r, w_r, ..., w_r)``, u_r a unit vector, over the noise level."""
    products = tensor.along(found.vectors.astype(tensor.dtype, copy=False)).label_products()
    own = np.abs(np.einsum("kr,kr->r", unit_columns(found.label_factors), products))
    return own / (level if level > 0 else 1.0)


@dataclass(frozen=True, eq=False)
class Pool:
    """Directions of all orders, best first; order 0 is a leading axis that stands for what no order speaks of.

    Parameters
    ----------
    directions : (q, r) array
        Unit columns.
    orders : (r,) array of int
    strengths, weights, residuals, shares : (r,) arrays
    label_factors : (k, r) array
    """

    directions: np.ndarray
    orders: np.ndarray
    strengths: np.ndarray
    weights: np.ndarray
    residuals: np.ndarray
    shares: np.ndarray
    label_factors: np.ndarray

    def take(self, index: np.ndarray) -> Pool:
        fields = {name: np.asarray(value)[..., index] for name, value in vars(self).items()}
        return Pool(**fields)

    @property
    def count(self) -> int:
        return len(self.orders)

    @classmethod
    def of(cls, fit: OrderFit) -> Pool:
        weights = fit.components.weights.astype(np.float64)
        return cls(
            fit.directions,
            np.full(fit.components.count, fit.order),
            fit.strengths,
            weights,
            fit.quality.residuals,
            weights**2 / fit.quality.squared_norm,
            fit.components.label_factors.astype(np.float64),
        )

    @classmethod
    def of_axes(cls, n_axes: int, n_labels: int) -> Pool:
        zeros = np.zeros(n_axes)
        return cls(np.eye(n_axes), np.zeros(n_axes, int), zeros, zeros, zeros, zeros, np.zeros((n_labels, n_axes)))

    @classmethod
    def joined(cls, pools: Sequence[Pool]) -> Pool:
        parts = [vars(pool) for pool in pools]
        return cls(**{name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]})


def pooled(fits: Sequence[OrderFit], n_axes: int, n_components: int | None) -> Pool:
    """Components above the noise, strongest first, then the leading axes, then what could be noise.

    The axes leave nothing of the rows out, so that a linear classifier of the features has the inputs to fall back
    on. Without ``n_components`` the list ends with them; of directions that are nearly equal the first is kept.
    """
    found = Pool.joined([Pool.of(fit) for fit in fits])
    found = found.take(np.argsort(-found.strengths, kind="stable")[:MOST_POOLED])
    found = found.take(distinct(found.directions))
    n_real = int((found.strengths > 1).sum())
    index = np.arange(found.count)
    parts = [found.take(index[:n_real]), Pool.of_axes(n_axes, len(found.label_factors))]
    if n_components is not None:
        parts.append(found.take(index[n_real:]))
    whole = Pool.joined(parts)
    whole = whole.take(distinct(whole.directions))
    return whole.take(np.arange(whole.count)[:n_components])
