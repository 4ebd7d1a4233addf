"""Labels in units of their spread."""

import numpy as np

from eigenfeat.estimators.score_tensor_base import in_spreads


def test_labels_are_in_units_of_their_spread():
    rng = np.random.default_rng(0)
    Y, share = rng.normal(size=(200, 3)) * [1, 10, 0], rng.random(200)
    scaled = in_spreads(Y, share)
    mean = np.average(scaled, axis=0, weights=share)
    np.testing.assert_allclose(np.average((scaled - mean) ** 2, axis=0, weights=share), [1, 1, 0])
