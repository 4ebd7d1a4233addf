"""Class-conditional moments: the questions that every form of them answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from eigenfeat.moments.forms import SymmetricForm
from eigenfeat.rows import Accumulator, Block

Mixture = int | np.ndarray | None
"""Rows that a moment is taken over: a class (its index), a mixture of classes (a vector of k non-negative proportions,
the u that contracts E[x⊗x⊗y]), or all rows (None: every class by its fraction of the weight)."""

Contrast = tuple[Mixture, Mixture | str]
"""A mixture of classes over another, or over the identity (text)."""


class Moments(Accumulator):
    """Weight, mean and second-order moments of every class: update, merge, read.

    An accumulator: `eigenfeat.rows.Rows.reduce` fills one in a pass over rows.

    Attributes
    ----------
    classes : (k,) array
        Labels, sorted.
    counts : (k,) array
        Rows seen of each class.
    weights : (k,) array
        Their total weight.
    """

    classes: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    weight_squares: np.ndarray
    n_features: int

    @abstractmethod
    def update(self, X: Any, y: Any = None, sample_weight: Any = None) -> Moments:
        """Add a batch of rows, or a `Block` of them; without labels all rows are one class."""

    @abstractmethod
    def merge(self, other: Moments) -> Moments:
        """Add the rows that other moments have seen."""

    @abstractmethod
    def empty_copy(self) -> Moments:
        """Moments of no rows, in the same form."""

    def rename(self, classes: np.ndarray) -> Moments:
        """Rename the classes, in the same order: small integers are counted faster than text."""
        self.classes = np.asarray(classes)
        return self

    def merge_classes(self, labels: np.ndarray) -> Moments:
        """Moments of groups of classes: ``labels`` has the group of every class."""
        return self.empty_copy().merge(copy(self).rename(labels))

    def rounds(self, contrasts: Sequence[Contrast], centred: bool = False) -> Iterator[list[int]]:
        """Yield the positions of contrasts to build and solve together: of all, where memory is enough.

        Parameters
        ----------
        contrasts : sequence of (signal, noise)
        centred : bool
            A signal is taken about the mean of its noise: a matrix for each contrast.
        """
        yield list(range(len(contrasts)))

    @property
    @abstractmethod
    def means(self) -> np.ndarray:
        """(k, d): the mean of every class."""

    @abstractmethod
    def second_moment(self, mixture: Mixture = None, center: Mixture | str = "origin") -> SymmetricForm:
        """``E[(x - a)(x - a)ᵀ]`` over a mixture, a = 0 ("origin") or the mean of another mixture."""

    @abstractmethod
    def within(self, mixture: Mixture = None) -> SymmetricForm:
        """``Σ_c u_c Cov[x|c]``: the covariance that is left when class means are known."""

    @abstractmethod
    def between(self, mixture: Mixture = None) -> SymmetricForm:
        """``Σ_c u_c (m_c - m)(m_c - m)ᵀ``, of rank below k."""

    @abstractmethod
    def fourth_moment(self, mixture: Mixture = None, center: Mixture | str = "origin") -> float:
        """``E‖x - a‖⁴`` as for `second_moment`; ``center="class"`` means each class about its own mean."""

    def covariance(self, mixture: Mixture = None) -> SymmetricForm:
        """The covariance over a mixture: its second moment about its own mean."""
        return self.second_moment(mixture, center=mixture)

    def mean(self, mixture: Mixture = None) -> np.ndarray:
        return self.proportions(mixture) @ self.means

    def between_factor(self, mixture: Mixture = None) -> np.ndarray:
        """(d, k) H with ``between = H Hᵀ``."""
        u = self.proportions(mixture)
        return ((self.means - u @ self.means) * np.sqrt(u)[:, None]).T

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def class_fractions(self) -> np.ndarray:
        """(k,): the fraction of every class in the total weight."""
        return self.weights / self.weights.sum()

    def pool(self, members: np.ndarray) -> np.ndarray:
        """Proportions of the classes in ``members`` (indices) pooled by their weights."""
        u = np.zeros(self.n_classes)
        u[members] = self.weights[members]
        return u / u.sum()

    def proportions(self, mixture: Mixture) -> np.ndarray:
        """A mixture as a (k,) vector."""
        if mixture is None:
            return self.class_fractions
        if isinstance(mixture, int | np.integer):
            u = np.zeros(self.n_classes)
            u[mixture] = 1.0
            return u
        return np.asarray(mixture, dtype=np.float64)

    def effective_count(self, mixture: Mixture = None) -> float:
        """Rows of equal weight that would be as informative: Kish's (Σw)² / Σw², per class, then mixed."""
        u = self.proportions(mixture)
        present = u > 0
        variance = u[present] ** 2 * self.weight_squares[present] / self.weights[present] ** 2
        return float(u.sum() ** 2 / variance.sum())


def batch_of(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Rows, targets and weights of a batch that comes as three arguments or as one block."""
    return (X.X, X.y, X.weight) if isinstance(X, Block) else (X, y, sample_weight)


def class_codes(labels: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sorted union of ``classes`` with the labels of a batch, and the batch as indices into it.

    Raises
    ------
    ValueError
        For labels of a kind that cannot join the others without some becoming one.
    """
    present, codes = _unique(labels)
    if not len(classes):
        return present, codes
    classes, present = _in_one_type(classes, present)
    if len(np.setdiff1d(present, classes)):
        classes = np.union1d(classes, present)
    return classes, np.searchsorted(classes, present)[codes]


def _in_one_type(classes: np.ndarray, present: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both in one type that keeps them apart: numpy would join text with numbers, and large integers as floats."""
    are_text = [labels.dtype.kind in "USO" for labels in (classes, present)]
    if are_text[0] != are_text[1]:
        text, numbers = (classes, present) if are_text[0] else (present, classes)
        raise ValueError(
            f"Labels were {text.dtype} in some rows, as {text.tolist()[0]!r}, and {numbers.dtype} in others, as "
            f"{numbers.tolist()[0]!r}: give all labels as text, or all as numbers."
        )
    whole = classes.dtype.kind in "iu" and present.dtype.kind in "iu"
    if not whole or np.result_type(classes, present).kind != "f":
        return classes, present
    kind = np.int64 if min(classes.min(), present.min()) < 0 else np.uint64
    if kind is np.int64 and max(int(classes.max()), int(present.max())) > np.iinfo(np.int64).max:
        raise ValueError("Labels are negative in some rows and above 2⁶³ in others: no type of integers holds both.")
    return classes.astype(kind), present.astype(kind)


def _unique(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct labels and each row's index among them; small integers are counted instead of sorted."""
    if labels.dtype.kind in "iu" and len(labels):
        low = labels.min()
        if int(labels.max()) - int(low) < 1 << 12:
            # Differences of signed numbers may overflow; as unsigned ones of the same size they are right again.
            offsets = (labels - low).astype(f"u{labels.dtype.itemsize}").astype(np.intp)
            present = np.flatnonzero(np.bincount(offsets))
            index = np.zeros(int(present[-1]) + 1, dtype=np.intp)
            index[present] = np.arange(len(present))
            return present.astype(labels.dtype) + low, index[offsets]
    return np.unique(labels, return_inverse=True)
