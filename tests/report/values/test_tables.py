"""Tables of every kind give the same rows and columns, and are left as they were."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from eigenfeat.report.values.tables import column_of, kind_of, names_of, take, with_shuffled

X = np.arange(12.0).reshape(4, 3)
NAMES = ["a", "b", "c"]
TABLES = {
    "array": X,
    "sparse": sparse.csr_matrix(X),
    "pandas": pd.DataFrame(X, columns=NAMES, index=list("wxyz")),
    "polars": pl.DataFrame(X, schema=NAMES),
    "arrow": pa.table(dict(zip(NAMES, X.T))),
}
every_kind = pytest.mark.parametrize("kind", TABLES)


def array(table):
    if kind_of(table) == "sparse":
        return table.toarray()
    return np.column_stack(table.columns) if kind_of(table) == "arrow" else np.asarray(table)


@every_kind
def test_rows_and_columns(kind):
    table = TABLES[kind]
    assert kind_of(table) == kind
    np.testing.assert_array_equal(array(take(table, np.array([3, 1]))), X[[3, 1]])
    if names_of(table) is not None:
        assert names_of(table) == NAMES
        np.testing.assert_array_equal(column_of(table, 1), X[:, 1])


@every_kind
def test_one_column_is_shuffled_and_nothing_changes(kind):
    order, table = np.array([2, 0, 3, 1]), TABLES[kind]
    found = with_shuffled(table, 1, order)
    expected = X.copy()
    expected[:, 1] = X[order, 1]
    assert kind_of(found) == kind and names_of(found) == names_of(table)
    np.testing.assert_array_equal(array(found), expected)
    np.testing.assert_array_equal(array(table), X)


def test_words_keep_none():
    for table in (pl.DataFrame({"w": ["x", None]}), pa.table({"w": ["x", None]})):
        assert column_of(table, 0).tolist() == ["x", None]


def test_trials_are_shuffled_by_channel():
    trials = np.arange(24.0).reshape(4, 3, 2)
    np.testing.assert_array_equal(with_shuffled(trials, 2, np.array([1, 0, 3, 2]))[:, 2], trials[[1, 0, 3, 2], 2])
