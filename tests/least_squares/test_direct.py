"""Normal equations, singular ones included."""

import numpy as np

from eigenfeat.least_squares.direct import NoiseRoot


def test_singular_systems_are_solved_by_the_pseudo_inverse():
    rng = np.random.default_rng(9)
    F, B = rng.normal(size=(20, 6)), rng.normal(size=(20, 3))
    N = F @ F.T
    np.testing.assert_allclose(NoiseRoot.of(N.copy()).solve(B), np.linalg.pinv(N, rcond=1e-10) @ B, atol=1e-8)
