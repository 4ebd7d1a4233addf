"""Columns of any table become numbers under the user's names."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from eigenfeat.report.values.columns import Columns, column_names, original_columns
from eigenfeat.report.values.subject import Subject


class Model:
    feature_names_in_ = np.array(["height", "weight"], dtype=object)
    n_features_in_ = 2


def test_patterns_are_correlations():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1, 100, 0.01] + [5, 0, -3]
    z = X @ [1.0, 0.01, 0.0] + 7
    expected = [np.corrcoef(x, z)[0, 1] for x in X.T]
    np.testing.assert_allclose(Columns(("a", "b", "c"), X).correlations(z), expected)
    X[:, 2] = 4.0
    assert Columns(("a", "b", "c"), X).correlations(z)[2] == 0
    few = np.where(rng.random(X.shape) < 0.5, X, 0.0)
    np.testing.assert_allclose(
        Columns((), sparse.csr_matrix(few)).correlations(z), Columns((), few).correlations(z), atol=1e-12
    )


def test_a_missing_value_is_taken_for_the_mean():
    x = np.array([1.0, np.nan, 3.0, 2.0])
    filled = np.array([1.0, 2.0, 3.0, 2.0])
    z = np.array([0.0, 5.0, 1.0, 2.0])
    assert Columns(("x",), x[:, None]).correlations(z) == pytest.approx([np.corrcoef(filled, z)[0, 1]])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_words_dates_and_booleans_of_a_frame(frame):
    table = frame(
        {
            "size": [1.5, None, 2.5],
            "kind": ["b", "a", "b"],
            "income": ["1,200", "80", "900.5"],
            "when": np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[ms]"),
            "ok": [True, False, True],
        }
    )
    found = original_columns(Subject.of(Model()), table)
    assert found.names == ("size", "kind = b", "kind = a", "income", "when", "ok")
    np.testing.assert_array_equal(found.values[:, 0], [1.5, np.nan, 2.5])
    np.testing.assert_array_equal(found.values[:, 1:3], [[1, 0], [0, 1], [1, 0]])
    np.testing.assert_array_equal(found.values[:, 3], [1200, 80, 900.5])
    np.testing.assert_allclose(np.diff(found.values[:, 4]), 86400)
    np.testing.assert_array_equal(found.values[:, 5], [1, 0, 1])


def test_names_come_from_the_frame_the_model_or_nowhere():
    subject = Subject.of(Model())
    assert column_names(subject, pd.DataFrame({"p": [1], "q": [2]})) == ("p", "q")
    assert column_names(subject, np.zeros((1, 2))) == ("height", "weight")
    assert column_names(subject, np.zeros((1, 3))) == ("x0", "x1", "x2")
    assert column_names(subject) == ("height", "weight")
    assert column_names(subject, np.zeros((1, 3, 9)))[0] == "channel 0"


def test_trials_are_the_power_of_channels():
    trials = np.random.default_rng(0).normal(size=(5, 2, 40)) * np.array([1.0, 3.0])[:, None]
    np.testing.assert_allclose(original_columns(Subject.of(Model()), trials).values, np.log(trials.var(axis=2)))
