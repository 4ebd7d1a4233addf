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
from functools import partial

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from eigenfeat.moments.forms import FactoredForm, RowTerm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.canonical import largest_entry_signs, leading, rank_cutoff, reference_signs
from eigenfeat.solvers.contract import FACTORED, LARGEST, Request, Solver, Workspace
from eigenfeat.solvers.directions import Directions, DualVectors, as_directions, side_by_side
from eigenfeat.solvers.noise import zero_noise

NAME = "dual"

#: Up to this order, stacked eigenproblems beat one call a problem for a few directions.
STACKED = 64
#: Entries of all references of a stack up to which they are projected together.
TOGETHER = 100_000


@dataclass(frozen=True)
class _Noise:
    """What the problems of one noise share: B = GᵀG (g, g), the lower Cholesky factor of tI + B if t > 0."""

    form: FactoredForm
    B: np.ndarray
    lower: np.ndarray | None

    @property
    def shift(self) -> float:
        return float(self.form.shift)


@dataclass(frozen=True)
class _StackedSignals:
    """m signals, each one weighted set of f rows: ``F = X[index]ᵀ diag(scale)``, about the mean if ``centred``."""

    index: np.ndarray
    scale: np.ndarray
    centred: bool

    @classmethod
    def of(cls, signals: Sequence[FactoredForm]) -> _StackedSignals | None:
        """The stack, or None when the signals are not of this shape or not of one size."""
        terms = [signal.terms[0] for signal in signals if isinstance(signal.terms[0], RowTerm)]
        several = len(terms) < len(signals) or any(len(signal.terms) > 1 for signal in signals)
        if several or len({(term.centred, term.rank) for term in terms}) > 1:
            return None
        return cls(np.stack([t.index for t in terms]), np.stack([t.scale for t in terms]), terms[0].centred)

    def inner(self, noise: FactoredForm) -> np.ndarray:
        """``FᵀG`` of every signal, (m, f, g)."""
        m, f = self.index.shape
        rows = self.index.ravel()
        parts = []
        for term in noise.terms:
            block = self._from_values(noise.rows.gram(rows, term.index).reshape(m, f, len(term.index)))
            parts.append(term.gather(block.reshape(m * f, len(term.index)).T).T.reshape(m, f, term.rank))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)

    def row_coefficients(self, block: np.ndarray) -> np.ndarray:
        """c with ``F block = X[index]ᵀ c``, (m, f, r)."""
        return self.scale[:, :, None] * self._about_mean(block)

    def _from_values(self, block: np.ndarray) -> np.ndarray:
        return self._about_mean(self.scale[:, :, None] * block)

    def _about_mean(self, block: np.ndarray) -> np.ndarray:
        if not self.centred:
            return block
        unit = self.scale / np.linalg.norm(self.scale, axis=1, keepdims=True)
        return block - unit[:, :, None] * (unit[:, None, :] @ block)


def solve_group(quotients: Sequence[Quotient], request: Request) -> list[Directions]:
    """Solve problems that share one noise, those whose signals have equal rank in one stack."""
    noise = quotients[0].noise
    assert isinstance(noise, FactoredForm)
    if np.ndim(noise.shift):
        return _solve_scaled(quotients, noise, request)
    B = noise.inner(noise).astype(np.float64, copy=False)
    if not np.any(B) and not noise.shift:
        raise zero_noise(quotients[0].label)
    t = float(noise.shift)
    lower = cholesky(B + t * np.eye(len(B)), lower=True, check_finite=False) if t else None
    shared = _Noise(noise, B, lower)
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
            results.update(zip(chosen, _solve_stack(stack, shared, request)))
    return [results[i] for i in range(len(quotients))]


def _solve_scaled(quotients: Sequence[Quotient], noise: FactoredForm, request: Request) -> list[Directions]:
    """A diagonal ridge: with rows ``X D^-½`` it is the identity, and ``v = D^-½w`` are combinations of ``X D⁻¹``."""
    ridge = np.asarray(noise.shift)
    if not np.all(ridge > 0):
        raise ValueError(
            f"The ridge of {quotients[0].label!r} is zero in some columns: with rows as moments a diagonal ridge must "
            'be positive everywhere; raise it, or use solver="dense" where the matrices may be formed.'
        )
    rows = noise.rows.with_scaled_columns(1 / np.sqrt(ridge))
    scaled_noise = FactoredForm(rows, noise.terms, 1.0)
    scaled = [
        replace(q, signal=FactoredForm(rows, q.signal.terms), noise=scaled_noise, references=None)  # type: ignore[attr-defined]
        for q in quotients
    ]
    back = noise.rows.with_scaled_columns(1 / ridge)
    # The scaled rows belong to this noise alone: what is made of them is not to outlive it.
    solved = solve_group(scaled, replace(request, workspace=Workspace()))
    vectors = _oriented(quotients, [replace(r.vectors, rows=back) for r in solved])  # type: ignore[arg-type,misc]
    return [replace(r, vectors=v) for r, v in zip(solved, vectors)]


def _solve_stack(quotients: Sequence[Quotient], shared: _Noise, request: Request) -> list[Directions]:
    """With A = FᵀF (m, f, f) and K = FᵀG (m, f, g) of all problems at once."""
    noise = shared.form
    signals: list[FactoredForm] = [q.signal for q in quotients]  # type: ignore[misc]
    rows = _StackedSignals.of(signals) if len(signals) > 1 else None
    if rows is not None:
        A, K = np.stack([request.workspace.once(FactoredForm.inner, F, F) for F in signals]), rows.inner(noise)
    else:
        A, K = np.stack([F.inner(F) for F in signals]), np.stack([F.inner(noise) for F in signals])
    # Small, and differences of large numbers are taken of them: in float64 whatever the rows are.
    A, K = A.astype(np.float64, copy=False), K.astype(np.float64, copy=False)
    values, p, q, noise_rank = (_ridged if shared.shift else _restricted)(A, K, shared, request)
    residuals = _residuals(A, K, shared, values, p, q)

    # v = Fp + Gq as combinations of the store's rows.
    noise_rows, by_noise = noise.row_index, side_by_side(noise.row_coefficients, q)
    if rows is not None:
        by_signal = list(zip(rows.index, rows.row_coefficients(p)))
    else:
        by_signal = [(F.row_index, F.row_coefficients(block)) for F, block in zip(signals, p)]
    vectors = []
    for (signal_rows, c), d in zip(by_signal, by_noise):
        coefficients = np.concatenate([c, d]).astype(request.dtype, copy=False)
        vectors.append(DualVectors(noise.rows, np.concatenate([signal_rows, noise_rows]), coefficients))
    return as_directions(quotients, _oriented(quotients, vectors), values, residuals, request, NAME, noise_rank)


def _ridged(
    A: np.ndarray, K: np.ndarray, noise: _Noise, request: Request
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Eigenvalues, factor coordinates p, q of the directions ``v = Fp + Gq``, and the noise's rank, for t > 0.

    With ``tI + GᵀG = LLᵀ`` and ``Z = L⁻¹GᵀF``: ``M = (FᵀF - ZᵀZ) / t``, ``q = -L⁻ᵀZp``.
    """
    t = noise.shift
    Z = side_by_side(partial(_triangular, noise.lower, "N"), K.transpose(0, 2, 1))
    values, U = _top((A - Z.transpose(0, 2, 1) @ Z) / t, request)
    p = U / (t * np.sqrt(values))[:, None, :]
    q = side_by_side(partial(_triangular, noise.lower, "T"), Z @ p)
    return values, p, -q, noise.form.shape[0]


def _triangular(lower: np.ndarray | None, trans: str, block: np.ndarray) -> np.ndarray:
    # A noise without rows, such as the identity, has nothing to solve with.
    return solve_triangular(lower, block, lower=True, trans=trans, check_finite=False) if len(block) else block


def _restricted(
    A: np.ndarray, K: np.ndarray, noise: _Noise, request: Request
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The same in the range of G: with ``GᵀG = UDUᵀ``, directions ``v = G U D⁻¹ a`` have ``vᵀNv = aᵀa``."""
    D, U = eigh(noise.B, check_finite=False)
    kept = rank_cutoff(D, request.dtype) < D
    W = U[:, kept] / D[kept]
    C = K @ W
    values, a = _top(C.transpose(0, 2, 1) @ C, request)
    q = W @ a
    return values, np.zeros((*K.shape[:2], q.shape[2]), dtype=q.dtype), q, int(kept.sum())


def _top(matrices: np.ndarray, request: Request) -> tuple[np.ndarray, np.ndarray]:
    """Leading eigenpairs of a stack of symmetric matrices; values that are rounding are not a number."""
    n = matrices.shape[-1]
    count = request.count(n)
    if n <= STACKED:
        values, U = np.linalg.eigh(matrices)
    else:
        end = (n - count, n - 1)
        pairs = [eigh(M, subset_by_index=end, overwrite_a=True, check_finite=False) for M in matrices]
        values, U = np.stack([w for w, _ in pairs]), np.stack([U for _, U in pairs])
    cutoff = rank_cutoff(values, request.dtype)[:, None]
    return leading(np.where(values > cutoff, values, np.nan), U, request)


def _residuals(
    A: np.ndarray, K: np.ndarray, noise: _Noise, values: np.ndarray, p: np.ndarray, q: np.ndarray
) -> np.ndarray:
    """Relative residuals from inner products: ``Sv - λNv = Fa + Gb`` with a and b small by themselves.

    A direction confined to the range of the noise (no ridge) solves the equation in that range only, so the
    residual is then measured there.
    """
    B, t = noise.B, noise.shift
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


def _oriented(quotients: Sequence[Quotient], vectors: Sequence[DualVectors]) -> list[DualVectors]:
    """Signs as `canonical.orient` gives them, with the references projected on the rows first."""
    projected = _projected_references(quotients, vectors)
    if len({(p.shape, v.coefficients.shape) for p, v in zip(projected, vectors)}) == 1:
        signs = _signs(np.stack(projected), np.stack([v.coefficients for v in vectors]))
    else:
        signs = [_signs(p, v.coefficients) for p, v in zip(projected, vectors)]  # type: ignore[assignment]
    results = []
    for v, sign in zip(vectors, signs):
        if not sign.all():
            sign = np.where(sign == 0, largest_entry_signs(v.toarray()), sign)
        results.append(replace(v, coefficients=v.coefficients * sign.astype(v.dtype)))
    return results


def _signs(projected: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Signs from (..., rows, q) references at the rows; zero where they say nothing."""
    if projected.shape[-1] == 0:
        return np.zeros((*coefficients.shape[:-2], coefficients.shape[-1]))
    # The sum of sizes bounds the sum: what is small next to it is rounding.
    reach = np.einsum("...n,...nr->...r", np.abs(projected).max(axis=-1), np.abs(coefficients))
    return reference_signs(np.swapaxes(projected, -1, -2) @ coefficients, reach)


def _projected_references(quotients: Sequence[Quotient], vectors: Sequence[DualVectors]) -> list[np.ndarray]:
    """Each quotient's references on the rows of its directions, (rows, q): one product for a stack of small ones."""
    rows = vectors[0].rows
    none = np.empty((0, rows.n_columns), dtype=rows.dtype)
    references = [none if q.references is None else q.references for q in quotients]
    if len(quotients) * rows.n_columns > TOGETHER:
        return [np.asarray(rows.times(v.index, r.T)) for v, r in zip(vectors, references)]
    together = np.asarray(rows.times(np.concatenate([v.index for v in vectors]), np.concatenate(references).T))
    row, column = (np.cumsum([0, *map(len, part)]) for part in ([v.index for v in vectors], references))
    return [together[row[i] : row[i + 1], column[i] : column[i + 1]] for i in range(len(quotients))]


SOLVER = Solver(NAME, solve_group, requires=(FACTORED, LARGEST))
