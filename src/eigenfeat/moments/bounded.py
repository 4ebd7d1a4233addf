"""Class-conditional moments of which a bounded number of d × d matrices is in memory at a time.

The scatters of k classes take k d² numbers. Where these exceed the memory budget, only what grows like k d is kept
(weights and means). The scatters of a few classes are collected when matrices are made of them, in a further pass over
the rows; `BoundedMoments.rounds` groups contrasts, so that a pass serves many.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.moments.base import Contrast, Mixture, Moments
from eigenfeat.moments.dense import DenseMoments, ScatterMoments
from eigenfeat.moments.forms import DenseForm
from eigenfeat.rows import Block, Rows

COPIES = 3
"""Matrices in memory for each that counts: a class scatter, the second moment made of it, and what solving takes."""

MOST_CANCELLED = 10.0
"""Times the weight of a mixture that the difference it is computed from may have: a decimal digit is lost."""

FEWEST = 2
"""Class scatters below which there is no contrast: those of a signal and a noise."""


def matrix_bytes(n_classes: int, n_features: int) -> int:
    """Bytes of the second moments of so many classes."""
    return 8 * n_classes * n_features**2


def max_scatters(n_features: int, max_bytes: int) -> int:
    """Class scatters that a memory budget holds with what is made of them: `FEWEST` at least."""
    return max(FEWEST, max_bytes // (COPIES * matrix_bytes(1, n_features)))


class BoundedMoments(ScatterMoments):
    """Moments that collect class scatters when they are asked for, a bounded number at a time.

    They answer what `DenseMoments` of the same rows answer, in more passes. One pass for every ``max_scatters`` classes
    is made at the start, for weights, means and the scatter within all classes.

    Parameters
    ----------
    rows : sequence of Rows
        Their labels are indices. They are read again in every pass, and must not change.
    classes : (n_labels,) array of int
        Class, an index, of every label: ``np.arange(k)`` where labels are classes.
    max_bytes : int
        Memory budget of the matrices; `FEWEST` class scatters are collected even where it holds none.
    track_fourth : bool
        As in `DenseMoments`.

    Attributes
    ----------
    max_scatters : int
        Class scatters that are collected at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.moments import BoundedMoments, collect_moments
    >>> from eigenfeat.rows import ArrayRows
    >>> X, y = np.random.default_rng(0).normal(size=(100, 3)), np.arange(100) % 5
    >>> moments = BoundedMoments([ArrayRows(X, y)], np.arange(5), max_bytes=500)
    >>> moments.max_scatters
    2
    >>> bool(np.allclose(moments.second_moment(4).matrix, collect_moments(X, y).second_moment(4).matrix))
    True
    """

    _rows: tuple[Rows, ...]  # none where they are lost
    _matrices: dict[bytes, np.ndarray]  # scatters within mixtures, by their proportions
    _scatters: DenseMoments | None  # of the classes that were collected last

    def __init__(
        self, rows: Sequence[Rows], classes: np.ndarray, max_bytes: int, *, track_fourth: bool = False
    ) -> None:
        self.classes = np.arange(np.max(classes) + 1)
        self.track_fourth = track_fourth
        self._class_of_label = np.asarray(classes)
        self._max_bytes = max_bytes
        self._rows = tuple(rows)
        self._matrices, self._scatters = {}, None
        if rows:
            self._collect_summary()

    @property
    def max_scatters(self) -> int:
        return max_scatters(self.n_features, self._max_bytes)

    def update(self, X: Any, y: Any = None, sample_weight: Any = None) -> BoundedMoments:
        raise TypeError("Moments that read their rows again take no batches: make others of the new rows, and merge.")

    def merge(self, other: Moments) -> BoundedMoments:
        if not isinstance(other, BoundedMoments):
            raise TypeError(
                f"BoundedMoments can be merged with their like, not with {type(other).__name__}: collect both with the "
                "same memory budget."
            )
        if self._rows and not np.array_equal(self._class_of_label, other._class_of_label):
            raise ValueError("These moments are of other classes: collect both with the same classes.")
        parts = (*self._rows, *other._given_rows())
        self.__init__(parts, other._class_of_label, other._max_bytes, track_fourth=self.track_fourth)  # type: ignore[misc]
        return self.rename(other.classes)  # type: ignore[return-value]

    def empty_copy(self) -> BoundedMoments:
        return BoundedMoments((), self._class_of_label, self._max_bytes, track_fourth=self.track_fourth)

    def merge_classes(self, labels: np.ndarray) -> BoundedMoments:
        groups, group_of_class = np.unique(labels, return_inverse=True)
        owners = group_of_class[self._class_of_label]
        merged = BoundedMoments(self._given_rows(), owners, self._max_bytes, track_fourth=self.track_fourth)
        return merged.rename(groups)  # type: ignore[return-value]

    def reading(self, rows: Rows) -> BoundedMoments:
        """The same moments, whose class scatters are collected from these rows: those they were collected from."""
        moments = copy(self)
        moments._rows = (rows,)
        return moments

    def within(self, mixture: Mixture = None) -> DenseForm:
        matrix = self._matrices.get(self.proportions(mixture).tobytes())
        return super().within(mixture) if matrix is None else DenseForm(matrix.copy())

    def rounds(self, contrasts: Sequence[Contrast], centred: bool = False) -> Iterator[list[int]]:
        """Yield the positions of contrasts to build and solve together, once their class scatters are collected.

        A pass over the rows serves all contrasts of a round, whose ends are few enough for the memory budget.
        """
        pooled, mixtures = self.class_fractions.tobytes(), dict[bytes, np.ndarray]()
        ends: list[list[bytes]] = []
        for contrast in contrasts:
            proportions = [self.proportions(end) for end in contrast if not isinstance(end, str)]
            ends.append([u.tobytes() for u in proportions])
            mixtures.update(zip(ends[-1], proportions))
        others = [key for key in mixtures if key != pooled]  # the matrix of all rows is there
        needs = sparse.csr_array(np.array([[key in keys for key in others] for keys in ends], dtype=np.int64))
        for positions in rounds_within(needs, self.max_scatters):
            self._collect_matrices([mixtures[key] for key in sorted({key for i in positions for key in ends[i]})])
            # Of centred contrasts every one has a signal of its own: those of one noise at a time.
            for noise in dict.fromkeys(ends[i][-1] for i in positions) if centred else [None]:
                yield [i for i in positions if noise in (None, ends[i][-1])]
        self._collect_matrices([])

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the rows, and all matrices but that of all rows."""
        moments = copy(vars(self))
        pooled = self.class_fractions.tobytes()
        return moments | {"_rows": (), "_scatters": None, "_matrices": {pooled: self._matrices[pooled]}}

    def _scatter(self, c: int) -> np.ndarray:
        if self._scatters is None or c not in self._scatters.classes:
            # Whoever asks for one class often asks for the following ones next.
            self._scatters = None
            self._scatters = self._collect(np.arange(c, min(c + self.max_scatters, self.n_classes)))
        return self._scatters._scatters[np.searchsorted(self._scatters.classes, c)]

    def _given_rows(self) -> tuple[Rows, ...]:
        if not self._rows:
            raise ValueError(
                "These moments were loaded or sent without the rows that their class scatters are collected from: "
                "collect them again where the rows are."
            )
        return self._rows

    def _collect(self, classes: np.ndarray, track_fourth: bool = False) -> DenseMoments:
        """Collect the moments of some classes in one pass."""
        empty: DenseMoments = _SomeClasses(classes, self._class_of_label, track_fourth)
        moments = reduce(DenseMoments.merge, (rows.reduce(empty, "moments") for rows in self._given_rows()))
        moments._extend(classes, self.n_features)  # also to classes without rows
        return moments

    def _collect_summary(self) -> None:
        """Collect what grows like k d, and the scatter within all classes."""
        self.n_features = self._given_rows()[0].n_columns
        parts, scatter = [], np.zeros((self.n_features, self.n_features))
        for classes in _chunks(np.arange(self.n_classes), self.max_scatters):
            moments = self._collect(classes, self.track_fourth)
            scatter += moments._scatters.sum(axis=0)
            del moments._scatters
            parts.append(moments)
        names = ["counts", "weights", "weight_squares", "_shifts", "_offsets"]
        for name in names + ["_thirds", "_fourths"] * self.track_fourth:
            setattr(self, name, np.concatenate([getattr(moments, name) for moments in parts]))
        self._matrices[self.class_fractions.tobytes()] = scatter / self.weights.sum()

    def _collect_matrices(self, mixtures: Sequence[np.ndarray]) -> None:
        """Collect the scatters within some mixtures, and forget those within others; that of all rows stays."""
        pooled = self.class_fractions.tobytes()
        wanted = {u.tobytes(): u for u in mixtures}
        self._scatters = None
        self._matrices = {key: matrix for key, matrix in self._matrices.items() if key in wanted or key == pooled}
        terms = {key: self._terms(u) for key, u in wanted.items() if key not in self._matrices}
        for key, (of_all, _) in terms.items():
            self._matrices[key] = self._matrices[pooled] * of_all
        needed = np.flatnonzero(sum((of_classes != 0 for _, of_classes in terms.values()), np.zeros(self.n_classes)))
        for classes in _chunks(needed, self.max_scatters):
            scatters = self._collect(classes)._scatters
            for key, (_, of_classes) in terms.items():
                for c, scatter in zip(classes.tolist(), scatters):
                    if of_classes[c]:
                        self._matrices[key] += scatter * of_classes[c]

    def _terms(self, u: np.ndarray) -> tuple[float, np.ndarray]:
        """Weights of the matrix of all rows and of the class scatters, few of them not zero, whose sum is a mixture's.

        The rest of a class is all rows less that class; not so where it has few rows, for little would be left of
        large numbers.
        """
        weights = np.divide(u, self.weights, out=np.zeros(self.n_classes), where=self.weights > 0)
        common = float(np.median(weights))
        others = np.where(np.isclose(weights, common, rtol=1e-12, atol=0), 0.0, weights - common)
        of_all = common * self.weights.sum()
        return (of_all, others) if 0 < of_all < MOST_CANCELLED else (0.0, weights)


class _SomeClasses(DenseMoments):
    """Moments of some classes; rows of others are passed over."""

    def __init__(self, classes: np.ndarray, class_of_label: np.ndarray, track_fourth: bool) -> None:
        super().__init__(classes, track_fourth=track_fourth)
        self._class_of_label = class_of_label

    def update(self, X: Block, y: Any = None, sample_weight: Any = None) -> DenseMoments:
        classes = self._class_of_label[np.asarray(X.y)]
        chosen = np.flatnonzero(np.isin(classes, self.classes))
        if not len(chosen):
            return self
        return super().update(X.X[chosen], classes[chosen], None if X.weight is None else X.weight[chosen])


def rounds_within(needs: sparse.csr_array, n_matrices: int) -> Iterator[list[int]]:
    """Group problems so that those of a group need at most so many matrices, at least two: the positions of each group.

    Greedy: a group grows by the matrix that completes most problems with those it has, of equals the one that most
    need. So few groups do, and a matrix serves as signal and as noise.

    Parameters
    ----------
    needs : (problems, matrices) array of 0 and 1
        One or two matrices a problem, or none.

    Examples
    --------
    >>> needs = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    >>> list(rounds_within(sparse.csr_array(needs), 3))
    [[1, 3, 4], [0, 2]]
    """
    left = np.arange(needs.shape[0])
    while len(left):
        problems, chosen = needs[left], np.zeros(needs.shape[1], dtype=bool)
        for _ in range(n_matrices):
            missing = problems @ ~chosen
            completed, uses = problems.T @ (missing == 1), problems.T @ (missing > 0)
            best = np.lexsort((uses, completed, ~chosen & (uses > 0)))[-1:]
            chosen[best] |= uses[best] > 0
        done = problems @ ~chosen == 0
        yield left[done].tolist()
        left = left[~done]


def _chunks(items: Any, size: int) -> Iterator[Any]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
