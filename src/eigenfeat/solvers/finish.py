"""From raw eigenvectors to `Directions`: scale, sign and residual of a stack of problems with one noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.conventions import relative_residuals, wanted
from eigenfeat.solvers.directions import DenseVectors, Directions, Vectors
from eigenfeat.solvers.noise import BasisNoise, NoiseFactor, WoodburyNoise
from eigenfeat.solvers.request import Request
from eigenfeat.solvers.signs import orientation


def finish(
    quotients: Sequence[Quotient],
    vectors: np.ndarray,
    values: np.ndarray,
    request: Request,
    solver: str,
    noise: NoiseFactor | WoodburyNoise,
    products: tuple[np.ndarray, np.ndarray] | None = None,
) -> list[Directions]:
    """Directions of m quotients from (m, d, r) eigenvectors and (m, r) eigenvalues in their final order.

    Residuals come from products with the matrices as given; where the noise was restricted to its range, from their
    part in that range, for outside it the equation does not hold. A solver that has the products SV and NV at hand
    passes them. Not-a-number among the values marks places without a direction.
    """
    m, d, r = vectors.shape
    if products is None:
        flat = quotients[0].noise @ vectors.transpose(1, 0, 2).reshape(d, m * r)
        NV = flat.reshape(d, m, r).transpose(1, 0, 2)
        SV = np.stack([q.signal @ v for q, v in zip(quotients, vectors)])
    else:
        SV, NV = products
    square = np.einsum("mij,mij->mj", vectors, NV)[:, None, :]
    scale = np.sqrt(np.where(square > 0, square, 1.0)).astype(vectors.dtype, copy=False)
    vectors, SV, NV = vectors / scale, SV / scale, NV / scale
    if isinstance(noise, BasisNoise) and noise.restricted:
        SV, NV = noise.whiten(SV), noise.whiten(NV)
    residuals = relative_residuals(SV, NV, values, spectrum_scale(quotients, values, request))
    vectors = vectors * orientation(vectors, [q.references for q in quotients])[:, None, :]
    found = [DenseVectors(v) for v in vectors.astype(request.dtype, copy=False)]
    return collect(quotients, found, values, residuals, request, solver, noise.rank)


def spectrum_scale(quotients: Sequence[Quotient], values: np.ndarray, request: Request) -> np.ndarray:
    """What a large eigenvalue of each problem is: the first from the top, the mean quotient tr S / tr N from below."""
    if request.largest:
        return np.where(np.isnan(values), 0.0, np.abs(values)).max(axis=1, initial=0.0)
    return np.array([q.signal.trace() for q in quotients]) / quotients[0].noise.trace()


def collect(
    quotients: Sequence[Quotient],
    vectors: Sequence[Vectors],
    values: np.ndarray,
    residuals: np.ndarray,
    request: Request,
    solver: str,
    noise_rank: int,
) -> list[Directions]:
    """The wanted directions of every problem, as values of their own."""
    values = values.astype(request.dtype, copy=False)
    keep = wanted(values, request)
    whole = np.all(keep, axis=1)
    below: np.ndarray = np.where(keep, residuals, 0.0).max(axis=1, initial=0.0) <= request.tol
    results = []
    for i, quotient in enumerate(quotients):
        columns = slice(None) if whole[i] else np.flatnonzero(keep[i])
        results.append(
            Directions(
                vectors=vectors[i].columns(columns),
                values=values[i, columns],
                residuals=residuals[i, columns],
                converged=bool(below[i]),
                solver=solver,
                noise_rank=noise_rank,
                label=quotient.label,
            )
        )
    return results
