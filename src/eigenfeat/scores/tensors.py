"""Score tensors ``S_m = (-1)ᵐ ∇ᵐp / p`` as operators: products with vectors, never the tensors themselves.

With ``s = S1 = -∇ log p``, ``H = ∇s`` and ``K = ∇²s`` the recursion ``S_m = s ⊗ S_{m-1} - ∇S_{m-1}`` gives

    S2 = s⊗s - H
    S3 = s⊗s⊗s - Sym(H⊗s) + K,     Sym = the sum of the three distinct transpositions,

so for a standard Gaussian ``S3 = x⊗x⊗x - Sym(I⊗x)``. Stein's identity ``E[y ⊗ S_m(x)] = E[∇ᵐ E[y|x]]``
holds for rows drawn from p (Janzamin, Sedghi & Anandkumar, 2014).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

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
    with s, ∇s and ∇²s) or a :class:`ScoreTensors` of your own.
    """

    @abstractmethod
    def score1(self, X: np.ndarray) -> np.ndarray:
        """``S1(x) = -∇ log p(x)`` of every row, (n, d)."""

    @abstractmethod
    def tensors_at(self, X: np.ndarray) -> ScoreTensors:
        """The score tensors at the rows of X; what the products share is computed here, once."""


class DerivativeTensors(ScoreTensors):
    """Score tensors of orders one to three from products with s, H = ∇s and K = ∇²s.

    H and K have to be symmetric in all their arguments: they are derivatives of a gradient. A model whose
    field is only nearly one returns the products of their symmetric parts.
    """

    max_order = 3

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

    def form(self, *vectors: np.ndarray) -> np.ndarray:
        if len(vectors) == 1:
            return self.project(*vectors)
        if len(vectors) == 2:
            b, c = vectors
            sb = self.project(b)
            sc = sb if c is b else self.project(c)
            return sb * sc - self.jacobian_form(b, c)
        b, c, d = vectors
        if b is c is d:
            return self.along(b, 3).form()
        sb, sc, sd = map(self.project, vectors)
        transpositions = sb * self.jacobian_form(c, d) + sc * self.jacobian_form(b, d) + sd * self.jacobian_form(b, c)
        return sb * sc * sd - transpositions + self.curvature_form(b, c, d)

    def weighted_sum(self, weights: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        if not vectors:
            return self.combine(weights)
        if len(vectors) == 1:
            (b,) = vectors
            return self.combine(weights * self.project(b)) - self.jacobian_sum(weights, b)
        b, c = vectors
        if c is b:
            return self.along(b, 3).weighted_sum(weights)
        sb, sc = self.project(b), self.project(c)
        along_s = self.combine(weights * (sb * sc - self.jacobian_form(b, c)))
        along_H = self.jacobian_sum(weights * sb, c) + self.jacobian_sum(weights * sc, b)
        return along_s - along_H + self.curvature_sum(weights, b, c)

    def along(self, V: np.ndarray, order: int) -> ScoreTensorsAlong:
        return ThirdOrderAlong(self, V) if order == 3 else super().along(V, order)


class ThirdOrderAlong(ScoreTensorsAlong):
    """Third-order products along V; the projections ``s·v`` and ``vᵀHv`` serve the value and its slope."""

    def __init__(self, tensors: DerivativeTensors, V: np.ndarray) -> None:
        self.derivatives, self.V = tensors, V
        self.projections, self.jacobians = tensors.project(V), tensors.jacobian_form(V, V)

    def form(self) -> np.ndarray:
        cubic = self.projections * (self.projections**2 - 3 * self.jacobians)
        return cubic + self.derivatives.curvature_form(self.V, self.V, self.V)

    def weighted_sum(self, weights: np.ndarray) -> np.ndarray:
        along_s = self.derivatives.combine(weights * (self.projections**2 - self.jacobians))
        along_H = self.derivatives.jacobian_sum(weights * self.projections, self.V)
        return along_s - 2 * along_H + self.derivatives.curvature_sum(weights, self.V, self.V)
