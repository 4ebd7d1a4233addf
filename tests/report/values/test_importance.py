"""Columns that carry the answer matter, whatever table they stand in."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression

from eigenfeat import FisherLDA
from eigenfeat.report.values.importance import importance, shuffled
from eigenfeat.report.values.predictions import predictions
from eigenfeat.report.values.subject import Rows, Subject

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))
Y = np.where(X[:, 2] + 0.3 * X[:, 0] + 0.3 * rng.normal(size=600) > 0, "yes", "no")


def subject(X, y, model):
    return Subject.of(model.fit(X[:300], y[:300]), Rows.of(X[300:], y[300:]), Rows.of(X[:300], y[:300]))


def test_agrees_with_scikit_learn():
    about = subject(X, Y, FisherLDA())
    found = importance(about, predictions(about))
    expected = permutation_importance(
        about.model, X[300:], Y[300:], scoring="neg_log_loss", n_repeats=30, random_state=1
    )
    np.testing.assert_allclose(found.rise, expected.importances_mean, atol=4 * found.spread.max() / np.sqrt(10))
    assert found.order[0] == 2 and found.names == ("x0", "x1", "x2", "x3")
    assert found.dominant == "x2"
    assert found.error_rise[2] > 0.2 > abs(found.error_rise[1])


def test_of_a_regression_it_is_a_share_of_the_variance():
    y = 3 * X[:, 1] + 0.1 * rng.normal(size=600)
    about = subject(X, y, LinearRegression())
    found = importance(about, predictions(about))
    assert found.rise[1] == pytest.approx(2, rel=0.2)  # E(a - b)² is twice the variance
    assert found.error_rise is None


@pytest.mark.parametrize(
    "table",
    [X, X.astype(np.float32), sparse.csr_matrix(X), pd.DataFrame(X, index=np.arange(600) * 2), pl.DataFrame(X)],
    ids=lambda t: type(t).__name__,
)
def test_one_column_is_shuffled_and_nothing_given_changes(table):
    order = rng.permutation(600)
    rows = Rows.of(table)
    before = rows.X.toarray() if sparse.issparse(rows.X) else np.asarray(rows.X).copy()
    found = shuffled(rows, 1, order).X
    expected = before.copy()
    expected[:, 1] = before[order, 1]
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else np.asarray(found), expected)
    np.testing.assert_array_equal(rows.X.toarray() if sparse.issparse(rows.X) else np.asarray(rows.X), before)


def test_reasons_in_the_place_of_values():
    model = FisherLDA().fit(X, Y)
    about = Subject.of(model, Rows.of(X, Y))
    assert "has not seen" in importance(about, predictions(about))
    about = subject(X, Y, FisherLDA())
    assert "longer" in importance(about, predictions(about), seconds=0.0)
