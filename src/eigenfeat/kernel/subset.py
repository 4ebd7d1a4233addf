"""Squared loss over a restricted expansion (thesis 3.57): least squares in the coefficients of the centres."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from eigenfeat.kernel import leave_one_out
from eigenfeat.kernel.basis import basis_of, full_length
from eigenfeat.kernel.inverses import ShiftedInverse, product, shifted_inverses
from eigenfeat.kernel.needs import QUADRATIC_PENALTY, SQUARED_LOSS
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem, KernelRequest, KernelSolution
from eigenfeat.solvers.contract import Solver

#: Above this many kernel values the restricted system is solved by iteration over blocks of them ("nystrom").
MAX_ENTRIES = 200_000_000


def solve(problem: KernelProblem, request: KernelRequest = DEFAULTS) -> KernelSolution:
    """The exact solution over the centres."""
    return next(path(problem, [problem.alpha]))


def path(problem: KernelProblem, alphas: Sequence[float]) -> Iterator[KernelSolution]:
    """The solution at every alpha, in the order given, from one kernel block.

    Centres are taken as given, so the leave-one-out outputs keep them all. The full expansion with ½‖α‖² is
    the exception (a row left out takes its function along), and ``linear`` is the solver for it.
    """
    basis = basis_of(problem)
    y = problem.targets
    w = problem.weights.astype(basis.design.dtype)
    mean_y = w @ y / w.sum()
    mean_design = w @ basis.design / w.sum()
    design = basis.design
    design -= mean_design
    root = np.sqrt(w)[:, None]
    rows = design if np.all(w == 1) else root * design
    gram = rows.T @ rows  # one array with its own transpose: half the work
    moment = rows.T @ (root * (y - mean_y))
    if problem.invariance is not None:
        gram = gram + basis.congruent(problem.invariance)
    share = leave_one_out.left_out_share(problem.copies, len(y))
    loo_is_exact = problem.penalty == "function" or problem.centers is not None
    moved = [basis.coordinates(change).astype(design.dtype, copy=False) for change in problem.tangents]
    for alpha, inverse in shifted_inverses(gram, alphas, len(y) * (1 + len(moved))):
        theta = inverse.solve(moment)
        outputs = product(design, theta) + mean_y
        coefficients = basis.coefficients(theta)
        objective = w @ (y - outputs) ** 2 / 2 + alpha * np.einsum("ij,ij->j", theta, theta) / 2
        if problem.invariance is not None:
            objective += np.einsum("ij,ij->j", coefficients, problem.invariance @ coefficients) / 2
        yield KernelSolution(
            full_length(coefficients, problem),
            mean_y - mean_design @ theta,
            objective,
            True,
            1,
            "subset",
            outputs=outputs,
            loo_outputs=_left_out(inverse, design, moved, theta, y, outputs, w, share) if loo_is_exact else None,
        )


def _left_out(
    inverse: ShiftedInverse,
    design: np.ndarray,
    moved: list[np.ndarray],
    theta: np.ndarray,
    y: np.ndarray,
    outputs: np.ndarray,
    w: np.ndarray,
    share: np.ndarray,
) -> np.ndarray:
    """Outputs at rows left out, with their tangents where there are any."""
    if not moved:
        slack = 1 - w * (inverse.quadratic(design) + 1 / w.sum())
        return leave_one_out.without_row(y, outputs, slack, share)
    out = np.empty_like(outputs)
    for start in range(0, len(y), 1024):
        part = slice(start, start + 1024)
        halves = np.stack([inverse.halved(rows[part]) for rows in (design, *moved)])
        # The intercept is a coordinate of its own, in which rows are one and tangents zero.
        intercept = np.zeros((*halves.shape[:2], 1), dtype=halves.dtype)
        intercept[0] = 1 / np.sqrt(w.sum())
        out[part] = leave_one_out.without_row_and_tangents(
            y[part],
            outputs[part],
            share[part],
            weights=w[part],
            halves=np.concatenate([halves, intercept], axis=2),
            changes=np.stack([rows[part] @ theta for rows in moved]),
        )
    return out


def is_small(problem: KernelProblem, request: KernelRequest) -> bool:
    """A restricted expansion whose kernel block can be kept; with invariances there is no other solver for it."""
    if problem.centers is None:
        return False
    return bool(problem.invariances) or problem.n_rows * problem.centers.shape[0] <= MAX_ENTRIES


SOLVER = Solver("subset", solve, (SQUARED_LOSS, QUADRATIC_PENALTY), suits=is_small)
