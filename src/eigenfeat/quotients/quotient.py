"""The problem as a value: a signal matrix over a noise matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenfeat.moments.forms import SymmetricForm


@dataclass(frozen=True, eq=False)
class Quotient:
    """Maximise ``vᵀSv / vᵀNv``.

    Parameters
    ----------
    signal, noise : SymmetricForm
        S and N; any ridge is already in ``noise.shift``. Quotients that hold the *same* noise object share
        one factorisation of it.
    signal_factor : (d, r) array, optional
        H with ``S = H Hᵀ`` when the signal has low rank: the problem is then r × r.
    references : (q, d) array, optional
        Points that orient the directions: the sign of v makes the projection of the first reference that
        stands out positive. They move with the data under a change of basis, so embeddings, not only
        subspaces, are invariant.
    origin : (d,) array, optional
        Subtracted before projecting, ``vᵀ(x - origin)``; zero by default.
    label : str
        Name in messages, "3 vs 8".
    kind : str
        The criterion it comes from: its name in `eigenfeat.quotients.CRITERIA`, or "least-squares"; empty for a
        quotient of one's own.
    """

    signal: SymmetricForm
    noise: SymmetricForm
    signal_factor: np.ndarray | None = None
    references: np.ndarray | None = None
    origin: np.ndarray | None = None
    label: str = ""
    kind: str = ""

    @property
    def n_features(self) -> int:
        return self.noise.shape[0]
