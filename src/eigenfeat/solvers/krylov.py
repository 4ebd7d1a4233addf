"""Block Lanczos for all signals of one noise at once, on its factor: the whitened matrix is never formed.

A search in float32 finds the leading eigenspaces of ``WᵀSW`` (W from the shared factor), a Rayleigh-Ritz step
with the matrices as given, in the type of the result, makes them exact: an eigenvalue's error is the square
of its direction's. Blocks are smaller than the number of directions, for a longer polynomial is worth more than
a wider block; the triangular products still see the blocks of all signals side by side.

Cost of a step: 4 d²b multiplications and additions a signal, b being the block; dense needs about 3 d³ in all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import blas, eigh, lapack

from eigenfeat.moments.forms import DenseForm, SymmetricForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers import dense
from eigenfeat.solvers.canonical import rank_cutoff, relative_residuals
from eigenfeat.solvers.contract import LARGEST, MODERATE, N_COMPONENTS, Request, Solver, Workspace
from eigenfeat.solvers.directions import Directions, finish, side_by_side
from eigenfeat.solvers.noise import BasisNoise, CholeskyNoise, NoiseFactor, factor_noise

NAME = "krylov"

#: Columns of all blocks together that are worked on at once: enough for BLAS, little for memory.
SIDE_BY_SIDE = 512
#: Basis columns a direction: before the residuals begin to fall, for each digit they fall by, at which to give up.
#: The first two tell when to look for convergence, which costs as much as a step. They are set low: a look too early
#: costs that step, one too late all steps since (benchmarks/speed/constants.py measures 3.0-4.5 and 0.85-1.3).
ONSET, PER_DIGIT, GIVE_UP = 3.4, 0.65, 16
#: Columns from which, and fraction of them up to which, a Krylov space is quicker than LAPACK.
KRYLOV_SIZE, KRYLOV_SHARE = 256, 1 / GIVE_UP
#: Ritz vectors kept beyond those asked for: the last ones converge last.
GUARD = 4
#: Rounds of residual corrections before the dense solver takes over. With a guide in float32 each leaves about its
#: rounding times the noise's condition number of the residuals: a guide serves where so many are enough.
CORRECTIONS = 4
#: Tolerance down to which a float32 eigendecomposition of the projected matrix, half the cost of a float64 one, serves.
SINGLE_TOL = 1e-5


def few_of_many(quotient: Quotient, request: Request) -> bool:
    """Few directions of many columns: a Krylov space is quicker than LAPACK."""
    d, k = quotient.n_features, request.n_components
    return d >= KRYLOV_SIZE and k is not None and k <= KRYLOV_SHARE * d


def solve_group(quotients: Sequence[Quotient], request: Request) -> list[Directions]:
    """Solve problems that share one noise matrix; those that do not converge go to the dense solver."""
    noise = factor_noise(quotients[0].noise, request.dtype, quotients[0].label)
    k = _wanted(request)
    if k * GIVE_UP > noise.rank:
        return dense.solve_group(quotients, request)
    whitener = _Whitener(noise, request.tol)
    noise_form = _in_type(quotients[0].noise, request.dtype)
    step = max(1, SIDE_BY_SIDE // _block_size(k))
    results: list[Directions] = []
    for start in range(0, len(quotients), step):
        chunk = quotients[start : start + step]
        signals = [_signal_in_type(q.signal, request.dtype, request.workspace) for q in chunk]
        ritz = _search(signals, whitener, request).astype(request.dtype, copy=False)
        noises = side_by_side(noise_form.__matmul__, ritz)
        for quotient, signal, vectors, NV in zip(chunk, signals, ritz, noises):
            results.append(_refine(quotient, signal, noise_form, vectors, NV, whitener, request, noise))
    stuck = [i for i, r in enumerate(results) if not r.converged]
    if stuck:
        exact = dense.solve_group([quotients[i] for i in stuck], request)
        results = [exact[stuck.index(i)] if i in stuck else r for i, r in enumerate(results)]
    return results


class _Whitener:
    """W and Wᵀ on stacks of row vectors, in float32 where that is a good enough guide to a tolerance."""

    def __init__(self, noise: NoiseFactor, tol: float) -> None:
        self.rank = noise.rank
        rounding = float(np.finfo(np.float32).eps) * noise.condition
        self.dtype = np.dtype(np.float32 if rounding**CORRECTIONS <= tol else np.float64)
        if isinstance(noise, CholeskyNoise):
            # A triangular product runs at twice the speed of a triangular solve; a guide may be inverted.
            factor = noise.lower.astype(self.dtype, order="F")
            single = self.dtype == np.float32
            self.inverse, _ = (lapack.strtri if single else lapack.dtrtri)(factor, lower=1, overwrite_c=1)
            self._trmm = blas.strmm if single else blas.dtrmm
        else:
            assert isinstance(noise, BasisNoise)
            self.inverse = None
            self.basis = noise.basis.astype(self.dtype)

    def whiten(self, rows: np.ndarray) -> np.ndarray:
        """``rows W``: (..., d) to (..., rank)."""
        if self.inverse is None:
            return rows @ self.basis
        return self._trmm(1.0, self.inverse, rows.reshape(-1, rows.shape[-1]).T, lower=1).T.reshape(rows.shape)

    def unwhiten(self, rows: np.ndarray) -> np.ndarray:
        """``rows Wᵀ``: (..., rank) to (..., d)."""
        if self.inverse is None:
            return rows @ self.basis.T
        flat = rows.reshape(-1, rows.shape[-1]).T
        return self._trmm(1.0, self.inverse, flat, lower=1, trans_a=1).T.reshape(rows.shape)


def _wanted(request: Request) -> int:
    assert request.n_components is not None
    return request.n_components


def _block_size(n_components: int) -> int:
    """A little more than half of the directions, in the steps of 8 that BLAS kernels like."""
    return 8 * -(-(n_components + 8) // 16)


def _in_type(form: SymmetricForm, dtype: np.dtype) -> DenseForm:
    """A dense form with a matrix of this type: the form itself where it is one."""
    if not isinstance(form, DenseForm):
        return DenseForm(form.toarray().astype(dtype, copy=False))
    return form if form.dtype == dtype else DenseForm(form.matrix.astype(dtype), form.shift)


def _signal_in_type(form: SymmetricForm, dtype: np.dtype, workspace: Workspace) -> DenseForm:
    """The same of a signal, which meets many noises: a matrix is converted once."""
    return workspace.once(_in_type, form, dtype) if isinstance(form, DenseForm) else _in_type(form, dtype)


def _search(signals: Sequence[DenseForm], whitener: _Whitener, request: Request) -> np.ndarray:
    """Leading Ritz vectors of every signal, as (m, d, p) directions, by block Lanczos, fully orthogonalised.

    Vectors are rows here, so that all blocks lie side by side in memory: Q is (m, columns, rank), and T its
    projection of the m whitened signals. A signal that has converged leaves; the others close up.
    """
    m, k = len(signals), _wanted(request)
    b = _block_size(k)
    dtype, rank = whitener.dtype, whitener.rank
    columns = (GIVE_UP * k // b) * b
    signals = [_signal_in_type(S, dtype, request.workspace) for S in signals]
    rng = np.random.default_rng(request.seed)
    start = rng.standard_normal((b, rank)).astype(dtype)
    Q = np.empty((m, columns, rank), dtype=dtype)
    T = np.zeros((m, columns, columns), dtype=dtype if request.tol >= SINGLE_TOL else np.float64)
    Q[:, :b] = _orthonormal_rows(start[None])
    ritz, active = np.empty((m, k + GUARD, rank), dtype=dtype), np.arange(m)
    looks = np.full(m, max(k + GUARD, k * (ONSET - PER_DIGIT * np.log10(request.tol))))
    for end in range(b, columns + 1, b):
        last, recent, known = slice(end - b, end), slice(max(0, end - 2 * b), end), Q[:, :end]
        image = _apply(signals, whitener, Q[:, last])
        # In exact arithmetic only the two latest blocks matter (T is banded); the rest is rounding, removed below.
        along = image @ Q[:, recent].transpose(0, 2, 1)
        image -= along @ Q[:, recent]
        T[:, last, recent] = along
        T[:, recent, last] = along.transpose(0, 2, 1)
        following = _orthonormal_rows(_reject(_orthonormal_rows(image), known))
        going = np.ones(len(active), dtype=bool)
        for i in np.flatnonzero(looks <= end) if end < columns else range(len(active)):
            theta, Y = _leading_pairs(T[i, :end, :end], k + GUARD)
            excess = _excess(image[i] @ following[i].T, theta[:k], Y[end - b :, :k], request)
            if excess <= 1 or end == columns:
                ritz[active[i]], going[i] = Y.T.astype(dtype) @ Q[i, :end], False
            else:
                looks[i] = end + k * PER_DIGIT * np.log10(excess)
        if not going.any():
            break
        Q[:, end : end + b] = following
        if not going.all():
            for position, source in enumerate(np.flatnonzero(going)):
                Q[position, : end + b] = Q[source, : end + b]
            Q, T, looks, active = Q[: going.sum()], T[going], looks[going], active[going]
            signals = [signal for signal, goes in zip(signals, going) if goes]
    return whitener.unwhiten(ritz).transpose(0, 2, 1)


def _excess(coupling: np.ndarray, theta: np.ndarray, Y: np.ndarray, request: Request) -> float:
    """By what factor the largest relative residual is above the tolerance.

    ``coupling`` is the image of the last block along the following one, Y what Ritz vectors have of that block.
    """
    left = np.linalg.norm(coupling.T @ Y, axis=0)
    floor = np.cbrt(np.finfo(request.dtype).eps) * abs(theta[0]) + np.finfo(np.float32).tiny
    # A relative residual divides by ‖Sv‖ + λ‖Nv‖, which is 2λ here.
    return float(np.max(left / (2 * request.tol * np.maximum(np.abs(theta), floor))))


def _leading_pairs(matrix: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of a symmetric matrix, descending, and their vectors."""
    size = len(matrix)
    values, vectors = eigh(matrix, subset_by_index=(max(0, size - count), size - 1), check_finite=False)
    return values[::-1], vectors[:, ::-1]


def _apply(signals: Sequence[DenseForm], whitener: _Whitener, rows: np.ndarray) -> np.ndarray:
    """``WᵀSW`` on each signal's rows."""
    directions = whitener.unwhiten(rows)
    products = np.empty_like(directions)
    for signal, source, target in zip(signals, directions, products):
        np.matmul(source, signal.matrix, out=target)
        if np.any(signal.shift):
            target += source * np.asarray(signal.shift, dtype=source.dtype)
    return whitener.whiten(products)


def _reject(rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The part of the rows that is orthogonal to the known ones."""
    return rows - (rows @ known.transpose(0, 2, 1)) @ known


def _orthonormal_rows(rows: np.ndarray) -> np.ndarray:
    """Orthonormal rows of the same span from their Gram matrix; twice in a row as orthogonal as a QR factorisation.

    Rows that depend on the others come out as scaled rounding errors, which are as good as random new directions once
    they are orthogonalised again.
    """
    gram = (rows @ rows.transpose(0, 2, 1)).astype(np.float64)
    try:
        transform = np.linalg.inv(np.linalg.cholesky(gram))
    except np.linalg.LinAlgError:
        D, U = np.linalg.eigh(gram)
        floor = np.finfo(rows.dtype).eps * D[:, -1:] + np.finfo(rows.dtype).tiny
        transform = (U / np.sqrt(np.maximum(D, floor))[:, None, :]).transpose(0, 2, 1)
    return transform.astype(rows.dtype) @ rows


def _refine(
    quotient: Quotient,
    S: DenseForm,
    N: DenseForm,
    V: np.ndarray,
    NV: np.ndarray,
    whitener: _Whitener,
    request: Request,
    noise: NoiseFactor,
) -> Directions:
    """Rayleigh-Ritz with the matrices as given; where that is not enough, in the span of residuals as well."""
    k = _wanted(request)
    SV = S @ V
    for attempt in range(CORRECTIONS + 1):
        values, Y = _ritz(V.T @ SV, V.T @ NV)
        V, SV, NV = V @ Y, SV @ Y, NV @ Y
        residuals = relative_residuals(SV[:, :k], NV[:, :k], values[:k], values[0])
        if attempt == CORRECTIONS or noise.restricted or np.all(residuals <= request.tol):
            break
        late = np.flatnonzero(residuals > request.tol / 2)
        R = (SV[:, late] - NV[:, late] * values[late]).T.astype(whitener.dtype)
        E = whitener.unwhiten(whitener.whiten(R)).T.astype(request.dtype)
        E -= V @ (NV.T @ E)
        NE = N @ E
        size = np.sqrt(np.einsum("ij,ij->j", E, NE))
        V, SV, NV = np.hstack([V, E / size]), np.hstack([SV, S @ (E / size)]), np.hstack([NV, NE / size])
    products = SV[None, :, :k], NV[None, :, :k]
    return finish([quotient], V[None, :, :k], values[None, :k], request, NAME, noise, products)[0]


def _ritz(signal: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, descending, and coefficients of a small pencil whose basis may be nearly dependent."""
    D, U = np.linalg.eigh(noise.astype(np.float64))
    kept = rank_cutoff(D, noise.dtype) < D
    W = U[:, kept] / np.sqrt(D[kept])
    values, Y = np.linalg.eigh(W.T @ signal @ W)
    return values[::-1].astype(noise.dtype), (W @ Y[:, ::-1]).astype(noise.dtype)


SOLVER = Solver(NAME, solve_group, requires=(MODERATE, LARGEST, N_COMPONENTS), suits=few_of_many)
