"""What is refused, with which words; and keys of groups."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.estimators.validation import (
    check_class_labels,
    check_kernel_takes,
    check_moments,
    check_priors,
    check_weights,
    checked_group_keys,
    class_weights,
    left_out_keys,
)
from eigenfeat.moments import DenseMoments
from eigenfeat.rows.keys import row_keys

X = np.arange(12.0).reshape(4, 3)


def test_weights():
    assert check_weights(None, X) is None
    np.testing.assert_array_equal(check_weights([1, 2, 0, 1], X), [1.0, 2.0, 0.0, 1.0])
    for weights, message in (
        ([1, -2, 1, 1], "the smallest is -2.*give them weight 0"),
        ([0, 0, 0, 0], "zero"),
        ([1, 1], "shape"),
        ([1, np.nan, 1, 1], "NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            check_weights(weights, X)


def test_class_labels():
    classes, codes = check_class_labels(np.array(["b", "a", "b"]), estimator="It")
    np.testing.assert_array_equal(classes[codes], ["b", "a", "b"])
    with pytest.raises(ValueError, match=r"It needs rows of at least two classes; y has only one class, .*7"):
        check_class_labels(np.array([7, 7]), estimator="It")
    with pytest.raises(ValueError, match=r"Class .*1.* has no row of positive sample weight"):
        check_class_labels(np.array([0, 1]), np.array([1.0, 0.0]), estimator="It")
    with pytest.raises(ValueError, match="continuous"):
        check_class_labels(np.array([0.5, 1.7, 2.2]), estimator="It")
    with pytest.raises(ValueError, match="types NoneType, str, which cannot be sorted"):
        check_class_labels(np.array(["a", None, "b"], dtype=object), estimator="It")


CLASSES, CODES = np.array(["a", "b", "c"]), np.array([0, 1, 1, 2, 2, 2])


def test_class_weights():
    np.testing.assert_array_equal(class_weights({"b": 3}, CLASSES, CODES), [1, 3, 3, 1, 1, 1])
    np.testing.assert_allclose(class_weights("balanced", CLASSES, CODES), [2, 1, 1, 2 / 3, 2 / 3, 2 / 3])


def test_balanced_classes_count_weights_as_copies():
    weights = np.array([3, 1, 2, 1, 1, 2])
    weighted = class_weights("balanced", CLASSES, CODES, weights.astype(float))
    np.testing.assert_allclose(weighted.repeat(weights), class_weights("balanced", CLASSES, CODES.repeat(weights)))


@pytest.mark.parametrize(
    "class_weight, message",
    [
        ("unbalanced", "'balanced' or a dict"),
        ([1, 2, 3], "'balanced' or a dict"),
        ({"d": 1}, "'d', which no row has; the labels are .*'a'"),
        ({"a": -1}, r"class_weight\['a'\] is -1: .* positive"),
        ({"a": 0}, "positive"),
        ({"a": np.inf}, "positive"),
        ({"a": np.nan}, "positive"),
        ({"a": "1"}, "positive"),
        ({"a": 1e300}, "Weights of classes range from"),
    ],
    ids=repr,
)
def test_class_weights_that_are_none(class_weight, message):
    with pytest.raises(ValueError, match=message):
        class_weights(class_weight, CLASSES, CODES)


def test_priors():
    np.testing.assert_allclose(check_priors([1, 1, 2], 3), [0.25, 0.25, 0.5])
    np.testing.assert_allclose(check_priors([1e308, 1e308, 0], 3), [0.5, 0.5, 0])
    for priors in ([0.5, 0.5], [0, 0, 0], [-1, 1, 1], [np.nan, 1, 1], [np.inf, 1, 1], ["a", "b", "c"], {0: 1}):
        with pytest.raises(ValueError, match="priors must be 3 non-negative numbers"):
            check_priors(priors, 3)


def test_moments():
    seen = DenseMoments().update(X, [0, 1, 1, 0])
    check_moments(seen, True, False, estimator="It")
    for moments, labels, fourth, message in (
        (X, True, False, "takes the moments of rows, got ndarray.*collect_moments"),
        (DenseMoments(), False, False, "at least one row; these have seen 0 classes"),
        (
            DenseMoments().update(X),
            True,
            False,
            "It needs moments of rows of at least two classes; these have seen 1 class:",
        ),
        (seen, True, True, "track_fourth=True"),
    ):
        with pytest.raises(ValueError, match=message):
            check_moments(moments, labels, fourth, estimator="It")


def test_groups_are_keys_of_their_own():
    keys = checked_group_keys(["a", "b", "a", "c"], X)
    np.testing.assert_array_equal(keys == keys[0], [True, False, True, False])
    with pytest.raises(ValueError, match="inconsistent"):
        checked_group_keys([1, 2], X)


def test_kernels_of_histograms():
    check_kernel_takes("rbf", -X)
    check_kernel_takes("chi2", X)
    for rows in (-X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match="compares histograms"):
            check_kernel_takes("chi2", rows)


def test_equal_rows_of_a_continuous_table_are_left_out_together_and_those_of_cells_one_by_one():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    labels = np.arange(80) % 2
    keys = left_out_keys(row_keys(np.tile(rows, (2, 1))), labels, None)
    np.testing.assert_array_equal(keys[:40], keys[40:])
    assert len(np.unique(keys)) == 40
    assert len(np.unique(left_out_keys(row_keys(rows[np.arange(80) % 4]), labels, None))) == 80
