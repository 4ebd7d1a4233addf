"""Conjugate gradients on many columns at once."""

import numpy as np

from eigenfeat.least_squares.block_cg import block_conjugate_gradients


def test_block_conjugate_gradients_survive_dependent_columns():
    rng = np.random.default_rng(8)
    F = rng.normal(size=(40, 12))
    N, W = F @ F.T, F @ rng.normal(size=(12, 4))
    block = N @ np.column_stack([W, W[:, :2] @ rng.normal(size=(2, 3)), np.zeros((40, 1))])
    result = block_conjugate_gradients(lambda V: N @ V, block, 1e-12, 100)
    np.testing.assert_allclose(N @ result.vectors, block, atol=1e-8 * np.abs(block).max())
    assert np.all(result.residuals <= 1e-12)
