"""Which method, and how many rows."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from eigenfeat import FisherLDA, make_tabular
from eigenfeat.cli.data import Rows
from eigenfeat.cli.evaluation import Result
from eigenfeat.cli.selection import Score, cross_validated, folds_of, rows_within, simplest


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


def test_rows_within_a_time():
    rows = Rows(pa.table({"x": np.arange(50_000.0)}), np.zeros(50_000), ("y",), "made")
    assert len(rows_within(lambda some: 1e-3 * len(some), rows, 30.0, 0)) < 30_000
    assert len(rows_within(lambda some: 1e-9, rows, 30.0, 0)) == 50_000
    few = rows.take(np.arange(8))
    with pytest.raises(ValueError, match="too few"):
        folds_of(few, "regression", 5, 0)
