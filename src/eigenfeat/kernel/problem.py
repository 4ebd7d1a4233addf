"""The kernel problem as a value: loss × penalty over a kernel expansion, and its solution.

A solver is a module of this package with

- ``SOLVES``: the (loss, penalty) pairs it can solve, a frozenset;
- ``solve(problem, *, tol, max_iter, random_state, ...) -> KernelSolution``, naming only the parameters it uses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenfeat.stages.kernels import KernelRows

LOSSES = ("squared", "absolute", "huber", "epsilon")
PENALTIES = ("function", "coefficients", "sparse")


@dataclass(frozen=True, eq=False)
class KernelProblem:
    """Minimise ``L(ξ) + alpha·P`` over f(x) = Σⱼ αⱼ k(zⱼ, x) + b, with ξ = y - f(x) (thesis 3.37).

    ``L`` is a weighted sum over rows: ½ξ² ("squared"), |ξ| ("absolute"), Huber's ("huber": ξ²/(2σ) up to
    |ξ| = σ, |ξ| - σ/2 beyond, thesis 3.52), max(0, |ξ| - ε) ("epsilon"). ``P`` is ½αᵀKα ("function"), ½‖α‖²
    ("coefficients") or ‖α‖₁ ("sparse"). The expansion runs over all rows unless there are ``centers``.
    """

    kernel: KernelRows
    targets: np.ndarray
    """(n, m): one column a problem; all columns share the kernel work."""
    weights: np.ndarray
    """(n,) non-negative row weights."""
    alpha: float
    loss: str = "squared"
    penalty: str = "function"
    huber_sigma: float = 0.5
    epsilon: float = 0.1
    centers: np.ndarray | None = None
    """Row numbers (one-dimensional) or points (two-dimensional): the zⱼ of a restricted expansion (3.57)."""
    invariance: np.ndarray | None = None
    """(q, q) matrix T over the expansion: ½αᵀTα is added to the objective (thesis 3.23, 3.24)."""
    copies: np.ndarray | None = None
    """(n,) how many copies of a row its weight stands for: leaving one out leaves the others (None: one)."""


def loss_value(problem: KernelProblem, residuals: np.ndarray) -> np.ndarray:
    """``L(ξ)`` of every column of residuals."""
    r = np.abs(residuals)
    if problem.loss == "squared":
        r = r * r / 2
    elif problem.loss == "huber":
        sigma = problem.huber_sigma
        r = np.where(r <= sigma, r * r / (2 * sigma), r - sigma / 2)
    elif problem.loss == "epsilon":
        r = np.maximum(r - problem.epsilon, 0)
    return problem.weights @ r


@dataclass(frozen=True, eq=False)
class KernelSolution:
    """What a solver returns.

    Attributes
    ----------
    coefficients : (n, m) array
        α, of full length, with exact zeros where a row is not used; (q, m) over ``centers`` that are points.
    intercept : (m,) array
    objective : (m,) array
        ``L(ξ) + alpha·P`` (and the invariance term) at the solution.
    converged : bool
    n_iter : int
    solver : str
    outputs : (n, m) array, optional
        f at the rows; None when the solver never forms it.
    loo_outputs : (n, m) array, optional
        f at every row, fitted without that row; None where this is not exact.
    """

    coefficients: np.ndarray
    intercept: np.ndarray
    objective: np.ndarray
    converged: bool
    n_iter: int
    solver: str
    outputs: np.ndarray | None = None
    loo_outputs: np.ndarray | None = None
