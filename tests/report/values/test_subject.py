"""Models are taken apart, rows stay what they are."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenfeat import CommonSpatialPatterns, FisherLDA, OrientedPCA
from eigenfeat.report.values.subject import Rows, Subject

X = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    "table",
    [X, sparse.csr_matrix(X), pd.DataFrame(X, index=list("uvwxyz")), pl.DataFrame(X)],
    ids=lambda t: type(t).__name__,
)
def test_rows_of_every_kind_are_taken(table):
    rows = Rows.of(table, np.arange(6)).take(np.array([4, 1]))
    values = rows.X.toarray() if sparse.issparse(rows.X) else np.asarray(rows.X)
    assert type(rows.X) is type(table)
    np.testing.assert_array_equal(values, X[[4, 1]])
    np.testing.assert_array_equal(rows.y, [4, 1])


def test_a_sample_keeps_the_order_and_the_number():
    rows = Rows.of(X, np.arange(6))
    assert rows.sample(10) is rows
    few = rows.sample(3, random_state=1)
    assert few.n_rows == 3
    assert np.all(np.diff(few.y) > 0)


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="6 rows and y has 5"):
        Rows.of(X, np.arange(5))


def test_pipelines_and_searches_are_opened():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1], 30)
    inner = make_pipeline(StandardScaler(), "passthrough", FisherLDA())
    search = GridSearchCV(make_pipeline(StandardScaler(), inner), {"pipeline__fisherlda__ridge": [0.1, 1.0]}, cv=2)
    subject = Subject.of(search.fit(X, y))
    assert [type(step).__name__ for step in subject.steps] == ["StandardScaler", "StandardScaler", "FisherLDA"]
    assert subject.kind == "classifier"
    assert subject.spectral == 2
    np.testing.assert_allclose(subject.before(X, 2), subject.steps[1].transform(subject.steps[0].transform(X)))


def test_directions_shown_are_the_first_that_look_at_targets():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat([0, 1], 30)
    assert Subject.of(make_pipeline(OrientedPCA(2), FisherLDA()).fit(X, y)).spectral == 1
    assert Subject.of(make_pipeline(OrientedPCA(2), LogisticRegression()).fit(X, y)).spectral == 0
    trials = rng.normal(size=(60, 3, 20))
    assert Subject.of(make_pipeline(CommonSpatialPatterns(2), FisherLDA()).fit(trials, y)).spectral == 0
    assert Subject.of(LogisticRegression().fit(X, y)).spectral is None
