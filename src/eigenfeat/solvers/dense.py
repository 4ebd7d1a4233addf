"""LAPACK on the whitened matrix: exact, for every end and any number of directions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.canonical import leading
from eigenfeat.solvers.contract import MODERATE, Request, Solver
from eigenfeat.solvers.directions import Directions, finish
from eigenfeat.solvers.noise import SMALL, NoiseFactor, factor_noise

NAME = "dense"

#: Above this fraction of the spectrum, all of it by divide and conquer is quicker than a part of it.
ALL_ABOVE = 0.25


def solve_group(quotients: Sequence[Quotient], request: Request) -> list[Directions]:
    """Solve problems that share one noise matrix; small ones in one stack."""
    noise = factor_noise(quotients[0].noise, request.dtype, quotients[0].label)
    if noise.rank <= SMALL:
        signals = np.stack([q.signal.toarray() for q in quotients]).astype(request.dtype, copy=False)
        return _finish(quotients, *np.linalg.eigh(noise.congruence(signals)), noise, request)
    results = []
    for quotient in quotients:
        values, whitened = _wanted_end(noise.congruence(quotient.signal.toarray()), request)
        results += _finish([quotient], values[None], whitened[None], noise, request)
    return results


def _finish(
    quotients: Sequence[Quotient], values: np.ndarray, whitened: np.ndarray, noise: NoiseFactor, request: Request
) -> list[Directions]:
    values, whitened = leading(values, whitened, request)
    vectors = noise.unwhiten(whitened) if len(whitened) > 1 else noise.unwhiten(whitened[0])[None]
    return finish(quotients, vectors, values, request, NAME, noise)


def _wanted_end(matrix: np.ndarray, request: Request) -> tuple[np.ndarray, np.ndarray]:
    """Eigenpairs of a symmetric matrix, no more of them than asked for."""
    d = len(matrix)
    count = request.count(d)
    if request.n_components is None and request.min_eigenvalue is not None:
        interval = (np.nextafter(request.min_eigenvalue, -np.inf), np.inf)
        return eigh(matrix, subset_by_value=interval, overwrite_a=True, check_finite=False)
    if count > ALL_ABOVE * d:
        return eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")
    indices = (d - count, d - 1) if request.largest else (0, count - 1)
    return eigh(matrix, subset_by_index=indices, overwrite_a=True, check_finite=False)


SOLVER = Solver(NAME, solve_group, requires=(MODERATE,))
