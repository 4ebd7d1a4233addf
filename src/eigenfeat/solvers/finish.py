"""From a solver's raw eigenvectors to `Directions`: scale, sign and residual in one place."""

from __future__ import annotations

import numpy as np

from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers.conventions import orient, relative_residuals
from eigenfeat.solvers.directions import Directions
from eigenfeat.solvers.noise import NoiseFactor, WoodburyNoise
from eigenfeat.solvers.request import Request


def finish(
    quotient: Quotient,
    vectors: np.ndarray,
    values: np.ndarray,
    request: Request,
    solver: str,
    noise: NoiseFactor | WoodburyNoise | None = None,
    products: tuple[np.ndarray, np.ndarray] | None = None,
) -> Directions:
    """Directions of one quotient from (d, r) eigenvectors in their final order.

    Residuals come from products with the matrices as given; where the noise was restricted to its range,
    from their part in that range, for outside it the equation does not hold. A solver that has the products
    SV and NV at hand passes them.
    """
    signal_products, noise_products = products or (quotient.signal @ vectors, quotient.noise @ vectors)
    scale = np.sqrt(np.einsum("ij,ij->j", vectors, noise_products))
    vectors = vectors / scale
    if isinstance(noise, NoiseFactor) and noise.restricted:
        signal_products, noise_products = noise.whiten(signal_products), noise.whiten(noise_products)
    mean_quotient = quotient.signal.trace() / quotient.noise.trace()
    residuals = relative_residuals(signal_products / scale, noise_products / scale, values, mean_quotient)
    return Directions(
        vectors=orient(vectors, quotient.references).astype(request.dtype, copy=False),
        values=values.astype(request.dtype, copy=False),
        residuals=residuals,
        converged=bool(np.all(residuals <= request.tol)),
        solver=solver,
        noise_rank=noise.rank if noise is not None else quotient.n_features,
        label=quotient.label,
    )
