"""Which method, and how many rows."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from eigenfeat import FisherLDA, make_tabular
from eigenfeat.cli.data import Rows
from eigenfeat.cli.evaluation import Result
from eigenfeat.cli.selection import Score, choose, cross_validated, folds_of, richer, simplest


def iris():
    data = load_iris(as_frame=True)
    return Rows(pa.Table.from_pandas(data.data), data.target.to_numpy(), ("target",), "iris")


def test_cross_validation_is_scikit_learns():
    rows, model = iris(), make_tabular(FisherLDA())
    score = cross_validated("lda", model, rows, "classification", 5, 0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    expected = cross_val_predict(model, load_iris(as_frame=True).data, rows.y, cv=folds)
    assert score.result.error == pytest.approx(np.mean(expected != rows.y))


def test_the_simplest_of_equals_is_taken():
    rng = np.random.default_rng(0)
    plain = Result("classification", 100, 0.1, (0.0, 0.2), 0.5, "")
    good = (rng.random(100) < 0.1).astype(float)
    close, bad = good.copy(), good.copy()
    close[[0, 1, 2]], bad[:30] = 1 - close[[0, 1, 2]], 1
    scores = [Score(name, plain, errors.mean(), errors, 1.0) for name, errors in zip("abc", (bad, close, good))]
    assert simplest(scores, ("a", "b", "c")).name == "b"


def test_folds_need_rows():
    with pytest.raises(ValueError, match="too few"):
        folds_of(iris().take(np.arange(8)), "regression", 5, 0)


def test_methods_that_time_did_not_suffice_for_are_named():
    rows = iris()
    models = {"lda": make_tabular(FisherLDA()), "gem": make_tabular()}
    scores, untried = choose(models, rows, "classification", 0, 60.0)
    assert {score.name for score in scores} == set(models) and not untried
    scores, untried = choose(models, rows, "classification", 0, 1e-9)
    assert not scores and untried == ["lda", "gem"]


def test_of_methods_that_do_as_well_on_a_sample_of_many_rows_the_richest():
    class Known:
        def __init__(self, right):
            self.right = right

        def fit(self, X, y):
            return self

        def predict(self, X):
            return X.column("x").to_numpy() if self.right else np.zeros(len(X))

    values = np.arange(50_000.0)
    rows = Rows(pa.table({"x": values}), values, ("y",), "made")
    assert richer(lambda name, _, rows: Known(True), rows, ("plain", "rich"), 0)[0] == "rich"
    best, words = richer(lambda name, _, rows: Known(name == "plain"), rows, ("plain", "rich"), 0)
    assert best == "plain" and "rich 100.0%" in words and "10,000" in words
    assert richer(lambda name, _, rows: Known(True), rows, ("plain", "rich"), 0, 0.0)[0] == "plain"
