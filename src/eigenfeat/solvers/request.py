"""What the caller wants of every quotient in a batch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Relative residual up to which a direction counts as converged, by the type of the result. An eigenvalue's
#: relative error is of the order of the square of its residual over the gap to the rest of the spectrum.
DEFAULT_TOL = {np.dtype(np.float64): 5e-5, np.dtype(np.float32): 2e-3}


@dataclass(frozen=True)
class Request:
    """Which directions, how exact, in which type; the same for all problems solved together.

    Attributes
    ----------
    n_components : int or None
        Directions a quotient; None for all there are.
    which : {"largest", "smallest"}
        End of the spectrum.
    min_eigenvalue : float or None
        Directions with a smaller eigenvalue are dropped.
    tol : float
        Relative residual to reach.
    dtype : numpy dtype
        float64 or float32: of factors, products and results.
    seed : int
        Of the random starting blocks.
    """

    n_components: int | None
    which: str
    min_eigenvalue: float | None
    tol: float
    dtype: np.dtype
    seed: int

    @property
    def largest(self) -> bool:
        return self.which == "largest"

    def count(self, available: int) -> int:
        """Directions to compute out of those there are."""
        return available if self.n_components is None else min(self.n_components, available)
