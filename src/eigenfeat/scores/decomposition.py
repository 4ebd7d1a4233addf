"""Rank-one components of a cross-moment tensor, ``T ≈ Σ_r u_r ⊗ w_r ⊗ ... ⊗ w_r``, from its products alone.

A symmetric tensor power method runs from many starts at once on what the components found so far leave over;
every distinct maximum becomes a component, and all of them are fitted jointly before it looks again: deflation
alone is exact only for orthogonal components. There may be more components than dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from eigenfeat.scores.components import Components, ComponentsAlong, Fit, fit_label_factors, refine, unit_columns
from eigenfeat.scores.cross_tensor import CrossTensor, CrossTensorAlong
from eigenfeat.scores.quality import probes

# Two directions closer than this count as one.
DUPLICATE_COSINE = 0.99
# A maximum below this share of the round's best waits: it is found again once the better ones are taken off. So careful
# a search is for arrays; where a product is a pass over rows, a fixed number of rounds takes what each has to offer.
KEPT_SHARE = 0.5
ROUNDS = 8
# What is left of a tensor that has been fitted to rounding error is no component.
EXHAUSTED_SHARE = 1e-5
MAX_STARTS = 512
SMALLEST_STEP = 1e-4
# The joint fit does the fine work: the power method needs only to come near its maxima.
POWER_STEPS, POWER_STEPS_ON_ROWS, POWER_TOL = 40, 10, 0.02
JOINT_STEPS_A_ROUND = 5
MAX_REPLACEMENTS, MAX_REPLACEMENTS_ON_ROWS = 5, 2
ATTEMPTS_ON_AN_ARRAY = 8


@dataclass(frozen=True)
class Search:
    """How hard to look.

    Parameters
    ----------
    n_restarts : int, optional
        Starts of the power method run at once; by default twice the number of missing components, from 20 to
        512.
    n_init : int, optional
        Whole decompositions, every second one from random directions; that with the smallest error is kept. None: eight
        where the tensor is an array, else one.
    max_iter : int
        Steps of the joint fit, and of the power method where that is fewer than its own 40 (10 on rows).
    tol : float
        Relative gain of the joint fit below which to stop.
    floor : float
        Maxima below this are noise: the search ends with them.
    """

    n_restarts: int | None = None
    n_init: int | None = None
    max_iter: int = 100
    tol: float = 1e-6
    floor: float = 0.0

    def starts(self, n_missing: int) -> int:
        return self.n_restarts or min(MAX_STARTS, max(20, 2 * n_missing))

    def attempts(self, tensor: CrossTensor) -> int:
        return self.n_init or (ATTEMPTS_ON_AN_ARRAY if tensor.is_array and not self.floor else 1)

    def power_steps(self, tensor: CrossTensor) -> int:
        return min(self.max_iter, POWER_STEPS if tensor.is_array else POWER_STEPS_ON_ROWS)


@dataclass(frozen=True, eq=False)
class Deflated:
    """A tensor without the components found so far, as products: nothing is subtracted from any tensor."""

    tensor: CrossTensor
    found: Components

    def along(self, V: np.ndarray) -> DeflatedAlong:
        return DeflatedAlong(self.tensor.along(V), self.found.along(V))


@dataclass(frozen=True, eq=False)
class DeflatedAlong:
    """``(T - T̂)(:, v_r, ..., v_r)`` and ``(T - T̂)(u_r, I, v_r, ..., v_r)``."""

    tensor: CrossTensorAlong
    found: ComponentsAlong

    def label_products(self) -> np.ndarray:
        return self.tensor.label_products() - self.found.label_products()

    def vector_products(self, U: np.ndarray) -> np.ndarray:
        return self.tensor.vector_products(U) - self.found.vector_products(U)


def decompose(tensor: CrossTensor, n_components: int, rng: np.random.Generator, search: Search) -> Fit:
    """Up to ``n_components`` distinct components, strongest first, fitted jointly.

    The first attempt, and every second one after it, begins with the maxima that the power method finds; where
    components can be linearly independent, in whitened coordinates. Maxima tend to lead to one and the same optimum,
    so the others begin with random directions.
    """
    attempts = []
    for attempt in range(search.attempts(tensor)):
        found = Components.none(tensor)
        if search.floor:  # in other coordinates it would mean something else, and random directions are below it
            pass
        elif attempt % 2:
            vectors = rng.standard_normal((tensor.n_features, n_components)).astype(tensor.dtype)
            found = fit_label_factors(tensor, unit_columns(vectors)).components
        elif n_components <= tensor.n_features:
            K = whitening_basis(tensor, n_components, rng)
            whitened = tensor.in_basis(K)
            inside = extend(whitened, Components.none(whitened), K.shape[1], rng, search)
            vectors = unit_columns(linalg.pinv(K.T) @ inside.vectors).astype(tensor.dtype)
            found = fit_label_factors(tensor, vectors).components
        attempts.append(complete(tensor, found, n_components, rng, search))
    return min(attempts, key=lambda attempt: attempt.error)


def complete(
    tensor: CrossTensor, found: Components, n_components: int, rng: np.random.Generator, search: Search
) -> Fit:
    """Add what is missing, fit all components jointly, and replace those that this makes equal or too weak."""
    for _ in range(MAX_REPLACEMENTS if tensor.is_array else MAX_REPLACEMENTS_ON_ROWS):
        found = extend(tensor, found, n_components, rng, search)
        fit = refine(tensor, found, search.max_iter, search.tol)
        found = fit.components.strongest_first()
        _, left_over = maxima(tensor, found, 0, rng, search)
        kept = distinct(found.vectors)
        kept = kept[found.weights[kept] > KEPT_SHARE * left_over.max()]
        if len(kept) == found.count:
            break
        fit = replace(fit_label_factors(tensor, found.vectors[:, kept]), n_iter=fit.n_iter)
        found = fit.components.strongest_first()
    return replace(fit, components=found)


def extend(
    tensor: CrossTensor, found: Components, n_components: int, rng: np.random.Generator, search: Search
) -> Components:
    """Add components, a round of the power method at a time, until there are enough or none is new."""
    strongest = found.weights.max(initial=0.0)
    share, rounds_left = (KEPT_SHARE, 1) if tensor.is_array else (0.0, ROUNDS)
    while found.count < n_components:
        wanted = -(-(n_components - found.count) // rounds_left)
        V, values = maxima(tensor, found, wanted, rng, search)
        strongest = max(strongest, values.max())
        order = np.argsort(-values, kind="stable")
        order = order[values[order] > max(share * values.max(), EXHAUSTED_SHARE * strongest, search.floor)]
        fresh = order[distinct(V[:, order], found.vectors)][:wanted]
        if not len(fresh):
            break
        rounds_left = max(1, rounds_left - 1)
        found = fit_label_factors(tensor, np.hstack([found.vectors, V[:, fresh]])).components
        found = refine(tensor, found, JOINT_STEPS_A_ROUND, search.tol).components
    return found


def maxima(
    tensor: CrossTensor, found: Components, n_missing: int, rng: np.random.Generator, search: Search
) -> tuple[np.ndarray, np.ndarray]:
    """What the power method reaches from random starts on what the components leave over, and how large it is."""
    V = rng.standard_normal((tensor.n_features, search.starts(n_missing))).astype(tensor.dtype)
    return power_method(Deflated(tensor, found), V, search.power_steps(tensor), max(search.tol, POWER_TOL))


def power_method(tensor: Deflated, V: np.ndarray, max_iter: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """Local maxima of ``f(v) = ‖T(:, v, ..., v)‖`` over unit v, from the columns of V, and their values.

    The classical step is ``v ← T(u, I, v, ..., v)``, normalised, with ``u ∝ T(:, v, ..., v)``. Nothing makes f rise
    with it once components are not orthogonal, but the way from v to there begins uphill: a start whose value
    fell goes back and half as far, one whose value rose goes twice as far, at most the classical step.
    """
    best = unit_columns(V)
    target, trial = best.copy(), best.copy()
    values = np.full(V.shape[1], -np.inf, dtype=V.dtype)
    step = np.ones_like(values)
    active = np.arange(V.shape[1])
    for _ in range(max_iter):
        along = tensor.along(trial[:, active])
        B = along.label_products()
        slopes = along.vector_products(unit_columns(B))
        reached = np.linalg.norm(B, axis=0)
        rose = reached > values[active]
        up, down = active[rose], active[~rose]
        values[up], best[:, up] = reached[rose], trial[:, up]
        target[:, up] = unit_columns(slopes[:, rose])
        step[up], step[down] = np.minimum(1, 2 * step[up]), step[down] / 2
        way = target[:, active] - best[:, active]
        trial[:, active] = unit_columns(best[:, active] + step[active] * way)
        active = active[(np.linalg.norm(way, axis=0) > tol) & (step[active] > SMALLEST_STEP)]
        if not len(active):
            break
    return best, values


def distinct(V: np.ndarray, taken: np.ndarray | None = None) -> np.ndarray:
    """Columns of V that repeat no earlier column and none of ``taken``, up to sign; their indices."""
    repeats = np.abs(V.T @ V) > DUPLICATE_COSINE
    fresh = np.ones(V.shape[1], dtype=bool)
    if taken is not None:
        fresh &= ~(np.abs(taken.T @ V) > DUPLICATE_COSINE).any(axis=0)
    for i in range(V.shape[1]):
        fresh[i] &= not (fresh[:i] & repeats[i, :i]).any()
    return np.flatnonzero(fresh)


def whitening_basis(tensor: CrossTensor, rank: int, rng: np.random.Generator) -> np.ndarray:
    """K, (d, at most rank), in whose coordinates the components of a tensor of that rank are nearly orthonormal.

    The Gram matrix of T unfolded along a vector mode is ``Σ_rs G_rs w_r w_sᵀ`` with
    ``G_rs = (u_r·u_s)(w_r·w_s)^{m-1}``: close to diagonal, positive, spanned by the components. K is its inverse
    root on the leading eigenvectors.
    """
    d = tensor.n_features
    if tensor.is_array:
        unfolded = tensor.toarray().reshape(-1, d).astype(np.float64, copy=False)
        gram = unfolded.T @ unfolded
    else:
        gram = np.zeros((d, d))
        for U, vectors, weight in probes(tensor, rng):
            P = tensor.vector_products(U, *vectors).astype(np.float64)
            gram += weight * (P @ P.T)
    values, E = linalg.eigh(gram, subset_by_index=[d - rank, d - 1])
    keep = values > values[-1] * d * np.finfo(tensor.dtype).eps
    return E[:, keep] / np.sqrt(values[keep])
