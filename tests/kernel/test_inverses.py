"""Inverses under several shifts: both ways are the inverse, in the precision that is needed."""

import numpy as np
import pytest

from eigenfeat.kernel.inverses import product, shifted_inverses


def test_a_product_with_a_wider_block_keeps_its_precision():
    rng = np.random.default_rng(0)
    rows, block = rng.normal(size=(2500, 7)).astype(np.float32), rng.normal(size=(7, 3))
    assert product(rows, block).dtype == np.float64
    np.testing.assert_allclose(product(rows, block), rows.astype(np.float64) @ block, rtol=1e-12)


@pytest.mark.parametrize("n_shifts", [1, 30], ids=["factored", "by the eigenbasis"])
def test_every_question_about_an_inverse_has_its_answer(n_shifts):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(12, 12))
    matrix, rows, block = half @ half.T, rng.normal(size=(5, 12)), rng.normal(size=(12, 2))
    for shift, inverse in shifted_inverses(matrix.copy(), np.geomspace(0.1, 10, n_shifts), n_probes=5):
        exact = np.linalg.inv(matrix + shift * np.eye(12))
        np.testing.assert_allclose(inverse.solve(block), exact @ block, rtol=1e-9)
        np.testing.assert_allclose(inverse.diagonal(), exact.diagonal(), rtol=1e-9)
        np.testing.assert_allclose(inverse.quadratic(rows), np.einsum("ij,jk,ik->i", rows, exact, rows), rtol=1e-9)
        np.testing.assert_allclose(inverse.cross_diagonal(half), (half @ exact).diagonal(), rtol=1e-8, atol=1e-9)
