"""Fewer rows do worse, and the last point is the model itself."""

import numpy as np
import pytest

from eigenfeat import FisherLDA
from eigenfeat.report.values.learning import learning_curve
from eigenfeat.report.values.predictions import predictions
from eigenfeat.report.values.subject import Rows, Subject

rng = np.random.default_rng(0)
Y = rng.choice(["a", "b"], 1600)
X = rng.normal(size=(1600, 20)) + 0.35 * (Y == "a")[:, None]
ABOUT = Subject.of(FisherLDA().fit(X[:800], Y[:800]), Rows.of(X[800:], Y[800:]), Rows.of(X[:800], Y[:800]))


def test_the_error_falls_with_rows():
    found = learning_curve(ABOUT, predictions(ABOUT))
    assert found.complete
    assert found.sizes.tolist() == [25, 50, 100, 200, 400, 800]
    assert found.loss[-1] == pytest.approx(np.mean(ABOUT.model.predict(X[800:]) != Y[800:]))
    assert found.loss[0] > found.loss[-1] + 0.05
    assert np.all(found.low <= found.loss) and np.all(found.loss <= found.high)


def test_sizes_that_would_take_too_long_are_left_out():
    found = learning_curve(ABOUT, predictions(ABOUT), seconds=1e-9)
    assert not found.complete
    assert found.sizes[-1] == 800


def test_reasons_in_the_place_of_curves():
    alone = Subject.of(ABOUT.model, ABOUT.test)
    assert "fitted on" in learning_curve(alone, predictions(alone))
    same = Subject.of(ABOUT.model, ABOUT.train, ABOUT.train)
    assert "held out" in learning_curve(same, predictions(same))


def test_the_last_point_is_of_all_rows_of_the_fit_where_a_page_gets_a_sample(wine):
    whole = Subject.of(wine.model, wine.test, wine.train, n_fitted=5000)
    assert whole.n_training == 5000 and wine.n_training == wine.train.n_rows
    curve = learning_curve(whole, predictions(whole))
    assert curve.sizes[-1] == 5000 and curve.sizes[-2] <= wine.train.n_rows // 2
