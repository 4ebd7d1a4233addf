"""Figures agree with scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import (
    balanced_accuracy_score,
    log_loss,
    mean_absolute_error,
    precision_score,
    r2_score,
    recall_score,
)

from eigenfeat.report.values.evaluation import classification, regressions
from eigenfeat.report.values.predictions import Predictions
from eigenfeat.report.values.subject import Rows, Subject

rng = np.random.default_rng(0)
TRUTH = rng.choice(["a", "b", "c"], 200, p=[0.6, 0.3, 0.1])
CHANCES = rng.dirichlet([1, 1, 1], 200)
CHANCES[np.arange(200), np.searchsorted(["a", "b", "c"], TRUTH)] += 1
CHANCES /= 2
CLASSES = np.array(["a", "b", "c"])


def answers(predicted, chances=CHANCES):
    return Predictions(Rows(np.zeros((200, 1)), TRUTH), predicted, chances, CLASSES, False, "new rows")


def test_figures_of_a_classifier():
    predicted = CLASSES[CHANCES.argmax(axis=1)]
    found = classification(answers(predicted), Subject(None, (None,)))
    assert found.error.value == pytest.approx(np.mean(predicted != TRUTH))
    assert found.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(TRUTH, predicted))
    assert found.log_loss.value == pytest.approx(log_loss(TRUTH, CHANCES))
    assert found.log_loss.low < found.log_loss.value < found.log_loss.high
    np.testing.assert_allclose(found.precision, precision_score(TRUTH, predicted, average=None))
    np.testing.assert_allclose(found.recall, recall_score(TRUTH, predicted, average=None))
    shares = np.array([np.mean(c == TRUTH) for c in CLASSES])
    assert found.majority == "a" and found.baseline_error == pytest.approx(np.mean(TRUTH != "a"))
    assert found.baseline_log_loss == pytest.approx(-np.sum(shares * np.log(shares)))
    assert found.better_than_majority and found.never_predicted == []


def test_the_majority_is_that_of_the_training_rows():
    train = Rows(np.zeros((3, 1)), np.array(["b", "b", "a"]))
    found = classification(answers(np.full(200, "b")), Subject(None, (None,), None, train))
    assert found.majority == "b"
    assert found.never_predicted == ["a", "c"]
    assert not found.better_than_majority
    assert np.isnan(found.precision[0])


def test_figures_of_a_regressor():
    truth = rng.normal(size=(80, 2))
    predicted = truth + rng.normal(size=(80, 2)) * [0.1, 1.0]
    found = regressions(Predictions(Rows(np.zeros((80, 1)), truth), predicted, None, None, False, ""))
    assert [one.name for one in found] == ["target 1", "target 2"]
    for j, one in enumerate(found):
        assert one.r2.value == pytest.approx(r2_score(truth[:, j], predicted[:, j]))
        assert one.absolute_error.value == pytest.approx(mean_absolute_error(truth[:, j], predicted[:, j]))
        assert one.r2.low < one.r2.value < one.r2.high
    assert found[0].root_mean_square.value < found[0].baseline_root_mean_square
