"""LAPACK on the whitened matrix: exact, for every end and any number of directions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.conventions import select
from eigenfeat.solvers.directions import Directions
from eigenfeat.solvers.finish import finish
from eigenfeat.solvers.noise import SMALL, factor_noise
from eigenfeat.solvers.request import Request

name = "dense"
requires = ("moderate_size",)

#: Above this share of the spectrum, all of it by divide and conquer is quicker than a part of it.
ALL_ABOVE = 0.25


def solve_group(quotients: Sequence[Quotient], request: Request) -> list[Directions]:
    """Solve problems that share one noise matrix."""
    noise = factor_noise(quotients[0].noise, request.dtype, quotients[0].label)
    if noise.rank <= SMALL and len(quotients) > 1:
        signals = np.stack([q.signal.toarray().astype(request.dtype, copy=False) for q in quotients])
        solutions = list(zip(*np.linalg.eigh(noise.congruence(signals))))
    else:
        solutions = [_wanted_end(noise.congruence(q.signal.toarray()), request) for q in quotients]
    results = []
    for quotient, (values, whitened) in zip(quotients, solutions):
        order = select(values, request)
        vectors = noise.unwhiten(whitened[:, order])
        results.append(finish(quotient, vectors, values[order], request, name, noise))
    return results


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
