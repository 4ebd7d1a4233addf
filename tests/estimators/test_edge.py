"""The edge: how rows are checked, and the verbs that answer from a fitted value."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenfeat.estimators.edge import (
    ComponentsMixin,
    Estimator,
    PredictionsMixin,
    ScoresMixin,
    flat,
    winners,
)
from eigenfeat.estimators.validation import check_class_labels
from eigenfeat.stages import Affine, Chain, Fitted, Softmax

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4))


class Means(ScoresMixin, ComponentsMixin, Estimator):
    """Inner products with class means: features, scores and probabilities."""

    def fit(self, X, y):
        X, y = self._check(X, y)
        self.classes_, codes = check_class_labels(y, estimator="Means")
        self.means_ = np.stack([np.asarray(X[codes == c].mean(axis=0)).ravel() for c in range(len(self.classes_))])
        products = Chain((Affine.of(self.means_.T),))
        self.fitted_ = Fitted(features=products, scores=products, probabilities=Softmax())
        return self


class Line(PredictionsMixin, Estimator):
    _takes_sparse = False

    def fit(self, X, y):
        X, y = self._check(X, y, multi_output=True, y_numeric=True)
        self._y_is_flat = y.ndim == 1
        coef = np.linalg.lstsq(X, y.reshape(len(y), -1), rcond=None)[0]
        self.fitted_ = Fitted(predictions=Chain((Affine.of(coef),)))
        return self


@parametrize_with_checks([Means()])
def test_a_mixin_and_a_value_make_an_estimator(estimator, check):
    check(estimator)


def test_every_verb_answers_from_the_value():
    y = np.arange(30) % 3
    model = Means().fit(X, y)
    scores = X @ model.means_.T
    np.testing.assert_allclose(model.transform(X), scores)
    np.testing.assert_allclose(model.decision_function(X), scores)
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_allclose(np.log(model.predict_proba(X)), model.predict_log_proba(X))
    assert list(model.get_feature_names_out()) == ["means0", "means1", "means2"]


@pytest.mark.parametrize("verb", ["transform", "predict", "decision_function", "predict_proba", "predict_log_proba"])
def test_nothing_is_answered_before_a_fit(verb):
    with pytest.raises(NotFittedError):
        getattr(Means(), verb)(X)


def test_predictions_have_the_shape_of_the_targets():
    assert Line().fit(X, X[:, 0]).predict(X).shape == (30,)
    assert Line().fit(X, X[:, :1]).predict(X).shape == (30, 1)
    np.testing.assert_allclose(Line().fit(X, X[:, :2]).predict(X), X[:, :2], atol=1e-10)


def test_who_takes_sparse_rows_says_so():
    y = np.arange(30) % 2
    assert Means().__sklearn_tags__().input_tags.sparse and not Line().__sklearn_tags__().input_tags.sparse
    np.testing.assert_allclose(Means().fit(sparse.csr_array(X), y).means_, Means().fit(X, y).means_)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        Line().fit(sparse.csr_array(X), y)


def test_decision_values_of_two_classes_are_a_vector():
    scores = rng.normal(size=(5, 3))
    assert flat(scores) is scores
    np.testing.assert_array_equal(flat(scores[:, :1]), scores[:, 0])
    np.testing.assert_array_equal(flat(scores[:, :2]), scores[:, 1] - scores[:, 0])
    np.testing.assert_array_equal(winners(np.array([-1.0, 2.0, 0.0])), [0, 1, 0])
    np.testing.assert_array_equal(winners(scores), scores.argmax(axis=1))
