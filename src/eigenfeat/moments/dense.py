"""Class-conditional moments as d × d matrices, for more rows than columns."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse

from eigenfeat._runtime.jit import jit
from eigenfeat._runtime.threads import one_blas_thread, thread_pool, usable_threads
from eigenfeat.moments.base import Mixture, Moments, batch_of, class_codes
from eigenfeat.moments.dual import DualMoments
from eigenfeat.moments.forms import DenseForm, FactoredForm, RowTerm, SymmetricForm
from eigenfeat.moments.gram import GramCache

BLOCK_BYTES = 64_000_000
"""Rows are sorted by class within blocks of about this size, which are not copied."""

CHUNK_ROWS = 4096
"""Rows of one class that are gathered, shifted and multiplied at a time: few enough to stay in cache."""

FLUSH_ROWS = 1 << 16
"""A class's float32 product is moved to the float64 sum at least this often."""

WORTH_THREADS = 1_000_000
"""Numbers in a batch below which threads cost more than they save."""

SHIFT_RATIO = 10.0
"""A column is shifted when its mean exceeds this many spreads: below that, little is lost without."""

SHIFT_ROWS = 256
"""Rows of a class that its shift is taken from."""


_STATE_TYPES = {"counts": np.int64, "_seen": np.bool_}


@dataclass
class _Sums:
    """Sums over rows of one class about that class's shift: what one product with the rows gives."""

    count: int
    weight: float
    weight_square: float
    first: np.ndarray
    third: np.ndarray | float = 0.0
    fourth: float = 0.0


class ScatterMoments(Moments):
    """Answers from the means and the centred scatter matrix of every class, wherever the scatters are.

    Means are kept as ``shift + offset``, so that differences of large means lose nothing.
    """

    track_fourth: bool
    _shifts: np.ndarray
    _offsets: np.ndarray
    _thirds: np.ndarray
    _fourths: np.ndarray

    @abstractmethod
    def _scatter(self, c: int) -> np.ndarray:
        """``Σ w (x - m_c)(x - m_c)ᵀ`` over the rows of a class."""

    @property
    def means(self) -> np.ndarray:
        return self._shifts + self._offsets

    def within(self, mixture: Mixture = None) -> DenseForm:
        u = self.proportions(mixture)
        total = np.zeros((self.n_features, self.n_features))
        for c in np.flatnonzero(u).tolist():
            total += self._scatter(c) * (u[c] / self.weights[c])
        return DenseForm(total)

    def second_moment(self, mixture: Mixture = None, center: Mixture | str = "origin") -> DenseForm:
        u = self.proportions(mixture)
        matrix = self.within(u).matrix
        offsets = self._offsets_from(center)
        matrix += (offsets * u[:, None]).T @ offsets
        return DenseForm(matrix)

    def between(self, mixture: Mixture = None) -> SymmetricForm:
        rows = GramCache(self.between_factor(mixture).T.copy())
        return FactoredForm(rows, (RowTerm(np.arange(self.n_classes), scale=np.ones(self.n_classes)),))

    def fourth_moment(self, mixture: Mixture = None, center: Mixture | str = "origin") -> float:
        if not self.track_fourth:
            raise ValueError("Ledoit-Wolf shrinkage needs fourth moments: collect with track_fourth=True.")
        u = self.proportions(mixture)
        own_means = isinstance(center, str) and center == "class"
        offsets = np.zeros_like(self.means) if own_means else self._offsets_from(center)
        return sum(
            u[c] * _shift_moments(W, -offsets[c], self._scatter(c), self._thirds[c], self._fourths[c])[1] / W
            for c, W in enumerate(self.weights)
            if u[c] > 0
        )

    def _offsets_from(self, center: Mixture | str) -> np.ndarray:
        """Class means less a center; differences are taken of offsets, so that a common shift drops out."""
        if isinstance(center, str):
            return self.means
        v = self.proportions(center)
        common = self._shifts[int(np.argmax(v))]
        means = (self._shifts - common) + self._offsets
        return means - v @ means


class DenseMoments(ScatterMoments):
    """Per class: weight, mean and centred scatter, in one pass over rows of any number.

    ``scatter_c = Σ w (x - m_c)(x - m_c)ᵀ`` is stored centred and merged by the pairwise-update formula of Chan,
    Golub & LeVeque (1983); raw second moments are derived. Means are kept as ``shift + offset``, the shift being
    the mean of the first rows of the class seen, so that nothing cancels when the mean is large.

    Memory is O(k d²) and one block; float32 rows are multiplied in float32 within a block and summed in float64.

    Parameters
    ----------
    classes : array, optional
        Labels that will come, where they are known; others are added as they appear.
    track_fourth : bool
        Also sum ``‖x - m‖⁴``, which Ledoit-Wolf shrinkage needs; two more products with a vector a block.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.moments import DenseMoments
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 3)), rng.integers(2, size=100)
    >>> whole = DenseMoments().update(X, y)
    >>> parts = DenseMoments().update(X[:30], y[:30]).merge(DenseMoments().update(X[30:], y[30:]))
    >>> bool(np.allclose(whole.covariance(0).toarray(), parts.covariance(0).toarray()))
    True
    """

    _seen: np.ndarray
    _scatters: np.ndarray

    def __init__(self, classes: np.ndarray | None = None, *, track_fourth: bool = False) -> None:
        self.track_fourth = track_fourth
        self.classes = np.empty(0) if classes is None else np.unique(classes)
        self.n_features = 0
        self._started = False

    def update(self, X, y=None, sample_weight=None) -> DenseMoments:
        X, y, sample_weight = batch_of(X, y, sample_weight)
        labels = np.zeros(X.shape[0], dtype=np.int64) if y is None else np.asarray(y)
        classes, codes = class_codes(labels, self.classes)
        self._extend(classes, X.shape[1])
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if sparse.issparse(X):
            self._absorb_sparse(X.tocsr(), codes, weights)
        else:
            self._absorb_dense(X, codes, weights)
        return self

    def merge(self, other: Moments) -> DenseMoments:
        if isinstance(other, DualMoments):
            for rows, labels, weights in other.batches:
                self.update(rows, labels, weights)
            return self
        if not isinstance(other, DenseMoments):
            raise TypeError(f"DenseMoments can be merged with other moments, not with {type(other).__name__}.")
        if self.track_fourth and not other.track_fourth:
            raise ValueError("These moments track fourth moments and the others do not: set track_fourth on both.")
        if not other._started:
            return self
        classes = np.union1d(self.classes, other.classes) if self._started else np.unique(other.classes)
        self._extend(classes, other.n_features)
        for theirs, c in enumerate(np.searchsorted(self.classes, other.classes)):
            if not other.counts[theirs]:
                continue
            if not self._seen[c]:
                self._shifts[c], self._seen[c] = other._shifts[theirs], True
            offset = other._offsets[theirs] + (other._shifts[theirs] - self._shifts[c])
            self._combine(
                c,
                int(other.counts[theirs]),
                float(other.weights[theirs]),
                float(other.weight_squares[theirs]),
                offset,
                other._scatters[theirs],
                other._thirds[theirs] if self.track_fourth else None,
                float(other._fourths[theirs]) if self.track_fourth else 0.0,
            )
        return self

    def empty_copy(self) -> DenseMoments:
        return DenseMoments(track_fourth=self.track_fourth)

    def _extend(self, classes: np.ndarray, n_features: int) -> None:
        """Extend the arrays to new labels."""
        if self._started and n_features != self.n_features:
            raise ValueError(f"These moments have {self.n_features} columns, the new rows {n_features}.")
        if self._started and len(classes) == len(self.classes):
            return
        k, d = len(classes), n_features
        fresh: dict[str, tuple[int, ...]] = {"counts": (k,), "weights": (k,), "weight_squares": (k,), "_seen": (k,)}
        fresh |= {"_shifts": (k, d), "_offsets": (k, d), "_scatters": (k, d, d)}
        if self.track_fourth:
            fresh |= {"_thirds": (k, d), "_fourths": (k,)}
        positions = np.searchsorted(classes, self.classes) if self._started else None
        for name, shape in fresh.items():
            array: np.ndarray = np.zeros(shape, dtype=_STATE_TYPES.get(name, np.float64))
            if positions is not None:
                array[positions] = getattr(self, name)
            setattr(self, name, array)
        self.classes, self.n_features, self._started = classes, d, True

    def _absorb_dense(self, X: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> None:
        dtype = _product_dtype(X.dtype)
        n, d = X.shape
        step = max(1, BLOCK_BYTES // max(1, d * dtype.itemsize))
        codes = codes.astype(np.min_scalar_type(max(self.n_classes - 1, 0)))  # small integers sort in linear time
        sums = {c: _Sums(0, 0.0, 0.0, np.zeros(d)) for c in np.flatnonzero(np.bincount(codes)).tolist()}
        products = {c: np.zeros((d, d), dtype=dtype) for c in sums}

        def add_classes(block, order, edges, row_weights, classes: list[int]) -> None:
            buffer = np.empty((min(CHUNK_ROWS, len(order)), d), dtype=dtype)
            for c in classes:
                for chosen in np.split(
                    order[edges[c] : edges[c + 1]], range(CHUNK_ROWS, edges[c + 1] - edges[c], CHUNK_ROWS)
                ):
                    w = None if row_weights is None else row_weights[chosen]
                    self._sum_rows(c, block, chosen, w, buffer[: len(chosen)], sums[c], products[c])
                if sums[c].count >= FLUSH_ROWS:
                    self._flush(c, sums[c], products[c])
                    sums[c], products[c][:] = _Sums(0, 0.0, 0.0, np.zeros(d)), 0

        # Classes have sums of their own, so threads share nothing; with one class BLAS may use the cores. Which of the
        # two goes by the rows alone, so that results are the same bit for bit whatever threads there are.
        threads = min(usable_threads(), len(sums)) if n * d > WORTH_THREADS else 1
        alone = one_blas_thread if len(sums) > 1 else nullcontext
        with thread_pool(threads) if threads > 1 else alone() as pool:
            for start in range(0, n, step):
                rows = slice(start, start + step)
                order = np.argsort(codes[rows], kind="stable")
                edges = np.searchsorted(codes[rows], np.arange(self.n_classes + 1), sorter=order)
                row_weights = None if weights is None else weights[rows]
                parts = _balanced(np.diff(edges), threads)
                each = map if pool is None else pool.map
                list(each(partial(add_classes, X[rows], order, edges, row_weights), parts))
            for c in sums:
                self._flush(c, sums[c], products[c])

    def _sum_rows(self, c: int, block, chosen, weights, rows, sums: _Sums, product: np.ndarray) -> None:
        """Add the chosen rows of a block, all of class c, to its open sums and product; ``rows`` is a buffer."""
        if not self._seen[c]:
            self._shifts[c], self._seen[c] = _first_shift(block[chosen[:SHIFT_ROWS]], rows.dtype), True
        gather_shifted(block, chosen, self._shifts[c].astype(rows.dtype), rows)
        if weights is None:
            sums.first += np.ones(len(rows), dtype=rows.dtype) @ rows
            sums.count += len(rows)
            sums.weight += len(rows)
            sums.weight_square += len(rows)
        else:
            sums.count += int(np.count_nonzero(weights))
            sums.weight += float(weights.sum())
            sums.weight_square += float(np.dot(weights, weights))
            sums.first += weights.astype(rows.dtype) @ rows
        if self.track_fourth:
            squares = np.einsum("ij,ij->i", rows, rows)
            weighted = squares if weights is None else squares * weights.astype(rows.dtype)
            sums.third = sums.third + (weighted @ rows).astype(np.float64)
            sums.fourth += float(np.dot(weighted.astype(np.float64), squares.astype(np.float64)))
        if weights is not None:
            rows *= np.sqrt(weights).astype(rows.dtype)[:, None]
        product += rows.T @ rows

    def _flush(self, c: int, sums: _Sums, product: np.ndarray) -> None:
        """Centre the open sums of a class and add them to its moments."""
        if sums.weight <= 0:
            return
        if not self.weights[c] and not self.track_fourth:  # nothing to merge with: straight into the empty scatter
            fold_centred(product, sums.first, sums.weight, self._scatters[c])
            self._offsets[c] = sums.first / sums.weight
            self.counts[c], self.weights[c], self.weight_squares[c] = sums.count, sums.weight, sums.weight_square
            return
        scatter = np.zeros_like(self._scatters[c])
        fold_centred(product, sums.first, sums.weight, scatter)
        self._combine_centred(c, sums, scatter)

    def _absorb_sparse(self, X, codes: np.ndarray, weights: np.ndarray | None) -> None:
        X = X.astype(_product_dtype(X.dtype), copy=False)
        for c in np.unique(codes).tolist():
            chosen = np.flatnonzero(codes == c)
            rows = X[chosen]
            w = np.ones(len(chosen)) if weights is None else weights[chosen]
            if w.sum() <= 0:
                continue
            weighted = rows.multiply(w[:, None]).tocsr().astype(np.float64)
            # Sparse rows are not shifted; a class that has a shift from dense rows keeps it.
            self._seen[c] = True
            first = np.asarray(weighted.sum(axis=0)).ravel()
            sums = _Sums(int(np.count_nonzero(w)), float(w.sum()), float(np.dot(w, w)), first)
            second = (weighted.T @ rows).toarray().astype(np.float64, copy=False)
            if self.track_fourth:
                squares = np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
                sums.third = weighted.T @ squares
                sums.fourth = float((w * squares) @ squares)
            second -= np.outer(sums.first, sums.first / sums.weight)
            self._combine_centred(c, sums, second, about_shift=False)

    def _combine_centred(self, c: int, sums: _Sums, scatter: np.ndarray, about_shift: bool = True) -> None:
        """Merge rows whose scatter is centred; their other sums are about the shift, or about zero."""
        offset = sums.first / sums.weight
        third, fourth = None, 0.0
        if self.track_fourth:
            third, _ = _shift_moments(sums.weight, offset, scatter, sums.third, 0.0)
            fourth = sums.fourth - _shift_moments(sums.weight, -offset, scatter, third, 0.0)[1]
        if not about_shift:
            offset = offset - self._shifts[c]
        self._combine(c, sums.count, sums.weight, sums.weight_square, offset, scatter, third, fourth)

    def _combine(self, c, count, weight, weight_square, offset, scatter, third, fourth) -> None:
        """Chan's update: add a centred set of rows to class c."""
        old, new = self.weights[c], self.weights[c] + weight
        delta = offset - self._offsets[c]
        if self.track_fourth:
            mine = _shift_moments(old, delta * (weight / new), self._scatters[c], self._thirds[c], self._fourths[c])
            theirs = _shift_moments(weight, -delta * (old / new), scatter, third, fourth)
            self._thirds[c] = mine[0] + theirs[0]
            self._fourths[c] = mine[1] + theirs[1]
        self._scatters[c] += scatter
        if old:
            self._scatters[c] += np.outer(delta, delta * (old * weight / new))
        self._offsets[c] += delta * (weight / new)
        self.counts[c] += count
        self.weights[c] = new
        self.weight_squares[c] += weight_square

    def _scatter(self, c: int) -> np.ndarray:
        return self._scatters[c]


@jit(nogil=True)
def gather_shifted(X, order, shift, out):  # pragma: no cover - compiled
    """``out[i] = X[order[i]] - shift``, in the type of ``out``."""
    d = X.shape[1]
    for i in range(len(order)):
        row, target = X[order[i]], out[i]
        for j in range(d):
            target[j] = row[j] - shift[j]


@jit(nogil=True)
def fold_centred(product, first, weight, scatter):  # pragma: no cover - compiled
    """Add the centred product ``P - s sᵀ/w`` to ``scatter``."""
    d = product.shape[0]
    for i in range(d):
        mean = first[i] / weight
        for j in range(d):
            scatter[i, j] += product[i, j] - mean * first[j]


def _product_dtype(dtype: np.dtype) -> np.dtype:
    """The floating type rows are multiplied in: float32 where it holds every value exactly."""
    exact = dtype in (np.float32, np.float16) or (dtype.kind in "iub" and dtype.itemsize <= 2)
    return np.dtype(np.float32 if exact else np.float64)


def _balanced(sizes: np.ndarray, n_parts: int) -> list[list[int]]:
    """Classes with rows, split into parts of about equally many rows: the largest first, to the emptiest part."""
    parts: list[list[int]] = [[] for _ in range(n_parts)]
    loads = [0] * n_parts
    for c in np.argsort(-sizes, kind="stable").tolist():
        if sizes[c]:
            emptiest = loads.index(min(loads))
            parts[emptiest].append(c)
            loads[emptiest] += int(sizes[c])
    return parts


def _first_shift(rows: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The mean of a class's first rows if it dwarfs their spread, else zero; exact in the type of the products."""
    mean = rows.mean(axis=0, dtype=np.float64)
    needed = np.abs(mean) > SHIFT_RATIO * rows.std(axis=0, dtype=np.float64)
    return np.where(needed, mean, 0.0).astype(dtype).astype(np.float64)


def _shift_moments(weight, delta, scatter, third, fourth) -> tuple[np.ndarray, float]:
    """``Σ‖u‖²u`` and ``Σ‖u‖⁴`` of centred rows u, about a point at ``delta`` from their mean."""
    trace, square = np.trace(scatter), delta @ delta
    pull = scatter @ delta
    moved_third = third - trace * delta - 2 * pull - weight * square * delta
    moved_fourth = fourth - 4 * third @ delta + 4 * delta @ pull + 2 * square * trace + weight * square**2
    return moved_third, moved_fourth
