"""Signal and noise made of data rows: small matrices of inner products, no array of the input's width.

With ``S = FFᵀ`` and ``N = GGᵀ + tI``, the nonzero eigenpairs of (S, N) are those of

    M = FᵀN⁻¹F = (FᵀF - FᵀG (tI + GᵀG)⁻¹ GᵀF) / t,      v = N⁻¹Fu / √λ = Fp + Gq.

Without a ridge the noise is restricted to its range, ``v = Gq``. A diagonal ridge D becomes tI = I by scaling the
columns with D^-½.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from eigenfeat.moments.forms import FactoredForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.conventions import orientation, rank_cutoff, select
from eigenfeat.solvers.directions import Directions, DualVectors
from eigenfeat.solvers.noise import zero_noise
from eigenfeat.solvers.request import Request

name = "dual"
requires = ("factored", "largest")

#: Up to this order, stacked eigenproblems beat one call a problem for a few directions.
STACKED = 64


@dataclass(frozen=True)
class _Inner:
    """Inner products of m problems with one noise: A = FᵀF (m, f, f), K = FᵀG (m, f, g), B = GᵀG (g, g)."""

    A: np.ndarray
    K: np.ndarray
    B: np.ndarray
    shift: float
    width: int


def solve_group(quotients: Sequence[Quotient], request: Request) -> list[Directions]:
    """Solve problems that share one noise, those whose signals have equal rank in one stack."""
    noise = quotients[0].noise
    assert isinstance(noise, FactoredForm)
    if np.ndim(noise.shift):
        return _solve_scaled(quotients, noise, request)
    B = noise.inner(noise).astype(request.dtype, copy=False)
    if not np.any(B) and not noise.shift:
        raise zero_noise(quotients[0].label)
    by_rank: dict[int, list[int]] = defaultdict(list)
    for position, quotient in enumerate(quotients):
        by_rank[quotient.signal.rank].append(position)  # type: ignore[attr-defined]
    results: dict[int, Directions] = {}
    for rank, positions in by_rank.items():
        # Stacks of larger problems would only cost memory.
        step = len(positions) if rank <= STACKED else 1
        for start in range(0, len(positions), step):
            chosen = positions[start : start + step]
            stack = [quotients[i] for i in chosen]
            results.update(zip(chosen, _solve_stack(stack, noise, B, request)))
    return [results[i] for i in range(len(quotients))]


def _solve_scaled(quotients: Sequence[Quotient], noise: FactoredForm, request: Request) -> list[Directions]:
    """A diagonal ridge: with rows ``X D^-½`` it is the identity, and ``v = D^-½w`` are combinations of ``X D⁻¹``."""
    ridge = np.asarray(noise.shift)
    if not np.all(ridge > 0):
        raise ValueError(
            f"The ridge of {quotients[0].label!r} is zero in some columns: with rows as moments a diagonal ridge must "
            'be positive everywhere; raise it, or use solver="dense" where the matrices may be formed.'
        )
    store = noise.store.scaled_columns(1 / np.sqrt(ridge))
    scaled_noise = FactoredForm(store, noise.terms, 1.0)
    scaled = [
        replace(q, signal=FactoredForm(store, q.signal.terms), noise=scaled_noise, references=None)  # type: ignore[attr-defined]
        for q in quotients
    ]
    back = noise.store.scaled_columns(1 / ridge)
    results = []
    for quotient, found in zip(quotients, solve_group(scaled, request)):
        assert isinstance(found.vectors, DualVectors)
        vectors = _oriented(replace(found.vectors, store=back), quotient.references, request.dtype)
        results.append(replace(found, vectors=vectors))
    return results


def _solve_stack(
    quotients: Sequence[Quotient], noise: FactoredForm, B: np.ndarray, request: Request
) -> list[Directions]:
    signals = [q.signal for q in quotients]
    A = np.stack([F.inner(F) for F in signals]).astype(request.dtype, copy=False)  # type: ignore[attr-defined]
    K = np.stack([F.inner(noise) for F in signals]).astype(request.dtype, copy=False)  # type: ignore[attr-defined]
    inner = _Inner(A, K, B, float(noise.shift), noise.shape[0])
    values, p, q, noise_rank = _ridged(inner, request) if inner.shift else _restricted(inner, request)
    residuals = _residuals(inner, values, p, q)
    results = []
    for i, quotient in enumerate(quotients):
        kept = values[i] > rank_cutoff(values[i], request.dtype)
        order = np.flatnonzero(kept)
        order = order[select(values[i][order], request)]
        rows_f, c_f = quotient.signal.row_coefficients(p[i][:, order])  # type: ignore[attr-defined]
        rows_g, c_g = noise.row_coefficients(q[i][:, order])
        vectors = DualVectors(noise.store, np.concatenate([rows_f, rows_g]), np.concatenate([c_f, c_g]))
        results.append(
            Directions(
                vectors=_oriented(vectors, quotient.references, request.dtype),
                values=values[i][order],
                residuals=residuals[i][order],
                converged=bool(np.all(residuals[i][order] <= request.tol)),
                solver=name,
                noise_rank=noise_rank,
                label=quotient.label,
            )
        )
    return results


def _ridged(inner: _Inner, request: Request) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Eigenvalues and factor coordinates p, q of the directions ``v = Fp + Gq``, ridge t > 0."""
    A, K, B = inner.A, inner.K, inner.B
    t = request.dtype.type(inner.shift)
    m, f, g = K.shape
    Kt = K.transpose(2, 0, 1).reshape(g, m * f)
    if g:
        core = cho_factor(B + t * np.eye(g, dtype=B.dtype), lower=True, check_finite=False)
        Kt = cho_solve(core, Kt, check_finite=False)
    Y = Kt.reshape(g, m, f).transpose(1, 0, 2)
    values, U = _top((A - K @ Y) / t, request)
    p = U / (t * np.sqrt(np.maximum(values, np.finfo(values.dtype).tiny)))[:, None, :]
    return values, p, -(Y @ p), inner.width


def _restricted(inner: _Inner, request: Request) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The same in the range of G: with ``GᵀG = UDUᵀ``, directions ``v = G U D⁻¹ a`` have ``vᵀNv = aᵀa``."""
    D, U = eigh(inner.B, check_finite=False)
    kept = rank_cutoff(D, request.dtype) < D
    W = U[:, kept] / D[kept]
    C = inner.K @ W
    values, a = _top(C.transpose(0, 2, 1) @ C, request)
    q = W @ a
    p = np.zeros((*inner.K.shape[:2], q.shape[2]), dtype=q.dtype)
    return values, p, q, int(kept.sum())


def _top(matrices: np.ndarray, request: Request) -> tuple[np.ndarray, np.ndarray]:
    """Leading eigenpairs of a stack of symmetric matrices."""
    n = matrices.shape[-1]
    count = request.count(n)
    if n <= STACKED:
        values, U = np.linalg.eigh(matrices)
        return values[:, n - count :], U[:, :, n - count :]
    pairs = [eigh(M, subset_by_index=(n - count, n - 1), overwrite_a=True, check_finite=False) for M in matrices]
    return np.stack([w for w, _ in pairs]), np.stack([U for _, U in pairs])


def _residuals(inner: _Inner, values: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Relative residuals from inner products: ``Sv - λNv = Fa + Gb`` with a and b small by themselves.

    A direction confined to the range of the noise (no ridge) solves the equation in that range only, so the
    residual is then measured there.
    """
    A, K, B, t = inner.A, inner.K, inner.B, values.dtype.type(inner.shift)
    Kt = K.transpose(0, 2, 1)
    Fv, Gv = A @ p + K @ q, Kt @ p + B @ q
    lam = values[:, None, :]
    if not t:
        gap = np.linalg.norm(Kt @ Fv - lam * (B @ Gv), axis=1)
        size = np.linalg.norm(Kt @ Fv, axis=1) + np.linalg.norm(lam * (B @ Gv), axis=1)
        return np.divide(gap, size, out=np.zeros_like(gap), where=size > 0)

    def norm(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        square = np.einsum("mir,mir->mr", a, A @ a + 2 * (K @ b)) + np.einsum("mir,mir->mr", b, B @ b)
        return np.sqrt(np.maximum(square, 0))

    gap = norm(Fv - lam * t * p, -lam * (Gv + t * q))
    size = norm(Fv, np.zeros_like(q)) + norm(lam * t * p, lam * (Gv + t * q))
    return np.divide(gap, size, out=np.zeros_like(gap), where=size > 0)


def _oriented(vectors: DualVectors, references: np.ndarray | None, dtype: np.dtype) -> DualVectors:
    projections = None
    if references is not None and len(references):
        projections = vectors.store.times(vectors.index, references.T).T @ vectors.coefficients
    signs = orientation(vectors, projections, references)
    coefficients = (vectors.coefficients * signs).astype(dtype, copy=False)
    return DualVectors(vectors.store, vectors.index, coefficients)
