"""Values are located between knots as numpy would."""

import numpy as np
import pytest

from eigenfeat.features.spline_kernels import locate


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 3, 8, 21, 300])
@pytest.mark.parametrize("n_knots", [2, 6, 12])
def test_places_and_pieces_are_those_of_a_sorted_search(n_knots, m, dtype):
    rng = np.random.default_rng(0)
    knots = np.sort(rng.normal(size=(n_knots, m)), axis=0).astype(dtype)
    if n_knots > 2:
        knots[2, 0] = knots[1, 0]  # quantiles of few values coincide
    length = np.diff(knots, axis=0)
    per_length = np.divide(1, length, out=np.zeros_like(length), where=length > 0)
    X = (2 * rng.normal(size=(40, m))).astype(dtype)  # also beyond the ends
    X[:n_knots, :] = knots  # and at the knots themselves
    places, pieces = np.empty_like(X), np.empty(X.shape, np.uint8)
    locate(X, knots, per_length, places, pieces)
    for j in range(m):
        inside = np.clip(X[:, j], knots[0, j], knots[-1, j])
        number = np.searchsorted(knots[1:-1, j], inside, side="right")
        np.testing.assert_array_equal(pieces[:, j], number)
        np.testing.assert_array_equal(places[:, j], (inside - knots[number, j]) * per_length[number, j])
