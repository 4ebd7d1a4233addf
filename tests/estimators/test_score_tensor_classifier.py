"""FEAST as a classifier: its parts, its penalty, its probabilities."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_circles
from sklearn.metrics import log_loss

from eigenfeat import MultinomialLogit, ScoreTensorClassifier


def test_scores_are_those_of_the_logit_on_the_features():
    X, y = make_circles(400, noise=0.1, factor=0.5, random_state=0)
    model = ScoreTensorClassifier().fit(X, y)
    features = model.features_.transform(X)
    logit = MultinomialLogit(model.alpha_).fit(features, y)
    np.testing.assert_allclose(model.decision_function(X), logit.decision_function(features), atol=1e-6)
    odds = np.diff(model.predict_log_proba(X), axis=1).ravel()
    np.testing.assert_allclose(odds, model.temperature_ * model.decision_function(X), atol=1e-6)
    assert model.score(X, y) > 0.97
    assert model.log_losses_[model.alpha_] == min(model.log_losses_.values())


def test_the_map_is_straight_where_labels_do_not_bend():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=400) > 0).astype(int)
    straight = ScoreTensorClassifier().fit(X, y)
    assert straight.feature_map_ == straight.features_.feature_map == "identity"
    assert straight.map_losses_["identity"] == min(straight.log_losses_.values()) < straight.map_losses_["rectified"]
    bent = ScoreTensorClassifier().fit(X, (np.abs(X[:, 0]) > 0.7).astype(int))
    assert bent.feature_map_ == "rectified"
    given = ScoreTensorClassifier(feature_map="square").fit(X, y)
    assert given.feature_map_ == "square" and given.map_losses_ == {}


def test_probabilities_of_new_rows_are_honest():
    """The log loss of new rows is what left-out rows promised, and no other temperature would do much better."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:600], order[600:]
    model = ScoreTensorClassifier().fit(X[train], y[train])
    loss = log_loss(y[test], model.predict_proba(X[test]))
    assert loss < 1.8 * model.log_losses_[model.alpha_] + 0.02
    scores = model.decision_function(X[test])
    for factor in (0.5, 2.0):
        other = np.exp(factor * model.temperature_ * scores)
        assert log_loss(y[test], other / other.sum(axis=1, keepdims=True)) > 0.95 * loss


def test_a_given_penalty_is_kept_and_classes_of_one_row_are_borne():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    assert ScoreTensorClassifier(alpha=0.1).fit(X, y).alpha_ == 0.1
    y[0] = 2
    model = ScoreTensorClassifier().fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]


def test_rows_without_labels_reach_the_features():
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(60, 8)), rng.normal(size=(400, 8))
    model = ScoreTensorClassifier().fit(X, np.arange(60) % 2, unlabelled=U)
    assert model.features_.n_axes_ == 8
    with pytest.raises(ValueError, match="features"):
        ScoreTensorClassifier().fit(X, np.arange(60) % 2, unlabelled=U[:, :3])
