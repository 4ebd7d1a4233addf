"""The compiled loops do what two lines of numpy say."""

import numpy as np
import pytest

from eigenfeat.stages.piece_kernels import add_powers, add_scores
from eigenfeat.stages.pieces import Line


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [1, 7, 8, 10, 26])
def test_scores_and_powers_are_sums_over_values(n_classes, first, dtype):
    rng = np.random.default_rng(0)
    n, m, n_pieces, n_powers = 5, 53, 3, 4
    line = Line.of(n_classes, n_powers, np.dtype(dtype))
    z, pieces = rng.random((n, m)).astype(dtype), rng.integers(0, n_pieces, (n, m)).astype(np.uint8)
    C, V, scores = (np.zeros(shape, dtype) for shape in ((m, n_pieces, line.length), (n, line.width), (n, line.width)))
    coefficients, values = rng.normal(size=(m, n_pieces, n_powers, n_classes)), rng.normal(size=(n, n_classes))
    line.classes_of(C)[...], line.classes_of(V)[...] = coefficients, values[:, None]
    scores[:, :n_classes] = 1
    sizes = (0,) * line.segment, (0,) * n_powers, (0,) * first
    powers = z[:, :, None] ** np.arange(first, first + n_powers)

    add_scores(z, pieces, C, scores, *sizes)
    expected = 1 + np.einsum("ijq,ijqc->ic", powers, coefficients[np.arange(m), pieces])
    np.testing.assert_allclose(line.classes_of(scores).sum(axis=1), expected, rtol=1e-4, atol=1e-5)

    expected = coefficients.copy()
    for i in range(n):
        expected[np.arange(m), pieces[i]] += powers[i][:, :, None] * values[i]
    add_powers(z, pieces, C, V, *sizes)
    np.testing.assert_allclose(line.classes_of(C), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("n_classes", "n_powers", "dtype", "expected"),
    [
        (10, 3, np.float32, (10, 32, 32)),  # four vectors of eight: powers side by side
        (9, 3, np.float32, (10, 32, 32)),  # the same loops serve
        (8, 3, np.float32, (8, 24, 8)),  # fills vectors as it is
        (10, 3, np.float64, (10, 32, 32)),
        (1, 6, np.float32, (1, 8, 8)),
        (26, 3, np.float32, (32, 96, 32)),  # packed it would have more sums than registers
    ],
)
def test_lines_have_as_few_vectors_as_registers_allow(n_classes, n_powers, dtype, expected):
    line = Line.of(n_classes, n_powers, np.dtype(dtype))
    assert (line.segment, line.length, line.width) == expected
