"""Class-conditional moments in dual form: the rows themselves, for more columns than rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.moments.base import Mixture, Moments, batch_of, class_codes
from eigenfeat.moments.forms import CombinedRows, FactoredForm, RowTerm
from eigenfeat.moments.gram import GramCache


class DualMoments(Moments):
    """The same questions answered by factored forms ``F Fᵀ`` over the rows: no d × d matrix is ever formed.

    A class with fewer rows than columns has a moment matrix of that low rank, so a quotient is a small problem in
    the Gram matrix of the rows and its directions are combinations of rows.
    """

    def __init__(self, classes: np.ndarray | None = None) -> None:
        self._given = np.empty(0) if classes is None else np.unique(classes)
        self.classes = self._given
        self.batches: list[tuple[Any, np.ndarray, np.ndarray]] = []  # rows, labels and weights as they came
        self._cache: GramCache | None = None

    def update(self, X, y=None, sample_weight=None) -> DualMoments:
        X, y, sample_weight = batch_of(X, y, sample_weight)
        if self.batches and X.shape[1] != self.n_features:
            raise ValueError(f"These moments have {self.n_features} columns, the new rows {X.shape[1]}.")
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
        rows = X.tocsr().astype(dtype, copy=False) if sparse.issparse(X) else np.asarray(X, dtype)
        labels = np.zeros(X.shape[0], dtype=np.int64) if y is None else np.asarray(y)
        weights = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.batches.append((rows, labels, weights))
        self._index()
        return self

    def merge(self, other: Moments) -> DualMoments:
        if not isinstance(other, DualMoments):
            raise TypeError(
                f"DualMoments, which are rows, cannot absorb {type(other).__name__}, which have none left: merge these "
                "into those, or use eigenfeat.moments.merged_moments, which finds the order."
            )
        for rows, labels, weights in other.batches:
            self.update(rows, labels, weights)
        return self

    def empty_copy(self) -> DualMoments:
        return DualMoments()

    def _index(self) -> None:
        rows, labels, weights_of_batches = zip(*self.batches)
        self.n_features = rows[0].shape[1]
        self._cache = None
        self.classes, codes = class_codes(np.concatenate(labels), self._given)
        weights = np.concatenate(weights_of_batches)
        k = len(self.classes)
        self._members = [np.flatnonzero((codes == c) & (weights > 0)) for c in range(k)]
        self._row_weights = weights
        self.counts = np.array([len(m) for m in self._members])
        self.weights = np.bincount(codes, weights, minlength=k)
        self.weight_squares = np.bincount(codes, weights**2, minlength=k)

    def rename(self, classes: np.ndarray) -> DualMoments:
        before, self.classes = self.classes, np.asarray(classes)
        self._given = self.classes
        self.batches = [(rows, self.classes[np.searchsorted(before, y)], weights) for rows, y, weights in self.batches]
        return self

    @property
    def rows(self) -> GramCache:
        """All rows, one above the other."""
        if self._cache is None:
            batches = [rows for rows, _, _ in self.batches]
            stack: Any = sparse.vstack if any(sparse.issparse(rows) for rows in batches) else np.concatenate
            rows = batches[0] if len(batches) == 1 else stack(batches)
            self._cache = GramCache(rows.tocsr() if sparse.issparse(rows) else rows)
        return self._cache

    @property
    def means(self) -> np.ndarray:
        means = np.zeros((self.n_classes, self.n_features))
        for c, members in enumerate(self._members):
            if len(members):
                fractions = self._row_weights[members] / self.weights[c]
                means[c] = self.rows.transpose_times(members, fractions[:, None])[:, 0]
        return means

    def within(self, mixture: Mixture = None) -> FactoredForm:
        u = self.proportions(mixture)
        return FactoredForm(self.rows, tuple(self._term(c, u[c], centred=True) for c in np.flatnonzero(u).tolist()))

    def second_moment(self, mixture: Mixture = None, center: Mixture | str = "origin") -> FactoredForm:
        u = self.proportions(mixture)
        if isinstance(center, str):
            return FactoredForm(self.rows, tuple(self._term(c, u[c]) for c in np.flatnonzero(u).tolist()))
        v = self.proportions(center)
        if np.array_equal(u, v) and np.count_nonzero(u) == 1:
            return self.within(u)
        return FactoredForm(self.rows, (*self.within(u).terms, self._offset_term(u, v)))

    def between(self, mixture: Mixture = None) -> FactoredForm:
        u = self.proportions(mixture)
        return FactoredForm(self.rows, (self._offset_term(u, u),))

    def fourth_moment(self, mixture: Mixture = None, center: Mixture | str = "origin") -> float:
        u = self.proportions(mixture)
        means = self.means
        total = 0.0
        for c in np.flatnonzero(u).tolist():
            point = means[c] if isinstance(center, str) and center == "class" else self._center(center)
            rows = self.rows.X[self._members[c]]
            squares = self.rows.squared_norms(self._members[c]) - 2 * (rows @ point) + point @ point
            total += u[c] * float(self._row_weights[self._members[c]] @ squares**2) / self.weights[c]
        return total

    def _center(self, center: Mixture | str) -> np.ndarray:
        return np.zeros(self.n_features) if isinstance(center, str) else self.mean(center)

    def _term(self, c: int, proportion: float, centred: bool = False) -> RowTerm:
        members = self._members[c]
        scale = np.sqrt(self._row_weights[members] * (proportion / self.weights[c]))
        return RowTerm(members, scale=scale.astype(self.rows.dtype), centred=centred)

    def _offset_term(self, u: np.ndarray, v: np.ndarray) -> CombinedRows:
        """Columns ``√u_c (m_c - m_v)`` as combinations of rows."""
        fractions = self._mean_coefficients()
        coefficients = (fractions - (fractions @ v)[:, None]) * np.sqrt(u)
        used = np.flatnonzero(coefficients.any(axis=1))
        return CombinedRows(used, coefficients[used][:, u > 0].astype(self.rows.dtype))

    def _mean_coefficients(self) -> np.ndarray:
        """(n, k): column c averages the rows of class c."""
        fractions = np.zeros((self.rows.n_rows, self.n_classes))
        for c, members in enumerate(self._members):
            if len(members):
                fractions[members, c] = self._row_weights[members] / self.weights[c]
        return fractions
