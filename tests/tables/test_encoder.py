"""The encoder on a messy table, in every kind of frame, saved and loaded."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from messy import messy_rows
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenfeat
from eigenfeat import TableEncoder


@parametrize_with_checks([TableEncoder()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def table(n=300, seed=0):
    header, rows, label = messy_rows(n, seed)
    return pd.DataFrame(rows, columns=header).drop(columns="outcome"), label


def test_every_column_is_told():
    X, y = table()
    encoder = TableEncoder().fit(X, y)
    kinds = {column.name: column.kind for column in encoder.columns_}
    assert kinds == {
        "customer_id": "id",
        "income": "number",
        "share": "number",
        "age": "number",
        "joined": "date",
        "member": "boolean",
        "city": "category",
        "currency": "constant",
        "age again": "duplicate",
    }
    out = encoder.transform(X)
    assert np.isfinite(out).all()
    assert out.shape[1] == len(encoder.get_feature_names_out()) == len(encoder.inputs_)
    assert [X.columns[j] for j in np.unique(encoder.inputs_)] == ["income", "share", "age", "joined", "member", "city"]


def test_frames_agree_and_new_rows_do_no_harm(tmp_path):
    X, y = table()
    encoder = TableEncoder(dtype="float32").fit(X, y)
    expected = encoder.transform(X)
    assert expected.dtype == np.float32
    for other in (pl.from_pandas(X), pa.Table.from_pandas(X), {name: X[name].tolist() for name in X}):
        np.testing.assert_array_equal(encoder.transform(other), expected)
    strange = X.assign(city="Atlantis", income="many", joined=None)
    with pytest.warns(UserWarning, match=r"'income': 300 \(row 1: 'many'\)"):
        assert np.isfinite(encoder.transform(strange)).all()
    eigenfeat.save(encoder, tmp_path / "encoder.skops")
    np.testing.assert_array_equal(eigenfeat.load(tmp_path / "encoder.skops").transform(X), expected)


def test_rows_are_encoded_one_by_one():
    X, y = table()
    encoder = TableEncoder().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parts = np.vstack([encoder.transform(X[:7]), encoder.transform(X[7:])])
    np.testing.assert_array_equal(parts, encoder.transform(X))


def test_what_was_asked_for():
    X, _ = table()
    encoder = TableEncoder({"age": "category", "city": "drop"}, max_categories=3, min_frequency=2).fit(X)
    assert encoder.columns_["age"].n_outputs >= 4
    assert encoder.columns_["city"].n_outputs == 0
    with pytest.raises(ValueError, match="not there: nowhere"):
        TableEncoder({"nowhere": "number"}).fit(X)
    with pytest.raises(ValueError, match="not colour"):
        TableEncoder({"age": "colour"}).fit(X)
    with pytest.raises(ValueError, match="nothing to learn from"):
        TableEncoder().fit(pd.DataFrame({"a": ["x"] * 30}))
