"""The compiled loops do what two lines of numpy say."""

import numpy as np
import pytest

from eigenfeat.stages.piece_kernels import add_powers, add_scores


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_and_powers_are_sums_over_values(first, dtype):
    rng = np.random.default_rng(0)
    n, m, n_pieces, n_powers, lanes = 5, 21, 3, 4, 8
    z, pieces = rng.random((n, m)).astype(dtype), rng.integers(0, n_pieces, (n, m)).astype(np.uint8)
    C, V = rng.normal(size=(m, n_pieces, n_powers, lanes)).astype(dtype), rng.normal(size=(n, lanes)).astype(dtype)
    sizes = (0,) * lanes, (0,) * n_powers, (0,) * first
    powers = z[:, :, None] ** np.arange(first, first + n_powers)
    own = C[np.arange(m), pieces]

    scores = np.ones((n, lanes), dtype)
    add_scores(z, pieces, C, scores, *sizes)
    np.testing.assert_allclose(scores, 1 + np.einsum("ijq,ijqc->ic", powers, own), rtol=1e-4)

    expected = C.copy()
    for i in range(n):
        expected[np.arange(m), pieces[i]] += powers[i][:, :, None] * V[i]
    add_powers(z, pieces, C, V, *sizes)
    np.testing.assert_allclose(C, expected, rtol=1e-4, atol=1e-5)
