"""The cross-moment of labels and score tensors, ``T = Σ_i y_i ⊗ S_m(x_i)``, as an operator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, permutations

import numpy as np

from eigenfeat.moments.forms import DenseForm
from eigenfeat.scores.tensors import ScoreFunction, ScoreTensors, ScoreTensorsInBasis, same_images

# Rows of a block take about this much: what is computed from them stays in cache.
BLOCK_BYTES = 4_000_000
# Rows prepared for many products: at most this much in all, in blocks whose products with a few hundred vectors stay in
# cache; and what value and slope share is kept between them up to this size.
PREPARED_BYTES, PREPARED_BLOCK_ROWS = 500_000_000, 1000
CONDENSED_ENTRIES = 4_000_000


def centred_labels(Y: np.ndarray, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Label rows about their mean, times ``sample_weight / Σ sample_weight``.

    ``E[S_m] = 0``, so taking the mean off y leaves ``E[y ⊗ S_m]`` as it is; from finitely many rows and a
    fitted density it removes the error of ``E[S_m]``, which every label would share.
    """
    weight = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    weight = weight / weight.sum()
    return (Y - weight @ Y) * weight[:, None]


def merged_rows(keys: np.ndarray, Y: np.ndarray, sample_weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of all rows that are equal and labelled alike, in the order of their keys, and its share of the weight.

    A sum over rows does not depend on their order or on how weights are written, but for rounding; a search among
    local optima can follow rounding to another optimum. After this it cannot. Rows of no weight are left out.

    Parameters
    ----------
    keys : (n, c) array of int
        Equal for rows that are equal.
    Y : (n, k) array
    sample_weight : (n,) array
    """
    counted = np.flatnonzero(sample_weight)
    table = np.ascontiguousarray(np.hstack([keys[counted], Y[counted].astype(np.float64).view(np.int64)]))
    as_one = table.view(f"V{table.shape[1] * table.itemsize}").ravel()
    _, first, which = np.unique(as_one, return_index=True, return_inverse=True)
    return counted[first], np.bincount(which.ravel(), sample_weight[counted])


class CrossTensor(ABC):
    """A k × d × ... × d tensor, symmetric in its m modes of size d, as products with blocks of vectors."""

    order: int
    is_array = False
    """Whether a product is a sum over an array: cheap, and not a pass over rows."""

    @property
    @abstractmethod
    def n_labels(self) -> int: ...

    @property
    @abstractmethod
    def n_features(self) -> int: ...

    @property
    @abstractmethod
    def dtype(self) -> np.dtype: ...

    @abstractmethod
    def label_products(self, *vectors: np.ndarray) -> np.ndarray:
        """``T(:, b_r, ...)`` with m vector blocks, (k, r)."""

    @abstractmethod
    def vector_products(self, label_vectors: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        """``T(u_r, I, b_r, ...)`` with m - 1 vector blocks, (d, r)."""

    def along(self, V: np.ndarray) -> CrossTensorAlong:
        """Products with the same vectors in every mode: values and then slopes, which share most of the work."""
        return CrossTensorAlong(self, V)

    @abstractmethod
    def in_basis(self, basis: np.ndarray) -> CrossTensor:
        """``T(I, B, ..., B)``: the same tensor seen by vectors ``B z``."""

    @abstractmethod
    def toarray(self) -> np.ndarray: ...


class CrossTensorAlong:
    """``T(:, v_r, ..., v_r)`` and ``T(u_r, I, v_r, ..., v_r)`` of a tensor for one block of vectors."""

    def __init__(self, tensor: CrossTensor, V: np.ndarray) -> None:
        self.tensor, self.V = tensor, V

    def label_products(self) -> np.ndarray:
        return self.tensor.label_products(*[self.V] * self.tensor.order)

    def vector_products(self, label_vectors: np.ndarray) -> np.ndarray:
        return self.tensor.vector_products(label_vectors, *[self.V] * (self.tensor.order - 1))


class RowTensor(CrossTensor):
    """``Σ_i labels_i ⊗ S_m(x_i)`` as a sum over blocks of rows."""

    @abstractmethod
    def blocks(self, n_vectors: int) -> Iterator[tuple[ScoreTensors, np.ndarray]]:
        """Score tensors and labels, block by block, for products with this many vectors at once."""

    def label_products(self, *vectors: np.ndarray) -> np.ndarray:
        blocks = self._cast(vectors)
        total = np.zeros((self.n_labels, blocks[0].shape[1]), dtype=self.dtype)
        for tensors, labels in self.blocks(blocks[0].shape[1]):
            total += labels.T @ tensors.form(*blocks)
        return total

    def vector_products(self, label_vectors: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        U, *blocks = self._cast((label_vectors, *vectors))
        total = np.zeros((self.n_features, U.shape[1]), dtype=self.dtype)
        for tensors, labels in self.blocks(U.shape[1]):
            total += tensors.weighted_sum(labels @ U, *blocks)
        return total

    def toarray(self) -> np.ndarray:
        """The tensor itself: one product for every label and increasing sequence of m - 1 coordinates."""
        k, d, m = self.n_labels, self.n_features, self.order
        if m == 1:
            return self.vector_products(np.eye(k, dtype=self.dtype)).T
        full = np.empty((k,) + (d,) * m, dtype=self.dtype)
        sequences = np.array(list(combinations_with_replacement(range(d), m - 1)), dtype=int).T
        eye = np.eye(d, dtype=self.dtype)
        step = max(1, BLOCK_BYTES // (d * self.dtype.itemsize))
        for label in range(k):
            for start in range(0, sequences.shape[1], step):
                index = sequences[:, start : start + step]
                u = np.repeat(np.eye(k, dtype=self.dtype)[:, label, None], index.shape[1], axis=1)
                products = self.vector_products(u, *(eye[:, i] for i in index))
                for positions in permutations(index):
                    full[label][:, *positions] = products
        return full

    def _cast(self, vectors: Sequence[np.ndarray]) -> list[np.ndarray]:
        return same_images(lambda v: v.astype(self.dtype, copy=False), vectors)


@dataclass(frozen=True, eq=False)
class StreamedTensor(RowTensor):
    """``T = Σ_i labels_i ⊗ S_m(x_i)``, never formed; score tensors are computed block by block, at every product.

    Parameters
    ----------
    score : ScoreFunction
    X : (n, d) array
    labels : (n, k) array
        Label rows with their weights, such as :func:`centred_labels` returns.
    order : int
        m.
    basis : (d, p) array, optional
        B: the tensor is ``T(I, B, ..., B)``.
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

    def in_basis(self, basis: np.ndarray) -> StreamedTensor:
        basis = basis if self.basis is None else self.basis @ basis
        return replace(self, basis=basis.astype(self.dtype, copy=False))

    def blocks(self, n_vectors: int) -> Iterator[tuple[ScoreTensors, np.ndarray]]:
        step = max(1, BLOCK_BYTES // (max(self.X.shape[1], n_vectors) * self.dtype.itemsize))
        labels = self.labels.astype(self.dtype, copy=False)
        for start in range(0, len(self.X), step):
            rows = slice(start, start + step)
            tensors = self.score.tensors_at(self.X[rows])
            yield tensors if self.basis is None else ScoreTensorsInBasis(tensors, self.basis), labels[rows]

    def batch(self, rows: np.ndarray) -> PreparedTensor:
        """An unbiased estimate of the tensor from some of its rows, prepared for many products."""
        scale = self.labels.dtype.type(len(self.X) / len(rows))
        return replace(self, X=self.X[rows], labels=scale * self.labels[rows]).prepared()

    def prepared(self) -> PreparedTensor:
        """The same tensor with the score tensors at all rows in memory, in the basis."""
        basis = np.eye(self.X.shape[1], dtype=self.dtype) if self.basis is None else self.basis
        labels = self.labels.astype(self.dtype, copy=False)
        blocks = []
        for start in range(0, len(self.X), PREPARED_BLOCK_ROWS):
            rows = slice(start, start + PREPARED_BLOCK_ROWS)
            blocks.append((self.score.tensors_at(self.X[rows]).in_basis(basis), labels[rows]))
        return PreparedTensor(tuple(blocks), self.order, self.n_features)

    def matrix(self, label_vector: np.ndarray) -> np.ndarray:
        """``T(u, I, I)`` of a second-order tensor, a symmetric (d, d) array."""
        eye = np.eye(self.n_features, dtype=self.dtype)
        M = self.vector_products(np.repeat(label_vector[:, None], len(eye), axis=1), eye)
        return (M + M.T) / 2

    def condensed(self) -> CrossTensor:
        """The tensor in the form that makes many products cheap.

        An array, where that is small and a product with it costs less than a pass over the rows; prepared score
        tensors, where memory allows.
        """
        k, d, m = self.n_labels, self.n_features, self.order
        if k * d**m <= min(CONDENSED_ENTRIES, self.X.size):
            return DenseTensor(self.toarray())
        return self.prepared() if self.X.nbytes <= PREPARED_BYTES else self


@dataclass(frozen=True, eq=False)
class PreparedTensor(RowTensor):
    """A cross-tensor whose score tensors are at hand, block by block."""

    prepared_blocks: tuple[tuple[ScoreTensors, np.ndarray], ...]
    order: int
    width: int

    @property
    def n_features(self) -> int:
        return self.width

    @property
    def n_labels(self) -> int:
        return self.prepared_blocks[0][1].shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.prepared_blocks[0][1].dtype

    def blocks(self, n_vectors: int) -> Iterator[tuple[ScoreTensors, np.ndarray]]:
        return iter(self.prepared_blocks)

    def with_labels(self, labels: np.ndarray) -> PreparedTensor:
        """The tensor of other labels of the same rows."""
        labels, ends = labels.astype(self.dtype, copy=False), np.cumsum([len(part) for _, part in self.prepared_blocks])
        parts = np.split(labels, ends[:-1])
        return replace(
            self, prepared_blocks=tuple((tensors, part) for (tensors, _), part in zip(self.prepared_blocks, parts))
        )

    def along(self, V: np.ndarray) -> CrossTensorAlong:
        n_rows = sum(len(labels) for _, labels in self.prepared_blocks)
        small = n_rows * V.shape[1] * self.dtype.itemsize <= PREPARED_BYTES
        return PreparedAlong(self, V) if small else super().along(V)

    def in_basis(self, basis: np.ndarray) -> PreparedTensor:
        basis = basis.astype(self.dtype, copy=False)
        blocks = tuple((tensors.in_basis(basis), labels) for tensors, labels in self.prepared_blocks)
        return PreparedTensor(blocks, self.order, basis.shape[1])


class PreparedAlong(CrossTensorAlong):
    """Projections of all rows on the vectors are kept for the slopes."""

    def __init__(self, tensor: PreparedTensor, V: np.ndarray) -> None:
        super().__init__(tensor, V)
        V = V.astype(tensor.dtype, copy=False)
        self.parts = [(tensors.along(V, tensor.order), labels) for tensors, labels in tensor.prepared_blocks]

    def label_products(self) -> np.ndarray:
        return np.sum([labels.T @ tensors.form() for tensors, labels in self.parts], axis=0)

    def vector_products(self, label_vectors: np.ndarray) -> np.ndarray:
        U = label_vectors.astype(self.tensor.dtype, copy=False)
        return np.sum([tensors.weighted_sum(labels @ U) for tensors, labels in self.parts], axis=0)


@dataclass(frozen=True, eq=False)
class DenseTensor(CrossTensor):
    """A tensor small enough to be an array."""

    array: np.ndarray
    is_array = True

    @property
    def order(self) -> int:  # type: ignore[override]
        return self.array.ndim - 1

    @property
    def n_labels(self) -> int:
        return self.array.shape[0]

    @property
    def n_features(self) -> int:
        return self.array.shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.array.dtype

    @cached_property
    def folded(self) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """The last two modes as one of pairs ``i <= j``, both orders of a pair added up; and those pairs."""
        pairs = np.triu_indices(self.n_features)
        twice = np.where(pairs[0] < pairs[1], 2, 1).astype(self.dtype)
        return self.array[..., pairs[0], pairs[1]] * twice, pairs

    def along(self, V: np.ndarray) -> CrossTensorAlong:
        return DenseAlong(self, V) if self.order >= 3 else super().along(V)

    def label_products(self, *vectors: np.ndarray) -> np.ndarray:
        return np.einsum("kir,ir->kr", self._contract(*vectors[1:]), vectors[0])

    def vector_products(self, label_vectors: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        return np.einsum("kir,kr->ir", self._contract(*vectors), label_vectors)

    def in_basis(self, basis: np.ndarray) -> DenseTensor:
        array = self.array
        for _ in range(self.order):  # each product moves the next mode into place
            array = np.tensordot(array, basis, axes=(1, 0))
        return DenseTensor(array.astype(self.dtype, copy=False))

    def toarray(self) -> np.ndarray:
        return self.array

    def _contract(self, *vectors: np.ndarray) -> np.ndarray:
        """``T(:, I, b_r, ...)``, (k, d, r)."""
        if not vectors:
            return self.array[..., None]
        product = self.array @ vectors[-1]
        for v in vectors[-2::-1]:
            product = np.einsum("...jr,jr->...r", product, v)
        return product


class DenseAlong(CrossTensorAlong):
    """``T(:, I, v_r, ..., v_r)`` serves values and slopes; by symmetry half of an array's entries are enough for it."""

    tensor: DenseTensor

    def __init__(self, tensor: DenseTensor, V: np.ndarray) -> None:
        super().__init__(tensor, V)
        folded, (first, second) = tensor.folded
        product = (folded.reshape(-1, len(first)) @ (V[first] * V[second])).reshape(*folded.shape[:-1], -1)
        while product.ndim > 3:
            product = np.einsum("...jr,jr->...r", product, V)
        self.slopes = product

    def label_products(self) -> np.ndarray:
        return np.einsum("kir,ir->kr", self.slopes, self.V)

    def vector_products(self, label_vectors: np.ndarray) -> np.ndarray:
        return np.einsum("kir,kr->ir", self.slopes, label_vectors)


def score_second_moment(score: ScoreFunction, X: np.ndarray, sample_weight: np.ndarray | None = None) -> DenseForm:
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
