"""Class moments too large for the machine that asks for them: they stay on the workers of a cluster, sharded by class.

A shard is the moments of as many classes as the limit holds, one at least, and takes a pass of its own. Only what grows
like k d comes here: counts, weights, means, and the diagonals of the second moments. A d × d matrix is made of the
shards, on a worker, when somebody asks for products with it; problems made of such matrices are solved there too
(`eigenfeat.solvers.remote`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from eigenfeat.moments.base import Mixture, Moments
from eigenfeat.moments.collect import MomentsOf
from eigenfeat.moments.dense_moments import DenseMoments
from eigenfeat.moments.forms import DenseForm, FactoredForm, RowTerm, SymmetricForm
from eigenfeat.rows import Rows, Seen
from eigenfeat.rows.dask_tasks import Remote
from eigenfeat.rows.statistics import OfClasses
from eigenfeat.rows.store import RowStore


def matrix_bytes(n_classes: int, n_features: int) -> int:
    """What second moments of so many classes take."""
    return 8 * n_classes * n_features**2


def sharded_moments(rows: Rows, n_classes: int, limit: int) -> ShardedMoments:
    """Moments of rows on a cluster, whose labels are 0..n_classes-1, in shards of at most ``limit`` bytes where a class
    is no larger."""
    size = max(1, limit // matrix_bytes(1, rows.n_columns))
    shards = []
    for first in range(0, n_classes, size):
        last = min(first + size, n_classes)
        empty = Seen(MomentsOf(DenseMoments(np.arange(first, last))), OfClasses(first, last))
        shards.append(Shard(rows.summed_there(empty, "moments").then(_moments_of)))
    return ShardedMoments(shards)


class Shard:
    """Moments of some classes on a worker, and what of them is small."""

    def __init__(self, moments: Remote) -> None:
        self.moments = moments
        self.summary: Summary = moments.then(Summary.of).here("class means")


@dataclass(frozen=True, eq=False)
class Summary:
    """What is known here of a shard: arrays of its classes, as in `Moments`, and diagonals of their covariances."""

    classes: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    weight_squares: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    @classmethod
    def of(cls, moments: DenseMoments) -> Summary:
        variances = np.array([moments.within(c).diagonal() for c in range(moments.n_classes)])
        means = moments.means
        return cls(moments.classes, moments.counts, moments.weights, moments.weight_squares, means, variances)


class ShardedMoments(Moments):
    """Moments in shards, in the order of their classes; each answer is a `RemoteForm`.

    Parameters
    ----------
    shards : sequence of Shard
    """

    def __init__(self, shards: Sequence[Shard] = ()) -> None:
        self._take(shards)

    def _take(self, shards: Sequence[Shard]) -> None:
        self.shards = list(shards)
        self._matrices: WeakValueDictionary[bytes, RemoteMatrix] = WeakValueDictionary()
        if shards:
            for name in ("classes", "counts", "weights", "weight_squares"):
                setattr(self, name, np.concatenate([getattr(shard.summary, name) for shard in shards]))
            self._means, self._variances = (
                np.concatenate([getattr(shard.summary, name) for shard in shards]) for name in ("means", "variances")
            )
            self.n_features = self._means.shape[1]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_matrices"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._matrices = WeakValueDictionary()

    def update(self, X, y, sample_weight=None) -> ShardedMoments:
        raise TypeError("Moments on a cluster are made by its passes: collect those of new rows and merge them.")

    def merge(self, other: Moments) -> ShardedMoments:
        if not isinstance(other, ShardedMoments):
            raise TypeError(f"Moments on a cluster merge with their like, not with {type(other).__name__}.")
        pairs = zip(self.shards, other.shards, strict=True) if self.shards else ()
        merged = [Shard(mine.moments.then(_merged, theirs.moments)) for mine, theirs in pairs]
        classes = other.classes
        self._take(merged or other.shards)
        self.rename(classes)
        return self

    def empty_copy(self) -> ShardedMoments:
        return ShardedMoments()

    def grouped(self, labels: np.ndarray) -> Moments:
        raise ValueError(
            "Moments of sub-classes are not joined on a cluster: raise memory_limit of eigenfeat.rows.streaming until "
            "they fit here, or leave subclasses out."
        )

    @property
    def means(self) -> np.ndarray:
        return self._means

    def within(self, mixture: Mixture = None) -> RemoteForm:
        return self._form(self.proportions(mixture), np.zeros_like(self._means))

    def second_moment(self, mixture: Mixture = None, about: Mixture | str = "origin") -> RemoteForm:
        origin = 0.0 if isinstance(about, str) else self.mean(about)
        return self._form(self.proportions(mixture), self._means - origin)

    def between(self, mixture: Mixture = None) -> SymmetricForm:
        rows = RowStore(self.between_factor(mixture).T.copy())
        return FactoredForm(rows, (RowTerm(np.arange(self.n_classes), scale=np.ones(self.n_classes)),))

    def fourth_moment(self, mixture: Mixture = None, about: Mixture | str = "origin") -> float:
        raise ValueError(
            "Ledoit-Wolf shrinkage needs fourth moments, which those that stay on a cluster lack: give shrinkage "
            'as "oas" or a number, or raise memory_limit of eigenfeat.rows.streaming until the moments fit here.'
        )

    def _form(self, u: np.ndarray, apart: np.ndarray) -> RemoteForm:
        """``Σ_c u_c (Cov[x|c] + a_c a_cᵀ)``."""
        key = u.tobytes() + apart[u != 0].tobytes()
        matrix = self._matrices.get(key)
        if matrix is None:
            matrix = self._matrices[key] = RemoteMatrix(self.shards, u, apart)
        return RemoteForm(matrix, u @ (self._variances + apart**2))


class RemoteMatrix:
    """A d × d matrix that is made of shards, on a worker, when it is first asked for."""

    def __init__(self, shards: Sequence[Shard], u: np.ndarray, apart: np.ndarray) -> None:
        self._parts, first = list[tuple[Shard, np.ndarray, np.ndarray]](), 0
        for shard in shards:
            own = slice(first, first + len(shard.summary.classes))
            first = own.stop
            if u[own].any():
                self._parts.append((shard, u[own], apart[own]))

    @cached_property
    def there(self) -> Remote:
        parts = [shard.moments.then(_combined, u, apart) for shard, u, apart in self._parts]
        while len(parts) > 1:
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [pair[0].then(np.add, pair[1]) if len(pair) > 1 else pair[0] for pair in pairs]
        return parts[0]


@dataclass(frozen=True, eq=False)
class RemoteForm(SymmetricForm):
    """``matrix + diag(shift)`` with the matrix on a worker: its diagonal is known here, products are made there."""

    matrix: RemoteMatrix
    own_diagonal: np.ndarray
    shift: float | np.ndarray = 0.0
    factor: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self.own_diagonal), len(self.own_diagonal))

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float64)

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        product = self.matrix.there.then(np.matmul, vectors).here("products with a moment matrix")
        return self.factor * product + self._shift_times(vectors)

    def diagonal(self) -> np.ndarray:
        return self.own_diagonal + self.shift

    def toarray(self) -> np.ndarray:
        """Brought here: one matrix, because somebody asks for it."""
        return DenseForm(self.factor * self.matrix.there.here("a moment matrix"), self.shift).toarray()

    def squared_norm(self) -> float:
        return self.factor**2 * float(self.matrix.there.then(_squared_norm).here("the norm of a moment matrix"))

    def scaled(self, weight: float) -> RemoteForm:
        return RemoteForm(self.matrix, self.own_diagonal * weight, self.shift * weight, self.factor * weight)

    def __add__(self, other: SymmetricForm) -> SymmetricForm:
        raise TypeError(
            "Moments that stay on a cluster are not added to other matrices: raise memory_limit of streaming."
        )


def _moments_of(statistic: Seen) -> DenseMoments:
    return statistic.statistic.moments  # type: ignore[attr-defined]


def _merged(one: DenseMoments, other: DenseMoments) -> DenseMoments:
    return one.empty_copy().merge(one).merge(other)


def _combined(moments: DenseMoments, u: np.ndarray, apart: np.ndarray) -> np.ndarray:
    return moments.within(u).matrix + (apart * u[:, None]).T @ apart


def _squared_norm(matrix: np.ndarray) -> float:
    return float(np.vdot(matrix, matrix))
