"""Figures of many labels, beside scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score, hamming_loss, precision_recall_fscore_support, roc_auc_score

from eigenfeat import LeastSquaresCCA
from eigenfeat.report.values.labels import are_labels, labels
from eigenfeat.report.values.predictions import predictions
from eigenfeat.report.values.subject import Rows, Subject


@pytest.fixture(scope="module")
def subject():
    X, Y = make_multilabel_classification(400, n_classes=5, random_state=0)
    model = LeastSquaresCCA().fit(X[:200], Y[:200])
    return Subject.of(model, Rows.of(X[200:], Y[200:]), Rows.of(X[:200], Y[:200]), ["a", "b", "c", "d", "e"])


def test_figures_are_those_of_scikit_learn(subject):
    found = labels(predictions(subject), subject)
    truth, scores = subject.test.y, subject.model.predict(subject.test.X)
    said = (scores > 0.5).astype(int)
    precision, recall, f1, n_true = precision_recall_fscore_support(truth, said, zero_division=np.nan)
    np.testing.assert_allclose(found.precision, precision)
    np.testing.assert_allclose(found.recall, recall)
    np.testing.assert_allclose(found.f1, f1)
    np.testing.assert_array_equal(found.n_true, n_true)
    np.testing.assert_allclose(found.area, roc_auc_score(truth, scores, average=None))
    assert found.error.value == pytest.approx(hamming_loss(truth, said))
    assert found.micro_f1 == pytest.approx(f1_score(truth, said, average="micro"))
    assert found.names == ("a", "b", "c", "d", "e")
    usual = subject.train.y.mean(axis=0) > 0.5
    assert found.baseline_error == pytest.approx(np.mean(truth != usual))
    assert found.error.low < found.error.value < found.error.high < found.baseline_error


def test_pairs_by_their_correlation(subject):
    found = labels(predictions(subject), subject)
    table = np.corrcoef(subject.test.y.T)
    strengths = [abs(pair.correlation) for pair in found.pairs]
    assert strengths == sorted(strengths, reverse=True)
    for pair in found.pairs:
        assert pair.correlation == pytest.approx(table[pair.first, pair.second])
        both = subject.test.y[:, [pair.first, pair.second]].all(axis=1).sum()
        assert pair.n_together == both


class Silent(LeastSquaresCCA):
    def predict(self, X):
        return np.zeros((len(X), 5))


def test_labels_that_no_row_has_and_that_are_never_said(subject):
    model = Silent().fit(subject.train.X, subject.train.y)
    Y = subject.test.y.copy()
    Y[:, 0] = 0
    quiet = Subject.of(model, Rows.of(subject.test.X, Y))
    found = labels(predictions(quiet), quiet)
    assert found.never_said == ["label 2", "label 3", "label 4", "label 5"]
    assert np.isnan(found.precision).all() and np.isnan(found.recall[0]) and np.isnan(found.area[0])


def test_numbers_are_no_labels():
    assert not are_labels(None)
    assert not are_labels(np.zeros(5)) and not are_labels(np.full((4, 2), 0.5)) and not are_labels(np.zeros((4, 1)))
    assert are_labels(np.eye(3))
