"""Score tensors ``S_m = (-1)ᵐ ∇ᵐp / p`` as operators: products with vectors, never the tensors themselves.

With ``s = S1 = -∇ log p``, ``H = ∇s`` and ``K = ∇²s`` the recursion ``S_m = s ⊗ S_{m-1} - ∇S_{m-1}`` gives

    S2 = s⊗s - H
    S3 = s⊗s⊗s - Sym(H⊗s) + K,     Sym = the sum of the three distinct transpositions,

so for a standard Gaussian ``S3 = x⊗x⊗x - Sym(I⊗x)``. Stein's identity ``E[y ⊗ S_m(x)] = E[∇ᵐ E[y|x]]``
holds for rows drawn from p (Janzamin, Sedghi & Anandkumar, 2014).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np


class ScoreTensors(ABC):
    """The score tensors at n fixed rows. The number of vector arguments says which order is meant.

    Every argument is a (d, r) block of vectors and the r products are computed at once; passing the *same*
    array twice costs one projection.
    """

    max_order: int | None = None
    """Highest order that can be asked for; None where there is no limit."""

    @abstractmethod
    def form(self, *vectors: np.ndarray) -> np.ndarray:
        """``S_m(x_i)(b_r, c_r, ...)`` as an (n, r) array, m = the number of vector blocks."""

    @abstractmethod
    def weighted_sum(self, weights: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        """``Σ_i weights_ir S_m(x_i)(I, b_r, ...)`` as a (d, r) array, m = one more than the vector blocks."""

    def along(self, V: np.ndarray, order: int) -> ScoreTensorsAlong:
        """Products with the same vectors in every mode: a value and its slope, which share most of the work."""
        return ScoreTensorsAlong(self, V, order)

    def in_basis(self, basis: np.ndarray) -> ScoreTensors:
        """``S_m(B, ..., B)``: the same tensors seen by vectors ``B z``."""
        return ScoreTensorsInBasis(self, basis)


class ScoreTensorsAlong:
    """``S_m(x_i)(v_r, ..., v_r)`` and ``Σ_i a_ir S_m(x_i)(I, v_r, ..., v_r)`` for one block of vectors."""

    def __init__(self, tensors: ScoreTensors, V: np.ndarray, order: int) -> None:
        self.tensors, self.V, self.order = tensors, V, order

    def form(self) -> np.ndarray:
        return self.tensors.form(*[self.V] * self.order)

    def weighted_sum(self, weights: np.ndarray) -> np.ndarray:
        return self.tensors.weighted_sum(weights, *[self.V] * (self.order - 1))


class ScoreTensorsInBasis(ScoreTensors):
    """Any score tensors in a basis: every vector goes through B on its way in, every sum through Bᵀ on its way out."""

    def __init__(self, tensors: ScoreTensors, basis: np.ndarray) -> None:
        self.tensors, self.basis, self.max_order = tensors, basis, tensors.max_order

    def form(self, *vectors: np.ndarray) -> np.ndarray:
        return self.tensors.form(*same_images(self.basis.__matmul__, vectors))

    def weighted_sum(self, weights: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        return self.basis.T @ self.tensors.weighted_sum(weights, *same_images(self.basis.__matmul__, vectors))

    def in_basis(self, basis: np.ndarray) -> ScoreTensors:
        return self.tensors.in_basis(self.basis @ basis)


def same_images(function: Callable[[np.ndarray], np.ndarray], vectors: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The function of every block, once for equal objects: they stay equal objects."""
    image = {key: function(v) for key, v in {id(v): v for v in vectors}.items()}
    return [image[id(v)] for v in vectors]


class ScoreFunction(ABC):
    """A model of the input density that knows its score tensors.

    Your own model is a subclass: ``tensors_at`` returns either a :class:`DerivativeTensors` (supply products
    with s, ∇s and ∇²s, for orders above three with further derivatives) or a :class:`ScoreTensors` of your own.
    """

    @abstractmethod
    def score1(self, X: np.ndarray) -> np.ndarray:
        """``S1(x) = -∇ log p(x)`` of every row, (n, d)."""

    @abstractmethod
    def tensors_at(self, X: np.ndarray) -> ScoreTensors:
        """The score tensors at the rows of X; what the products share is computed here, once."""


class DerivativeTensors(ScoreTensors):
    """Score tensors from products with s, H = ∇s, K = ∇²s and, where the model knows them, further derivatives.

    The recursion ``S_m = s ⊗ S_{m-1} - ∇S_{m-1}`` unrolls into sums over parts J of the arguments,

        S_m(b_1..b_m) = Σ_J (-1)^|J| ∇^|J|s(b_m, b_J) S(all others),

    so nothing but derivatives of s is needed. These have to be symmetric in all their arguments: they are derivatives
    of a gradient. A model whose field is only nearly one returns the products of their symmetric parts. With
    `derivative_form` and `derivative_sum` there is no highest order (``max_order = None``); without, it is three.
    """

    max_order: int | None = 3

    @abstractmethod
    def project(self, vectors: np.ndarray) -> np.ndarray:
        """``s(x_i)ᵀ b_r``, (n, r)."""

    @abstractmethod
    def combine(self, weights: np.ndarray) -> np.ndarray:
        """``Σ_i weights_ir s(x_i)``, (d, r)."""

    @abstractmethod
    def jacobian_form(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """``b_rᵀ H(x_i) c_r``, (n, r)."""

    @abstractmethod
    def jacobian_sum(self, weights: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """``Σ_i weights_ir H(x_i) b_r``, (d, r)."""

    @abstractmethod
    def curvature_form(self, first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
        """``K(x_i)(b_r, c_r, d_r)``, (n, r)."""

    @abstractmethod
    def curvature_sum(self, weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """``Σ_i weights_ir K(x_i)(I, b_r, c_r)``, (d, r)."""

    def derivative_form(self, *vectors: np.ndarray) -> np.ndarray:
        """``∇^{m-1}s(x_i)(b_r, c_r, ...)`` of m > 3 blocks, (n, r)."""
        raise NotImplementedError(f"{type(self).__name__} has derivatives of its score up to the second only.")

    def derivative_sum(self, weights: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        """``Σ_i weights_ir ∇^{m-1}s(x_i)(I, b_r, ...)`` of m - 1 > 2 blocks, (d, r)."""
        raise NotImplementedError(f"{type(self).__name__} has derivatives of its score up to the second only.")

    def form(self, *vectors: np.ndarray) -> np.ndarray:
        if all(block is vectors[0] for block in vectors):
            return self.along(vectors[0], len(vectors)).form()
        return _Recursion(self, vectors).value(tuple(range(len(vectors))))

    def weighted_sum(self, weights: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        if not vectors:
            return self.combine(weights)
        if all(block is vectors[0] for block in vectors):
            return self.along(vectors[0], len(vectors) + 1).weighted_sum(weights)
        return _Recursion(self, vectors).weighted_sum(weights)

    def along(self, V: np.ndarray, order: int) -> ScoreTensorsAlong:
        return DerivativesAlong(self, V, order)

    def any_form(self, vectors: Sequence[np.ndarray]) -> np.ndarray:
        """The derivative that has as many arguments."""
        names: dict[int, Callable] = {1: self.project, 2: self.jacobian_form, 3: self.curvature_form}
        return names.get(len(vectors), self.derivative_form)(*vectors)

    def any_sum(self, weights: np.ndarray, vectors: Sequence[np.ndarray]) -> np.ndarray:
        """The weighted sum of the derivative that has one argument more."""
        names: dict[int, Callable] = {0: self.combine, 1: self.jacobian_sum, 2: self.curvature_sum}
        return names.get(len(vectors), self.derivative_sum)(weights, *vectors)


class DerivativesAlong(ScoreTensorsAlong):
    """Products along V: all choices of j arguments are alike, and lower orders serve the value and its slope.

    With ``D_j = ∇^{j-1}s(v, ..., v)``: ``S_m = Σ_j (m-1 over j) (-1)ʲ D_{j+1} S_{m-1-j}``.
    """

    def __init__(self, tensors: DerivativeTensors, V: np.ndarray, order: int) -> None:
        self.derivatives, self.V, self.order = tensors, V, order
        self.of_score = [tensors.any_form([V] * j) for j in range(1, order)]
        self.values: list[np.ndarray] = []  # S_1 to S_{m-1}
        while len(self.values) < order - 1:
            self.values.append(self._next())

    def _next(self) -> np.ndarray:
        m = len(self.values) + 1
        total = (-1) ** (m - 1) * self.of_score[m - 1]
        for j in range(m - 1):
            total = total + (comb(m - 1, j) * (-1) ** j) * (self.of_score[j] * self.values[m - 2 - j])
        return total

    def form(self) -> np.ndarray:
        if len(self.of_score) < self.order:
            self.of_score.append(self.derivatives.any_form([self.V] * self.order))
        return self._next()

    def weighted_sum(self, weights: np.ndarray) -> np.ndarray:
        m = self.order
        total = (-1) ** (m - 1) * self.derivatives.any_sum(weights, [self.V] * (m - 1))
        for j in range(m - 1):
            share = self.derivatives.any_sum(weights * self.values[m - 2 - j], [self.V] * j)
            total = total + (comb(m - 1, j) * (-1) ** j) * share
        return total


class _Recursion:
    """Score tensors of any of the vectors at hand; what is asked for twice is computed once."""

    def __init__(self, tensors: DerivativeTensors, vectors: Sequence[np.ndarray]) -> None:
        self.tensors, self.vectors = tensors, vectors
        self.values: dict[tuple[int, ...], np.ndarray] = {(): np.ones((), dtype=np.float32)}  # widens nothing
        self.of_score: dict[tuple[int, ...], np.ndarray] = {}

    def value(self, places: tuple[int, ...]) -> np.ndarray:
        """``S_m(x_i)`` of the vectors at these places, (n, r)."""
        if places not in self.values:
            *rest, last = places
            terms = [
                (-1) ** len(joined) * self._of_score((*joined, last)) * self.value(others)
                for joined, others in _parted(tuple(rest))
            ]
            self.values[places] = np.add.reduce(terms)
        return self.values[places]

    def weighted_sum(self, weights: np.ndarray) -> np.ndarray:
        """``Σ_i weights_ir S_m(x_i)(I, all vectors)``, (d, r)."""
        terms = [
            (-1) ** len(joined) * self.tensors.any_sum(weights * self.value(others), [self.vectors[i] for i in joined])
            for joined, others in _parted(tuple(range(len(self.vectors))))
        ]
        return np.add.reduce(terms)

    def _of_score(self, places: tuple[int, ...]) -> np.ndarray:
        if places not in self.of_score:
            self.of_score[places] = self.tensors.any_form([self.vectors[i] for i in places])
        return self.of_score[places]


def _parted(places: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every choice of some places, and the others."""
    for count in range(len(places) + 1):
        for joined in combinations(places, count):
            yield joined, tuple(i for i in places if i not in joined)
