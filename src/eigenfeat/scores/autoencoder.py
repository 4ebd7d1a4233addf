"""The score tensors of a denoising auto-encoder with one hidden layer and tied weights, in closed form.

    f(x) = sigmoid(κ Wᵀx + b),     m(x) = W f(x) + c,     r(x) = m(x)  or  sigmoid(m(x)).

The optimal denoiser of Gaussian corruption is ``r(x) = x + σ² ∇ log p_σ(x)`` with p_σ the density of the
*corrupted* input (Alain & Bengio, 2012), hence

    S1 = (x - r(x)) / σ²,     H = (I - ∇r) / σ²,     K = -∇²r / σ².

The derivatives, with p = f(1-f), p' = p(1-2f), M = κ W diag(p) Wᵀ and, for the sigmoid output, q = r(1-r),
q' = q(1-2r) (paper, eq. 5 and 6):

    ∇r = diag(q) M,    ∇²r(I, b, c) = q'∘(Mb)∘(Mc) + q∘κ²W(p'∘Wᵀb∘Wᵀc).

Further derivatives, for orders above three, are sums over partitions of the arguments (Faà di Bruno), each block of
j arguments a derivative of m, ``κʲ W (sigmoid⁽ʲ⁾ ∘ Wᵀb ∘ Wᵀc ...)``.

A linear output has q = 1, q' = 0: ∇r is symmetric, the field is a gradient, and a product costs
O(n (d + h)) a vector instead of O(n d h). With the sigmoid output both derivatives are symmetrised over their
arguments.
The gain κ = 1 is the paper's model; a free κ makes the model indifferent to the unit of the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.polynomial import polynomial
from scipy.special import expit

from eigenfeat.rows.block import Matrix
from eigenfeat.scores.tensors import DerivativeTensors, ScoreFunction, same_images
from eigenfeat.stages import Stage


@dataclass(frozen=True, eq=False)
class TiedAutoencoder(ScoreFunction):
    """A trained auto-encoder as a value.

    Parameters
    ----------
    weights : (d, h) array
        W.
    hidden_bias, visible_bias : (h,) and (d,) arrays
        b and c.
    gain : float
        κ.
    corruption_variance : float
        σ² of the corruption.
    sigmoid_output : bool
    """

    weights: np.ndarray
    hidden_bias: np.ndarray
    visible_bias: np.ndarray
    gain: float
    corruption_variance: float
    sigmoid_output: bool

    def astype(self, dtype: np.dtype) -> TiedAutoencoder:
        """The same model with its arrays in another floating type."""
        if self.weights.dtype == dtype:
            return self
        return replace(
            self,
            weights=self.weights.astype(dtype),
            hidden_bias=self.hidden_bias.astype(dtype),
            visible_bias=self.visible_bias.astype(dtype),
        )

    def encode(self, X: np.ndarray) -> np.ndarray:
        """f(x) of every row, (n, h)."""
        model = self.astype(X.dtype)
        return expit(X @ (X.dtype.type(self.gain) * model.weights) + model.hidden_bias)

    def decode(self, hidden: np.ndarray) -> np.ndarray:
        """r(x) from f(x), (n, d)."""
        model = self.astype(hidden.dtype)
        m = hidden @ model.weights.T + model.visible_bias
        return expit(m) if self.sigmoid_output else m

    def reconstruct(self, X: np.ndarray) -> np.ndarray:
        return self.decode(self.encode(X))

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """``∂r_i/∂x_j`` at one point, not symmetrised, (d, d)."""
        model = self.astype(x.dtype)
        f = model.encode(x[None])[0]
        M = model.gain * (model.weights * (f * (1 - f))) @ model.weights.T
        if not model.sigmoid_output:
            return M
        r = model.decode(f[None])[0]
        return (r * (1 - r))[:, None] * M

    def score1(self, X: np.ndarray) -> np.ndarray:
        return (X - self.reconstruct(X)) / X.dtype.type(self.corruption_variance)

    def score_matching(self, X: np.ndarray) -> np.ndarray:
        """``½‖S1‖² - tr H`` of every row: in the mean, half the squared distance to the rows' score and a constant."""
        model = self.astype(X.dtype)
        f = model.encode(X)
        r = model.decode(f)
        at_output = r * (1 - r) if self.sigmoid_output else np.ones_like(r)
        trace = self.gain * np.einsum("ih,ih->i", f * (1 - f), at_output @ np.square(model.weights))
        s = (X - r) / self.corruption_variance
        return np.square(s).sum(axis=1) / 2 - (X.shape[1] - trace) / self.corruption_variance

    def tensors_at(self, X: np.ndarray) -> DerivativeTensors:
        kind = SigmoidOutputTensors if self.sigmoid_output else LinearOutputTensors
        return kind(self.astype(X.dtype), X)


@dataclass(frozen=True, eq=False)
class HiddenLayer(Stage):
    """``f(x) = sigmoid(κ Wᵀx + b)`` of an auto-encoder."""

    model: TiedAutoencoder

    def apply(self, rows: Matrix) -> np.ndarray:
        return self.model.encode(rows)

    def n_columns(self, n_inputs: int) -> int:
        return self.model.weights.shape[1]

    def astype(self, dtype: np.dtype) -> HiddenLayer:
        return HiddenLayer(self.model.astype(dtype))


class LinearOutputTensors(DerivativeTensors):
    """Every product is a GEMM with n, d and r or n, h and r.

    ``H = G/σ² - W diag(slope) Wᵀ`` and ``K(b, c, d) = Σ_h bend_h (Wᵀb)_h (Wᵀc)_h (Wᵀd)_h``. In a basis B, s becomes
    ``Bᵀs``, W ``BᵀW`` and G, the identity to begin with, ``BᵀB``.
    """

    max_order = None

    def __init__(self, model: TiedAutoencoder, X: np.ndarray) -> None:
        f = model.encode(X)
        kappa, self.precision = X.dtype.type(model.gain), X.dtype.type(1 / model.corruption_variance)
        self.f, self.kappa = f, kappa
        p = f * (1 - f)
        self.W = model.weights
        self.s = self.precision * (X - model.decode(f))
        self.slope = kappa * self.precision * p
        self.bend = -(kappa**2) * self.precision * p * (1 - 2 * f)
        self.gram: np.ndarray | None = None

    def in_basis(self, basis: np.ndarray) -> LinearOutputTensors:
        seen = copy(self)
        seen.s, seen.W, seen.gram = self.s @ basis, basis.T @ self.W, basis.T @ self._gram_times(basis)
        return seen

    def _gram_times(self, vectors: np.ndarray) -> np.ndarray:
        return vectors if self.gram is None else self.gram @ vectors

    def project(self, vectors: np.ndarray) -> np.ndarray:
        return self.s @ vectors

    def combine(self, weights: np.ndarray) -> np.ndarray:
        return self.s.T @ weights

    def jacobian_form(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        hidden = (self.W.T @ left) * (self.W.T @ right)
        return self.precision * np.einsum("ir,ir->r", left, self._gram_times(right)) - self.slope @ hidden

    def jacobian_sum(self, weights: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        through = self.W @ ((self.slope.T @ weights) * (self.W.T @ vectors))
        return self.precision * weights.sum(axis=0) * self._gram_times(vectors) - through

    def curvature_form(self, first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
        return self.bend @ ((self.W.T @ first) * (self.W.T @ second) * (self.W.T @ third))

    def curvature_sum(self, weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return self.W @ ((self.bend.T @ weights) * (self.W.T @ first) * (self.W.T @ second))

    def derivative_form(self, *vectors: np.ndarray) -> np.ndarray:
        return self._slopes(len(vectors) - 1) @ product(same_images(self.W.T.__matmul__, vectors))

    def derivative_sum(self, weights: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        hidden = product(same_images(self.W.T.__matmul__, vectors))
        return self.W @ ((self._slopes(len(vectors)).T @ weights) * hidden)

    def _slopes(self, k: int) -> np.ndarray:
        """What the k-th derivative of -r/σ² is of every hidden unit, (n, h)."""
        return -(self.kappa**k) * self.precision * sigmoid_derivative(self.f, k)


class SigmoidOutputTensors(DerivativeTensors):
    """A few (n, h) @ (h, d) GEMMs a vector: ∇r couples all visible with all hidden units at each row."""

    max_order = None

    def __init__(self, model: TiedAutoencoder, X: np.ndarray) -> None:
        self.W, self.kappa = model.weights, X.dtype.type(model.gain)
        f = model.encode(X)
        r = model.decode(f)
        self.precision = X.dtype.type(1 / model.corruption_variance)
        self.f, self.r = f, r
        self.s = self.precision * (X - r)
        self.p = f * (1 - f)
        self.p2 = self.p * (1 - 2 * f)
        self.q = r * (1 - r)
        self.q2 = self.q * (1 - 2 * r)

    def project(self, vectors: np.ndarray) -> np.ndarray:
        return self.s @ vectors

    def combine(self, weights: np.ndarray) -> np.ndarray:
        return self.s.T @ weights

    def jacobian_form(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        form = np.empty((len(self.s), left.shape[1]), dtype=self.s.dtype)
        for r, (b, c) in enumerate(zip(left.T, right.T)):
            form[:, r] = (self.q * self._M_times(c)) @ b
            if right is not left:
                form[:, r] = (form[:, r] + (self.q * self._M_times(b)) @ c) / 2
        return self.precision * (np.einsum("ir,ir->r", left, right) - form)

    def jacobian_sum(self, weights: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        total = np.empty_like(vectors)
        for r, (a, b) in enumerate(zip(weights.T, vectors.T)):
            forward = a @ (self.q * self._M_times(b))
            backward = self.kappa * self.W @ (a @ (self.p * ((self.q * b) @ self.W)))
            total[:, r] = (forward + backward) / 2
        return self.precision * (weights.sum(axis=0) * vectors - total)

    def curvature_form(self, first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
        form = np.empty((len(self.s), first.shape[1]), dtype=self.s.dtype)
        same = first is second is third
        for r, (b, c, d) in enumerate(zip(first.T, second.T, third.T)):
            if same:
                form[:, r] = self._second_derivative(b, b) @ b
                continue
            terms = [(b, c, d), (c, b, d), (d, b, c)]
            form[:, r] = sum(self._second_derivative(y, z) @ x for x, y, z in terms) / 3
        return -self.precision * form

    def curvature_sum(self, weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        total = np.empty_like(first)
        for r, (a, b, c) in enumerate(zip(weights.T, first.T, second.T)):
            output = a @ self._second_derivative(b, c)
            if second is first:
                inputs = 2 * self._second_derivative_transposed(a, b, b)
            else:
                inputs = self._second_derivative_transposed(a, b, c)
                inputs = inputs + self._second_derivative_transposed(a, c, b)
            total[:, r] = (output + inputs) / 3
        return -self.precision * total

    def _M_times(self, v: np.ndarray) -> np.ndarray:
        """``M(x_i) v``, (n, d)."""
        return self.p @ ((self.kappa * (self.W.T @ v))[:, None] * self.W.T)

    def _second_derivative(self, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """``∇²r(x_i)(I, b, c)``, (n, d): the free index is the output's."""
        Mb = self._M_times(b)
        Mc = Mb if c is b else self._M_times(c)
        bend = self.p2 @ ((self.kappa**2 * (self.W.T @ b) * (self.W.T @ c))[:, None] * self.W.T)
        return self.q2 * Mb * Mc + self.q * bend

    def _second_derivative_transposed(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """``Σ_i a_i Σ_o b_o ∇²r_o(x_i)(I, c)``, (d,): the free index is one of the inputs'."""
        through_q = (self.q2 * self._M_times(c) * b) @ self.W
        through_p = (self.q * b) @ self.W
        hidden = self.p * through_q + self.kappa * self.p2 * (self.W.T @ c) * through_p
        return self.kappa * self.W @ (a @ hidden)

    def derivative_form(self, *vectors: np.ndarray) -> np.ndarray:
        form = np.empty((len(self.s), vectors[0].shape[1]), dtype=self.s.dtype)
        for r in range(vectors[0].shape[1]):
            columns = _columns(vectors, r)
            outputs = columns[:1] if all(v is columns[0] for v in columns) else columns
            terms = [self._derivative(_without(columns, place)) @ b for place, b in enumerate(outputs)]
            form[:, r] = sum(terms) / len(outputs)
        return -self.precision * form

    def derivative_sum(self, weights: np.ndarray, *vectors: np.ndarray) -> np.ndarray:
        total = np.empty_like(vectors[0])
        for r, a in enumerate(weights.T):
            columns = _columns(vectors, r)
            outputs = columns[:1] if all(v is columns[0] for v in columns) else columns
            inputs = [self._derivative_transposed(a, b, _without(columns, place)) for place, b in enumerate(outputs)]
            mean = sum(inputs) * (len(columns) / len(outputs))
            total[:, r] = (a @ self._derivative(columns) + mean) / (len(columns) + 1)
        return -self.precision * total

    def _derivative(self, vectors: Sequence[np.ndarray]) -> np.ndarray:
        """``∇ᵏr(x_i)(I, b, c, ...)``, (n, d): the free index is the output's."""
        total = np.zeros_like(self.r)
        for blocks in partitions(tuple(range(len(vectors)))):
            inner = [self._of_output([vectors[i] for i in block]) for block in blocks]
            total += product([sigmoid_derivative(self.r, len(blocks)), *inner])
        return total

    def _derivative_transposed(self, a: np.ndarray, b: np.ndarray, vectors: Sequence[np.ndarray]) -> np.ndarray:
        """``Σ_i a_i Σ_o b_o ∇ᵏr_o(x_i)(I, c, ...)``, (d,): the free index is one of the inputs'."""
        total = np.zeros_like(b)
        for own, *blocks in partitions((-1, *range(len(vectors)))):  # the free index is in the first block
            inner = [self._of_output([vectors[i] for i in block]) for block in blocks]
            at_output = product([b * sigmoid_derivative(self.r, len(blocks) + 1), *inner])
            slopes = self._slopes([vectors[i] for i in own if i >= 0], len(own))
            total += self.W @ (a @ ((at_output @ self.W) * slopes))
        return total

    def _of_output(self, vectors: Sequence[np.ndarray]) -> np.ndarray:
        """``∇ʲm(x_i)(I, b, c, ...)``, (n, d)."""
        return self._slopes(vectors, len(vectors)) @ self.W.T

    def _slopes(self, vectors: Sequence[np.ndarray], j: int) -> np.ndarray:
        """``κʲ sigmoid⁽ʲ⁾ ∘ Wᵀb ∘ Wᵀc ...`` of every hidden unit, (n, h)."""
        return product([self.kappa**j * sigmoid_derivative(self.f, j), *(self.W.T @ v for v in vectors)])


def sigmoid_derivative(value: np.ndarray, k: int) -> np.ndarray:
    """The k-th derivative of the sigmoid where it has this value: a polynomial, for ``f' = f - f²``."""
    coefficients = np.array([0.0, 1.0])
    for _ in range(k):
        coefficients = polynomial.polymul(polynomial.polyder(coefficients), [0.0, 1.0, -1.0])
    return polynomial.polyval(value, coefficients.astype(value.dtype))


def product(factors: Sequence[np.ndarray]) -> np.ndarray:
    return reduce(np.multiply, factors)


def partitions(items: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """All ways to cut items into blocks; the first item is in the first block."""
    if not items:
        yield []
        return
    first, *rest = items
    for others in partitions(tuple(rest)):
        yield [(first,), *others]
        for place, block in enumerate(others):
            yield [(first, *block), *others[:place], *others[place + 1 :]]


def _columns(blocks: Sequence[np.ndarray], r: int) -> list[np.ndarray]:
    return same_images(lambda block: block[:, r], blocks)


def _without(items: Sequence[np.ndarray], place: int) -> list[np.ndarray]:
    return [item for i, item in enumerate(items) if i != place]
