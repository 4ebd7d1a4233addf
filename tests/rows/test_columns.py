"""Which columns are read, and what is said when they cannot be."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.rows.cache import shown
from eigenfeat.rows.columns import Reading, floating

NAMES = ["a", "b", "kind", "w"]


def test_features_are_what_is_nothing_else():
    columns = Reading(label="kind", weight="w", drop=["b"]).chosen(NAMES, "t")
    assert columns.features == ("a",) and columns.labels == ("kind",) and columns.weight == "w" and columns.flat
    assert columns.all == ["a", "kind", "w"]


def test_features_in_the_order_they_are_asked_for():
    columns = Reading(columns=["w", "a"], label=["b"]).chosen(NAMES, "t")
    assert columns.features == ("w", "a") and columns.labels == ("b",) and not columns.flat


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"label": "x"}, r"t has no column 'x' \(label=\); it has 'a', 'b', 'kind', 'w'"),
        ({"weight": "x"}, r"no column 'x' \(weight=\)"),
        ({"columns": ["a", "x"]}, r"no column 'x' \(columns=\)"),
        ({"drop": ["x"]}, r"no column 'x' \(drop=\)"),
        ({"columns": ["a"], "label": "a"}, "'a' of t cannot be a feature and a label"),
        ({"drop": NAMES}, "no feature columns besides"),
        ({"columns": 3}, "columns must be a list"),
    ],
)
def test_what_cannot_be_read_is_said_by_name(options, words):
    with pytest.raises(ValueError, match=words):
        Reading(**options).chosen(NAMES, "t")


def test_names_must_tell_columns_apart():
    with pytest.raises(ValueError, match="several columns called 'a'"):
        Reading().chosen(["a", "b", "a"], "t")


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
def test_columns_of_a_matrix_by_index(container):
    X = np.arange(12.0).reshape(3, 4)
    batch = Reading(label=2, weight=0, drop=[1]).chosen(range(4), "t").of_matrix(container(X), np.dtype(np.float32))
    assert batch.X.dtype == np.float32
    np.testing.assert_array_equal(batch.X.toarray() if sparse.issparse(batch.X) else batch.X, X[:, [3]])
    np.testing.assert_array_equal(batch.y, X[:, 2])
    np.testing.assert_array_equal(batch.weight, X[:, 0])
    several = Reading(label=[2, 1]).chosen(range(4), "t").of_matrix(container(X), np.dtype(np.float64))
    np.testing.assert_array_equal(several.y, X[:, [2, 1]])


def test_float32_only_where_all_is_or_it_is_asked_for():
    assert floating([np.float32, np.float32], None) == np.float32
    assert floating([np.float32, np.int8], None) == np.float64
    assert floating([np.float64], np.dtype(np.float32)) == np.float32


def test_long_lists_are_cut():
    assert shown(range(10), 3) == "0, 1, 2 and 7 more"
