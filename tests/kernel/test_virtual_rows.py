"""Which rows are copied, and the copies."""

import numpy as np

from eigenfeat.kernel.virtual_rows import least_margins, margins, with_copies


def test_margins_are_own_less_best_other():
    decision = np.array([[1.0, 0.2, -1.0], [0.5, 0.7, 0.6], [0.1, 0.0, 0.3]])
    np.testing.assert_allclose(margins(decision, np.array([0, 2, 1])), [0.8, -0.1, -0.3])
    np.testing.assert_allclose(margins(np.array([[2.0], [-1.0], [0.5]]), np.array([1, 0, 0])), [2.0, 1.0, -0.5])


def test_rows_of_least_margin_are_chosen_and_those_without_weight_are_not_there():
    decision, codes = np.array([[3.0], [0.1], [-0.2], [-2.0]]), np.array([1, 1, 1, 0])
    np.testing.assert_array_equal(least_margins(decision, codes, np.ones(4), 2), [1, 2])
    np.testing.assert_array_equal(least_margins(decision, codes, np.array([1.0, 1.0, 0.0, 1.0]), 2), [1, 3])


def test_copies_have_the_class_and_the_weight_of_their_row():
    rows = np.arange(6.0).reshape(3, 2)
    moved, codes, weights = with_copies(
        rows, np.array([0, 1, 2]), np.array([1.0, 2.0, 3.0]), np.array([0, 2]), [(1.0, np.negative), (0.5, np.square)]
    )
    np.testing.assert_array_equal(moved, np.vstack([rows, -rows[[0, 2]], rows[[0, 2]] ** 2]))
    np.testing.assert_array_equal(codes, [0, 1, 2, 0, 2, 0, 2])
    np.testing.assert_array_equal(weights, [1, 2, 3, 1, 3, 0.5, 1.5])
