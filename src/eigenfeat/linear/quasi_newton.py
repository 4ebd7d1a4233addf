"""Limited-memory BFGS in the metric of a preconditioner, for the long way from the start to the optimum.

One pass a step: where Newton's method asks for several products to find a direction, pairs of past steps and
gradient changes correct the preconditioner (Nocedal 1980). Pairs survive a change of preconditioner.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from eigenfeat._runtime.threads import limit_blas_for_skinny
from eigenfeat.linear.objective import LogitObjective, LogitPoint
from eigenfeat.linear.preconditioners import Preconditioner
from eigenfeat.linear.steps import PreconditionerAt, Step, line_search

MAX_PAIRS = 30
# A step now and then promises several times too little: the highest of so many estimates counts.
MEMORY = 2
MAX_PAIR_BYTES = 600_000_000


Pairs = deque[tuple[np.ndarray, np.ndarray]]
"""Steps and the changes of the gradient along them, the latest last."""


def no_pairs(shape: tuple[int, ...]) -> Pairs:
    """Room for as many pairs of this shape as memory allows."""
    return deque(maxlen=max(3, min(MAX_PAIRS, MAX_PAIR_BYTES // (16 * int(np.prod(shape))))))


def quasi_newton_steps(
    objective: LogitObjective, start: LogitPoint, preconditioner_at: PreconditionerAt, pairs: Pairs
) -> Iterator[Step]:
    """Steps from ``start`` without end; the caller stops when satisfied, or when a step has length zero.

    ``pairs``, none or those of an objective much like this one, are added to in place.
    """
    point, n_passes, step = start, 0.0, 1.0
    estimates: deque[float] = deque(maxlen=MEMORY)
    while True:
        preconditioner = preconditioner_at(point, n_passes)
        with limit_blas_for_skinny(point.gradient.shape[1]):
            # A step that had to be cut short went where the preconditioner is wrong: no scale for all directions.
            direction = -two_loop(point.gradient, pairs, preconditioner, rescale=step > 0.1)
            slope = float(np.vdot(point.gradient, direction))
            if slope >= 0:  # rounding spoilt the pairs
                pairs.clear()
                direction = -preconditioner.solve(point.gradient)
                slope = float(np.vdot(point.gradient, direction))
            reached, step = line_search(objective, point, direction, slope)
            change = reached.gradient - point.gradient
            if step and np.vdot(direction, change) > 0:
                pairs.append((step * direction, change))
        n_passes = 1.0 + (step != 1)
        estimates.append(-0.5 * preconditioner.optimism * slope)
        del preconditioner  # the next one is built in its memory
        yield Step(reached, 0, n_passes, step, max(estimates))
        point = reached


def gap_at(point: LogitPoint, preconditioner: Preconditioner, pairs: Pairs) -> float:
    """An estimate of what is left to gain, without a step."""
    slope = float(np.vdot(point.gradient, two_loop(point.gradient, pairs, preconditioner)))
    return 0.5 * preconditioner.optimism * slope if slope > 0 else np.inf


def two_loop(gradient: np.ndarray, pairs: Pairs, preconditioner: Preconditioner, rescale: bool = True) -> np.ndarray:
    """The inverse Hessian of the pairs, started from the preconditioner, times the gradient.

    ``rescale``: whether the preconditioner is first scaled to agree with the last pair.
    """
    if not pairs:
        return preconditioner.solve(gradient)
    s, y = pairs[-1]

    def solve(q: np.ndarray) -> np.ndarray:
        # Both right-hand sides at once: the factor is read from memory once.
        z, solved_change = np.hsplit(preconditioner.solve(np.hstack([q, y])), 2)
        return z * (np.vdot(s, y) / np.vdot(y, solved_change)) if rescale else z

    return _both_loops(gradient, pairs, solve)


class Corrected:
    """A preconditioner and what pairs know better, as one linear map for many gradients (Morales & Nocedal 2000)."""

    def __init__(self, preconditioner: Preconditioner, pairs: Pairs) -> None:
        self.preconditioner, self.pairs = preconditioner, tuple(pairs)
        self.scale = 1.0
        if pairs:
            s, y = pairs[-1]
            self.scale = float(np.vdot(s, y) / np.vdot(y, preconditioner.solve(y)))

    def solve(self, gradient: np.ndarray) -> np.ndarray:
        return _both_loops(gradient, self.pairs, lambda q: self.scale * self.preconditioner.solve(q))


def _both_loops(
    gradient: np.ndarray,
    pairs: Sequence[tuple[np.ndarray, np.ndarray]],
    solve: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Pairs, the latest first, then what is known without them, then the pairs again."""
    q = gradient.copy()
    shares = []
    for s, y in reversed(pairs):
        rho = 1.0 / np.vdot(s, y)
        share = rho * np.vdot(s, q)
        q -= share * y
        shares.append((rho, share))
    z = solve(q)
    for (s, y), (rho, share) in zip(pairs, reversed(shares)):
        z += (share - rho * np.vdot(y, z)) * s
    return z
