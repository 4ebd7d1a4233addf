"""Squared loss over a restricted expansion when n × q kernel values are too many to keep.

The normal equations of the centred kernel columns, (K̃ᵀWK̃ + alpha·P) α = K̃ᵀWy, are solved by conjugate gradients for
all targets at once. Products with K̃ make the kernel block after block and forget it. The preconditioner replaces the
rows by the centres, K̃ᵀWK̃ ≈ (Σw/q) K_qq C K_qq with C the centring matrix: with K_qq = TᵀT and
A = chol((Σw/q) T C Tᵀ + alpha·I), H ≈ TᵀAᵀA T for ½αᵀKα (the FALKON algorithm), and H ≈ AᵀA with
A = chol((Σw/q) K C K + alpha·I) for ½‖α‖².

References
----------
A. Rudi, L. Carratino and L. Rosasco, "FALKON: an optimal large scale kernel method", NeurIPS 2017.
"""

from __future__ import annotations

import warnings
from typing import Protocol

import numpy as np
from scipy.linalg import get_lapack_funcs, solve_triangular
from sklearn.exceptions import ConvergenceWarning

from eigenfeat.kernel.basis import full_length
from eigenfeat.kernel.needs import NO_INVARIANCES, QUADRATIC_PENALTY, SQUARED_LOSS
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.solvers.contract import Solver


def solve(problem: KernelProblem, request: KernelRequest = DEFAULTS) -> KernelSolution:
    """Iterate until every target's preconditioned residual is below ``tol`` times its start."""
    wanted = request.filled(tol=1e-3, max_iter=50)
    system = _NormalEquations(problem)
    preconditioner = Preconditioner(problem, system.total)
    coefficients, n_iter, converged = conjugate_gradients(system, preconditioner, wanted.tol, wanted.max_iter)
    warn_unless(converged, wanted)
    intercept = system.mean_y - system.mean_columns @ coefficients
    outputs = system.expand(coefficients) + intercept
    residuals = problem.targets - outputs
    penalty = np.einsum("ij,ij->j", coefficients, preconditioner.penalty_times(coefficients))
    objective = problem.weights @ residuals**2 / 2 + problem.alpha * penalty / 2
    coefficients = full_length(coefficients, problem)
    return KernelSolution(coefficients, intercept, objective, converged, n_iter, "nystrom", outputs=outputs)


def warn_unless(converged: bool, wanted: KernelRequest) -> None:
    if not converged:
        warnings.warn(
            f"The nystrom solver stopped after {wanted.max_iter} iterations before it reached tol={wanted.tol:g}. "
            "Raise max_iter or alpha.",
            ConvergenceWarning,
            stacklevel=3,
        )


class NormalEquations(Protocol):
    """What conjugate gradients ask of a system, wherever its rows are."""

    right_hand_side: np.ndarray

    def times(self, block: np.ndarray) -> np.ndarray: ...


class _NormalEquations:
    """Products with K̃ᵀWK̃ and the right-hand sides, over kernel blocks that are never kept."""

    def __init__(self, problem: KernelProblem) -> None:
        self.kernel = problem.kernel
        self.centers = problem.expanded_over
        self.weights = problem.weights
        self.total = float(problem.weights.sum(dtype=np.float64))
        self.mean_y = problem.weights @ problem.targets / self.total
        right = np.column_stack([np.ones(len(problem.targets)), problem.targets - self.mean_y])
        weighted = (right * problem.weights[:, None]).astype(self.kernel.dtype)
        moments = self._sum(lambda part, K: K.T @ weighted[part])
        self.mean_columns = moments[:, 0] / self.total
        # Centred targets have no weight in all: the centring of the columns changes nothing here.
        self.right_hand_side = moments[:, 1:]

    def times(self, block: np.ndarray) -> np.ndarray:
        """``K̃ᵀWK̃ @ block``."""
        small = block.astype(self.kernel.dtype)
        w = self.weights.astype(self.kernel.dtype)[:, None]
        # Values are centred before they are summed: in single precision the mean would drown them.
        mean = (self.mean_columns @ block).astype(self.kernel.dtype)
        return self._sum(lambda part, K: K.T @ (w[part] * (K @ small - mean)))

    def expand(self, coefficients: np.ndarray) -> np.ndarray:
        """``K @ coefficients`` at the rows."""
        small = coefficients.astype(self.kernel.dtype)
        return np.concatenate(list(self.kernel.over_blocks(self.centers, lambda part, K: K @ small)))

    def _sum(self, function) -> np.ndarray:
        parts = self.kernel.over_blocks(self.centers, function)
        total = next(parts).astype(np.float64)
        for part in parts:
            total += part
        return total


class Preconditioner:
    """``B`` with ``BᵀHB ≈ I``, and products with ``P``. Two q × q factors, made in place, are all it holds."""

    def __init__(self, problem: KernelProblem, total: float) -> None:
        self.alpha = problem.alpha
        K = problem.kernel.between(problem.expanded_over)
        self.T: np.ndarray | None = None
        if problem.penalty == "function":
            self.T = upper_factor(K.T)
            edge = self.T.sum(axis=1)
            (times_transpose,) = get_lapack_funcs(("lauum",), (self.T,))
            inner = times_transpose(self.T, lower=0)[0]
        else:
            edge = K.sum(axis=1)
            inner = (K @ K).T
        # Only the upper triangle of ``inner`` is filled and read.
        for part in _stripes(len(inner)):
            inner[part] -= np.outer(edge[part], edge / len(inner))
        inner *= inner.dtype.type(total / len(inner))
        inner[np.diag_indices(len(inner))] += inner.dtype.type(self.alpha)
        self.A = upper_factor(inner)

    def apply(self, block: np.ndarray) -> np.ndarray:
        """``B @ block``, in the precision of the factors."""
        out = solve_triangular(self.A, block.astype(self.A.dtype, copy=False), check_finite=False)
        return out if self.T is None else solve_triangular(self.T, out, check_finite=False)

    def apply_transpose(self, block: np.ndarray) -> np.ndarray:
        """``Bᵀ @ block``."""
        block = block.astype(self.A.dtype, copy=False)
        if self.T is not None:
            block = solve_triangular(self.T, block, trans=1, check_finite=False)
        return solve_triangular(self.A, block, trans=1, check_finite=False).astype(np.float64, copy=False)

    def penalty_times(self, block: np.ndarray) -> np.ndarray:
        """``P @ block``."""
        return block if self.T is None else self.T.T @ (self.T @ block.astype(self.T.dtype, copy=False))


def conjugate_gradients(
    system: NormalEquations, preconditioner: Preconditioner, tol: float, max_iter: int
) -> tuple[np.ndarray, int, bool]:
    """Coefficients of every target; a column that has converged stands still."""

    def times(block: np.ndarray) -> np.ndarray:
        v = preconditioner.apply(block)
        product = system.times(v) + preconditioner.alpha * preconditioner.penalty_times(v)
        return preconditioner.apply_transpose(product)

    residual = preconditioner.apply_transpose(system.right_hand_side)
    solution = np.zeros_like(residual)
    direction = residual.copy()
    squared = np.einsum("ij,ij->j", residual, residual)
    goal = tol**2 * squared
    n_iter = 0
    while n_iter < max_iter and (squared > goal).any():
        product = times(direction)
        curvature = np.einsum("ij,ij->j", direction, product)
        step = np.where((squared > goal) & (curvature > 0), squared / np.where(curvature > 0, curvature, 1), 0)
        solution += step * direction
        residual -= step * product
        previous, squared = squared, np.einsum("ij,ij->j", residual, residual)
        direction = residual + squared / np.where(previous > 0, previous, 1) * direction
        n_iter += 1
    return preconditioner.apply(solution), max(n_iter, 1), bool((squared <= goal).all())


def upper_factor(matrix: np.ndarray) -> np.ndarray:
    """Upper Cholesky factor in the place of a matrix in Fortran order, of which only the upper triangle is read.

    The lower triangle keeps a copy while rounding makes more jitter necessary, and is cleared in the end.
    """
    (factorise,) = get_lapack_funcs(("potrf",), (matrix,))
    diagonal = matrix.diagonal().copy()
    jitter = np.finfo(matrix.dtype).eps * len(matrix) * float(diagonal.mean())
    matrix[np.diag_indices(len(matrix))] += matrix.dtype.type(jitter)
    for part in _stripes(len(matrix)):
        corner = np.triu(matrix[part, part])
        matrix[part, part] = corner + np.triu(corner, 1).T
        matrix[part.stop :, part] = matrix[part, part.stop :].T
    for _ in range(8):
        matrix, info = factorise(matrix, lower=0, overwrite_a=1, clean=0)
        if info == 0:
            for part in _stripes(len(matrix)):
                matrix[part.stop :, part] = 0
                matrix[part, part] = np.triu(matrix[part, part])
            return matrix
        jitter *= 10
        matrix[np.diag_indices(len(matrix))] = diagonal + matrix.dtype.type(jitter)
        for part in _stripes(len(matrix)):
            corner = np.tril(matrix[part, part])
            matrix[part, part] = corner + np.tril(corner, -1).T
            matrix[part, part.stop :] = matrix[part.stop :, part].T
    raise ValueError(
        "The kernel matrix of the centres is not positive semi-definite up to rounding: use penalty='coefficients', "
        "a larger alpha, another kernel, or float64 rows."
    )


def _stripes(n: int, width: int = 1024) -> list[slice]:
    """Row ranges narrow enough that work on them needs no second matrix."""
    return [slice(start, min(start + width, n)) for start in range(0, n, width)]


SOLVER = Solver("nystrom", solve, (SQUARED_LOSS, QUADRATIC_PENALTY, NO_INVARIANCES))
