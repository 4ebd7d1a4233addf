"""The cross-moment of labels and score tensors, ``T = Σ_i y_i ⊗ S_m(x_i)``, as an operator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from eigenfeat.moments.forms import DenseForm
from eigenfeat.scores.tensors import ScoreFunction, ScoreTensors

BLOCK_BYTES = 64_000_000


def centred_labels(Y: np.ndarray, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Label rows about their mean, times ``sample_weight / Σ sample_weight``.

    ``E[S_m] = 0``, so taking the mean off y leaves ``E[y ⊗ S_m]`` as it is; from finitely many rows and a
    fitted density it removes the error of ``E[S_m]``, which every label would share.
    """
    weight = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    weight = weight / weight.sum()
    return (Y - weight @ Y) * weight[:, None]


@dataclass(frozen=True, eq=False)
class CrossMoment:
    """``T = Σ_i labels_i ⊗ S_m(x_i)``, k × d × ... × d, never formed.

    Parameters
    ----------
    score : ScoreFunction
    X : (n, d) array
    labels : (n, k) array
        Label rows with their weights, such as :func:`centred_labels` returns.
    order : int
        m.
    basis : (d, p) array, optional
        B: the operator is that of ``T(I, B, ..., B)``.
    """

    score: ScoreFunction
    X: np.ndarray
    labels: np.ndarray
    order: int
    basis: np.ndarray | None = None

    @property
    def n_labels(self) -> int:
        return self.labels.shape[1]

    @property
    def n_features(self) -> int:
        return self.X.shape[1] if self.basis is None else self.basis.shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.X.dtype

    def in_basis(self, basis: np.ndarray) -> CrossMoment:
        """``T(I, B, ..., B)``: the same moment seen by vectors ``B z``."""
        basis = basis if self.basis is None else self.basis @ basis
        return replace(self, basis=basis.astype(self.dtype, copy=False))

    def batch(self, rows: np.ndarray) -> CrossMoment:
        """An unbiased estimate of the moment from some of its rows."""
        scale = self.labels.dtype.type(len(self.X) / len(rows))
        return replace(self, X=self.X[rows], labels=scale * self.labels[rows])

    def label_products(self, *vectors: np.ndarray) -> np.ndarray:
        """``T(:, b_r, ...)`` with m vector blocks, (k, r)."""
        vectors = self._outward(vectors)
        total = np.zeros((self.n_labels, vectors[0].shape[1]), dtype=self.dtype)
        for tensors, labels in self._blocks(vectors[0].shape[1]):
            total += labels.T @ tensors.form(*vectors)
        return total

    def vector_products(self, label_vectors: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        """``T(u_r, I, b_r, ...)`` with m - 1 vector blocks, (d, r)."""
        vectors = self._outward(vectors)
        total = np.zeros((self.X.shape[1], label_vectors.shape[1]), dtype=self.dtype)
        for tensors, labels in self._blocks(label_vectors.shape[1]):
            weights = labels @ label_vectors.astype(self.dtype, copy=False)
            total += tensors.weighted_sum(weights, *vectors)
        return total if self.basis is None else self.basis.T @ total

    def matrix(self, label_vector: np.ndarray) -> np.ndarray:
        """``T(u, I, I)`` of a second-order moment, a symmetric (d, d) array."""
        eye = np.eye(self.n_features, dtype=self.dtype)
        M = self.vector_products(np.repeat(label_vector[:, None], len(eye), axis=1), eye)
        return (M + M.T) / 2

    def toarray(self) -> np.ndarray:
        """The dense tensor: for small d, to look at or to test against."""
        d, m = self.n_features, self.order
        index = np.indices((d,) * m).reshape(m, -1)
        eye = np.eye(d, dtype=self.dtype)
        return self.label_products(*(eye[:, i] for i in index)).reshape(self.n_labels, *(d,) * m)

    def _outward(self, vectors: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Vectors as the score knows them; equal objects stay equal objects."""
        images: dict[int, np.ndarray] = {}
        for v in vectors:
            cast = v.astype(self.dtype, copy=False)
            images.setdefault(id(v), cast if self.basis is None else self.basis @ cast)
        return tuple(images[id(v)] for v in vectors)

    def _blocks(self, n_vectors: int) -> Iterator[tuple[ScoreTensors, np.ndarray]]:
        columns = max(self.X.shape[1], n_vectors)
        step = max(1, BLOCK_BYTES // (columns * self.dtype.itemsize))
        for start in range(0, len(self.X), step):
            rows = slice(start, start + step)
            yield self.score.tensors_at(self.X[rows]), self.labels[rows].astype(self.dtype, copy=False)


def score_second_moment(
    score: ScoreFunction, X: np.ndarray, sample_weight: np.ndarray | None = None
) -> DenseForm:
    """``E[S1 S1ᵀ]``, the Fisher information of location: how much the score varies along every direction.

    It is the noise of a score quotient: a label that says nothing has ``Var[y S2(v, v)]`` of order
    ``(vᵀ E[S1 S1ᵀ] v)²`` (exactly twice that for a Gaussian).
    """
    weight = np.full(len(X), 1 / len(X)) if sample_weight is None else sample_weight / np.sum(sample_weight)
    total = np.zeros((X.shape[1], X.shape[1]))
    step = max(1, BLOCK_BYTES // (X.shape[1] * X.dtype.itemsize))
    for start in range(0, len(X), step):
        S = score.score1(X[start : start + step])
        total += (S * weight[start : start + step, None].astype(S.dtype)).T @ S
    return DenseForm(total)
